/* cli/command_help.c -- baton help. */
#include "cli/help.h"
#include "cli/output.h"

struct help_state {
	const struct cli_command *command;
};

static bool prepare(struct cli *cli, struct error *error)
{
	struct help_state *state = arena_new(&cli->arena, struct help_state);
	const char *name = cli_argument(cli, 0);
	cli->state = state;
	if (name == NULL)
		return true;
	state->command = cli_command_find(str_from_c(name));
	return state->command != NULL ||
	       fail(error, ERROR_NOT_FOUND, "unknown command %s; see baton help", name);
}

static int run(struct cli *cli)
{
	const struct help_state *state = cli->state;
	AUTO(buf) out = { 0 };
	if (cli_has(cli, "--man"))
		help_man(state->command, &out);
	else if (cli->json)
		help_json(state->command, &out);
	else if (state->command != NULL)
		help_command(state->command, &out);
	else
		help_all(&out);
	return cli_print(cli, buf_str(&out));
}

const struct cli_command command_help = {
	.name = "help",
	.text = "List commands, or show help for one",
	.group = CLI_REFERENCE,
	.kind = CLI_PLAIN,
	.arguments = { { .name = "COMMAND", .value_kind = CLI_COMMAND_NAME, .optional = true } },
	.options = { { .name = "--man", .text = "Print it as a man page" } },
	.examples = { { "baton help run", "Show options and examples of baton run" },
		      { "baton help --man run | man -l -", "Read it as a man page" } },
	.prepare = prepare,
	.run = run,
};
