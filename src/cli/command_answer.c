/* cli/command_answer.c -- baton approve, reject, modify and settle: answer a request of the inbox.
 *
 * The command first reads the request and then sends its revision with the answer, so that the
 * server refuses an answer to a request that has changed since.  The user may give the id of the
 * run instead if the run has only one open request.  When this process owns the data folder,
 * nothing else would carry on the run, so the command follows it to its end; with --follow it also
 * does so when a server is running.
 */
#include <stdio.h>

#include "cli/document_command.h"
#include "cli/run_lookup.h"
#include "cli/output.h"
#include "cli/value_text.h"
#include "contract/run_inbox_types.h"
#include "contract/run_outcome_types.h"

struct answer_state {
	enum run_decision decision;
	struct run_name given;    /* the argument: the id of a request or of a run */
	struct uuid request, run; /* the request that matches it, and its run */
	struct hash revision;
	const char *comment;
	const struct json *value;
	bool found, recorded, follow, final;
	int64_t last_seq;
};

static bool prepare(struct cli *cli, enum run_decision decision, struct error *error)
{
	struct answer_state *state = arena_new(&cli->arena, struct answer_state);
	state->decision = decision;
	state->follow = cli_has(cli, "--follow");
	state->final = decision == RUN_DECISION_REJECT && cli_has(cli, "--final");
	state->comment = cli_value(cli, "--message", 0);
	cli->state = state;
	cli_idempotency_key_set(cli);
	return run_name_parse(cli_argument(cli, 0), "REQUEST|RUN (see baton inbox)", &state->given,
			      error);
}

static bool take_value(struct cli *cli, struct error *error)
{
	struct answer_state *state = cli->state;
	const char *value = cli_value(cli, "--value", 0);
	return value == NULL || cli_json_value(cli, value, "--value", &state->value, error);
}

static bool prepare_approve(struct cli *cli, struct error *error)
{
	return prepare(cli, RUN_DECISION_APPROVE, error);
}

static bool prepare_reject(struct cli *cli, struct error *error)
{
	return prepare(cli, RUN_DECISION_REJECT, error);
}

static bool prepare_modify(struct cli *cli, struct error *error)
{
	if (!prepare(cli, RUN_DECISION_MODIFY, error))
		return false;
	if (!cli_has(cli, "--value"))
		return fail(error, ERROR_USAGE, "modify needs --value, the value to continue with");
	return take_value(cli, error);
}

static bool prepare_settle(struct cli *cli, struct error *error)
{
	enum run_decision decision;
	require(run_decision_from(str_from_c(cli_argument(cli, 1)), &decision));
	if (decision != RUN_DECISION_HAPPENED && cli_has(cli, "--value"))
		return fail(error, ERROR_USAGE, "--value is allowed only with happened");
	return prepare(cli, decision, error) && take_value(cli, error);
}

/* ---- the request ----------------------------------------------------------------------- */

/* The open requests that the argument may stand for. */
struct request_search {
	const struct json *found; /* the first one */
	size_t count;             /* how many fit */
	bool by_id;               /* the argument is the beginning of request ids, not of run ids */
	struct buf list;          /* the ones that fit, for an error */
};

/* A request whose own id fits wins over requests of a run that fits. */
static void search_take(struct request_search *search, const struct run_name *given,
			const struct json *item)
{
	bool by_id = run_name_fits(given, cli_text(item, "id"));
	if (!by_id && (search->by_id || !run_name_fits(given, cli_text(item, "run_id"))))
		return;
	if (by_id && !search->by_id) {
		search->by_id = true;
		search->count = 0;
		buf_clear(&search->list);
	}
	if (search->count == 0)
		search->found = item;
	run_name_candidate_add(cli_text(item, "id"), cli_text(item, "step"), search->count++,
			       &search->list);
}

