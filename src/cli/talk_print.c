/* cli/talk_print.c -- prints turns and calls from a run's stream.
 *
 * The stream has chunks and events.  An event names long values only by their hash, so an ended turn is
 * read from the server as a whole: what was not printed from chunks is printed then.
 */
#include "cli/talk_print.h"

#include "base/limits.h"
#include "base/terminal_text.h"
#include "base/utf8.h"
#include "cli/output.h"
#include "cli/run_tree.h"
#include "cli/server_request.h"
#include "contract/run_stream_types.h"
#include "contract/run_talk_types.h"
#include "os/terminal.h"

enum { ARGUMENT_BYTES = 72, ERROR_BYTES = 200, STDERR = 2 };

#define DIM "\033[2m"

struct talk_printer {
	struct cli *cli;
	struct uuid run;
	bool chat;
	bool dims; /* stderr takes colors */
	int64_t last_seq;
	bool waits, ended, failed; /* failed: the output takes no more */

	/* The turn that is being printed: */
	struct uuid turn;
	int64_t attempt;
	size_t printed[RUN_REPLY_CALL + 1]; /* bytes, by enum run_reply_part */
	enum { AT_LINE_START, IN_THINKING, IN_TEXT } place;
	bool broken; /* the last piece ended with a line end */
	struct cli_tool_text text;
};

struct talk_printer *talk_printer_new(struct cli *cli, const struct uuid *run, bool chat)
{
	struct talk_printer *p = arena_new(&cli->arena, struct talk_printer);
	p->cli = cli;
	p->run = *run;
	p->chat = chat;
	p->dims = cli->color && terminal_is_at(STDERR);
	p->text = cli_tool_text_make(cli, CLI_RESULT);
	p->text.colors = false;
	p->text.terminal = true; /* what is piped is often shown on a terminal later */
	return p;
}

/* ---- pieces ------------------------------------------------------------------------------ */

static void end_line(struct talk_printer *p)
{
	struct str end = p->broken ? S("") : S("\n");
	if (p->place == IN_TEXT)
		p->failed = !cli_tool_text_print(&p->text, end, true) || p->failed;
	else if (p->place == IN_THINKING)
		p->failed = !cli_piece(CLI_PROGRESS, end) || p->failed;
	p->place = AT_LINE_START;
}

static void print_dimmed(struct talk_printer *p, struct str text, unsigned flags)
{
	AUTO(buf) out = { 0 };
	if (p->dims)
		buf_add(&out, S(DIM));
	terminal_text_add(text, flags, &out);
	if (p->dims)
		buf_add(&out, S(TERMINAL_TEXT_RESET));
	p->failed = !cli_piece(CLI_PROGRESS, buf_str(&out)) || p->failed;
}

static void print_line(struct talk_printer *p, struct str text)
{
	end_line(p);
	print_dimmed(p, text, 0);
	p->failed = !cli_piece(CLI_PROGRESS, S("\n")) || p->failed;
}

static void print_piece(struct talk_printer *p, enum run_reply_part part, struct str text)
{
	if (text.size == 0 || part == RUN_REPLY_CALL)
		return;
	if (p->place != (part == RUN_REPLY_TEXT ? IN_TEXT : IN_THINKING))
		end_line(p);
	p->broken = str_ends(text, S("\n"));
	if (part == RUN_REPLY_TEXT) {
		p->place = IN_TEXT;
		p->failed = !cli_tool_text_print(&p->text, text, false) || p->failed;
	} else {
		p->place = IN_THINKING;
		print_dimmed(p, text, TERMINAL_TEXT_LINES);
	}
}

/* A new turn, or a new attempt of the same turn, whose text replaces what was printed. */
static void begin_turn(struct talk_printer *p, const struct uuid *turn, int64_t attempt)
{
	bool same = uuid_equal(&p->turn, turn);
	if (same && p->attempt == attempt)
		return;
	bool repeats = same && p->attempt < attempt && p->printed[RUN_REPLY_TEXT] > 0;
	end_line(p);
	p->turn = *turn;
	p->attempt = attempt;
	for (size_t i = 0; i < COUNT(p->printed); i++)
		p->printed[i] = 0;
	if (repeats)
		print_line(p, str_format(&p->cli->arena, "[attempt %lld: the reply begins again]",
					 (long long)attempt));
}

