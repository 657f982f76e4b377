/* cli/command_help.c -- help and version, from the table of commands. */
#include <stdio.h>

#include "cli/cli.h"
#include "contract/config.h"

/* A command's own settings are those whose names begin with its own: serve.port. */
static bool belongs_to(const struct config_row *row, const struct cli_command *command)
{
	struct str name = str_from_c(command->name);
	return str_starts(row->name, name) && str_starts(str_skip(row->name, name.size), S("."));
}

static bool is_common(const struct config_row *row)
{
	for (size_t i = 0; cli_command_at(i) != NULL; i++)
		if (belongs_to(row, cli_command_at(i)))
			return false;
	return true;
}

static void print_command(const struct cli_command *command)
{
	const struct config_row *row;
	printf("  baton %s", command->usage);
	for (size_t i = 0; (row = config_at(i)) != NULL; i++)
		if (row->flag[0] != '\0' && belongs_to(row, command))
			printf(" [%s %s]", row->flag, row->fallback);
	printf("\n      %s\n", command->text);
}

static void print_setting(const struct config_row *row)
{
	char name[CONFIG_ENVIRONMENT_SIZE];
	printf("  %s%s%s (default %s)\n      " STR_FMT "\n", row->flag,
	       row->flag[0] != '\0' ? " or " : "", config_environment(row, name), row->fallback,
	       STR_ARG(row->text));
}

static int help(struct cli *cli)
{
	const struct config_row *row;
	(void)cli;
	printf("baton -- durable runs of agents and tools\n\n");
	for (size_t i = 0; cli_command_at(i) != NULL; i++)
		print_command(cli_command_at(i));
	printf("\nEverywhere: --json, and\n");
	for (size_t i = 0; (row = config_at(i)) != NULL; i++)
		if (is_common(row))
			print_setting(row);
	return 0;
}

static int version(struct cli *cli)
{
	(void)cli;
	printf("baton %s\n", BATON_VERSION);
	return 0;
}

const struct cli_command command_help = {
	.name = "help",
	.usage = "help",
	.text = "Say what there is",
	.kind = CLI_PLAIN,
	.prepare = cli_no_argument,
	.run = help,
};

const struct cli_command command_version = {
	.name = "version",
	.usage = "version",
	.text = "Say which version this is",
	.kind = CLI_PLAIN,
	.prepare = cli_no_argument,
	.run = version,
};
