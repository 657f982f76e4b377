/* sandbox/sandbox.c -- the table of isolations and the file through which bwrap reports. */
#include "sandbox/sandbox.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sandbox/arguments.h"

#define SANDBOX(name) extern const struct sandbox sandbox_##name;
#include "sandbox/sandboxes.def"
#undef SANDBOX

static const struct sandbox *const sandboxes[] = {
#define SANDBOX(name) &sandbox_##name,
#include "sandbox/sandboxes.def"
#undef SANDBOX
};

const struct sandbox *sandbox_find(struct str name)
{
	for (size_t i = 0; i < COUNT(sandboxes); i++)
		if (str_equal(str_from_c(sandboxes[i]->name), name))
			return sandboxes[i];
	return NULL;
}

bool sandbox_status_open(int *out_descriptor, struct error *error)
{
	int descriptor = memfd_create("sandbox-status", MFD_CLOEXEC);
	if (descriptor < 0)
		return fail(error, ERROR_IO, "no status file for the sandbox: %s", strerror(errno));
	*out_descriptor = descriptor;
	return true;
}

bool sandbox_was_built(int status_descriptor)
{
	char text[512];
	ssize_t size = pread(status_descriptor, text, sizeof(text), 0);
	size_t at;
	return size > 0 && str_find((struct str){ text, (size_t)size }, S("child-pid"), &at);
}

struct arguments arguments_new(struct arena *arena)
{
	return (struct arguments){ arena_array(arena, const char *, ARGUMENTS_ROOM), 0 };
}

void arguments_add(struct arguments *arguments, const char *word)
{
	require(arguments->count + 1 < ARGUMENTS_ROOM);
	arguments->at[arguments->count++] = word;
}
