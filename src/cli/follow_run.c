/* cli/follow_run.c -- follows a run by its event stream: one line per event, or a live tree.
 *
 * The seq of the last event is kept, so that output continues after it when the server is lost and
 * another one is found.  The tree is not built from the events: an event only marks the tree as
 * outdated, and then the run's outline is fetched from the server, at most every LIMIT_TREE_LOOK_MS
 * and for at most a quarter of the time.
 */
#include "base/limits.h"
#include "base/time.h"
#include "cli/output.h"
#include "cli/server_request.h"
#include "cli/event_line.h"
#include "cli/run_tree.h"
#include "contract/run_outline_types.h"
#include "os/terminal.h"

struct run_follower {
	struct cli *cli;
	const struct uuid *run;
	int64_t *last_seq;
	bool finished;

	/* the tree: */
	struct arena arena;                /* owns outline */
	const struct run_outline *outline; /* as last fetched; NULL = never */
	int64_t fetched_at, fetch_took;
	bool changed; /* an event has arrived since the last fetch */
	unsigned frame;
	size_t lines;    /* that the tree now takes on the screen */
	struct str hint; /* how to continue a paused run; "" = it is not paused */
	struct arena hint_arena;
};

/* ---- the tree -------------------------------------------------------------------------- */

enum { FETCH_SHARE = 4 }; /* at most 1/FETCH_SHARE of the time is spent fetching */

/* Fetches the outline. On failure the old one stays: if the server is lost, the stream reports it.
 */
static void outline_fetch(struct run_follower *f)
{
	struct cli asking = *f->cli;
	asking.arena = (struct arena){ 0 };
	const struct json *answer;
	struct error error;
	bool lost;
	f->fetched_at = f->cli->clock();
	if (cli_request(&asking, "GET", cli_run_target(&asking, f->run, "/steps"), S(""), &answer,
			&lost, &error)) {
		struct contract_source source = { .json = answer, .lenient = true };
		struct problems problems = { .arena = &asking.arena };
		const struct run_outline *outline =
			run_outline_parse(&source, &asking.arena, &problems);
		if (outline != NULL) {
			f->changed = false;
			f->outline = outline;
			arena_done(&f->arena);
			f->arena = asking.arena;
			return;
		}
	}
	arena_done(&asking.arena);
}

static void outline_fetch_timed(struct run_follower *f)
{
	outline_fetch(f);
	f->fetch_took = f->cli->clock() - f->fetched_at;
}

static bool outline_fetch_is_due(const struct run_follower *f)
{
	int64_t since = f->cli->clock() - f->fetched_at;
	int64_t least = LIMIT_TREE_LOOK_MS * INT64_C(1000);
	if (FETCH_SHARE * f->fetch_took > least)
		least = FETCH_SHARE * f->fetch_took;
	/* The position in the admission queue changes without an event of this run. */
	bool moves = f->outline != NULL && has(f->outline, queue);
	return (f->changed || moves) && (since < 0 || since >= least);
}

static bool tree_draw(struct run_follower *f)
{
	struct tree_style style = { .now = f->cli->clock(),
				    .frame = f->frame++,
				    .color = f->cli->color };
	size_t rows = 0;
	if (f->outline == NULL)
		return true;
	AUTO(buf) text = { 0 };
	cli_lines_erase(f->lines);
	if (terminal_size(&rows, &style.columns))
		style.rows = rows > 4 ? rows - 3 : 1;
	f->lines = run_tree_head(f->outline, &style, &text);
	f->lines += run_tree_print(f->outline, &style, &text);
	if (f->hint.size > 0) {
		buf_add_format(&text, STR_FMT "\n", STR_ARG(f->hint));
		f->lines +=
			style.columns > 0 ? (f->hint.size + style.columns - 1) / style.columns : 1;
	}
	return cli_print_styled(f->cli, buf_str(&text)) == 0;
}

static bool tick(void *context)
{
	struct run_follower *f = context;
	if (outline_fetch_is_due(f))
		outline_fetch_timed(f);
	return tree_draw(f);
}

/* ---- pauses ---------------------------------------------------------------------------- */

