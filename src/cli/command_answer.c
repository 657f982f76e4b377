/* cli/command_answer.c -- approve, reject, modify and settle: an answer bound to the question as it
 * stands.
 *
 * The question is read first and its revision sent along.  It may be named by the run that waits
 * with it, as long as that has no other.  When no server is there, this process is the one that
 * carries the run on, so it follows it to its end; --follow does so with a server too.
 */
#include <stdio.h>

#include "cli/document_command.h"
#include "cli/run_tree.h"
#include "contract/run_types.h"

struct answer_state {
	enum run_decision decision;
	struct uuid named;        /* what was given: a request or a run */
	struct uuid request, run; /* found */
	struct hash revision;
	const char *comment;
	const struct json *value;
	bool found, recorded, follow;
	int64_t seen;
};

static bool prepare(struct cli *cli, enum run_decision decision, struct error *error)
{
	struct answer_state *state = arena_new(&cli->arena, struct answer_state);
	state->decision = decision;
	state->follow = cli_has(cli, "--follow");
	state->comment = cli_value(cli, "--message", 0);
	cli->state = state;
	cli_send_once(cli);
	return cli_uuid(cli_argument(cli, 0), "a request's id (see baton inbox) or a run's",
			&state->named, error);
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
		return fail(error, ERROR_USAGE, "--value says what to go on with");
	return take_value(cli, error);
}

static bool prepare_settle(struct cli *cli, struct error *error)
{
	enum run_decision decision;
	const char *word = cli_argument(cli, 1);
	if (!run_decision_from(str_from_c(word), &decision) ||
	    (decision != RUN_DECISION_HAPPENED && decision != RUN_DECISION_NOT_HAPPENED &&
	     decision != RUN_DECISION_RETRY))
		return fail(error, ERROR_USAGE, "it is happened, not_happened or retry, not %s",
			    word);
	if (decision != RUN_DECISION_HAPPENED && cli_has(cli, "--value"))
		return fail(error, ERROR_USAGE, "only what happened has given something: --value");
	return prepare(cli, decision, error) && take_value(cli, error);
}

/* ---- the question ---------------------------------------------------------------------- */

static bool take_question(const struct json *item, struct answer_state *state, struct error *error)
{
	if (state->found)
		return fail(error, ERROR_USAGE,
			    "the run waits with more than one question: name one of baton inbox");
	state->found = true;
	AUTO(buf) question = { 0 };
	run_tree_plain(cli_text(item, "question"), &question);
	fprintf(stderr, STR_FMT "\n", STR_ARG(buf_str(&question)));
	return (uuid_parse(cli_text(item, "id"), &state->request) &&
		hash_parse(cli_text(item, "revision"), &state->revision)) ||
	       fail(error, ERROR_INTERNAL, "the server sent no revision");
}

/* The open question with this id or of this run, shown. */
static bool find_question(struct cli *cli, struct answer_state *state, bool *out_lost,
			  struct error *error)
{
	char id[UUID_TEXT_SIZE];
	struct str wanted = uuid_text(&state->named, id);
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
		    "no such request is open: it was answered already, or never asked");
}

/* ---- the answer ------------------------------------------------------------------------ */

/* Once the question is known its answer may have been sent already, by a server that went then: the
 * same words with the same Idempotency-Key get the same receipt. */
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
		return fail(error, ERROR_INTERNAL, "the server's receipt names no run");
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
	return state->follow || cli->own_server ? cli_follow(cli, &state->run, &state->seen) : 0;
}

#define ANSWER_IS                                          \
	.group = CLI_RUNS, .kind = CLI_CLIENT, .run = run, \
	.exits = { { 1, "followed, the run failed" } }
#define QUESTION                                              \
	{                                                     \
		.name = "REQUEST|RUN", .values = CLI_REQUEST, \
	}
#define MESSAGE                                                         \
	{                                                               \
		.name = "--message", .letter = 'm', .value = "COMMENT", \
		.text = "Why; kept with the answer",                    \
	}
#define FOLLOW                                                                \
	{                                                                     \
		.name = "--follow", .text = "Then follow the run to its end", \
	}

const struct cli_command command_approve = {
	.name = "approve",
	.text = "Say yes to a question",
	ANSWER_IS,
	.arguments = { QUESTION },
	.options = { MESSAGE, FOLLOW },
	.examples = { { "baton approve 1f0c… -m 'looks right'",
			"Answer a question of baton inbox, or the only one of a run" } },
	.prepare = prepare_approve,
};

const struct cli_command command_reject = {
	.name = "reject",
	.text = "Say no to a question",
	ANSWER_IS,
	.arguments = { QUESTION },
	.options = { MESSAGE, FOLLOW },
	.examples = { { "baton reject 1f0c… -m 'not on a Friday' --follow",
			"Say no and see what the run does" } },
	.prepare = prepare_reject,
};

const struct cli_command command_modify = {
	.name = "modify",
	.text = "Say yes to a question, with other values",
	ANSWER_IS,
	.arguments = { QUESTION },
	.options = { { .name = "--value",
		       .value = "JSON|@FILE",
		       .text = "What to go on with: the step's outputs.value" },
		     MESSAGE,
		     FOLLOW },
	.examples = { { "baton modify 1f0c… --value '{\"title\": \"Better\"}'",
			"Go on with another title" },
		      { "baton modify 1f0c… --value @draft.json", "With what is in a file" } },
	.prepare = prepare_modify,
};

const struct cli_command command_settle = {
	.name = "settle",
	.text = "Say what became of a call whose outcome nobody knows",
	ANSWER_IS,
	.arguments = { QUESTION,
		       { .name = "happened|not_happened|retry",
			 .values = CLI_ONE_OF,
			 .words = "happened|not_happened|retry" } },
	.options = { { .name = "--value",
		       .value = "JSON|@FILE",
		       .text = "What it gave, when it happened: the step's outputs" },
		     MESSAGE,
		     FOLLOW },
	.examples = { { "baton settle 1f0c… happened --value '{\"status\": 201}'",
			"It was done before the crash; the run goes on" },
		      { "baton settle 1f0c… not_happened", "It was not; the step fails" },
		      { "baton settle 1f0c… retry", "Call it again, whatever became of it" } },
	.prepare = prepare_settle,
};
