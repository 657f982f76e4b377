/* cli/command_events.c -- baton events and logs: print events, one per line; with -f keep
 * following.
 *
 * events prints the stored events of one run or of all runs; logs prints one run's events for
 * people, or with a step what its tool wrote (cli/step_log_print.h).  Events of one run are numbered by seq, events of all runs by position.  The number of
 * the last printed event is kept, so that output continues after it when the server is lost and
 * found again.
 */
#include "base/time.h"
#include "cli/output.h"
#include "cli/run_lookup.h"
#include "cli/server_request.h"
#include "cli/event_line.h"
#include "cli/step_log_print.h"

struct events_state {
	const char *view;
	struct run_name run;
	bool of_run, follow, logs;
	struct str after; /* last printed event; empty = from the beginning, with -f from now on */
	struct step_log_state *step_log; /* NULL = print events */
	struct cli *cli;
};

static bool prepare_of(struct cli *cli, const char *run, bool logs, struct error *error)
{
	struct events_state *state = arena_new(&cli->arena, struct events_state);
	int64_t number;
	state->cli = cli;
	state->logs = logs;
	state->follow = cli_has(cli, "--follow");
	state->view = cli_value(cli, "--view", 0);
	state->of_run = run != NULL;
	cli->state = state;
	/* With -f the process stays; if it owns the data folder, it carries on open runs. */
	cli->read_only = !state->follow;
	if (run != NULL && !run_name_parse(run, logs ? "RUN" : "--run", &state->run, error))
		return false;
	state->after = str_from_c(cli_value(cli, "--after", 0));
	if (cli_has(cli, "--after") && (!str_to_int(state->after, &number) || number < 0))
		return fail(error, ERROR_USAGE,
			    "--after must be the number of an event, not \"" STR_FMT "\"",
			    STR_ARG(state->after));
	return true;
}

static bool prepare(struct cli *cli, struct error *error)
{
	return prepare_of(cli, cli_value(cli, "--run", 0), false, error);
}

static bool prepare_logs(struct cli *cli, struct error *error)
{
	const char *step = cli_argument(cli, 1);
	if (!prepare_of(cli, cli_argument(cli, 0), true, error))
		return false;
	struct events_state *state = cli->state;
	if (step == NULL && cli_has(cli, "--attempt"))
		return fail(error, ERROR_USAGE,
			    "--attempt needs a step: baton logs RUN STEP --attempt N");
	return step == NULL || step_log_prepare(cli, step, &state->step_log, error);
}

/* Prints an event as one line of text; with --json or --view, and for unknown events, as JSON. */
static void print_event(const struct events_state *state, const struct json *json,
			struct arena *arena)
{
	struct contract_source source = { .json = json, .lenient = true };
	struct problems problems = { .arena = arena };
	const struct run_event *event =
		state->view == NULL ? run_event_parse(&source, arena, &problems) : NULL;
	if (state->cli->json || event == NULL) {
		cli_json_line(CLI_RESULT, json_print(arena, json));
		return;
	}
	if (state->logs) {
		AUTO(buf) line = { 0 };
		event_line_add(event, false, &line);
		cli_lines(CLI_RESULT, buf_str(&line));
		return;
	}
	char at[TIME_TEXT_SIZE];
	cli_line(CLI_RESULT, STR_FMT "  " STR_FMT "  %6lld  %-16.*s  " STR_FMT,
		 STR_ARG(time_text(event->at, at)),
		 STR_ARG(json_text(json_member(json, S("run_id")))), (long long)event->seq,
		 STR_ARG(event->type), STR_ARG(json_text(json_member(event->data, S("step")))));
}

static bool take_event(void *context, struct str id, struct str data)
{
	struct events_state *state = context;
	AUTO(arena) arena = { 0 };
	const struct json *json;
	struct error error;
	if (!json_read(data, &arena, &json, &error))
		return true;
	if (id.size > 0)
		state->after = str_copy(&state->cli->arena, id);
	print_event(state, json, &arena);
	return cli_flush() == 0;
}

