/* sandbox/sandbox.c -- the table of isolations and what ties a child to us. */
#include "sandbox/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sandbox/argv.h"

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

bool sandbox_lifeline_open(struct sandbox_lifeline *tie, struct error *error)
{
	int ends[2];
	int status = memfd_create("sandbox-status", MFD_CLOEXEC);
	if (status < 0)
		return fail(error, ERROR_IO, "no status file for the sandbox: %s", strerror(errno));
	if (pipe2(ends, O_CLOEXEC) != 0) {
		int number = errno;
		close(status);
		return fail(error, ERROR_IO, "no lifeline for the sandbox: %s", strerror(number));
	}
	*tie = (struct sandbox_lifeline){ .status = status, .lifeline = ends[0], .ours = ends[1] };
	return true;
}

void sandbox_lifeline_cut(struct sandbox_lifeline *tie)
{
	if (tie->ours >= 0)
		close(tie->ours);
	tie->ours = -1;
}

void sandbox_lifeline_close(struct sandbox_lifeline *tie)
{
	sandbox_lifeline_cut(tie);
	close(tie->status);
	close(tie->lifeline);
}

bool sandbox_was_built(const struct sandbox_lifeline *tie)
{
	char text[512];
	ssize_t size = pread(tie->status, text, sizeof(text), 0);
	size_t at;
	return size > 0 && str_find((struct str){ text, (size_t)size }, S("child-pid"), &at);
}

struct argv argv_new(struct arena *arena)
{
	return (struct argv){ arena_array(arena, const char *, ARGUMENTS_ROOM), 0 };
}

void argv_add(struct argv *arguments, const char *word)
{
	require(arguments->count + 1 < ARGUMENTS_ROOM);
	arguments->at[arguments->count++] = word;
}

/* The first process of the namespace: it starts the command and ends when the command does, or when
 * the lifeline does, and with it everything else in there.  Nobody inside can kill it, and whoever
 * kills its reader of the lifeline ends with it; so that comes first.  The trap gives the command
 * the signals back that a shell takes from what it starts in the background; the lifeline is not
 * for it to see. */
static const char init_script[] = "(read -r gone) <&%d >/dev/null 2>&1 & reader=$!; "
				  "(trap - INT QUIT; exec \"$0\" \"$@\") <&0 %d<&- & command=$!; "
				  "wait -n -p first $command $reader; status=$?; "
				  "[ \"$first\" = $command ] && exit $status; exit 125";

void argv_add_command(struct argv *arguments, struct arena *arena, const struct sandbox_spec *spec)
{
	int lifeline = spec->lifeline_descriptor;
	ARGUMENTS_ADD(arguments, "--as-pid-1", "--json-status-fd",
		      str_format(arena, "%d", spec->status_descriptor).at, "--", "/bin/bash", "-c",
		      str_format(arena, init_script, lifeline, lifeline).at);
	for (size_t i = 0; spec->command[i] != NULL; i++)
		argv_add(arguments, spec->command[i]);
}