static void take_chunk(struct talk_printer *p, const struct run_chunk *chunk)
{
	if (!p->cli->to_terminal)
		return;
	begin_turn(p, &chunk->turn, chunk->attempt);
	size_t at = (size_t)chunk->offset, printed = p->printed[chunk->part];
	if (at > printed || at + chunk->delta.size <= printed)
		return;
	print_piece(p, chunk->part, str_skip(chunk->delta, printed - at));
	p->printed[chunk->part] = at + chunk->delta.size;
}

/* ---- calls ------------------------------------------------------------------------------- */

/* The value of the only argument, else all of them as JSON; the beginning. */
static void add_arguments(const struct run_talk_call *call, struct arena *arena, struct buf *out)
{
	struct str text = S("");
	if (has(call, malformed))
		text = call->malformed;
	else if (has(call, arguments) && call->arguments->as.object.count == 1 &&
		 call->arguments->as.object.at[0].value.kind == JSON_STRING)
		text = call->arguments->as.object.at[0].value.as.string;
	else if (has(call, arguments) && call->arguments->as.object.count > 0)
		text = json_print(arena, call->arguments);
	struct str shown = utf8_head(text, ARGUMENT_BYTES);
	if (shown.size > 0)
		buf_add(out, S("  "));
	buf_add(out, shown);
	if (shown.size < text.size)
		buf_add(out, S("…"));
}

/* "  > shell  echo hi  (succeeded, 34ms)" */
static void print_call(struct talk_printer *p, const struct run_talk_call *call)
{
	AUTO(arena) arena = { 0 };
	AUTO(buf) line = { 0 };
	buf_add(&line, S("  > "));
	buf_add(&line, call->name);
	add_arguments(call, &arena, &line);
	buf_add(&line, S("  ("));
	buf_add(&line, has(call, state) ? call->state : S("refused"));
	if (has(call, started_at) && has(call, ended_at)) {
		buf_add(&line, S(", "));
		run_tree_duration(call->started_at, call->ended_at, &line);
	}
	if (has(call, error)) {
		buf_add(&line, S(": "));
		buf_add(&line, utf8_head(call->error, ERROR_BYTES));
	}
	buf_add(&line, S(")"));
	print_line(p, buf_str(&line));
}

/* ---- events ------------------------------------------------------------------------------ */

/* The turn as it is now; NULL when it cannot be read: a lost server is reported by the stream. */
static const struct run_talk_turn *fetch_turn(struct talk_printer *p, struct str step,
					      struct arena *arena)
{
	struct cli asking = *p->cli;
	asking.arena = (struct arena){ 0 };
	const struct json *answer;
	const struct run_talk_turn *turn = NULL;
	struct error error;
	bool lost;
	if (cli_request(&asking, "GET", cli_step_target(&asking, &p->run, step, "/reply"), S(""),
			&answer, &lost, &error)) {
		struct contract_source source = { .json = json_copy(arena, answer),
						  .lenient = true };
		struct problems problems = { .arena = arena };
		turn = run_talk_turn_parse(&source, arena, &problems);
	}
	arena_done(&asking.arena);
	return turn;
}

/* What no chunk had. */
static void print_rest(struct talk_printer *p, enum run_reply_part part, struct str text)
{
	size_t printed = p->printed[part];
	if (printed < text.size)
		print_piece(p, part, str_skip(text, printed));
	p->printed[part] = text.size;
}

static void turn_ended(struct talk_printer *p, struct str step)
{
	AUTO(arena) arena = { 0 };
	const struct run_talk_turn *turn = fetch_turn(p, step, &arena);
	if (turn == NULL || !has(turn, turn))
		return;
	bool calls = has(turn, calls) && turn->calls.count > 0;
	begin_turn(p, &turn->turn, turn->attempt);
	if (p->cli->to_terminal && has(turn, thinking))
		print_rest(p, RUN_REPLY_THINKING, turn->thinking);
	if (p->cli->to_terminal || !calls)
		print_rest(p, RUN_REPLY_TEXT, turn->text);
	else if (turn->text.size > 0)
		print_line(p, turn->text);
	end_line(p);
	if (has(turn, error))
		print_line(p, str_format(&arena, "[the turn failed: " STR_FMT "]",
					 STR_ARG(turn->error)));
	for (size_t i = 0; calls && i < turn->calls.count; i++)
		if (!has(&turn->calls.at[i], step) && has(&turn->calls.at[i], error))
			print_call(p, &turn->calls.at[i]);
}

