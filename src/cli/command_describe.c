/* cli/command_describe.c -- baton describe: the reference, generated from the program's tables. */
#include <string.h>

#include "base/limits.h"
#include "cli/help.h"
#include "cli/output.h"
#include "contract/describe.h"

static bool prepare(struct cli *cli, struct error *error)
{
	const char *name = cli_argument(cli, 0);
	if (name == NULL || strcmp(name, "commands") == 0)
		return true;
	const struct description *found = description_find(str_from_c(name)), *one;
	cli->state = (void *)(uintptr_t)found;
	if (found != NULL)
		return true;
	AUTO(buf) names = { 0 };
	for (size_t i = 0; (one = description_at(i)) != NULL; i++)
		buf_add_format(&names, "%s" STR_FMT, i == 0 ? "" : ", ", STR_ARG(one->name));
	return fail(error, ERROR_USAGE,
		    "unknown part \"%s\"; expected one of " STR_FMT ", commands", name,
		    STR_ARG(buf_str(&names)));
}

static int list(struct cli *cli)
{
	const struct description *one;
	AUTO(buf) out = { 0 };
	for (size_t i = 0; (one = description_at(i)) != NULL; i++)
		buf_add_format(&out, "%-12.*s " STR_FMT "\n", STR_ARG(one->name),
			       STR_ARG(one->text));
	buf_add_format(&out, "%-12s %s\n", "commands", "all commands as Markdown");
	return cli_print(cli, buf_str(&out));
}

static int run(struct cli *cli)
{
	const struct description *description = cli->state;
	if (cli_argument(cli, 0) == NULL)
		return list(cli);
	AUTO(buf) out = buf_limited(LIMIT_DESCRIPTION_BYTES);
	if (description != NULL)
		description->print(&out);
	else
		describe_commands(&out);
	/* contract/ does not know the command table, so its part of the listing is added here. */
	if (description != NULL && description->print == describe_listing)
		describe_commands_listing(&out);
	require(!out.full);
	return cli_print(cli, buf_str(&out));
}

const struct cli_command command_describe = {
	.name = "describe",
	.text = "Print one part of the reference, or list the parts",
	.group = CLI_REFERENCE,
	.arguments = { { .name = "PART", .value_kind = CLI_DESCRIPTION, .optional = true } },
	.examples = { { "baton describe openapi >openapi.json",
			"Print the HTTP interface as OpenAPI" },
		      { "baton describe commands", "Print all commands as Markdown" } },
	.kind = CLI_PLAIN,
	.prepare = prepare,
	.run = run,
};
