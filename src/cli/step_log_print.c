/* cli/step_log_print.c -- prints the log of a step, whole or while it is written.
 *
 * With -f the position of what was printed last is kept, so that printing continues there when the
 * server is lost and found again.
 */
#include "cli/step_log_print.h"

#include "base/terminal_text.h"
#include "cli/output.h"
#include "cli/server_request.h"
#include "contract/run_log_types.h"

enum { TAIL_LINES = 10, TAIL_BYTES = 2000 };

struct step_log_state {
	struct cli *cli;
	struct str step, target;
	const char *attempt; /* NULL = all */
	bool follow, several;
	struct cli_tool_text outlets[2]; /* by enum run_log_stream */
	int64_t printed_attempt, printed_offset;
	bool failed; /* standard output does not take more */
};

bool step_log_prepare(struct cli *cli, const char *step, struct step_log_state **out_state,
		      struct error *error)
{
	struct step_log_state *state = arena_new(&cli->arena, struct step_log_state);
	int64_t number;
	state->cli = cli;
	state->attempt = cli_value(cli, "--attempt", 0);
	state->follow = cli_has(cli, "--follow");
	state->outlets[RUN_LOG_STREAM_STDOUT] = cli_tool_text_make(cli, CLI_RESULT);
	state->outlets[RUN_LOG_STREAM_STDERR] = cli_tool_text_make(cli, CLI_PROGRESS);
	if (cli_has(cli, "--view") || cli_has(cli, "--after"))
		return fail(error, ERROR_USAGE,
			    "--view and --after are for the events of a run: leave out STEP");
	if (state->attempt != NULL &&
	    (!str_to_int(str_from_c(state->attempt), &number) || number < 1))
		return fail(error, ERROR_USAGE,
			    "--attempt must be the number of an attempt, from 1, not \"%s\"",
			    state->attempt);
	if (step[0] == '\0')
		return fail(error, ERROR_USAGE, "STEP must not be empty");
	state->step = str_from_c(step);
	*out_state = state;
	return true;
}

/* ---- printing ------------------------------------------------------------------------ */

static void print_text(struct step_log_state *state, enum run_log_stream stream, struct str text,
		       bool last)
{
	if (!cli_tool_text_print(&state->outlets[stream], text, last))
		state->failed = true;
}

static void print_rest(struct step_log_state *state)
{
	print_text(state, RUN_LOG_STREAM_STDOUT, S(""), true);
	print_text(state, RUN_LOG_STREAM_STDERR, S(""), true);
}

static void print_gap(int64_t bytes)
{
	cli_line(CLI_PROGRESS, "[%lld bytes left out]", (long long)bytes);
}

/* "attempt 2: failed: exit status 1" */
static void print_end(int64_t number, const struct str *outcome, struct str error)
{
	struct str word = outcome == NULL ? S("interrupted: the server ended, and the log is lost")
					  : *outcome;
	cli_line(CLI_PROGRESS, "attempt %lld: " STR_FMT "%s" STR_FMT, (long long)number,
		 STR_ARG(word), error.size > 0 ? ": " : "", STR_ARG(error));
}

static void print_attempt(struct step_log_state *state, const struct run_log_attempt *attempt)
{
	for (size_t i = 0; i < attempt->parts.count; i++) {
		const struct run_log_part *part = &attempt->parts.at[i];
		if (has(part, omitted))
			print_gap(part->omitted);
		print_text(state, part->stream, part->text, false);
	}
	print_rest(state);
	if (has(attempt, too_large))
		cli_line(CLI_PROGRESS,
			 "[too large together with the other attempts: use --attempt %lld]",
			 (long long)attempt->attempt);
	struct str outcome = has(attempt, outcome) ? run_outcome_name(attempt->outcome) : S("");
	if (state->several && !attempt->live)
		print_end(attempt->attempt, has(attempt, interrupted) ? NULL : &outcome,
			  has(attempt, error) ? attempt->error : S(""));
}

static int fail_document(struct cli *cli)
{
	struct error error;
	fail(&error, ERROR_INTERNAL,
	     "the server's response is not a log; is it another version of baton?");
	return cli_fail(cli, &error);
}

static const struct run_step_log *parse_log(const struct json *json, struct arena *arena)
{
	struct contract_source source = { .json = json, .lenient = true };
	struct problems problems = { .arena = arena };
	return run_step_log_parse(&source, arena, &problems);
}

static int print_stored(struct cli *cli, struct step_log_state *state)
{
	const struct json *json;
	int status = cli_call(cli, "GET", state->target, S(""), &json);
	if (status != 0)
		return status;
	if (cli->json)
		return cli_print_json(cli, json);
	const struct run_step_log *log = parse_log(json, &cli->arena);
	if (log == NULL)
		return fail_document(cli);
	int64_t size = 0;
	state->several = log->attempts.count > 1;
	for (size_t i = 0; i < log->attempts.count; i++) {
		size += log->attempts.at[i].size;
		print_attempt(state, &log->attempts.at[i]);
	}
	if (size == 0 && !state->several)
		cli_line(CLI_PROGRESS, "nothing was written; the step is " STR_FMT "%s",
			 STR_ARG(log->state), log->live ? ": follow it with -f" : "");
	return cli_flush();
}

