/* cli/command_chat.c -- baton chat: talks with an agent in a run that waits for the next message.
 *
 * The run keeps everything that was said.  Leaving loses nothing: the same command with the id of the
 * run continues.  A message is kept until the server has it, and has an idempotency key of its own, so
 * that it is sent once even if the server is lost in between.
 */
#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "base/utf8.h"
#include "cli/agent_run.h"
#include "cli/output.h"
#include "cli/profile_option.h"
#include "cli/run_lookup.h"
#include "cli/server_request.h"
#include "cli/talk_print.h"
#include "contract/run_command_types.h"
#include "os/terminal.h"

enum { STDIN = 0, AGENTS_LISTED = 5 };

struct chat_state {
	const char *name; /* the argument; NULL = none */
	struct str agent;
	struct run_name run;
	bool chosen;  /* agent or run */
	bool resumes; /* an existing run */
	struct agent_start start;
	struct talk_printer *printer;
	bool waits, ended;
	struct str message; /* body of the signal that is to be sent; "" = none */
	int64_t sent;
};

static bool prepare(struct cli *cli, struct error *error)
{
	struct chat_state *state = arena_new(&cli->arena, struct chat_state);
	cli->state = state;
	state->name = cli_argument(cli, 0);
	if (cli->json)
		return fail(error, ERROR_USAGE,
			    "chat is for people; a program sends messages with baton signal RUN "
			    "message and reads GET /api/runs/{id}/conversation");
	return true;
}

/* ---- whom to talk with --------------------------------------------------------------------- */

/* The only agent of the registry. */
static int choose_agent(struct cli *cli, struct chat_state *state)
{
	const struct json *page;
	struct error error;
	int status = cli_call(cli, "GET", cli_query(cli, S("/api/agents?view=run"), "limit", "5"),
			      S(""), &page);
	const struct json *items = status == 0 ? json_member(page, S("items")) : NULL;
	if (status != 0)
		return status;
	state->agent = cli_text(json_item(items, 0), "name");
	if (json_item(items, 0) != NULL && json_item(items, 1) == NULL)
		return 0;
	AUTO(buf) names = { 0 };
	for (size_t i = 0; i < AGENTS_LISTED && json_item(items, i) != NULL; i++) {
		struct str name = cli_text(json_item(items, i), "name");
		buf_add_format(&names, "%s" STR_FMT, i == 0 ? "" : ", ", STR_ARG(name));
	}
	if (names.size == 0)
		fail(&error, ERROR_NOT_FOUND,
		     "there is no agent to talk with; create one with baton agent create");
	else
		fail(&error, ERROR_USAGE, "name the agent to talk with: " STR_FMT,
		     STR_ARG(buf_str(&names)));
	return cli_fail(cli, &error);
}

/* The argument names an agent, or else a run. */
static int choose(struct cli *cli, struct chat_state *state)
{
	const struct json *answer;
	struct error error, not_a_run;
	bool lost;
	if (state->name == NULL)
		return choose_agent(cli, state);
	if (cli_request(cli, "GET",
			cli_query(cli, cli_target(cli, "/api/agents/", state->name, "/resolved"),
				  "profile", cli_value(cli, "--profile", 0)),
			S(""), &answer, &lost, &error)) {
		state->agent = str_from_c(state->name);
		return 0;
	}
	if (lost)
		return CLI_SERVER_LOST;
	if (error.code != ERROR_NOT_FOUND ||
	    !run_name_parse(state->name, "AGENT|RUN", &state->run, &not_a_run))
		return cli_fail(cli, &error);
	if (cli_has(cli, "--profile")) {
		fail(&error, ERROR_USAGE,
		     "--profile is for a new chat; a chat that has begun keeps its profile");
		return cli_fail(cli, &error);
	}
	state->resumes = true;
	return run_name_find(cli, &state->run);
}

static int begin(struct cli *cli, struct chat_state *state)
{
	int status = 0;
	if (!state->chosen)
		status = choose(cli, state);
	if (status != 0)
		return status;
	if (!state->chosen && !state->resumes)
		agent_start_make(cli, state->agent, NULL, true, &state->start);
	state->chosen = true;
	if (!state->resumes)
		status = agent_start_send(cli, &state->start, false);
	if (status != 0)
		return status;
	cli->follow_command = "chat";
	state->printer =
		talk_printer_new(cli, state->resumes ? &state->run.first : &state->start.run, true);
	return state->resumes ? talk_printer_history(state->printer, &state->waits) : 0;
}

/* ---- messages ------------------------------------------------------------------------------- */

static const struct uuid *run_of(const struct chat_state *state)
{
	return state->resumes ? &state->run.first : &state->start.run;
}

