/* keeper/keeper.c -- starts the command of a sandbox and ends with it, or with the server.
 *
 * The keeper is not dumpable: the command cannot open its descriptors through /proc/1, although both
 * have the same user.
 */
#include "keeper/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CANNOT_EXECUTE = 126, NOT_FOUND = 127, BY_SIGNAL = 128 };

static void say(const char *text)
{
	ssize_t written = write(STDERR_FILENO, text, strlen(text));
	(void)written;
}

static void say_problem(const char *what, const char *which, int number)
{
	say("baton: ");
	say(what);
	if (which != NULL) {
		say(" ");
		say(which);
	}
	if (number != 0) {
		say(": ");
		say(strerror(number));
	}
	say("\n");
}

_Noreturn void keeper_die(const char *what, const char *which, int number)
{
	say_problem(what, which, number);
	_exit(KEEPER_EXIT);
}

/* ---- options --------------------------------------------------------------------------- */

static unsigned long long number_of(const char *option, const char *text)
{
	char *end;
	errno = 0;
	unsigned long long number = strtoull(text, &end, 10);
	if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0)
		keeper_die("the keeper does not understand", option, 0);
	return number;
}

/* The value of an option NAME=VALUE, or NULL when the option has another name. */
static const char *value_of(const char *option, const char *name)
{
	size_t size = strlen(name);
	return strncmp(option, name, size) == 0 && option[size] == '=' ? option + size + 1 : NULL;
}

static enum keeper_layer layer_of(const char *option, const char *word)
{
	static const char *const words[] = { "off", "auto", "required" };
	for (int i = 0; i < 3; i++)
		if (strcmp(word, words[i]) == 0)
			return (enum keeper_layer)i;
	keeper_die("the keeper does not understand", option, 0);
}

/* Never raises a limit. */
static void limit_set(int resource, unsigned long long most, const char *option)
{
	struct rlimit limit;
	if (getrlimit((__rlimit_resource_t)resource, &limit) != 0)
		keeper_die("cannot read the limit", option, errno);
	if (limit.rlim_max > most)
		limit.rlim_max = most;
	if (limit.rlim_cur > limit.rlim_max)
		limit.rlim_cur = limit.rlim_max;
	if (setrlimit((__rlimit_resource_t)resource, &limit) != 0)
		keeper_die("cannot set the limit", option, errno);
}

static bool limit_take(const char *option)
{
	static const struct {
		const char *name;
		int resource;
	} limits[] = { { "core", RLIMIT_CORE },
		       { "fsize", RLIMIT_FSIZE },
		       { "data", RLIMIT_DATA },
		       { "nproc", RLIMIT_NPROC } };
	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		const char *value = value_of(option, limits[i].name);
		if (value != NULL) {
			limit_set(limits[i].resource, number_of(option, value), option);
			return true;
		}
	}
	return false;
}

/* PORT:N */
static void proxy_take(struct keeper *keeper, const char *option, const char *value)
{
	char *end;
	long port = strtol(value, &end, 10);
	if (port <= 0 || port > 65535 || *end != ':')
		keeper_die("the keeper does not understand", option, 0);
	keeper->proxy_port = (int)port;
	keeper->proxy_line = (int)number_of(option, end + 1);
}

static void option_take(struct keeper *keeper, const char *option)
{
	const char *value;
	if ((value = value_of(option, "lifeline")) != NULL)
		keeper->lifeline = (int)number_of(option, value);
	else if ((value = value_of(option, "status")) != NULL)
		keeper->status = (int)number_of(option, value);
	else if ((value = value_of(option, "self")) != NULL)
		keeper->self = (int)number_of(option, value);
	else if ((value = value_of(option, "oom")) != NULL)
		keeper->oom = value;
	else if ((value = value_of(option, "landlock")) != NULL)
		keeper->landlock = layer_of(option, value);
	else if ((value = value_of(option, "seccomp")) != NULL)
		keeper->seccomp = layer_of(option, value);
	else if ((value = value_of(option, "proxy")) != NULL)
		proxy_take(keeper, option, value);
	else if ((value = value_of(option, "write")) != NULL && keeper->place_count < KEEPER_PLACES)
		keeper->places[keeper->place_count++] = value;
	else if (!limit_take(option))
		keeper_die("the keeper does not understand", option, 0);
}

/* ---- the command ------------------------------------------------------------------------ */

static void oom_set(const char *score)
{
	int file = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
	if (file < 0)
		return; /* only which process ends first when memory runs out */
	ssize_t written = write(file, score, strlen(score));
	(void)written;
	close(file);
}

static void forget(int descriptor)
{
	if (descriptor >= 0)
		close(descriptor);
}

static _Noreturn void command_run(const struct keeper *keeper)
{
	sigset_t none;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execvp(keeper->command[0], keeper->command);
	int number = errno;
	say_problem("cannot start", keeper->command[0], number);
	_exit(number == ENOENT ? NOT_FOUND : CANNOT_EXECUTE);
}