static bool search_inbox(struct cli *cli, const struct run_name *given,
			 struct request_search *search, bool *out_lost, struct error *error)
{
	struct str target = S("/api/inbox");
	for (;;) {
		const struct json *page;
		if (!cli_request(cli, "GET", target, S(""), &page, out_lost, error))
			return false;
		const struct json *items = json_member(page, S("items"));
		for (size_t i = 0; json_item(items, i) != NULL; i++)
			search_take(search, given, json_item(items, i));
		struct str cursor = cli_text(page, "cursor");
		if (cursor.size == 0)
			return true;
		target = str_format(&cli->arena, "/api/inbox?cursor=" STR_FMT, STR_ARG(cursor));
	}
}

static bool take_question(const struct request_search *search, struct answer_state *state,
			  struct error *error)
{
	if (search->count == 0)
		return fail(
			error, ERROR_CONFLICT,
			"no open request with this id: it was already answered, or it never existed");
	if (search->count > 1)
		return fail(
			error, ERROR_USAGE,
			"%s stands for more than one open request; give the id of one: " STR_FMT,
			state->given.text, STR_ARG(buf_str(&search->list)));
	AUTO(buf) question = { 0 };
	cli_block_add("| ", cli_text(search->found, "question"), &question);
	value_text_add(json_member(search->found, S("inputs")), "  ", &question);
	cli_lines(CLI_PROGRESS, buf_str(&question));
	state->found = uuid_parse(cli_text(search->found, "id"), &state->request) &&
		       hash_parse(cli_text(search->found, "revision"), &state->revision);
	return state->found ||
	       fail(error, ERROR_INTERNAL, "the server sent a request without a revision");
}

/* A question about a plan: what has changed since the revision before.  The answer does not depend on it, so
 * a failure is not reported. */
static void print_plan_change(struct cli *cli, const struct json *question)
{
	struct uuid run;
	long long revision = cli_number(json_member(question, S("inputs")), "plan_revision");
	const struct json *plan;
	struct error error;
	bool lost;
	if (revision < 2 || !uuid_parse(cli_text(question, "run_id"), &run))
		return;
	struct str target = str_format(&cli->arena, STR_FMT "?revision=%lld&diff=1",
				       STR_ARG(cli_run_target(cli, &run, "/plan")), revision);
	if (!cli_request(cli, "GET", target, S(""), &plan, &lost, &error) ||
	    cli_text(plan, "diff").size == 0)
		return;
	AUTO(buf) text = { 0 };
	cli_block_add("  ", cli_text(plan, "diff"), &text);
	cli_line(CLI_PROGRESS, "  what changed since revision %lld:", revision - 1);
	cli_lines(CLI_PROGRESS, buf_str(&text));
}

/* Finds the open request that the argument stands for, or the only one of the run; prints it. */
static bool find_question(struct cli *cli, struct answer_state *state, bool *out_lost,
			  struct error *error)
{
	struct request_search search = { 0 };
	bool good = search_inbox(cli, &state->given, &search, out_lost, error) &&
		    take_question(&search, state, error);
	buf_done(&search.list);
	if (good)
		print_plan_change(cli, search.found);
	return good;
}

/* ---- the answer ------------------------------------------------------------------------ */

/* Sends the answer.  After a lost server this is called again, and the first attempt may have been
 * recorded: the same body with the same Idempotency-Key gets the same receipt. */
static bool record(struct cli *cli, struct answer_state *state, bool *out_lost, struct error *error)
{
	char id[UUID_TEXT_SIZE];
	const struct json *receipt;
	if (!state->found && !find_question(cli, state, out_lost, error))
		return false;
	struct run_inbox_answer *answer = run_inbox_answer_new(&cli->arena);
	SET(answer, decision, state->decision);
	SET(answer, revision, state->revision);
	if (state->comment != NULL)
		SET(answer, comment, str_from_c(state->comment));
	if (state->final)
		SET(answer, final, true);
	if (state->value != NULL)
		SET(answer, value, state->value);
	struct str target = str_format(&cli->arena, "/api/inbox/" STR_FMT "/respond",
				       STR_ARG(uuid_text(&state->request, id)));
	if (!cli_request(cli, "POST", target, run_inbox_answer_text(answer, &cli->arena), &receipt,
			 out_lost, error))
		return false;
	if (!uuid_parse(cli_text(receipt, "run_id"), &state->run))
		return fail(error, ERROR_INTERNAL, "the server's receipt lacks run_id");
	state->recorded = true;
	cli_json_line(CLI_RESULT, json_print(&cli->arena, receipt));
	return true;
}