/* ---- following ----------------------------------------------------------------------- */

static void print_chunk(struct step_log_state *state, const struct run_log_chunk *chunk)
{
	int64_t from = chunk->offset, skip = 0;
	if (chunk->attempt < state->printed_attempt)
		return;
	if (chunk->attempt > state->printed_attempt) {
		state->printed_attempt = chunk->attempt;
		state->printed_offset = 0;
	}
	if (!has(chunk, stream)) {
		struct str outcome = has(chunk, outcome) ? run_outcome_name(chunk->outcome) : S("");
		print_rest(state);
		state->several =
			state->several || !has(chunk, outcome) || chunk->outcome != RUN_OUTCOME_OK;
		if (state->several)
			print_end(chunk->attempt, has(chunk, outcome) ? &outcome : NULL,
				  has(chunk, error) ? chunk->error : S(""));
		state->printed_attempt++;
		state->printed_offset = 0;
		return;
	}
	if (from > state->printed_offset)
		print_gap(from - state->printed_offset);
	else
		skip = state->printed_offset - from;
	if (skip >= (int64_t)chunk->text.size)
		return;
	print_text(state, chunk->stream, str_skip(chunk->text, (size_t)skip), false);
	state->printed_offset = from + (int64_t)chunk->text.size;
}

static bool take_chunk(void *context, struct str id, struct str data)
{
	struct step_log_state *state = context;
	AUTO(arena) arena = { 0 };
	const struct json *json;
	struct error error;
	(void)id;
	if (!json_read(data, &arena, &json, &error))
		return true;
	if (state->cli->json) {
		cli_json_line(CLI_RESULT, json_print(&arena, json));
		return cli_flush() == 0;
	}
	struct contract_source source = { .json = json, .lenient = true };
	struct problems problems = { .arena = &arena };
	const struct run_log_chunk *chunk = run_log_chunk_parse(&source, &arena, &problems);
	if (chunk != NULL)
		print_chunk(state, chunk);
	return !state->failed;
}

int step_log_run(struct cli *cli, struct step_log_state *state, const struct uuid *run)
{
	struct error error;
	bool lost;
	state->target = cli_query(cli, cli_step_target(cli, run, state->step, "/log"), "attempt",
				  state->attempt);
	if (!state->follow)
		return print_stored(cli, state);
	state->target = cli_query(cli, state->target, "follow", "true");
	if (cli_stream(cli, state->target, take_chunk, NULL, state, &lost, &error)) {
		print_rest(state);
		return cli_flush();
	}
	return lost ? CLI_SERVER_LOST : cli_fail(cli, &error);
}

/* ---- the last lines of failed steps --------------------------------------------------- */

/* The last TAIL_LINES lines, within TAIL_BYTES. */
static struct str last_lines(struct str text)
{
	text = str_trim(text);
	size_t lines = 0, from = text.size;
	while (from > 0 && text.size - from < TAIL_BYTES) {
		if (text.at[from - 1] == '\n' && ++lines == TAIL_LINES)
			break;
		from--;
	}
	while (from > 0 && from < text.size && ((unsigned char)text.at[from] & 0xC0) == 0x80)
		from++;
	return str_skip(text, from);
}

bool step_log_add_tail(struct cli *cli, const struct uuid *run, struct str step, struct buf *out)
{
	AUTO(buf) whole = { 0 };
	AUTO(buf) safe = { 0 };
	const struct json *json;
	struct error error;
	bool lost;
	char id[UUID_TEXT_SIZE];
	if (!cli_request(cli, "GET", cli_step_target(cli, run, step, "/log"), S(""), &json, &lost,
			 &error))
		return false;
	const struct run_step_log *log = parse_log(json, &cli->arena);
	if (log == NULL || log->attempts.count == 0)
		return false;
	const struct run_log_attempt *attempt = &log->attempts.at[log->attempts.count - 1];
	for (size_t i = 0; i < attempt->parts.count; i++)
		buf_add(&whole, attempt->parts.at[i].text);
	struct str rest = last_lines(buf_str(&whole)), line;
	if (rest.size == 0)
		return false;
	buf_add(out, S("\n"));
	terminal_text_add(step, 0, out);
	buf_add(out, S(" wrote last:\n"));
	while (str_cut(&rest, '\n', &line)) {
		buf_add(out, S("  "));
		terminal_text_add(line, cli->color ? TERMINAL_TEXT_COLORS : 0, out);
		buf_add(out, cli->color ? S(TERMINAL_TEXT_RESET "\n") : S("\n"));
	}
	terminal_text_add(step, 0, &safe);
	buf_add_format(out, "  (baton logs " STR_FMT " '" STR_FMT "' prints all of it)\n",
		       STR_ARG(uuid_text(run, id)), STR_ARG(buf_str(&safe)));
	return true;
}
