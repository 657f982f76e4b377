/* cli/command_control.c -- pause, resume, cancel and signal: what people tell a run.
 *
 * Each is sent with an Idempotency-Key of its own, so that a command whose server was lost in the
 * middle is done once.  When no server is there this process is the one that carries the run on:
 * resume, cancel and signal follow it to its end; a paused run has nothing to be carried on.
 */
#include <stdio.h>

#include "cli/document_command.h"
#include "contract/run_types.h"

struct control_state {
	struct uuid run;
	struct str body;
	bool done;
	int64_t seen;
};

static bool prepare(struct cli *cli, struct error *error)
{
	struct control_state *state = arena_new(&cli->arena, struct control_state);
	state->body = S("{}");
	cli->state = state;
	cli_send_once(cli);
	return cli_uuid(cli_argument(cli, 0), "a run's id", &state->run, error);
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

static int send(struct cli *cli)
{
	struct control_state *state = cli->state;
	const struct json *receipt;
	struct str behind = str_format(&cli->arena, "/%s", cli->command->name);
	if (state->done)
		return 0;
	int status = cli_ask(cli, "POST", cli_run_target(cli, &state->run, behind.at), state->body,
			     &receipt);
	if (status != 0)
		return status;
	state->done = true;
	return cli_print_json(cli, receipt);
}

static int run_and_follow(struct cli *cli)
{
	struct control_state *state = cli->state;
	int status = send(cli);
	return status == 0 && cli->own_server ? cli_follow(cli, &state->run, &state->seen) : status;
}

/* That it has not succeeded is what was asked for. */
static int run_cancel(struct cli *cli)
{
	int status = run_and_follow(cli);
	struct control_state *state = cli->state;
	return state->done && status == 1 ? 0 : status;
}

#define CONTROL_IS .group = CLI_RUNS, .kind = CLI_CLIENT
#define RUN_ID                                    \
	{                                         \
		.name = "RUN", .values = CLI_RUN, \
	}
#define WHY                                                                                      \
	{                                                                                        \
		.name = "--message", .letter = 'm', .value = "WHY", .text = "Why; kept with it", \
	}

const struct cli_command command_pause = {
	.name = "pause",
	.text = "Start nothing new in a run; what is under way ends",
	CONTROL_IS,
	.arguments = { RUN_ID },
	.options = { WHY },
	.prepare = prepare_note,
	.run = send,
};

const struct cli_command command_resume = {
	.name = "resume",
	.text = "Let a paused run go on",
	CONTROL_IS,
	.arguments = { RUN_ID },
	.exits = { { 1, "followed, because no server was there: the run failed" } },
	.prepare = prepare,
	.run = run_and_follow,
};

const struct cli_command command_cancel = {
	.name = "cancel",
	.text = "Call a run off: what is under way is told to stop",
	CONTROL_IS,
	.arguments = { RUN_ID },
	.options = { WHY },
	.examples = { { "baton cancel 1f0c… -m 'wrong branch'", "The reason is kept" } },
	.prepare = prepare_note,
	.run = run_cancel,
};

const struct cli_command command_signal = {
	.name = "signal",
	.text = "Send a run a signal; one that nothing waits for yet is kept",
	CONTROL_IS,
	.arguments = { RUN_ID, { .name = "NAME" } },
	.options = { { .name = "--data",
		       .value = "JSON|@FILE",
		       .text = "What it brings: the waiting step's outputs; null unless said" } },
	.examples = { { "baton signal 1f0c… deployed --data '{\"version\": 7}'",
			"A step that waits for deployed goes on" } },
	.exits = { { 1, "followed, because no server was there: the run failed" } },
	.prepare = prepare_signal,
	.run = run_and_follow,
};