static struct str target_of(const struct events_state *state, const char *endpoint)
{
	char id[UUID_TEXT_SIZE];
	AUTO(buf) target = { 0 };
	buf_add(&target, S("/api/"));
	if (state->of_run)
		buf_add_format(&target, "runs/" STR_FMT "/",
			       STR_ARG(uuid_text(&state->run.first, id)));
	buf_add_format(&target, "%s?", endpoint);
	if (state->after.size > 0)
		buf_add_format(&target, "after=" STR_FMT "&", STR_ARG(state->after));
	if (state->view != NULL)
		buf_add_format(&target, "view=%s&", state->view);
	target.size--; /* drop the last & or ? */
	return str_copy(&state->cli->arena, buf_str(&target));
}

/* Prints the stored events page by page. */
static int read_stored(struct cli *cli, struct events_state *state)
{
	for (;;) {
		const struct json *page;
		int status = cli_call(cli, "GET", target_of(state, "events"), S(""), &page);
		if (status != 0)
			return status;
		const struct json *items = json_member(page, S("items"));
		for (size_t i = 0; json_item(items, i) != NULL; i++)
			print_event(state, json_item(items, i), &cli->arena);
		state->after = json_text(json_member(page, S("cursor")));
		if (state->after.size == 0)
			return cli_flush();
	}
}

static int run(struct cli *cli)
{
	struct events_state *state = cli->state;
	struct error error;
	bool lost;
	int status = state->of_run ? run_name_find(cli, &state->run) : 0;
	if (status != 0)
		return status;
	if (state->step_log != NULL)
		return step_log_run(cli, state->step_log, &state->run.first);
	if (!state->follow)
		return read_stored(cli, state);
	if (cli_stream(cli, target_of(state, "stream"), take_event, NULL, state, &lost, &error))
		return 0;
	return lost ? CLI_SERVER_LOST : cli_fail(cli, &error);
}

#define FOLLOW                                                                       \
	{                                                                            \
		.name = "--follow", .letter = 'f',                                   \
		.text = "Keep printing new events; for one run, until the run ends", \
	}
#define VIEW                                                                                     \
	{                                                                                        \
		.name = "--view", .value = "VIEW", .value_kind = CLI_ONE_OF,                     \
		.choices = "pipeline|pipeline_v1|runtime|task|graph",                            \
		.text = "Use another vocabulary: pipeline, pipeline_v1, runtime, task or graph", \
	}
#define AFTER                                                                                      \
	{                                                                                          \
		.name = "--after", .value = "N", .text = "Start after the event with this number", \
	}

const struct cli_command command_events = {
	.name = "events",
	.text = "Print stored events, and with -f new ones",
	.group = CLI_RUNS,
	.kind = CLI_CLIENT,
	.only_follows = true,
	.options = { FOLLOW,
		     { .name = "--run",
		       .value = "RUN",
		       .value_kind = CLI_RUN,
		       .text = "Print only the events of this run" },
		     VIEW,
		     AFTER },
	.examples = { { "baton events --run 1f0c --json",
			"Print a run's events, one JSON object per line" },
		      { "baton events -f", "Print new events of all runs" } },
	.prepare = prepare,
	.run = run,
};

const struct cli_command command_logs = {
	.name = "logs",
	.text = "Print what a step wrote to stdout and stderr, or the events of a run",
	.group = CLI_RUNS,
	.kind = CLI_CLIENT,
	.only_follows = true,
	.arguments = { { .name = "RUN", .value_kind = CLI_RUN },
		       { .name = "STEP", .value_kind = CLI_TEXT, .optional = true } },
	.options = { { .name = "--follow",
		       .letter = 'f',
		       .text = "Keep printing until the step or the run ends" },
		     { .name = "--attempt",
		       .value = "N",
		       .text = "With STEP: print only this attempt" },
		     VIEW,
		     AFTER },
	.examples = { { "baton logs 1f0c test", "Print what step test wrote, attempt by attempt" },
		      { "baton logs 1f0c test -f", "The same while the step runs" },
		      { "baton logs 1f0c -f", "Print the run's events, then new ones" },
		      { "baton logs 1f0c --view task",
			"Print events in task vocabulary, as JSON" } },
	.prepare = prepare_logs,
	.run = run,
};
