/* cli/cli.c -- the command table, and printing of results and errors. */
#include "cli/cli.h"

#include "contract/run_server_types.h"

#include <stdio.h>
#include <string.h>

#define COMMAND(name) extern const struct cli_command command_##name;
#include "cli/commands.def"
#undef COMMAND

static const struct cli_command *const commands[] = {
#define COMMAND(name) &command_##name,
#include "cli/commands.def"
#undef COMMAND
};

static const struct cli_option common_options[] = {
	{ .name = "--json", .text = "Print the result as JSON, and errors as run.Problem" },
	{ .name = "--help", .letter = 'h', .text = "Show help for the command" },
	{ .name = "--version", .text = "Print the version" },
	{ .name = NULL },
};

const struct cli_option *cli_common_options(void)
{
	return common_options;
}

const struct cli_command *cli_command_at(size_t index)
{
	return index < COUNT(commands) ? commands[index] : NULL;
}

const struct cli_command *cli_command_find(struct str name)
{
	for (size_t i = 0; i < COUNT(commands); i++)
		if (str_equal(str_from_c(commands[i]->name), name))
			return commands[i];
	return NULL;
}

const char *cli_group_name(enum cli_group group)
{
	switch (group) {
	case CLI_RUNS:
		return "Runs";
	case CLI_SERVERS:
		return "Server and data";
	case CLI_SETTINGS:
		return "Settings, profiles and keys";
	case CLI_REFERENCE:
		return "Reference";
	case CLI_HIDDEN:
		return "";
	}
	return "";
}

/* A setting belongs to the command whose name it begins with: serve.port to serve. */
static bool belongs_to(const struct config_row *row, const struct cli_command *command)
{
	struct str name = str_from_c(command->name);
	return str_starts(row->name, name) && str_starts(str_skip(row->name, name.size), S("."));
}

bool cli_takes_setting(const struct cli_command *command, const struct config_row *row)
{
	if (row->flag[0] == '\0')
		return false;
	if (command != NULL)
		return belongs_to(row, command);
	for (size_t i = 0; i < COUNT(commands); i++)
		if (belongs_to(row, commands[i]))
			return false;
	return true;
}

/* ---- output ---------------------------------------------------------------------------- */

static void print_problem(struct cli *cli, const struct error *error)
{
	const struct error_row *row = error_row(error->code);
	struct run_problem *problem = run_problem_new(&cli->arena);
	SET(problem, title, row->text);
	SET(problem, status, row->http_status);
	SET(problem, detail, str_from_c(error->text));
	SET(problem, error, str_from_c(error->text));
	SET(problem, code, row->name);
	if (error->line > 0) {
		struct run_problem_place *place = run_problem_place_new(&cli->arena);
		SET(place, pointer, S(""));
		SET(place, line, error->line);
		SET(place, column, error->column);
		SET(place, text, str_from_c(error->text));
		SET(problem, details, (struct run_problem_place_list){ place, 1 });
	}
	fprintf(stderr, STR_FMT "\n", STR_ARG(run_problem_text(problem, &cli->arena)));
}

int cli_fail(struct cli *cli, const struct error *error)
{
	const struct error_row *row = error_row(error->code);
	fflush(stdout);
	if (cli->json) {
		print_problem(cli, error);
		return row->exit_status;
	}
	fprintf(stderr, "baton: ");
	if (error->line > 0 && cli->error_file != NULL)
		fprintf(stderr, "%s:", cli->error_file);
	if (error->line > 0)
		fprintf(stderr, "%u:%u: ", error->line, error->column);
	fprintf(stderr, "%s [" STR_FMT "]\n", error->text, STR_ARG(row->name));
	return row->exit_status;
}

int cli_print(struct cli *cli, struct str text)
{
	bool good = fwrite(text.at, 1, text.size, stdout) == text.size;
	if (!str_ends(text, S("\n")))
		good = good && fputc('\n', stdout) != EOF;
	if (good && fflush(stdout) == 0)
		return 0;
	struct error error;
	fail(&error, ERROR_IO, "cannot write to standard output");
	return cli_fail(cli, &error);
}

int cli_flush(void)
{
	return fflush(stdout) == 0 ? 0 : error_row(ERROR_IO)->exit_status;
}

int cli_print_json(struct cli *cli, const struct json *json)
{
	return json == NULL ? 0 : cli_print(cli, json_print(&cli->arena, json));
}
