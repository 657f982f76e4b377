/* cli/command_describe.c -- the program's reference, printed from its rows. */
#include <string.h>

#include "base/limits.h"
#include "cli/help.h"
#include "contract/describe.h"

static bool prepare(struct cli *cli, struct error *error)
{
	const char *name = cli_argument(cli, 0);
	if (strcmp(name, "commands") == 0)
		return true;
	const struct description *found = description_find(str_from_c(name)), *one;
	cli->state = (void *)(uintptr_t)found;
	if (found != NULL)
		return true;
	AUTO(buf) names = { 0 };
	for (size_t i = 0; (one = description_at(i)) != NULL; i++)
		buf_add_format(&names, "%s" STR_FMT, i == 0 ? "" : ", ", STR_ARG(one->name));
	return fail(error, ERROR_USAGE, "%s cannot be described; there are " STR_FMT ", commands",
		    name, STR_ARG(buf_str(&names)));
}

static int run(struct cli *cli)
{
	const struct description *description = cli->state;
	AUTO(buf) out = buf_limited(LIMIT_DESCRIPTION_BYTES);
	if (description != NULL)
		description->print(&out);
	else
		describe_commands(&out);
	/* The rows of commands are in this room; the contract's listing ends with them. */
	if (description != NULL && description->print == describe_listing)
		describe_commands_listing(&out);
	require(!out.full);
	return cli_print(cli, buf_str(&out));
}

const struct cli_command command_describe = {
	.name = "describe",
	.text = "Print a part of the reference",
	.group = CLI_REFERENCE,
	.arguments = { { .name = "PART", .values = CLI_DESCRIPTION } },
	.examples = { { "baton describe openapi >openapi.json", "The HTTP interface" },
		      { "baton describe commands", "All commands, as Markdown" } },
	.kind = CLI_PLAIN,
	.prepare = prepare,
	.run = run,
};
