/* cli/command_demo.c -- baton demo: the main job without a key, as a script of commands that a person would type.
 *
 * The script and the profile with the scripted models are in definitions/demo, packed into the program.  The
 * script makes a repository and a data folder below the temporary folder, and removes both at its end.
 */
#include <stdlib.h>

#include "base/packed.h"
#include "cli/output.h"
#include "os/process.h"

enum { OWN = 5 }; /* variables that the script gets beside the environment */

static struct str packed_text(const struct cli *cli, const char *name)
{
	for (const struct packed_file *file = cli->packed_demo; file->name != NULL; file++)
		if (str_equal(str_from_c(file->name), str_from_c(name)))
			return (struct str){ (const char *)file->bytes, file->size };
	return S("");
}

static const char *variable(struct cli *cli, const char *name, struct str value)
{
	return str_format(&cli->arena, "%s=" STR_FMT, name, STR_ARG(value)).at;
}

/* The environment without the settings of Baton: the demo has a data folder of its own. */
static const char *const *environment_of(struct cli *cli, const char *program)
{
	size_t count = 0, given = 0;
	while (cli->environment[given] != NULL)
		given++;
	const char **list = arena_array(&cli->arena, const char *, given + OWN);
	for (size_t i = 0; i < given; i++)
		if (!str_starts(str_from_c(cli->environment[i]), S("BATON_")))
			list[count++] = cli->environment[i];
	list[count++] = variable(cli, "DEMO_BATON", str_from_c(program));
	list[count++] = variable(cli, "DEMO_PROFILE", packed_text(cli, "profile.yaml"));
	bool headless = cli_has(cli, "--headless");
	list[count++] = headless || cli_has(cli, "--yes") ? "DEMO_YES=1" : "DEMO_YES=";
	list[count++] = headless ? "DEMO_HEADLESS=1" : "DEMO_HEADLESS=";
	list[count] = NULL;
	return list;
}

static int run(struct cli *cli)
{
	char *program = realpath("/proc/self/exe", NULL);
	struct str script = packed_text(cli, "demo.sh");
	const char *const argv[] = { "sh", "-c", str_c(&cli->arena, script), NULL };
	struct error error;
	int status;
	bool good = process_run_at_terminal(
		argv, environment_of(cli, program == NULL ? "baton" : program), &status, &error);
	free(program);
	return good ? status : cli_fail(cli, &error);
}

const struct cli_command command_demo = {
	.name = "demo",
	.text = "Show the main job without a key: an issue, a plan, work, review, commits, and a kill -9",
	.group = CLI_RUNS,
	.kind = CLI_PLAIN,
	.options = { { .name = "--yes", .letter = 'y', .text = "Approve the plan without asking" },
		     { .name = "--headless",
		       .text = "Ask nothing, and check everything that the demo shows" } },
	.examples = { { "baton demo", "Takes less than a minute; needs git" } },
	.exits = { { 1, "the demo did not show what it promises" } },
	.prepare = cli_prepare_nothing,
	.run = run,
};
