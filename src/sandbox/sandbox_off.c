/* sandbox/sandbox_off.c -- no isolation, chosen with open eyes; but a child still dies with us.
 *
 * The whole machine is bound as it is; only the pid namespace stays, because it is what leaves no
 * survivors.  What runs here can change anything, so it is never repeated by itself.
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
	argv_add_command(&arguments, arena, spec);
	return arguments.at;
}

const struct sandbox sandbox_off = {
	.name = "off",
	.text = "no isolation: the whole machine, in a pid namespace that dies with Baton",
	.contained = false,
	.command = command,
};
