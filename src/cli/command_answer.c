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
#include "cli/run_tree.h"
#include "contract/run_inbox_types.h"
#include "contract/run_outcome_types.h"

struct answer_state {
	enum run_decision decision;
	struct uuid given_id;     /* the argument: the id of a request or of a run */
	struct uuid request, run; /* the request that matches it, and its run */
	struct hash revision;
	const char *comment;
	const struct json *value;
	bool found, recorded, follow;
	int64_t last_seq;
};

static bool prepare(struct cli *cli, enum run_decision decision, struct error *error)
{
	struct answer_state *state = arena_new(&cli->arena, struct answer_state);
	state->decision = decision;
	state->follow = cli_has(cli, "--follow");
	state->comment = cli_value(cli, "--message", 0);
	cli->state = state;
	cli_idempotency_key_set(cli);
	return cli_uuid(cli_argument(cli, 0), "REQUEST|RUN (see baton inbox)", &state->given_id,
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
	const char *word = cli_argument(cli, 1);
	if (!run_decision_from(str_from_c(word), &decision) ||
	    (decision != RUN_DECISION_HAPPENED && decision != RUN_DECISION_NOT_HAPPENED &&
	     decision != RUN_DECISION_RETRY))
		return fail(error, ERROR_USAGE,
			    "unknown outcome \"%s\"; expected one of happened, not_happened, retry",
			    word);
	if (decision != RUN_DECISION_HAPPENED && cli_has(cli, "--value"))
		return fail(error, ERROR_USAGE, "--value is allowed only with happened");
	return prepare(cli, decision, error) && take_value(cli, error);
}

/* ---- the request ----------------------------------------------------------------------- */

static bool take_question(const struct json *item, struct answer_state *state, struct error *error)
{
	if (state->found)
		return fail(
			error, ERROR_USAGE,
			"the run has more than one open request; give the id of one (see baton inbox)");
	state->found = true;
	AUTO(buf) question = { 0 };
	run_tree_plain(cli_text(item, "question"), &question);
	fprintf(stderr, STR_FMT "\n", STR_ARG(buf_str(&question)));
	return (uuid_parse(cli_text(item, "id"), &state->request) &&
		hash_parse(cli_text(item, "revision"), &state->revision)) ||
	       fail(error, ERROR_INTERNAL, "the server sent a request without a revision");
}

/* Finds the open request with the given id, or the only one of the given run; prints it. */
static bool find_question(struct cli *cli, struct answer_state *state, bool *out_lost,
			  struct error *error)
{
	char id[UUID_TEXT_SIZE];
	struct str wanted = uuid_text(&state->given_id, id);
	struct str target = S("/api/inbox");
	state->found = false;
	for (;;) {
		const struct json *page;
		if (!cli_request(cli, "GET", target, S(""), &page, out_lost, error))
			return false;
		const struct json *items = json_member(page, S("items"));
		for (size_t i = 0; json_item(items, i) != NULL; i++) {
			const struct json *item = json_item(items, i);
			bool this = str_equal(cli_text(item, "id"), wanted);
			if ((this || str_equal(cli_text(item, "run_id"), wanted)) &&
			    !take_question(item, state, error))
				return false;
			if (this)
				return true;
		}
		struct str cursor = cli_text(page, "cursor");
		if (cursor.size == 0)
			break;
		target = str_format(&cli->arena, "/api/inbox?cursor=" STR_FMT, STR_ARG(cursor));
	}
	return state->found ||
	       fail(error, ERROR_CONFLICT,
		    "no open request with this id: it was already answered, or it never existed");
}

/* ---- the answer ------------------------------------------------------------------------ */

/* Sends the answer.  After a lost server this is called again, and the first attempt may have been
 * recorded: the same body with the same Idempotency-Key gets the same receipt. */
static bool record(struct cli *cli, struct answer_state *state, bool *out_lost, struct error *error)
{
	char id[UUID_TEXT_SIZE];
	const struct json *receipt;
	if (!state->found && !find_question(cli, state, out_lost, error)) {
		state->found = false;
		return false;
	}
	struct run_inbox_answer *answer = run_inbox_answer_new(&cli->arena);
	SET(answer, decision, state->decision);
	SET(answer, revision, state->revision);
	if (state->comment != NULL)
		SET(answer, comment, str_from_c(state->comment));
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
	printf(STR_FMT "\n", STR_ARG(json_print(&cli->arena, receipt)));
	return true;
}

static int run(struct cli *cli)
{
	struct answer_state *state = cli->state;
	struct error error;
	bool lost = false;
	if (!state->recorded && !record(cli, state, &lost, &error))
		return lost ? CLI_SERVER_LOST : cli_fail(cli, &error);
	return state->follow || cli->own_server ? cli_run_follow(cli, &state->run, &state->last_seq)
						: 0;
}

#define ANSWER_IS                                          \
	.group = CLI_RUNS, .kind = CLI_CLIENT, .run = run, \
	.exits = { { 1, "the run was followed and failed" } }
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
	.examples = { { "baton approve 1f0c… -m 'looks right'",
			"Approve a request of baton inbox, or the only one of a run" } },
	.prepare = prepare_approve,
};

const struct cli_command command_reject = {
	.name = "reject",
	.text = "Reject a request of the inbox",
	ANSWER_IS,
	.arguments = { QUESTION },
	.options = { MESSAGE, FOLLOW },
	.examples = { { "baton reject 1f0c… -m 'not on a Friday' --follow",
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
	.examples = { { "baton modify 1f0c… --value '{\"title\": \"Better\"}'",
			"Continue with another title" },
		      { "baton modify 1f0c… --value @draft.json",
			"Continue with a value from a file" } },
	.prepare = prepare_modify,
};

const struct cli_command command_settle = {
	.name = "settle",
	.text = "Resolve a call whose outcome is unknown",
	ANSWER_IS,
	.arguments = { QUESTION,
		       { .name = "happened|not_happened|retry",
			 .value_kind = CLI_ONE_OF,
			 .choices = "happened|not_happened|retry" } },
	.options = { { .name = "--value",
		       .value = "JSON|@FILE",
		       .text = "Result of the call if it happened; becomes the step's outputs" },
		     MESSAGE,
		     FOLLOW },
	.examples = { { "baton settle 1f0c… happened --value '{\"status\": 201}'",
			"The call was made before the crash; the run continues" },
		      { "baton settle 1f0c… not_happened",
			"The call was not made; the step fails" },
		      { "baton settle 1f0c… retry", "Make the call again" } },
	.prepare = prepare_settle,
};
