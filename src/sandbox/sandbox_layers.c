/* sandbox/sandbox_layers.c -- which of seccomp and Landlock this kernel has. */
#include "sandbox/sandbox_layers.h"

#include <linux/seccomp.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	CALL_LANDLOCK_CREATE_RULESET = 444,
	LANDLOCK_ASK_VERSION = 1,
	LANDLOCK_LEAST_VERSION = 2, /* as in keeper/keeper_landlock.c */
};

static bool has_seccomp(void)
{
#if defined(__x86_64__) || defined(__aarch64__)
	uint32_t action = SECCOMP_RET_ERRNO;
	return syscall(__NR_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
#else
	return false;
#endif
}

static long landlock_version(void)
{
	return syscall(CALL_LANDLOCK_CREATE_RULESET, NULL, 0, LANDLOCK_ASK_VERSION);
}

static bool is(const char *word, const char *other)
{
	return strcmp(word, other) == 0;
}

/* Adds what has to be said about a layer that is not in use. */
static void missing(struct sandbox_layers *layers, const char *name, const char *wanted,
		    const char *why, struct arena *arena)
{
	const char *text = is(wanted, "off") ? str_format(arena, "sandbox.%s is off", name).at
					     : str_format(arena, "%s is missing: %s", name, why).at;
	layers->warning = layers->warning == NULL
				  ? text
				  : str_format(arena, "%s; %s", layers->warning, text).at;
	if (is(wanted, "required") && layers->refusal == NULL)
		layers->refusal = str_format(arena, "sandbox.%s is required, but %s", name, why).at;
}

void sandbox_layers_choose(struct sandbox_layers *layers, struct arena *arena)
{
	long version = landlock_version();
	bool seccomp = !is(layers->seccomp, "off") && has_seccomp();
	bool landlock = !is(layers->landlock, "off") && version >= LANDLOCK_LEAST_VERSION;
	layers->warning = layers->refusal = NULL;
	if (!seccomp)
		missing(layers, "seccomp", layers->seccomp, "this kernel has no seccomp filters",
			arena);
	if (!landlock)
		missing(layers, "landlock", layers->landlock,
			version < 0 ? "this kernel has no Landlock, or it is not among its lsm="
				    : "this kernel has Landlock version 1 only",
			arena);
	layers->text =
		str_format(arena, "bubblewrap%s%s", seccomp ? ", seccomp" : "",
			   landlock ? str_format(arena, ", Landlock version %ld", version).at : "")
			.at;
}
