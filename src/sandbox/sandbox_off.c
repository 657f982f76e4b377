/* sandbox/sandbox_off.c -- no isolation, but the child still dies with the server.
 *
 * The whole machine is bound; only the pid namespace remains, which makes sure that no process
 * survives.  A command can change anything, so it is never repeated automatically.
 */
#include <stdlib.h>

#include "sandbox/argv.h"
#include "sandbox/sandbox.h"

static const char *const *command(const struct sandbox_spec *spec, struct arena *arena)
{
	const char *path = getenv("PATH");
	struct argv arguments = argv_new(arena);
	ARGUMENTS_ADD(&arguments, "bwrap", "--unshare-pid", "--new-session", "--dev-bind", "/", "/",
		      "--proc", "/proc", "--chdir", spec->workspace, "--clearenv", "--setenv",
		      "PATH", path != NULL ? path : "/usr/local/bin:/usr/bin:/bin", "--setenv",
		      "HOME", spec->workspace, "--setenv", "LANG", "C.UTF-8");
	argv_add_keeper(&arguments, arena, spec);
	argv_add_command(&arguments, spec);
	return arguments.at;
}

const struct sandbox sandbox_off = {
	.name = "off",
	.text = "no isolation: the whole machine, in a pid namespace that dies with the server",
	.contained = false,
	.command = command,
};