static void compose(struct cli *cli, struct chat_state *state, struct str text, bool end)
{
	struct json_member members[2] = {
		{ .key = S("role"), .value = { .kind = JSON_STRING, .as.string = S("user") } },
		{ .key = S("content"), .value = { .kind = JSON_STRING, .as.string = text } },
	};
	struct json_member ends = { .key = S("end"),
				    .value = { .kind = JSON_BOOL, .as.boolean = true } };
	struct json data = { .kind = JSON_OBJECT };
	data.as.object.at = end ? &ends : members;
	data.as.object.count = end ? 1 : 2;
	struct run_signal_request *request = run_signal_request_new(&cli->arena);
	SET(request, name, S("message"));
	SET(request, data, &data);
	state->message = run_signal_request_text(request, &cli->arena);
}

static int send_message(struct cli *cli, struct chat_state *state)
{
	char id[UUID_TEXT_SIZE];
	const struct json *answer;
	struct uuid own = uuid_from_random(cli->random); /* of this call of the program */
	cli->idempotency_key = str_format(&cli->arena, "chat-" STR_FMT "-%lld",
					  STR_ARG(uuid_text(&own, id)), (long long)state->sent);
	int status = cli_call(cli, "POST", cli_run_target(cli, run_of(state), "/signal"),
			      state->message, &answer);
	cli->idempotency_key = S("");
	if (status != 0)
		return status;
	state->sent++;
	state->message = S("");
	state->waits = false;
	return 0;
}

/* One line; false at the end of the input.  A line that is longer than a message may be is cut. */
static bool read_line(struct buf *out)
{
	int c;
	buf_clear(out);
	while ((c = getc(stdin)) != EOF && c != '\n')
		if (out->size < LIMIT_CHAT_MESSAGE_BYTES)
			buf_add_char(out, (char)c);
	return c != EOF || out->size > 0;
}

enum chat_word { CHAT_MESSAGE, CHAT_LEAVE, CHAT_END };

/* Asks until there is something to do. */
static enum chat_word read_message(struct cli *cli, struct chat_state *state)
{
	AUTO(buf) line = { 0 };
	for (;;) {
		if (terminal_is_at(STDIN))
			(void)!cli_piece(CLI_PROGRESS, S("> "));
		if (!read_line(&line))
			return CHAT_LEAVE;
		struct str text = str_trim(buf_str(&line));
		size_t bad;
		if (str_equal(text, S("/quit")) || str_equal(text, S("/exit")))
			return CHAT_LEAVE;
		if (str_equal(text, S("/end")))
			return CHAT_END;
		if (str_starts(text, S("/")))
			cli_line(
				CLI_PROGRESS,
				"/quit leaves and the chat waits; /end ends it; anything else is a "
				"message");
		else if (!utf8_valid(text, &bad))
			cli_line(CLI_PROGRESS, "the message is not UTF-8 and was not sent");
		else if (text.size > 0) {
			compose(cli, state, str_copy(&cli->arena, text), false);
			return CHAT_MESSAGE;
		}
	}
}

static int leave(const struct chat_state *state)
{
	char id[UUID_TEXT_SIZE];
	cli_line(CLI_PROGRESS, "the chat waits for you: baton chat " STR_FMT,
		 STR_ARG(uuid_text(run_of(state), id)));
	return cli_flush();
}

static int run(struct cli *cli)
{
	struct chat_state *state = cli->state;
	int status = state->printer == NULL ? begin(cli, state) : 0;
	while (status == 0 && !state->ended) {
		if (state->message.size > 0) {
			status = send_message(cli, state);
			continue;
		}
		if (!state->waits) {
			status = talk_printer_follow(state->printer, &state->ended);
			state->waits = status == 0 && !state->ended;
			continue;
		}
		enum chat_word word = read_message(cli, state);
		if (word == CHAT_LEAVE)
			return leave(state);
		if (word == CHAT_END)
			compose(cli, state, S(""), true);
	}
	return status != 0 ? status : talk_printer_end(state->printer);
}

const struct cli_command command_chat = {
	.name = "chat",
	.text = "Talk with an agent; the run keeps what was said and waits for the next message",
	.group = CLI_RUNS,
	.kind = CLI_CLIENT,
	.arguments = { { .name = "AGENT|RUN", .value_kind = CLI_AGENT, .optional = true } },
	.options = { CLI_RUN_PROFILE },
	.examples = { { "baton chat reviewer", "Begin a chat with an agent of the registry" },
		      { "baton chat 1f0c", "Show what was said in a chat, and continue it" },
		      { "echo 'Is it ready?' | baton chat 1f0c", "Send one message" } },
	.exits = { { 1, "the run failed" }, CLI_EXIT_WITH_ISSUES, CLI_EXIT_INTERRUPTED },
	.prepare = prepare,
	.run = run,
};