/* A paused run does not end by itself: says why it is paused and which command continues it. */
static void note_pause(struct run_follower *f, const struct run_event *event)
{
	char id[UUID_TEXT_SIZE];
	bool paused = str_equal(event->type, S("run.paused"));
	if (!paused && !str_equal(event->type, S("run.resumed")) &&
	    !str_equal(event->type, S("run.cancelling")))
		return;
	arena_reset(&f->hint_arena);
	f->hint = S("");
	if (!paused)
		return;
	struct arena *arena = &f->hint_arena;
	struct str reason = cli_text(event->data, "reason"),
		   budget = cli_text(event->data, "budget");
	bool own = str_equal(cli_text(event->data, "by"), S("baton"));
	struct str document = str_starts(budget, S("day:")) ? S("day") : budget;
	struct str how = budget.size > 0 ? str_format(arena, "baton budget set " STR_FMT " DOLLARS",
						      STR_ARG(document))
					 : str_format(arena, "baton resume " STR_FMT "%s",
						      STR_ARG(uuid_text(f->run, id)),
						      own ? " --budget DOLLARS" : "");
	f->hint = str_format(arena, "paused%s" STR_FMT "; to continue: " STR_FMT,
			     reason.size > 0 ? ": " : "", STR_ARG(reason), STR_ARG(how));
}

/* ---- events ---------------------------------------------------------------------------- */

static bool take_event(void *context, struct str id, struct str data)
{
	struct run_follower *f = context;
	(void)id;
	AUTO(arena) arena = { 0 };
	const struct json *json;
	struct error error;
	struct problems problems = { .arena = &arena };
	if (!json_read(data, &arena, &json, &error))
		return true;
	struct contract_source source = { .json = json, .lenient = true };
	const struct run_event *event = run_event_parse(&source, &arena, &problems);
	if (event == NULL || event->seq <= *f->last_seq)
		return true;
	*f->last_seq = event->seq;
	/* Not the last event if the run was retried: the server ends the stream. */
	f->finished = str_equal(event->type, S("run.finished"));
	note_pause(f, event);
	if (!f->cli->interactive || f->cli->json) {
		AUTO(buf) line = { 0 };
		event_line_add(event, true, &line);
		cli_lines(CLI_PROGRESS, buf_str(&line));
		if (f->hint.size > 0 && str_equal(event->type, S("run.paused")))
			cli_line(CLI_PROGRESS, STR_FMT, STR_ARG(f->hint));
		return true;
	}
	f->changed = true;
	return f->finished || !outline_fetch_is_due(f) || tick(f);
}

static int print_result(struct cli *cli, const struct uuid *run)
{
	const struct json *result;
	int asked = cli_call(cli, "GET", cli_run_target(cli, run, ""), S(""), &result);
	if (asked != 0)
		return asked;
	struct str status = cli_text(result, "status");
	if (str_equal(status, S("running")))
		return CLI_SERVER_LOST;
	const struct json *shown = cli->json ? result : json_member(result, S("outputs"));
	cli_warnings(result);
	int printed = cli_print_json(cli, shown);
	if (printed != 0)
		return printed;
	if (str_equal(status, S("success")))
		return 0;
	struct str why = cli_text(result, "error");
	struct str state = cli_text(json_member(result, S("metadata")), "state");
	if (str_equal(state, S("with_issues"))) {
		cli_line(CLI_PROGRESS, "baton: the run ended " STR_FMT, STR_ARG(why));
		return CLI_EXIT_ISSUES;
	}
	cli_line(CLI_PROGRESS, "baton: the run %s: " STR_FMT,
		 str_equal(state, S("cancelled")) ? "was cancelled" : "failed", STR_ARG(why));
	return 1;
}

int cli_run_follow(struct cli *cli, const struct uuid *run, int64_t *last_seq)
{
	char id[UUID_TEXT_SIZE];
	struct run_follower f = { .cli = cli, .run = run, .last_seq = last_seq };
	bool as_tree = cli->interactive && !cli->json;
	struct str target =
		cli_run_target(cli, run,
			       str_c(&cli->arena, str_format(&cli->arena, "/stream?after=%lld",
							     (long long)*last_seq)));
	struct error error;
	bool lost;
	cli->followed = str_c(&cli->arena, uuid_text(run, id));
	if (as_tree) { /* a run that has ended sends no events, so the tree is drawn before the
			  stream */
		outline_fetch_timed(&f);
		(void)!tree_draw(&f);
	}
	bool good = cli_stream(cli, target, take_event, as_tree ? tick : NULL, &f, &lost, &error);
	if (as_tree && (good || f.finished)) {
		outline_fetch(&f);
		(void)!tree_draw(&f);
	}
	arena_done(&f.arena);
	arena_done(&f.hint_arena);
	if (f.finished || good)
		cli->followed = NULL;
	/* The server ends the stream in order only after the run has ended. */
	if (f.finished || good)
		return print_result(cli, run);
	if (lost)
		return CLI_SERVER_LOST;
	if (error.code == ERROR_NOT_FOUND)
		fail(&error, ERROR_NOT_FOUND, "run " STR_FMT " does not exist",
		     STR_ARG(uuid_text(run, id)));
	return cli_fail(cli, &error);
}
