/* cli/command_runs.c -- baton runs: the list of runs.
 *
 * The list is read page by page.  Widths are those of the states and of durations; the workflow
 * comes last, because its name has any length.
 */
#include <string.h>

#include "base/limits.h"
#include "base/terminal_text.h"
#include "base/time.h"
#include "cli/output.h"
#include "cli/run_tree.h"
#include "cli/server_request.h"

enum { RUNS_DEFAULT = 50, PAGE = 200 };

struct runs_state {
	int64_t limit;     /* 0 = all */
	struct str cursor; /* the last run of the page before; empty = first page */
	int64_t printed;
	bool more; /* there is a page after the last one read */
};

static bool prepare(struct cli *cli, struct error *error)
{
	struct runs_state *state = arena_new(&cli->arena, struct runs_state);
	const char *limit = cli_value(cli, "--limit", 0);
	cli->state = state;
	state->limit = cli_has(cli, "--all") ? 0 : RUNS_DEFAULT;
	if (limit == NULL)
		return true;
	if (cli_has(cli, "--all"))
		return fail(error, ERROR_USAGE, "--limit and --all cannot be combined");
	return (str_to_int(str_from_c(limit), &state->limit) && state->limit > 0) ||
	       fail(error, ERROR_USAGE, "--limit must be a whole number from 1, not \"%s\"", limit);
}

/* Several --label are joined with commas, as the server takes them; NULL = none. */
static const char *labels_given(struct cli *cli)
{
	AUTO(buf) labels = { 0 };
	for (size_t i = 0; cli_value(cli, "--label", i) != NULL; i++)
		buf_add_format(&labels, "%s%s", i > 0 ? "," : "", cli_value(cli, "--label", i));
	return labels.size == 0 ? NULL : str_c(&cli->arena, buf_str(&labels));
}

static struct str page_target(struct cli *cli, const struct runs_state *state)
{
	int64_t left = state->limit == 0 ? PAGE : state->limit - state->printed;
	struct str target = str_format(&cli->arena, "/api/runs?limit=%lld",
				       (long long)(left < PAGE ? left : PAGE));
	target = cli_query(cli, target, "workflow", cli_value(cli, "--workflow", 0));
	target = cli_query(cli, target, "state", cli_value(cli, "--status", 0));
	target = cli_query(cli, target, "label", labels_given(cli));
	if (state->cursor.size > 0)
		target = cli_query(cli, target, "cursor", str_c(&cli->arena, state->cursor));
	return target;
}

/* ---- lines ----------------------------------------------------------------------------- */

static void add_padded(struct str text, size_t width, struct buf *out)
{
	size_t before = out->size;
	terminal_text_add(text, 0, out);
	for (size_t used = out->size - before; used < width; used++)
		buf_add_char(out, ' ');
}

/* The time between two moments, with its larger unit only: "3m", "2h", "4d". */
static void add_age(int64_t from, int64_t to, struct buf *out)
{
	AUTO(buf) whole = { 0 };
	run_tree_duration(from, to, &whole);
	struct str rest = buf_str(&whole), unit;
	(void)!str_cut(&rest, ' ', &unit);
	add_padded(unit, 7, out);
}

static void add_labels(const struct json *labels, struct buf *out)
{
	for (size_t i = 0; labels != NULL && i < labels->as.object.count; i++) {
		const struct json_member *label = &labels->as.object.at[i];
		buf_add(out, S("  "));
		terminal_text_add(label->key, 0, out);
		buf_add_char(out, '=');
		terminal_text_add(json_text(&label->value), 0, out);
	}
}

static void add_run(const struct cli *cli, const struct json *run, struct buf *out)
{
	int64_t created = cli->now, ended = cli->now;
	struct str state = cli_text(run, "state");
	(void)!time_parse(cli_text(run, "started_at"), &created);
	(void)!time_parse(cli_text(run, "completed_at"), &ended);
	add_padded(cli_text(run, "run_id"), 38, out);
	const char *color = cli->color ? run_tree_color(state) : "";
	buf_add(out, str_from_c(color));
	add_padded(state, 13, out);
	buf_add_format(out, "%s  ", color[0] != '\0' ? TERMINAL_TEXT_RESET : "");
	add_age(created, cli->now, out);
	AUTO(buf) took = { 0 };
	if (!str_equal(state, S("queued")))
		run_tree_duration(created, ended, &took);
	add_padded(buf_str(&took), 9, out);
	terminal_text_add(cli_text(run, "workflow"), 0, out);
	add_labels(json_member(run, S("labels")), out);
	buf_add_char(out, '\n');
}

/* ---- pages ----------------------------------------------------------------------------- */

static int print_page(struct cli *cli, struct runs_state *state, const struct json *runs)
{
	AUTO(buf) out = { 0 };
	if (state->printed == 0)
		buf_add(&out,
			cli->json ? S("[")
				  : S("RUN                                   STATE          AGE    "
				      "TOOK     WORKFLOW\n"));
	for (size_t i = 0; json_item(runs, i) != NULL; i++, state->printed++) {
		const struct json *run = json_item(runs, i);
		state->cursor = cli_text(run, "run_id");
		if (!cli->json) {
			add_run(cli, run, &out);
			continue;
		}
		buf_add(&out, state->printed == 0 ? S("") : S(",\n"));
		buf_add(&out, json_print(&cli->arena, run));
	}
	if (cli->json && !state->more)
		buf_add(&out, S("]"));
	return cli->json ? cli_print_json_text(cli, buf_str(&out))
			 : cli_print_styled(cli, buf_str(&out));
}

static int run(struct cli *cli)
{
	struct runs_state *state = cli->state;
	for (;;) {
		const struct json *runs;
		int64_t left = state->limit == 0 ? PAGE : state->limit - state->printed;
		size_t page = (size_t)(left < PAGE ? left : PAGE);
		int status = cli_call(cli, "GET", page_target(cli, state), S(""), &runs);
		if (status != 0)
			return status;
		bool full = json_item(runs, page - 1) != NULL;
		state->more = full && (state->limit == 0 || (int64_t)page < left);
		status = print_page(cli, state, runs);
		if (status != 0)
			return status;
		if (state->more)
			continue;
		if (full && !cli->json && !cli_has(cli, "--limit"))
			cli_line(CLI_PROGRESS,
				 "only the newest %lld runs; --limit N or --all "
				 "shows more",
				 (long long)state->printed);
		return 0;
	}
}

const struct cli_command command_runs = {
	.name = "runs",
	.text = "List runs, newest first",
	.group = CLI_RUNS,
	.kind = CLI_CLIENT,
	.read_only = true,
	.options = { { .name = "--workflow",
		       .value = "NAME",
		       .value_kind = CLI_WORKFLOW,
		       .text = "List only runs of this workflow" },
		     { .name = "--status",
		       .value = "STATE",
		       .value_kind = CLI_ONE_OF,
		       .choices = "queued|running|paused|waiting_human|succeeded|failed|cancelled",
		       .text = "List only runs in this state: queued, running, paused, waiting_human, "
			       "succeeded, failed or cancelled" },
		     { .name = "--label",
		       .value = "NAME=VALUE",
		       .repeats = true,
		       .text = "List only runs with this label; several must all match" },
		     { .name = "--limit",
		       .letter = 'n',
		       .value = "N",
		       .text = "List at most N runs (default 50)" },
		     { .name = "--all", .text = "List all runs" } },
	.examples = { { "baton runs --status waiting_human", "List runs that wait for a person" },
		      { "baton runs --all --json", "Print every run as JSON, for scripts" } },
	.prepare = prepare,
	.run = run,
};
