/* cli/cli.c -- the command table. */
#include "cli/cli.h"

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
