/* cli/command_help.c -- help and version, from the table of commands. */
#include <stdio.h>

#include "cli/cli.h"

static int help(struct cli *cli)
{
	(void)cli;
	printf("baton -- durable runs of agents and tools\n\n");
	for (size_t i = 0; cli_command_at(i) != NULL; i++)
		printf("  baton %-68s\n      %s\n", cli_command_at(i)->usage,
		       cli_command_at(i)->text);
	printf("\nEverywhere: --home FOLDER (or BATON_HOME; default ~/.baton), --json\n"
	       "BATON_TOOLS_ISOLATION: native (default) or off\n");
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