/* The call of a session: its turn is in the same body. */
static void call_ended(struct talk_printer *p, struct str step)
{
	AUTO(arena) arena = { 0 };
	size_t slash = step.size;
	while (slash > 0 && step.at[slash - 1] != '/')
		slash--;
	if (slash < 2 || step.at[slash - 2] != ']')
		return;
	const struct run_talk_turn *turn = fetch_turn(
		p, str_format(&arena, STR_FMT "turn", STR_ARG(str_head(step, slash))), &arena);
	for (size_t i = 0; turn != NULL && has(turn, calls) && i < turn->calls.count; i++)
		if (has(&turn->calls.at[i], step) && str_equal(turn->calls.at[i].step, step))
			print_call(p, &turn->calls.at[i]);
}

static void take_event(struct talk_printer *p, const struct run_event *event)
{
	struct str step = cli_text(event->data, "step");
	if (event->seq <= p->last_seq)
		return;
	p->last_seq = event->seq;
	p->ended = str_equal(event->type, S("run.finished"));
	if (str_equal(event->type, S("turn.finished")))
		turn_ended(p, step);
	else if (str_equal(event->type, S("tool.finished")))
		call_ended(p, step);
	else if (str_equal(event->type, S("step.entered")) &&
		 cli_text(event->data, "note").size > 0)
		print_line(p, str_format(&p->cli->arena, "[to the model: " STR_FMT "]",
					 STR_ARG(cli_text(event->data, "note"))));
	else if (str_equal(event->type, S("human.requested")))
		print_line(p, str_format(&p->cli->arena, "[waits for a person: " STR_FMT "]",
					 STR_ARG(cli_text(event->data, "question"))));
	else if (p->chat && str_equal(event->type, S("timer.requested")) &&
		 str_equal(cli_text(event->data, "signal"), S("message")))
		p->waits = true;
	else if (p->chat && str_equal(event->type, S("timer.finished")))
		p->waits = false;
}

static bool take(void *context, struct str id, struct str data)
{
	struct talk_printer *p = context;
	AUTO(arena) arena = { 0 };
	const struct json *json;
	struct error error;
	(void)id;
	if (!json_read(data, &arena, &json, &error))
		return true;
	struct contract_source source = { .json = json, .lenient = true };
	struct problems problems = { .arena = &arena };
	if (json_member(json, S("delta")) != NULL) {
		const struct run_chunk *chunk = run_chunk_parse(&source, &arena, &problems);
		if (chunk != NULL)
			take_chunk(p, chunk);
	} else {
		const struct run_event *event = run_event_parse(&source, &arena, &problems);
		if (event != NULL)
			take_event(p, event);
	}
	return !p->failed && !p->waits;
}

int talk_printer_follow(struct talk_printer *p, bool *out_ended)
{
	struct cli *cli = p->cli;
	struct error error;
	char id[UUID_TEXT_SIZE];
	bool lost;
	cli->followed = str_c(&cli->arena, uuid_text(&p->run, id));
	struct str suffix =
		str_format(&cli->arena, "/stream?chunks=1&after=%lld", (long long)p->last_seq);
	p->waits = false;
	bool good = cli_stream(cli, cli_run_target(cli, &p->run, str_c(&cli->arena, suffix)), take,
			       NULL, p, &lost, &error);
	end_line(p);
	/* The server ends the stream in order only after the run has ended. */
	*out_ended = p->ended || (good && !p->waits && !p->failed);
	if (*out_ended)
		cli->followed = NULL;
	if (good || p->ended || p->waits)
		return p->failed ? cli_flush() : 0;
	return lost ? CLI_SERVER_LOST : cli_fail(cli, &error);
}

/* ---- the beginning and the end ------------------------------------------------------------- */

