/* cli/command_schedule.c -- schedules: documents of the server, one request a sub-command. */
#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "cli/document_command.h"

/* ---- what is shown ----------------------------------------------------------------------- */

static int list(const struct json *page)
{
	const struct json *items = json_member(page, S("items"));
	for (size_t i = 0; json_item(items, i) != NULL; i++) {
		const struct json *item = json_item(items, i);
		struct str cron = cli_text(item, "cron"), every = cli_text(item, "every");
		struct str next = cli_text(item, "next_at"), name = cli_text(item, "name");
		printf(STR_FMT "  %s" STR_FMT "  " STR_FMT "  " STR_FMT "  ", STR_ARG(name),
		       every.size > 0 ? "every " : "", STR_ARG(every.size > 0 ? every : cron),
		       STR_ARG(cli_text(item, "time_zone")), STR_ARG(cli_text(item, "workflow")));
		if (next.size > 0)
			printf("next " STR_FMT "\n", STR_ARG(next));
		else
			printf("paused\n");
	}
	return cli_printed();
}

static int times(const struct json *answer)
{
	const struct json *items = json_member(answer, S("items"));
	for (size_t i = 0; json_item(items, i) != NULL; i++)
		printf(STR_FMT "\n", STR_ARG(cli_text(json_item(items, i), "local")));
	return cli_printed();
}

/* ---- what is asked ----------------------------------------------------------------------- */

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
	const char *word = cli->word->name, *name = cli_argument(cli, 0);
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

#define NAME                                                   \
	{                                                      \
		{                                              \
			.name = "NAME", .values = CLI_SCHEDULE \
		}                                              \
	}

static const struct cli_word words[] = {
	{ .name = "list", .text = "Schedules by name, and when they come due" },
	{ .name = "show", .text = "One schedule and how far it has come", .arguments = NAME },
	{ .name = "next", .text = "The next due times on its own wall clock", .arguments = NAME },
	{ .name = "create",
	  .text = "A new schedule",
	  .arguments = { { .name = "NAME" } },
	  .options = { { .name = "--cron",
			 .value = "EXPRESSION",
			 .text = "minute hour day month weekday, or @daily and its like" },
		       { .name = "--every", .value = "TIME", .text = "90s, 5m, 2h, 1d instead" },
		       { .name = "--zone",
			 .value = "ZONE",
			 .text = "Whose wall clock: Europe/Berlin; UTC unless said" },
		       { .name = "--workflow",
			 .letter = 'w',
			 .value = "NAME",
			 .values = CLI_WORKFLOW,
			 .text = "What is run" },
		       { .name = "--input",
			 .letter = 'i',
			 .value = "NAME=VALUE",
			 .repeats = true,
			 .text = "An input of it; JSON when it reads as JSON" },
		       { .name = "--overlap",
			 .value = "POLICY",
			 .values = CLI_ONE_OF,
			 .words = "skip|queue|allow",
			 .text = "While its last run is not over; skip unless said" },
		       { .name = "--catch-up",
			 .value = "POLICY",
			 .values = CLI_ONE_OF,
			 .words = "skip|one|all",
			 .text = "What passed while no server was there; one unless said" },
		       { DOCUMENT_FILE("schedule") } } },
	{ .name = "delete", .text = "Take a schedule away", .arguments = NAME },
	{ .name = "pause", .text = "Nothing comes due for now", .arguments = NAME },
	{ .name = "resume", .text = "It comes due again", .arguments = NAME },
	{ .name = NULL },
};

const struct cli_command command_schedule = {
	.name = "schedule",
	.text = "Run workflows at times of a calendar, or again and again",
	.group = CLI_RUNS,
	.kind = CLI_CLIENT,
	.only_looks = true,
	.words = words,
	.examples = { { "baton schedule create nightly --cron '30 2 * * mon-fri' "
			"--zone Europe/Berlin --workflow release-notes",
			"Every working day at half past two in Berlin" },
		      { "baton schedule create poll --every 5m --workflow two-steps --overlap queue",
			"Every five minutes, one after the other" },
		      { "baton schedule next nightly", "When it comes due" },
		      { "baton schedule pause nightly", "Not for now" } },
	.prepare = prepare,
	.run = document_command_run,
};
