/* cli/command_schedule.c -- schedules: documents of the server, one request a sub-command. */
#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "cli/cli.h"

struct schedule_state {
	const char *method;
	struct str target, body;
};

/* ---- what it shall be -------------------------------------------------------------------- */

/* NAME=VALUE: JSON when it reads as JSON, else text. */
static bool read_input(struct cli *cli, const char *text, struct json_member *out_member,
		       struct error *error)
{
	struct str all = str_from_c(text);
	const struct json *json;
	struct error ignored;
	size_t at;
	if (!str_find(all, S("="), &at) || at == 0)
		return fail(error, ERROR_USAGE, "--input takes NAME=VALUE, not %s", text);
	struct str value = str_skip(all, at + 1);
	*out_member = (struct json_member){ .key = str_head(all, at),
					    .value = { .kind = JSON_STRING, .as.string = value } };
	if (value.size > 0 && json_read(value, &cli->arena, &json, &ignored))
		out_member->value = *json;
	return true;
}

static bool read_inputs(struct cli *cli, struct json *out_inputs, struct error *error)
{
	size_t count = 0;
	const char *text;
	while (cli_value(cli, "--input", count) != NULL)
		count++;
	struct json_member *members = arena_array(&cli->arena, struct json_member, count);
	for (size_t i = 0; (text = cli_value(cli, "--input", i)) != NULL; i++)
		if (!read_input(cli, text, &members[i], error))
			return false;
	*out_inputs = (struct json){ .kind = JSON_OBJECT, .as.object = { members, count } };
	return true;
}

static bool prepare_create(struct cli *cli, struct schedule_state *state, struct error *error)
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
		if (!read_inputs(cli, &members[count++].value, error))
			return false;
	}
	const struct json given = { .kind = JSON_OBJECT, .as.object = { members, count } };
	state->method = "POST";
	state->target = S("/api/schedules");
	return cli_document(cli, "schedule", cli_argument(cli, 0), &given, &state->body, error);
}

static bool prepare(struct cli *cli, struct error *error)
{
	struct schedule_state *state = arena_new(&cli->arena, struct schedule_state);
	const char *word = cli->word->name, *name = cli_argument(cli, 0);
	cli->state = state;
	state->method = "GET";
	state->target = S("/api/schedules?limit=1000");
	if (name == NULL)
		return true;
	if (name[0] == '\0')
		return fail(error, ERROR_USAGE, "a schedule's name is not empty");
	state->target = cli_target(cli, "/api/schedules/", name, "");
	if (strcmp(word, "create") == 0)
		return prepare_create(cli, state, error);
	if (strcmp(word, "next") == 0)
		state->target = cli_target(cli, "/api/schedules/", name, "/next");
	if (strcmp(word, "delete") == 0)
		state->method = "DELETE";
	if (strcmp(word, "pause") == 0 || strcmp(word, "resume") == 0) {
		state->method = "POST";
		state->target = cli_target(cli, "/api/schedules/", name,
					   strcmp(word, "pause") == 0 ? "/pause" : "/resume");
	}
	return true;
}

/* ---- what is shown ----------------------------------------------------------------------- */

static struct str member(const struct json *object, const char *name)
{
	return json_text(json_member(object, str_from_c(name)));
}

static int shown(void)
{
	return fflush(stdout) == 0 ? 0 : error_row(ERROR_IO)->exit_status;
}

static int list(const struct json *page)
{
	const struct json *items = json_member(page, S("items"));
	for (size_t i = 0; json_item(items, i) != NULL; i++) {
		const struct json *item = json_item(items, i);
		struct str cron = member(item, "cron"), every = member(item, "every");
		struct str next = member(item, "next_at"), name = member(item, "name");
		printf(STR_FMT "  %s" STR_FMT "  " STR_FMT "  " STR_FMT "  ", STR_ARG(name),
		       every.size > 0 ? "every " : "", STR_ARG(every.size > 0 ? every : cron),
		       STR_ARG(member(item, "time_zone")), STR_ARG(member(item, "workflow")));
		if (next.size > 0)
			printf("next " STR_FMT "\n", STR_ARG(next));
		else
			printf("paused\n");
	}
	return shown();
}

static int times(const struct json *answer)
{
	const struct json *items = json_member(answer, S("items"));
	for (size_t i = 0; json_item(items, i) != NULL; i++)
		printf(STR_FMT "\n", STR_ARG(member(json_item(items, i), "local")));
	return shown();
}

static int run(struct cli *cli)
{
	const struct schedule_state *state = cli->state;
	const struct json *answer;
	struct error error;
	bool lost;
	if (!cli_request(cli, state->method, state->target, state->body, &answer, &lost, &error))
		return lost ? CLI_SERVER_LOST : cli_fail(cli, &error);
	if (strcmp(cli->word->name, "list") == 0 && !cli->json)
		return list(answer);
	if (strcmp(cli->word->name, "next") == 0 && !cli->json)
		return times(answer);
	return cli_print_json(cli, answer);
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
		       { .name = "--file",
			 .letter = 'f',
			 .value = "FILE",
			 .values = CLI_FILE,
			 .text = "The whole schedule, YAML or JSON; - is standard input" } } },
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
	.run = run,
};