static int fetch_conversation(struct talk_printer *p, const struct run_conversation **out)
{
	struct cli *cli = p->cli;
	const struct json *json;
	struct error error;
	int status =
		cli_call(cli, "GET", cli_run_target(cli, &p->run, "/conversation"), S(""), &json);
	if (status != 0)
		return status;
	struct contract_source source = { .json = json, .lenient = true };
	struct problems problems = { .arena = &cli->arena };
	*out = run_conversation_parse(&source, &cli->arena, &problems);
	if (*out != NULL)
		return 0;
	fail(&error, ERROR_INTERNAL,
	     "the server's response is not a conversation; is it another version of baton?");
	return cli_fail(cli, &error);
}

/* Whether the run waits for a message now, unless it has gone on since the conversation was read. */
static int fetch_waits(struct talk_printer *p, bool *out_waits)
{
	struct cli *cli = p->cli;
	const struct json *outline;
	int status = cli_call(cli, "GET", cli_run_target(cli, &p->run, "/steps"), S(""), &outline);
	const struct json *steps = status == 0 ? json_member(outline, S("steps")) : NULL;
	*out_waits = false;
	if (status != 0 || cli_number(outline, "seq") != p->last_seq)
		return status;
	for (size_t i = 0; json_item(steps, i) != NULL; i++)
		*out_waits = *out_waits ||
			     str_equal(cli_text(json_item(steps, i), "signal"), S("message"));
	return 0;
}

/* The newest talk of a chat has everything that was said before its last turn. */
static void print_history(struct talk_printer *p, const struct run_talk *talk)
{
	for (size_t i = 0; i < talk->messages.count; i++) {
		const struct run_turn_message *message = &talk->messages.at[i];
		if (str_equal(message->role, S("user")))
			print_line(p, str_format(&p->cli->arena, "> " STR_FMT,
						 STR_ARG(message->content)));
		else
			print_piece(p, RUN_REPLY_TEXT, message->content);
		end_line(p);
	}
	const struct run_talk_turn *turn =
		talk->turns.count == 0 ? NULL : &talk->turns.at[talk->turns.count - 1];
	if (turn != NULL && !turn->live)
		print_piece(p, RUN_REPLY_TEXT, turn->text);
	end_line(p);
}

int talk_printer_history(struct talk_printer *p, bool *out_waits)
{
	const struct run_conversation *conversation;
	int status = fetch_conversation(p, &conversation);
	if (status != 0)
		return status;
	size_t count = conversation->talks.count;
	if (count > 0)
		print_history(p, &conversation->talks.at[count - 1]);
	p->last_seq = conversation->seq;
	status = fetch_waits(p, out_waits);
	return status == 0 && p->failed ? cli_flush() : status;
}

/* "2 turns, 250 input and 25 output tokens, $0.0125" */
static void print_usage(struct talk_printer *p, const struct run_talk_usage *usage)
{
	AUTO(buf) line = { 0 };
	buf_add_format(&line, "%lld %s, %lld input and %lld output tokens", (long long)usage->turns,
		       usage->turns == 1 ? "turn" : "turns", (long long)usage->input_tokens,
		       (long long)usage->output_tokens);
	if (usage->cache_read_tokens > 0)
		buf_add_format(&line, " (%lld from the cache)",
			       (long long)usage->cache_read_tokens);
	if (has(usage, cost_usd))
		buf_add_format(&line, ", $%.4f", usage->cost_usd);
	print_line(p, buf_str(&line));
}

int talk_printer_end(struct talk_printer *p)
{
	struct cli *cli = p->cli;
	const struct json *result;
	const struct run_conversation *conversation;
	int status = fetch_conversation(p, &conversation);
	if (status == 0)
		status = cli_call(cli, "GET", cli_run_target(cli, &p->run, ""), S(""), &result);
	if (status != 0)
		return status;
	if (has(conversation, usage))
		print_usage(p, conversation->usage);
	struct str state = cli_text(json_member(result, S("metadata")), "state");
	if (str_equal(cli_text(result, "status"), S("success")))
		return cli_flush();
	struct str why = cli_text(result, "error");
	cli_line(CLI_PROGRESS, "baton: the run %s: " STR_FMT,
		 str_equal(state, S("cancelled")) ? "was cancelled" : "failed", STR_ARG(why));
	return 1;
}
