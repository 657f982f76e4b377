/* sandbox/sandbox.c -- the table of sandboxes, the lifeline, and the argument list. */
#include "sandbox/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/limits.h"
#include "sandbox/argv.h"
#include "sandbox/sandbox_limits.h"

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
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
		int number = errno;
		close(status);
		return fail(error, ERROR_IO, "cannot create the lifeline of the sandbox: %s",
			    strerror(number));
	}
	*line = (struct sandbox_lifeline){ .status = status, .lifeline = ends[0], .ours = ends[1] };
	return true;
}

/* Writes the word and its NUL. */
static bool write_word(int descriptor, struct str word)
{
	static const char end = '\0';
	/* A NUL would end the word, and what follows it would be another argument of bwrap. */
	if (memchr(word.at, '\0', word.size) != NULL) {
		errno = EINVAL;
		return false;
	}
	while (word.size > 0) {
		ssize_t size = write(descriptor, word.at, word.size);
		if (size < 0)
			return false;
		word = str_skip(word, (size_t)size);
	}
	return write(descriptor, &end, 1) == 1;
}

bool sandbox_environment_open(const struct sandbox_variable *variables, size_t count,
			      int *out_descriptor, struct error *error)
{
	int descriptor = memfd_create("sandbox-environment", MFD_CLOEXEC);
	bool good = descriptor >= 0;
	for (size_t i = 0; i < count && good; i++)
		good = write_word(descriptor, S("--setenv")) &&
		       write_word(descriptor, variables[i].name) &&
		       write_word(descriptor, variables[i].value);
	if (good && lseek(descriptor, 0, SEEK_SET) == 0) {
		*out_descriptor = descriptor;
		return true;
	}
	int number = errno;
	sandbox_environment_close(descriptor);
	return fail(error, ERROR_IO, "cannot create the environment of the sandbox: %s",
		    strerror(number));
}

void sandbox_environment_close(int descriptor)
{
	if (descriptor >= 0)
		close(descriptor);
}

void sandbox_lifeline_close(struct sandbox_lifeline *line)
{
	if (line->ours >= 0)
		close(line->ours);
	close(line->status);
	close(line->lifeline);
}

/* bwrap writes {"child-pid": 123, ...} before it starts the command. */
int64_t sandbox_first_process(const struct sandbox_lifeline *line)
{
	char text[512];
	ssize_t size = pread(line->status, text, sizeof(text), 0);
	struct str rest = { text, size > 0 ? (size_t)size : 0 }, key = S("child-pid\":");
	int64_t pid = 0;
	size_t at;
	if (!str_find(rest, key, &at))
		return 0;
	rest = str_trim(str_skip(rest, at + key.size));
	for (size_t i = 0; i < rest.size && rest.at[i] >= '0' && rest.at[i] <= '9'; i++)
		pid = pid * 10 + (rest.at[i] - '0');
	return pid;
}

/* Whether the number belongs to a process of another pid namespace: it may have been given to a new
 * process since the first process of the sandbox ended. */
static bool is_elsewhere(int64_t pid)
{
	AUTO(arena) arena = { 0 };
	struct stat own, other;
	const char *path = str_format(&arena, "/proc/%lld/ns/pid", (long long)pid).at;
	return stat("/proc/self/ns/pid", &own) == 0 && stat(path, &other) == 0 &&
	       own.st_ino != other.st_ino;
}

void sandbox_lifeline_cut(struct sandbox_lifeline *line)
{
	if (line->ours < 0)
		return;
	close(line->ours);
	line->ours = -1;
	/* A command that has stopped the reader of the lifeline ends with its namespace. */
	int64_t first = sandbox_first_process(line);
	if (first > 0 && is_elsewhere(first))
		kill((pid_t)first, SIGKILL);
}

bool sandbox_was_built(const struct sandbox_lifeline *line)
{
	return sandbox_first_process(line) > 0;
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
 * reader is started first.  `wait -n` forgets a child that has ended before it is called, so when the
 * lifeline closes, the reader kills the command, and one that starts later too, and then says so with
 * TERM.  The trap restores INT and QUIT, which a shell ignores in background commands.  The command
 * inherits neither the lifeline nor the status file.  When memory runs out, the kernel ends a
 * sandboxed process before the server. */
static const char init_script[] =
	"trap 'exit 125' TERM; { echo %d >/proc/self/oom_score_adj; %s } 2>/dev/null; "
	"(trap - TERM; read -r gone; while :; do kill -s KILL -- -1; kill -s TERM 1; done) <&%d "
	">/dev/null 2>&1 & reader=$!; "
	"(trap - INT QUIT TERM; exec \"$0\" \"$@\") <&0 %d<&- %d>&- & command=$!; "
	"wait -n -p first $command $reader; status=$?; "
	"[ \"$first\" = $command ] && exit $status; exit 125";

void argv_add_command(struct argv *arguments, struct arena *arena, const struct sandbox_spec *spec)
{
	int lifeline = spec->lifeline_descriptor, status = spec->status_descriptor;
	struct str limits =
		spec->limits == NULL ? S("") : sandbox_limits_script(spec->limits, arena);
	if (spec->arguments_descriptor > 0)
		ARGUMENTS_ADD(arguments, "--args",
			      str_format(arena, "%d", spec->arguments_descriptor).at);
	ARGUMENTS_ADD(arguments, "--as-pid-1", "--json-status-fd",
		      str_format(arena, "%d", status).at, "--", "/bin/bash", "-c",
		      str_format(arena, init_script, LIMIT_SANDBOX_OOM_SCORE, limits.at, lifeline,
				 lifeline, status)
			      .at);
	for (size_t i = 0; spec->command[i] != NULL; i++)
		argv_add(arguments, spec->command[i]);
}
