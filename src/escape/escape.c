/* escape/escape.c -- runs the probes of the escape kit, one process each. */
#include "escape/escape.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct {
	const char *name;
	enum escape_result (*run)(const struct escape *escape);
} probes[] = {
#define PROBE(name, text) { #name, escape_##name },
#include "escape/probes.def"
#undef PROBE
};

enum escape_result escape_say(const struct escape *escape, enum escape_result result,
			      const char *format, ...)
{
	va_list list;
	va_start(list, format);
	vsnprintf(escape->text, ESCAPE_TEXT, format, list);
	va_end(list);
	return result;
}

enum escape_result escape_refused(const struct escape *escape, long returned)
{
	int number = errno;
	if (returned >= 0)
		return escape_say(escape, ESCAPE_ESCAPED, "the call succeeded");
	return escape_say(escape, ESCAPE_HELD, "%s", strerror(number));
}

enum escape_result escape_refused_or_absent(const struct escape *escape, long returned)
{
	if (returned < 0 && errno == ENOSYS)
		return escape_say(escape, ESCAPE_ABSENT, "this kernel does not have it");
	return escape_refused(escape, returned);
}

enum escape_result escape_open(const struct escape *escape, const char *path, int flags)
{
	int file = open(path, flags | O_CLOEXEC | O_NONBLOCK, 0600);
	int number = errno;
	if (file >= 0) {
		close(file);
		return escape_say(escape, ESCAPE_ESCAPED, "%s can be opened", path);
	}
	return escape_say(escape, ESCAPE_HELD, "%s: %s", path, strerror(number));
}

/* ---- the doctor's words ---------------------------------------------------------------- */

static const char *value_of(const char *word, const char *name)
{
	size_t size = strlen(name);
	return strncmp(word, name, size) == 0 && word[size] == '=' ? word + size + 1 : NULL;
}

static void take(struct escape *escape, const char *word)
{
	const struct {
		const char *name, **text;
	} texts[] = { { "secret", &escape->secret },
		      { "outside", &escape->outside },
		      { "data", &escape->data },
		      { "abstract", &escape->abstract },
		      { "canary", &escape->canary } };
	const struct {
		const char *name;
		long long *number;
	} numbers[] = { { "processes", &escape->processes },
			{ "memory", &escape->memory },
			{ "file", &escape->file },
			{ "room", &escape->room } };
	const char *value;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if ((value = value_of(word, texts[i].name)) != NULL)
			*texts[i].text = value;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if ((value = value_of(word, numbers[i].name)) != NULL)
			*numbers[i].number = strtoll(value, NULL, 10);
	if ((value = value_of(word, "server")) != NULL)
		escape->server = strtol(value, NULL, 10);
	if ((value = value_of(word, "port")) != NULL)
		escape->port = (int)strtol(value, NULL, 10);
	if ((value = value_of(word, "self")) != NULL)
		escape->self = (int)strtol(value, NULL, 10);
}

/* ---- running ------------------------------------------------------------------------------ */

static enum escape_result probe_run(const struct escape *escape, size_t number)
{
	int status;
	escape->text[0] = '\0';
	fflush(stdout);
	pid_t child = fork();
	if (child < 0)
		return escape_say(escape, ESCAPE_ABSENT, "cannot start a process: %s",
				  strerror(errno));
	if (child == 0) {
		setpgid(0, 0);
		alarm(ESCAPE_SECONDS);
		_exit((int)probes[number].run(escape));
	}
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	kill(-child, SIGKILL); /* whatever it has started */
	if (WIFSIGNALED(status))
		return escape_say(escape, ESCAPE_HELD, "ended by signal %d (%s)", WTERMSIG(status),
				  strsignal(WTERMSIG(status)));
	return (enum escape_result)WEXITSTATUS(status);
}

int main(int count, char **words)
{
	static const char *const results[] = { "held", "escaped", "absent" };
	struct escape escape = { .secret = "/nonexistent" };
	for (int i = 1; i < count; i++)
		take(&escape, words[i]);
	close(escape.self);
	escape.text =
		mmap(NULL, ESCAPE_TEXT, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (escape.text == MAP_FAILED)
		return 1;
	for (size_t i = 0; i < sizeof(probes) / sizeof(probes[0]); i++) {
		enum escape_result result = probe_run(&escape, i);
		for (char *at = escape.text; *at != '\0'; at++)
			if (*at == '\t' || *at == '\n')
				*at = ' ';
		printf("%s\t%s\t%s\n", probes[i].name,
		       result <= ESCAPE_ABSENT ? results[result] : "escaped", escape.text);
	}
	return 0;
}
