/* cli/command_describe.c -- the program's reference, printed from its rows. */
#include <stdio.h>

#include "base/limits.h"
#include "cli/cli.h"
#include "contract/describe.h"

static bool prepare(struct cli *cli, struct error *error)
{
	const char *name;
	if (!cli_one_argument(cli, "what to describe", &name, error))
		return false;
	const struct description *found = description_find(str_from_c(name)), *one;
	cli->state = (void *)(uintptr_t)found;
	if (found != NULL)
		return true;
	AUTO(buf) names = { 0 };
	for (size_t i = 0; (one = description_at(i)) != NULL; i++)
		buf_add_format(&names, "%s" STR_FMT, i == 0 ? "" : ", ", STR_ARG(one->name));
	return fail(error, ERROR_USAGE, "%s cannot be described; there are " STR_FMT, name,
		    STR_ARG(buf_str(&names)));
}

static int run(struct cli *cli)
{
	const struct description *description = cli->state;
	AUTO(buf) out = buf_limited(LIMIT_DESCRIPTION_BYTES);
	description->print(&out);
	require(!out.full);
	bool good = fwrite(out.at, 1, out.size, stdout) == out.size && fflush(stdout) == 0;
	if (good)
		return 0;
	struct error error;
	fail(&error, ERROR_IO, "the output could not be written");
	return cli_fail(&error);
}

const struct cli_command command_describe = {
	.name = "describe",
	.usage = "describe openapi|schema|typescript|markdown|states|events|errors|config",
	.text = "Print a part of the reference",
	.kind = CLI_PLAIN,
	.prepare = prepare,
	.run = run,
};
