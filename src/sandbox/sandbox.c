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
#include "sandbox/keeper_file.h"

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
	int ends[2], keeper;
	if (!keeper_file_open(&keeper, error))
		return false;
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
	*line = (struct sandbox_lifeline){
		.status = status, .lifeline = ends[0], .ours = ends[1], .keeper = keeper
	};
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
	/* While bwrap has not started the keeper yet, nobody looks at the lifeline. */
	int64_t first = sandbox_first_process(line);
	if (first > 0 && is_elsewhere(first))
		kill((pid_t)first, SIGKILL);
}

bool sandbox_was_built(const struct sandbox_lifeline *line)
{
	char text[1024];
	ssize_t size = pread(line->status, text, sizeof(text), 0);
	size_t at;
	return size > 0 &&
	       str_find((struct str){ text, (size_t)size }, S("{\"keeper\":\"started\"}"), &at);
}

static int64_t number_behind(struct str text, struct str key)
{
	int64_t number = 0;
	size_t at;
	if (!str_find(text, key, &at))
		return 0;
	text = str_head(str_skip(text, at + key.size), 18);
	for (size_t i = 0; i < text.size && text.at[i] >= '0' && text.at[i] <= '9'; i++)
		number = number * 10 + (text.at[i] - '0');
	return number;
}

bool sandbox_figures(const struct sandbox_lifeline *line, struct sandbox_figures *out_figures)
{
	char text[1024];
	ssize_t size = pread(line->status, text, sizeof(text), 0);
	struct str rest = { text, size > 0 ? (size_t)size : 0 };
	size_t at;
	if (!str_find(rest, S("{\"keeper\":\"ended\""), &at))
		return false;
	rest = str_skip(rest, at);
	*out_figures = (struct sandbox_figures){
		.cpu_us = number_behind(rest, S("\"cpu_us\":")),
		.memory_bytes = number_behind(rest, S("\"memory_bytes\":")),
		.written_bytes = number_behind(rest, S("\"written_bytes\":")),
	};
	return true;
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

void argv_add_option(struct argv *arguments, struct arena *arena, const char *name, int64_t value)
{
	argv_add(arguments, str_format(arena, "%s=%lld", name, (long long)value).at);
}

void argv_add_keeper(struct argv *arguments, struct arena *arena, const struct sandbox_spec *spec)
{
	if (spec->arguments_descriptor > 0)
		ARGUMENTS_ADD(arguments, "--args",
			      str_format(arena, "%d", spec->arguments_descriptor).at);
	ARGUMENTS_ADD(arguments, "--as-pid-1", "--json-status-fd",
		      str_format(arena, "%d", spec->status_descriptor).at, "--",
		      str_format(arena, "/proc/self/fd/%d", spec->keeper_descriptor).at);
	argv_add_option(arguments, arena, "lifeline", spec->lifeline_descriptor);
	argv_add_option(arguments, arena, "status", spec->started_descriptor);
	argv_add_option(arguments, arena, "self", spec->keeper_descriptor);
	argv_add_option(arguments, arena, "oom", LIMIT_SANDBOX_OOM_SCORE);
	argv_add_option(arguments, arena, "core", 0);
}

void argv_add_command(struct argv *arguments, const struct sandbox_spec *spec)
{
	argv_add(arguments, "--");
	for (size_t i = 0; spec->command[i] != NULL; i++)
		argv_add(arguments, spec->command[i]);
}