static int run(struct cli *cli)
{
	struct answer_state *state = cli->state;
	struct error error;
	bool lost = false;
	int status = state->given.newest ? run_name_find(cli, &state->given) : 0;
	if (status != 0)
		return status;
	if (!state->recorded && !record(cli, state, &lost, &error))
		return lost ? CLI_SERVER_LOST : cli_fail(cli, &error);
	return state->follow || cli->own_server ? cli_run_follow(cli, &state->run, &state->last_seq)
						: 0;
}

#define ANSWER_IS                                          \
	.group = CLI_RUNS, .kind = CLI_CLIENT, .run = run, \
	.exits = { { 1, "the run was followed and failed" }, CLI_EXIT_WITH_ISSUES }
#define QUESTION                                                  \
	{                                                         \
		.name = "REQUEST|RUN", .value_kind = CLI_REQUEST, \
	}
#define MESSAGE                                                         \
	{                                                               \
		.name = "--message", .letter = 'm', .value = "COMMENT", \
		.text = "Record a comment with the answer",             \
	}
#define FOLLOW                                                                      \
	{                                                                           \
		.name = "--follow", .text = "Follow the run to its end afterwards", \
	}

const struct cli_command command_approve = {
	.name = "approve",
	.text = "Approve a request of the inbox",
	ANSWER_IS,
	.arguments = { QUESTION },
	.options = { MESSAGE, FOLLOW },
	.examples = { { "baton approve 1f0c -m 'looks right'",
			"Approve a request of baton inbox, or the only one of a run" } },
	.prepare = prepare_approve,
};

const struct cli_command command_reject = {
	.name = "reject",
	.text = "Reject a request of the inbox",
	ANSWER_IS,
	.arguments = { QUESTION },
	.options = { MESSAGE,
		     { .name = "--final",
		       .text = "Fail the step, also if its definition continues after a rejection" },
		     FOLLOW },
	.examples = { { "baton reject 1f0c -m 'not on a Friday' --follow",
			"Reject, then follow the run" } },
	.prepare = prepare_reject,
};

const struct cli_command command_modify = {
	.name = "modify",
	.text = "Approve a request of the inbox with another value",
	ANSWER_IS,
	.arguments = { QUESTION },
	.options = { { .name = "--value",
		       .value = "JSON|@FILE",
		       .text = "Continue with this value; it becomes the step's outputs.value" },
		     MESSAGE,
		     FOLLOW },
	.examples = { { "baton modify 1f0c --value '{\"title\": \"Better\"}'",
			"Continue with another title" },
		      { "baton modify 1f0c --value @draft.json",
			"Continue with a value from a file" } },
	.prepare = prepare_modify,
};

const struct cli_command command_settle = {
	.name = "settle",
	.text = "Resolve a call whose outcome is unknown",
	ANSWER_IS,
	.arguments = { QUESTION,
		       { .name = "OUTCOME",
			 .value_kind = CLI_ONE_OF,
			 .choices = "happened|not_happened|retry" } },
	.options = { { .name = "--value",
		       .value = "JSON|@FILE",
		       .text = "Result of the call if it happened; becomes the step's outputs" },
		     MESSAGE,
		     FOLLOW },
	.examples = { { "baton settle 1f0c happened --value '{\"status\": 201}'",
			"The call was made before the crash; the run continues" },
		      { "baton settle 1f0c not_happened", "The call was not made; the step fails" },
		      { "baton settle 1f0c retry", "Make the call again" } },
	.prepare = prepare_settle,
};
