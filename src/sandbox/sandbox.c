/* sandbox/sandbox.c -- the table of sandboxes, the lifeline, and the argument list. */
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

bool sandbox_lifeline_open(struct sandbox_lifeline *line, struct error *error)
{
	int ends[2];
	int status = memfd_create("sandbox-status", MFD_CLOEXEC);
	if (status < 0)
		return fail(error, ERROR_IO, "cannot create the status file of the sandbox: %s",
			    strerror(errno));
	if (pipe2(ends, O_CLOEXEC) != 0) {
		int number = errno;
		close(status);
		return fail(error, ERROR_IO, "cannot create the lifeline of the sandbox: %s",
			    strerror(number));
	}
	*line = (struct sandbox_lifeline){ .status = status, .lifeline = ends[0], .ours = ends[1] };
	return true;
}

void sandbox_lifeline_cut(struct sandbox_lifeline *line)
{
	if (line->ours >= 0)
		close(line->ours);
	line->ours = -1;
}

void sandbox_lifeline_close(struct sandbox_lifeline *line)
{
	sandbox_lifeline_cut(line);
	close(line->status);
	close(line->lifeline);
}

bool sandbox_was_built(const struct sandbox_lifeline *line)
{
	char text[512];
	ssize_t size = pread(line->status, text, sizeof(text), 0);
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

/* The first process of the namespace.  It starts the command and exits when the command exits or
 * when the lifeline closes; the kernel then kills all other processes of the namespace.  Processes
 * inside cannot kill it, and if they kill the reader of the lifeline, it exits as well, so the
 * reader is started first.  The trap restores INT and QUIT, which a shell ignores in background
 * commands.  The command does not inherit the lifeline. */
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
