/* cli/command_answer.c -- approve and reject: an answer bound to the question as it stands.
 *
 * The question is read first and its revision sent along.  When no server is there, this process
 * is the one that carries the run on, so it follows it to its end; --follow does so with a server
 * too.
 */
#include <stdio.h>

#include "cli/cli.h"
#include "contract/run.h"

struct answer_state {
	enum run_decision decision;
	struct uuid request, run;
	const char *comment;
	bool recorded, follow;
	int64_t seen;
};

static bool prepare(struct cli *cli, enum run_decision decision, struct error *error)
{
	struct answer_state *state = arena_new(&cli->arena, struct answer_state);
	state->decision = decision;
	state->follow = cli_has(cli, "--follow");
	state->comment = cli_value(cli, "--message", 0);
	cli->state = state;
	return cli_uuid(cli_argument(cli, 0), "a request's id (see baton inbox)", &state->request,
			error);
}

static bool prepare_approve(struct cli *cli, struct error *error)
{
	return prepare(cli, RUN_DECISION_APPROVE, error);
}

static bool prepare_reject(struct cli *cli, struct error *error)
{
	return prepare(cli, RUN_DECISION_REJECT, error);
}

/* The open question with this id, shown; false when it is not among the open ones. */
static bool find_question(struct cli *cli, const struct answer_state *state,
			  struct hash *out_revision, bool *out_lost, struct error *error)
{
	char id[UUID_TEXT_SIZE];
	struct str wanted = uuid_text(&state->request, id);
	struct str target = S("/api/inbox");
	for (;;) {
		const struct json *page;
		if (!cli_request(cli, "GET", target, S(""), &page, out_lost, error))
			return false;
		const struct json *items = json_member(page, S("items"));
		for (size_t i = 0; json_item(items, i) != NULL; i++) {
			const struct json *item = json_item(items, i);
			if (!str_equal(json_text(json_member(item, S("id"))), wanted))
				continue;
			fprintf(stderr, STR_FMT "\n",
				STR_ARG(json_text(json_member(item, S("question")))));
			return hash_parse(json_text(json_member(item, S("revision"))),
					  out_revision) ||
			       fail(error, ERROR_INTERNAL, "the server sent no revision");
		}
		struct str cursor = json_text(json_member(page, S("cursor")));
		if (cursor.size == 0)
			return fail(
				error, ERROR_CONFLICT,
				"no such request is open: it was answered already, or never asked");
		target = str_format(&cli->arena, "/api/inbox?cursor=" STR_FMT, STR_ARG(cursor));
	}
}

static bool record(struct cli *cli, struct answer_state *state, bool *out_lost, struct error *error)
{
	char id[UUID_TEXT_SIZE];
	struct hash revision;
	const struct json *receipt;
	if (!find_question(cli, state, &revision, out_lost, error))
		return false;
	struct run_inbox_answer *answer = run_inbox_answer_new(&cli->arena);
	SET(answer, decision, state->decision);
	SET(answer, revision, revision);
	if (state->comment != NULL)
		SET(answer, comment, str_from_c(state->comment));
	struct str target = str_format(&cli->arena, "/api/inbox/" STR_FMT "/respond",
				       STR_ARG(uuid_text(&state->request, id)));
	if (!cli_request(cli, "POST", target, run_inbox_answer_text(answer, &cli->arena), &receipt,
			 out_lost, error))
		return false;
	if (!uuid_parse(json_text(json_member(receipt, S("run_id"))), &state->run))
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

#define ANSWER_TAKES                                                                     \
	.group = CLI_RUNS, .kind = CLI_CLIENT, .run = run,                               \
	.arguments = { { .name = "REQUEST", .values = CLI_REQUEST } },                   \
	.options = { { .name = "--message",                                              \
		       .letter = 'm',                                                    \
		       .value = "COMMENT",                                               \
		       .text = "Why; kept with the answer" },                            \
		     { .name = "--follow", .text = "Then follow the run to its end" } }, \
	.exits = { { 1, "followed, the run failed" } }

const struct cli_command command_approve = {
	.name = "approve",
	.text = "Say yes to a question",
	ANSWER_TAKES,
	.examples = { { "baton approve 1f0c… -m 'looks right'",
			"Answer a question of baton inbox" } },
	.prepare = prepare_approve,
};

const struct cli_command command_reject = {
	.name = "reject",
	.text = "Say no to a question",
	ANSWER_TAKES,
	.examples = { { "baton reject 1f0c… -m 'not on a Friday' --follow",
			"Say no and see what the run does" } },
	.prepare = prepare_reject,
};