static void started_write(const struct keeper *keeper)
{
	static const char text[] = KEEPER_STARTED;
	if (keeper->status < 0)
		return;
	if (write(keeper->status, text, sizeof(text) - 1) != (ssize_t)(sizeof(text) - 1))
		keeper_die("cannot write the status of the sandbox", NULL, errno);
	fcntl(keeper->status, F_SETFD, FD_CLOEXEC);
}

/* Writes the number behind the text; the end of what was written. */
static char *number_add(char *at, const char *text, unsigned long long number)
{
	char digits[24];
	size_t count = 0;
	at = stpcpy(at, text);
	do
		digits[count++] = (char)('0' + number % 10);
	while ((number /= 10) > 0);
	while (count > 0)
		*at++ = digits[--count];
	return at;
}

/* What the processes that have ended used.  The command has no descriptor of the status file. */
static void figures_write(const struct keeper *keeper)
{
	enum { BLOCK = 512, KIBIBYTE = 1024, MICRO = 1000000 };
	struct rusage used;
	char text[256], *at = text;
	if (keeper->status < 0 || getrusage(RUSAGE_CHILDREN, &used) != 0)
		return;
	unsigned long long cpu =
		(unsigned long long)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * MICRO +
		(unsigned long long)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
	at = number_add(at, "{\"keeper\":\"ended\",\"cpu_us\":", cpu);
	at = number_add(at, ",\"memory_bytes\":", (unsigned long long)used.ru_maxrss * KIBIBYTE);
	at = number_add(at, ",\"written_bytes\":", (unsigned long long)used.ru_oublock * BLOCK);
	at = stpcpy(at, "}\n");
	ssize_t written = write(keeper->status, text, (size_t)(at - text));
	(void)written;
}

/* Ends the keeper when the command has ended; other children of process 1 are only reaped. */
static void children_reap(const struct keeper *keeper, pid_t command)
{
	int status;
	pid_t child;
	while ((child = waitpid(-1, &status, WNOHANG)) > 0) {
		if (child != command)
			continue;
		figures_write(keeper);
		_exit(WIFSIGNALED(status) ? BY_SIGNAL + WTERMSIG(status) : WEXITSTATUS(status));
	}
}

/* Blocks SIGCHLD and returns a descriptor that reports it. */
static int signals_open(const struct keeper *keeper)
{
	sigset_t ended;
	sigemptyset(&ended);
	sigaddset(&ended, SIGCHLD);
	sigprocmask(SIG_BLOCK, &ended, NULL);
	int signals = signalfd(-1, &ended, SFD_CLOEXEC | SFD_NONBLOCK);
	if (signals < 0 ||
	    (keeper->lifeline >= 0 && fcntl(keeper->lifeline, F_SETFD, FD_CLOEXEC) != 0) ||
	    (keeper->proxy_port > 0 && fcntl(keeper->proxy_line, F_SETFD, FD_CLOEXEC) != 0))
		keeper_die("cannot watch the command", NULL, errno);
	return signals;
}

/* Returns when the lifeline closes. */
static void watch(const struct keeper *keeper, pid_t command, int signals, int listener)
{
	struct pollfd sources[] = { { .fd = signals, .events = POLLIN },
				    { .fd = keeper->lifeline, .events = POLLIN },
				    { .fd = listener, .events = POLLIN } };
	for (;;) {
		struct signalfd_siginfo signal;
		if (poll(sources, 3, -1) < 0 && errno != EINTR)
			keeper_die("cannot watch the command", NULL, errno);
		while (read(signals, &signal, sizeof(signal)) > 0)
			;
		children_reap(keeper, command);
		/* The server never writes, so a readable lifeline is a closed one. */
		if (keeper->lifeline >= 0 && sources[1].revents != 0)
			return;
		if (listener >= 0 && sources[2].revents != 0)
			keeper_proxy_accept(keeper, listener);
	}
}

int main(int count, char **words)
{
	struct keeper keeper = { .lifeline = -1, .status = -1, .self = -1 };
	int next = 1;
	for (; next < count && strcmp(words[next], "--") != 0; next++)
		option_take(&keeper, words[next]);
	if (next + 1 >= count)
		keeper_die("the keeper was given no command", NULL, 0);
	keeper.command = words + next + 1;
	prctl(PR_SET_NAME, "baton-keeper");
	forget(keeper.self);
	if (keeper.oom != NULL)
		oom_set(keeper.oom);
	if (prctl(PR_SET_DUMPABLE, 0) != 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		keeper_die("cannot give up privileges", NULL, errno);
	int listener = keeper_proxy_listen(&keeper);
	keeper_landlock(&keeper);
	keeper_seccomp(&keeper);
	int signals = signals_open(&keeper);
	started_write(&keeper);
	pid_t command = fork();
	if (command < 0)
		keeper_die("cannot start", keeper.command[0], errno);
	if (command == 0)
		command_run(&keeper);
	watch(&keeper, command, signals, listener);
	_exit(KEEPER_EXIT);
}
