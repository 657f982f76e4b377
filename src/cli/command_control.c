/* cli/command_control.c -- baton pause, resume, cancel, retry and signal.
 *
 * Each request has an Idempotency-Key, so that it takes effect once even if it is sent again after
 * a lost connection.  When this process owns the data folder, resume, cancel and signal follow the
 * run to its end, because nothing else would carry it on. pause does not: a paused run does
 * nothing.  retry follows the run to its new end, unless --detach is given.
 */
#include <stdio.h>

#include "cli/document_command.h"
#include "cli/output.h"
#include "cli/run_lookup.h"
#include "cli/usage_text.h"

#include "contract/run_command_types.h"

struct control_state {
	struct run_name run;
	struct str body;
	bool done;
	int64_t last_seq;
};

static bool prepare(struct cli *cli, struct error *error)
{
	struct control_state *state = arena_new(&cli->arena, struct control_state);
	state->body = S("{}");
	cli->state = state;
	cli_idempotency_key_set(cli);
	return run_name_parse(cli_argument(cli, 0), "RUN", &state->run, error);
}

static bool prepare_note(struct cli *cli, struct error *error)
{
	const char *why = cli_value(cli, "--message", 0);
	if (!prepare(cli, error))
		return false;
	struct control_state *state = cli->state;
	struct run_note *note = run_note_new(&cli->arena);
	if (why != NULL)
		SET(note, reason, str_from_c(why));
	state->body = run_note_text(note, &cli->arena);
	return true;
}

static bool prepare_resume(struct cli *cli, struct error *error)
{
	double budget;
	bool has_budget;
	if (!prepare(cli, error) || !usage_text_budget(cli, &has_budget, &budget, error))
		return false;
	struct control_state *state = cli->state;
	struct run_note *note = run_note_new(&cli->arena);
	if (has_budget)
		SET(note, budget_usd, budget);
	state->body = run_note_text(note, &cli->arena);
	return true;
}

static bool prepare_signal(struct cli *cli, struct error *error)
{
	const char *data = cli_value(cli, "--data", 0);
	const struct json *json;
	if (!prepare(cli, error))
		return false;
	struct control_state *state = cli->state;
	struct run_signal_request *request = run_signal_request_new(&cli->arena);
	SET(request, name, str_from_c(cli_argument(cli, 1)));
	if (data != NULL) {
		if (!cli_json_value(cli, data, "--data", &json, error))
			return false;
		SET(request, data, json);
	}
	state->body = run_signal_request_text(request, &cli->arena);
	return true;
}

static int request(struct cli *cli, const struct json **out_receipt)
{
	struct control_state *state = cli->state;
	struct str suffix = str_format(&cli->arena, "/%s", cli->command->name);
	*out_receipt = NULL;
	if (state->done)
		return 0;
	int status = run_name_find(cli, &state->run);
	if (status == 0)
		status = cli_call(cli, "POST", cli_run_target(cli, &state->run.first, suffix.at),
				  state->body, out_receipt);
	state->done = status == 0;
	return status;
}

static int send(struct cli *cli)
{
	const struct json *receipt;
	int status = request(cli, &receipt);
	return status == 0 && receipt != NULL ? cli_print_json(cli, receipt) : status;
}

static int run_and_follow(struct cli *cli)
{
	struct control_state *state = cli->state;
	int status = send(cli);
	return status == 0 && cli->own_server
		       ? cli_run_follow(cli, &state->run.first, &state->last_seq)
		       : status;
}

/* The cancelled run counts as failed, but the command did what the user wanted: exit status 0. */
static int run_cancel(struct cli *cli)
{
	int status = run_and_follow(cli);
	struct control_state *state = cli->state;
	return state->done && status == 1 ? 0 : status;
}

/* The events before the retry are not shown again. */
static bool look_for_seq(struct cli *cli, struct control_state *state)
{
	const struct json *outline;
	struct error error;
	bool lost;
	if (!cli_request(cli, "GET", cli_run_target(cli, &state->run.first, "/steps"), S(""),
			 &outline, &lost, &error))
		return false; /* the retry itself reports what is wrong */
	const struct json *seq = json_member(outline, S("seq"));
	if (seq != NULL && seq->kind == JSON_INT)
		state->last_seq = seq->as.integer;
	return true;
}

static int run_retry(struct cli *cli)
{
	struct control_state *state = cli->state;
	int found = run_name_find(cli, &state->run);
	if (found != 0)
		return found;
	if (!state->done)
		look_for_seq(cli, state);
	if (cli_has(cli, "--detach") && !cli->own_server)
		return send(cli);
	const struct json *receipt; /* the result takes its place */
	int status = request(cli, &receipt);
	return status == 0 ? cli_run_follow(cli, &state->run.first, &state->last_seq) : status;
}

#define CONTROL_IS .group = CLI_RUNS, .kind = CLI_CLIENT
#define RUN_ID                                        \
	{                                             \
		.name = "RUN", .value_kind = CLI_RUN, \
	}
#define WHY                                                                                    \
	{                                                                                      \
		.name = "--message", .letter = 'm', .value = "WHY", .text = "Record a reason", \
	}

const struct cli_command command_pause = {
	.name = "pause",
	.text = "Pause a run: running steps finish, no new steps start",
	CONTROL_IS,
	.arguments = { RUN_ID },
	.options = { WHY },
	.prepare = prepare_note,
	.run = send,
};

const struct cli_command command_resume = {
	.name = "resume",
	.text = "Resume a paused run",
	CONTROL_IS,
	.arguments = { RUN_ID },
	.options = { CLI_BUDGET("New budget of the run, in dollars") },
	.exits = { { 1, "no server was running, so the run was followed, and it failed" },
		   CLI_EXIT_WITH_ISSUES },
	.prepare = prepare_resume,
	.run = run_and_follow,
};

const struct cli_command command_cancel = {
	.name = "cancel",
	.text = "Cancel a run and stop its running steps",
	CONTROL_IS,
	.arguments = { RUN_ID },
	.options = { WHY },
	.examples = { { "baton cancel 1f0c -m 'wrong branch'",
			"Cancel a run and record the reason" } },
	.prepare = prepare_note,
	.run = run_cancel,
};

const struct cli_command command_retry = {
	.name = "retry",
	.text = "Retry a failed run: execute its failed steps again, keep what succeeded",
	CONTROL_IS,
	.arguments = { RUN_ID },
	.options = { WHY,
		     { .name = "--detach",
		       .text = "Do not follow the run; a server must be running" } },
	.examples = { { "baton retry 1f0c2b7e -m 'the registry is back'",
			"Execute the failed steps again and follow the run to its end" } },
	.exits = { { 1, "the run failed again" }, CLI_EXIT_WITH_ISSUES },
	.prepare = prepare_note,
	.run = run_retry,
};

const struct cli_command command_signal = {
	.name = "signal",
	.text = "Send a signal to a run; the run keeps it until a step waits for it",
	CONTROL_IS,
	.arguments = { RUN_ID, { .name = "NAME" } },
	.options = { { .name = "--data",
		       .value = "JSON|@FILE",
		       .text = "Data of the signal; becomes the waiting step's outputs (default null)" } },
	.examples = { { "baton signal 1f0c deployed --data '{\"version\": 7}'",
			"Continue a step that waits for the signal deployed" } },
	.exits = { { 1, "no server was running, so the run was followed, and it failed" },
		   CLI_EXIT_WITH_ISSUES },
	.prepare = prepare_signal,
	.run = run_and_follow,
};
