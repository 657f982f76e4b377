/* cli/follow_run.c -- a run told as it happens, from its SSE stream: line by line, or on a terminal
 * as a tree that is drawn over itself.
 *
 * The stream is read as it comes and cut into events; the seq of each is remembered, so that after
 * the server has gone (and another one is found) the telling goes on behind the last line.  The
 * tree is not made of the events: they only say that there is something to look at, and the server
 * is asked for the run's outline, at most every LIMIT_TREE_LOOK_MS and, where that takes long, a
 * small part of the time.
 */
#include <stdio.h>

#include "base/limits.h"
#include "base/time.h"
#include "cli/server_request.h"
#include "cli/event_line.h"
#include "cli/run_tree.h"
#include "contract/run_types.h"
#include "os/terminal.h"

struct following {
	struct cli *cli;
	const struct uuid *run;
	int64_t *seen;
	bool finished;

	/* of the tree: */
	struct arena arena;                /* what was seen at the last look */
	const struct run_outline *outline; /* NULL before the first */
	int64_t looked_at, look_took;
	bool news;
	unsigned frame;
	size_t lines; /* on the screen */
};

/* ---- the tree -------------------------------------------------------------------------- */

enum { LOOK_SHARE = 4 }; /* of the time at most one part in so many is spent looking */

/* A look that fails leaves what was seen before: when the server has gone the stream says so. */
static void look(struct following *f)
{
	struct cli asking = *f->cli;
	asking.arena = (struct arena){ 0 };
	const struct json *answer;
	struct error error;
	bool lost;
	f->looked_at = f->cli->clock();
	if (cli_request(&asking, "GET", cli_run_target(&asking, f->run, "/steps"), S(""), &answer,
			&lost, &error)) {
		struct contract_source source = { .json = answer, .lenient = true };
		struct problems problems = { .arena = &asking.arena };
		const struct run_outline *outline =
			run_outline_parse(&source, &asking.arena, &problems);
		if (outline != NULL) {
			f->news = false;
			f->outline = outline;
			arena_done(&f->arena);
			f->arena = asking.arena;
			return;
		}
	}
	arena_done(&asking.arena);
}

static void look_timed(struct following *f)
{
	look(f);
	f->look_took = f->cli->clock() - f->looked_at;
}

static bool is_time_to_look(const struct following *f)
{
	int64_t since = f->cli->clock() - f->looked_at;
	int64_t least = LIMIT_TREE_LOOK_MS * INT64_C(1000);
	if (LOOK_SHARE * f->look_took > least)
		least = LOOK_SHARE * f->look_took;
	/* A place in the queue changes without an event of this run. */
	bool moves = f->outline != NULL && has(f->outline, queue);
	return (f->news || moves) && (since < 0 || since >= least);
}

static bool draw(struct following *f)
{
	struct tree_look look_at = { .now = f->cli->clock(),
				     .frame = f->frame++,
				     .colour = f->cli->colour };
	size_t rows = 0;
	if (f->outline == NULL)
		return true;
	AUTO(buf) text = { 0 };
	if (f->lines > 0)
		buf_add_format(&text, "\r\033[%zuA\033[J", f->lines);
	if (terminal_size(&rows, &look_at.columns))
		look_at.rows = rows > 4 ? rows - 3 : 1;
	f->lines = run_tree_head(f->outline, &look_at, &text);
	f->lines += run_tree_print(f->outline, &look_at, &text);
	struct str bytes = buf_str(&text);
	return fwrite(bytes.at, 1, bytes.size, stdout) == bytes.size && fflush(stdout) == 0;
}

static bool tick(void *context)
{
	struct following *f = context;
	if (is_time_to_look(f))
		look_timed(f);
	return draw(f);
}

/* ---- events ---------------------------------------------------------------------------- */

static bool take_event(void *context, struct str id, struct str data)
{
	struct following *f = context;
	(void)id;
	AUTO(arena) arena = { 0 };
	const struct json *json;
	struct error error;
	struct problems problems = { .arena = &arena };
	if (!json_read(data, &arena, &json, &error))
		return true;
	struct contract_source source = { .json = json, .lenient = true };
	const struct run_event *event = run_event_parse(&source, &arena, &problems);
	if (event == NULL || event->seq <= *f->seen)
		return true;
	*f->seen = event->seq;
	f->finished = str_equal(event->type, S("run.finished"));
	if (!f->cli->screen || f->cli->json) {
		event_line_print(stderr, event, true);
		return !f->finished;
	}
	f->news = true;
	return !f->finished && (!is_time_to_look(f) || tick(f));
}

static int print_result(struct cli *cli, const struct uuid *run)
{
	const struct json *result;
	int asked = cli_ask(cli, "GET", cli_run_target(cli, run, ""), S(""), &result);
	if (asked != 0)
		return asked;
	struct str status = cli_text(result, "status");
	if (str_equal(status, S("running")))
		return CLI_SERVER_LOST;
	const struct json *shown = cli->json ? result : json_member(result, S("outputs"));
	int printed = cli_print_json(cli, shown);
	if (printed != 0)
		return printed;
	if (str_equal(status, S("success")))
		return 0;
	struct str why = cli_text(result, "error");
	struct str state = cli_text(json_member(result, S("metadata")), "state");
	fprintf(stderr, "baton: the run %s: " STR_FMT "\n",
		str_equal(state, S("cancelled")) ? "was cancelled" : "failed", STR_ARG(why));
	return 1;
}

int cli_follow(struct cli *cli, const struct uuid *run, int64_t *seen)
{
	char id[UUID_TEXT_SIZE];
	struct following f = { .cli = cli, .run = run, .seen = seen };
	bool as_tree = cli->screen && !cli->json;
	struct str target =
		cli_run_target(cli, run,
			       str_c(&cli->arena, str_format(&cli->arena, "/stream?after=%lld",
							     (long long)*seen)));
	struct error error;
	bool lost;
	if (as_tree) { /* one that has ended has no stream behind its last event */
		look_timed(&f);
		(void)!draw(&f);
	}
	bool good = cli_stream(cli, target, take_event, as_tree ? tick : NULL, &f, &lost, &error);
	if (as_tree && (good || f.finished)) {
		look(&f);
		(void)!draw(&f);
	}
	arena_done(&f.arena);
	/* A stream that ends in order is that of a run that has ended, told or not. */
	if (f.finished || good)
		return print_result(cli, run);
	if (lost)
		return CLI_SERVER_LOST;
	if (error.code == ERROR_NOT_FOUND)
		fail(&error, ERROR_NOT_FOUND, "no run " STR_FMT, STR_ARG(uuid_text(run, id)));
	return cli_fail(cli, &error);
}
