/* cli/command_schedule.c -- baton schedule. */
#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "cli/document_command.h"
#include "cli/output.h"

/* ---- output ------------------------------------------------------------------------------ */

static int list(const struct json *page)
{
	const struct json *items = json_member(page, S("items"));
	for (size_t i = 0; json_item(items, i) != NULL; i++) {
		const struct json *item = json_item(items, i);
		struct str cron = cli_text(item, "cron"), every = cli_text(item, "every");
		struct str next = cli_text(item, "next_at"), name = cli_text(item, "name");
		cli_line(CLI_RESULT,
			 STR_FMT "  %s" STR_FMT "  " STR_FMT "  " STR_FMT "  %s" STR_FMT,
			 STR_ARG(name), every.size > 0 ? "every " : "",
			 STR_ARG(every.size > 0 ? every : cron),
			 STR_ARG(cli_text(item, "time_zone")), STR_ARG(cli_text(item, "workflow")),
			 next.size > 0 ? "next " : "paused", STR_ARG(next));
	}
	return cli_flush();
}

static int times(const struct json *answer)
{
	const struct json *items = json_member(answer, S("items"));
	for (size_t i = 0; json_item(items, i) != NULL; i++)
		cli_line(CLI_RESULT, STR_FMT, STR_ARG(cli_text(json_item(items, i), "local")));
	return cli_flush();
}

/* ---- requests ---------------------------------------------------------------------------- */

static bool prepare_create(struct cli *cli, struct document_call *call, struct error *error)
{
	static const struct {
		const char *option, *member;
	} rows[] = { { "--cron", "cron" },       { "--every", "every" },
		     { "--zone", "time_zone" },  { "--workflow", "workflow" },
		     { "--overlap", "overlap" }, { "--catch-up", "catch_up" } };
	struct json_member members[COUNT(rows) + 1];
	size_t count = 0;
	for (size_t i = 0; i < COUNT(rows); i++) {
		const char *value = cli_value(cli, rows[i].option, 0);
		if (value == NULL)
			continue;
		members[count++] = (struct json_member){
			.key = str_from_c(rows[i].member),
			.value = { .kind = JSON_STRING, .as.string = str_from_c(value) },
		};
	}
	if (cli_has(cli, "--input")) {
		members[count].key = S("inputs");
		if (!cli_inputs(cli, "NAME=VALUE", &members[count++].value, error))
			return false;
	}
	const struct json given = { .kind = JSON_OBJECT, .as.object = { members, count } };
	return cli_document(cli, "schedule", cli_argument(cli, 0), &given, &call->body, error);
}

static bool prepare(struct cli *cli, struct error *error)
{
	const char *word = cli->subcommand->name, *name = cli_argument(cli, 0);
	struct document_call *call;
	if (!document_command_prepare(cli, "/api/schedules", "a schedule's", &call, error))
		return false;
	if (strcmp(word, "list") == 0) {
		call->target = S("/api/schedules?limit=1000");
		call->show = list;
	}
	if (strcmp(word, "create") == 0)
		return prepare_create(cli, call, error);
	if (strcmp(word, "next") == 0) {
		call->target = cli_target(cli, "/api/schedules/", name, "/next");
		call->show = times;
	}
	if (strcmp(word, "pause") == 0 || strcmp(word, "resume") == 0) {
		call->method = "POST";
		call->target = cli_target(cli, "/api/schedules/", name,
					  strcmp(word, "pause") == 0 ? "/pause" : "/resume");
	}
	return true;
}

#define NAME                                                       \
	{                                                          \
		{                                                  \
			.name = "NAME", .value_kind = CLI_SCHEDULE \
		}                                                  \
	}

static const struct cli_subcommand subcommands[] = {
	{ .name = "list", .text = "List schedules by name with their next times" },
	{ .name = "show", .text = "Show a schedule and its progress", .arguments = NAME },
	{ .name = "next",
	  .text = "Print the next times in the schedule's time zone",
	  .arguments = NAME },
	{ .name = "create",
	  .text = "Create a schedule",
	  .arguments = { { .name = "NAME" } },
	  .options = { { .name = "--cron",
			 .value = "EXPRESSION",
			 .text = "Cron expression: minute hour day month weekday, or @daily and the like" },
		       { .name = "--every",
			 .value = "TIME",
			 .text = "Interval instead of --cron: 90s, 5m, 2h, 1d" },
		       { .name = "--zone",
			 .value = "ZONE",
			 .text = "Time zone, like Europe/Berlin (default UTC)" },
		       { .name = "--workflow",
			 .letter = 'w',
			 .value = "NAME",
			 .value_kind = CLI_WORKFLOW,
			 .text = "Workflow to run" },
		       { .name = "--input",
			 .letter = 'i',
			 .value = "NAME=VALUE",
			 .repeats = true,
			 .text = "Set one input; VALUE is JSON if it parses as JSON, else text" },
		       { .name = "--overlap",
			 .value = "POLICY",
			 .value_kind = CLI_ONE_OF,
			 .choices = "skip|queue|allow",
			 .text = "When the previous run has not ended: skip, queue or allow (default skip)" },
		       { .name = "--catch-up",
			 .value = "POLICY",
			 .value_kind = CLI_ONE_OF,
			 .choices = "skip|one|all",
			 .text = "Start runs missed while no server ran: skip, one or all (default one)" },
		       { DOCUMENT_FILE("schedule") } } },
	{ .name = "delete", .text = "Delete a schedule", .arguments = NAME },
	{ .name = "pause", .text = "Pause a schedule", .arguments = NAME },
	{ .name = "resume", .text = "Resume a schedule", .arguments = NAME },
	{ .name = NULL },
};

const struct cli_command command_schedule = {
	.name = "schedule",
	.text = "Run workflows at calendar times or at intervals",
	.group = CLI_RUNS,
	.kind = CLI_CLIENT,
	.read_only = true,
	.subcommands = subcommands,
	.examples = { { "baton schedule create nightly --cron '30 2 * * mon-fri' "
			"--zone Europe/Berlin --workflow release-notes",
			"Run every weekday at 02:30 in Berlin" },
		      { "baton schedule create poll --every 5m --workflow two-steps --overlap queue",
			"Run every five minutes, one run at a time" },
		      { "baton schedule next nightly", "Print the next times" },
		      { "baton schedule pause nightly", "Pause a schedule" } },
	.prepare = prepare,
	.run = document_command_run,
};
