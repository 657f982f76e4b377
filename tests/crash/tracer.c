/* crash/tracer.c -- runs a program, counts its state-changing system calls, and kills it at one.
 *
 *	tracer [OPTION...] --count PROGRAM [ARGUMENT...]
 *	tracer [OPTION...] --kill-at N [--after] PROGRAM [ARGUMENT...]
 *
 *	--report FILE   write the counted calls to FILE (default: standard error)
 *	--ignore FILE   do not count writes to FILE, which belongs to the test
 *	--only SUFFIX   count only calls whose target ends in SUFFIX
 *	--patience S    seconds that a process may outlive the program (default 120)
 *
 * The tracer counts the calls of the table `calls` below, made by any thread of the program itself,
 * that change something outside the process: a file, data for a client, another process.  The
 * children are tools in their sandboxes; they run untraced, at full speed.  The program gets SIGKILL
 * before the Nth counted call has any effect or, with --after, after its effect and before the program
 * knows.  Calls are counted over all threads in the order in which they enter the kernel, so N varies
 * a little between runs; a caller that tries every N continues until a run ends without a kill.
 *
 * The tracer uses plain ptrace without a seccomp filter: the children would inherit the filter and
 * would have to be traced too, or their calls would fail.
 *
 * The tracer is a subreaper, so the kernel makes it the parent of every process that the program
 * leaves behind.  When it has no more child to wait for, no process of the tree is alive.
 *
 * The report has a line for each counted call, "number name target", and a last one:
 * "killed before", "killed after", "ended STATUS", "signal NUMBER" or "survived PID NAME".
 * SIGTERM is forwarded to the program.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	DONE = 0,     /* killed as requested; with --count: ended by itself */
	SURVIVED = 1, /* a process of the tree outlived the program by more than --patience */
	USAGE = 2,
	REFUSED = 3,  /* the system does not permit ptrace */
	UNHARMED = 4, /* ended before the call to kill at */
	PATIENCE_S = 120,
};

/* ---- what counts ------------------------------------------------------------------------ */

/* How to find the target of a call, and whether the call changes anything. */
enum shape {
	NAMELESS,   /* always counted, no target */
	DESCRIPTOR, /* argument 0 */
	MAKES,      /* the path at argument `at` must not exist yet */
	REMOVES,    /* the path at argument `at` must exist */
	OPENS,      /* flags follow the path: O_CREAT of what is not there, or O_TRUNC */
	CLONES,     /* flags in argument 0: a process, not a thread */
	CLONES_3,   /* flags in the structure that argument 0 points to */
};

struct call {
	const char *name;
	long number;
	enum shape shape;
	int at; /* index of the path's argument; one with a folder before it has it at > 0 */
};

#define CALL(name, shape, at) { #name, SYS_##name, shape, at },
static const struct call calls[] = {
	/* clang-format off */
	CALL(write, DESCRIPTOR, 0)
	CALL(writev, DESCRIPTOR, 0)
	CALL(pwrite64, DESCRIPTOR, 0)
	CALL(pwritev, DESCRIPTOR, 0)
	CALL(pwritev2, DESCRIPTOR, 0)
	CALL(copy_file_range, NAMELESS, 0)
	CALL(splice, NAMELESS, 0)
	CALL(sendfile, DESCRIPTOR, 0)
	CALL(fsync, DESCRIPTOR, 0)
	CALL(fdatasync, DESCRIPTOR, 0)
	CALL(sync_file_range, DESCRIPTOR, 0)
	CALL(ftruncate, DESCRIPTOR, 0)
	CALL(truncate, REMOVES, 0)
	CALL(fallocate, DESCRIPTOR, 0)
	CALL(fchmod, DESCRIPTOR, 0)
	CALL(fchmodat, REMOVES, 1)
	CALL(fchown, DESCRIPTOR, 0)
	CALL(fchownat, REMOVES, 1)
	CALL(flock, DESCRIPTOR, 0)
	CALL(openat, OPENS, 1)
	CALL(renameat, REMOVES, 1)
	CALL(renameat2, REMOVES, 1)
	CALL(unlinkat, REMOVES, 1)
	CALL(mkdirat, MAKES, 1)
	CALL(linkat, MAKES, 3)
	CALL(symlinkat, MAKES, 2)
	CALL(mknodat, MAKES, 1)
	CALL(bind, DESCRIPTOR, 0)
	CALL(listen, DESCRIPTOR, 0)
	CALL(shutdown, DESCRIPTOR, 0)
	CALL(sendto, DESCRIPTOR, 0)
	CALL(sendmsg, DESCRIPTOR, 0)
	CALL(sendmmsg, DESCRIPTOR, 0)
	CALL(clone, CLONES, 0)
	CALL(clone3, CLONES_3, 0)
	CALL(kill, NAMELESS, 0)
	CALL(tkill, NAMELESS, 0)
	CALL(tgkill, NAMELESS, 0)
	CALL(pidfd_send_signal, NAMELESS, 0)
#ifdef SYS_open /* old calls that newer architectures do not have */
	CALL(open, OPENS, 0)
	CALL(creat, NAMELESS, 0)
	CALL(rename, REMOVES, 0)
	CALL(unlink, REMOVES, 0)
	CALL(rmdir, REMOVES, 0)
	CALL(mkdir, MAKES, 0)
	CALL(link, MAKES, 1)
	CALL(symlink, MAKES, 1)
	CALL(mknod, MAKES, 0)
	CALL(chmod, REMOVES, 0)
	CALL(chown, REMOVES, 0)
	CALL(fork, NAMELESS, 0)
	CALL(vfork, NAMELESS, 0)
#endif
	/* clang-format on */
};

static const struct call *call_find(uint64_t number)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		if ((uint64_t)calls[i].number == number)
			return &calls[i];
	return NULL;
}

/* ---- the traced program ------------------------------------------------------------------ */

struct tracer {
	FILE *report;
	const char *ignore, *only;
	long kill_at; /* 0: only count */
	bool after;
	long patience;
	pid_t program;
	bool begun; /* its exec has succeeded */
	long count;
	pid_t dying; /* the thread whose call ends in the kill, or 0 */
	bool killed;
};

static pid_t signalled; /* for the handler: the program */

static void hand_on(int number)
{
	kill(signalled, number);
}

__attribute__((format(printf, 2, 3))) static _Noreturn void give_up(int status, const char *format,
								    ...)
{
	va_list list;
	va_start(list, format);
	fprintf(stderr, "tracer: ");
	vfprintf(stderr, format, list);
	fprintf(stderr, "\n");
	va_end(list);
	exit(status);
}

/* The program's memory up to a zero byte; paths only, so PATH_MAX is enough. */
static void read_text(pid_t thread, uint64_t address, char text[PATH_MAX])
{
	size_t size = 0;
	while (size < PATH_MAX - 1) {
		/* Page by page, because the next page may not be mapped. */
		size_t room = 4096 - ((address + size) & 4095);
		if (room > PATH_MAX - 1 - size)
			room = PATH_MAX - 1 - size;
		struct iovec ours = { text + size, room };
		struct iovec theirs = { (void *)(uintptr_t)(address + size), room };
		ssize_t got = process_vm_readv(thread, &ours, 1, &theirs, 1, 0);
		if (got <= 0)
			break;
		if (memchr(text + size, '\0', (size_t)got) != NULL)
			return;
		size += (size_t)got;
	}
	text[size] = '\0';
}

/* The path from the tracer's view: a relative path is resolved against its folder descriptor. */
static void read_path(pid_t thread, const struct call *call, const uint64_t *args,
		      char path[PATH_MAX])
{
	char text[PATH_MAX];
	read_text(thread, args[call->at], text);
	bool has_folder = strstr(call->name, "at") != NULL && call->at > 0;
	if (text[0] == '/')
		memcpy(path, text, sizeof(text));
	else if (!has_folder || (int)args[call->at - 1] == AT_FDCWD)
		snprintf(path, PATH_MAX, "/proc/%d/cwd/%.3900s", (int)thread, text);
	else
		snprintf(path, PATH_MAX, "/proc/%d/fd/%d/%.3900s", (int)thread,
			 (int)args[call->at - 1], text);
}

static void read_descriptor(pid_t thread, int descriptor, char path[PATH_MAX])
{
	char link[64];
	snprintf(link, sizeof(link), "/proc/%d/fd/%d", (int)thread, descriptor);
	ssize_t size = readlink(link, path, PATH_MAX - 1);
	path[size < 0 ? 0 : size] = '\0';
}

/* A pipe with both ends in the program does not change anything outside: a thread wakes another. */
static bool is_own_pipe(pid_t thread, int descriptor, const char *name)
{
	if (strncmp(name, "pipe:", 5) != 0)
		return false;
	for (int other = 0; other < 256; other++) {
		char path[PATH_MAX];
		read_descriptor(thread, other, path);
		if (other != descriptor && strcmp(path, name) == 0)
			return true;
	}
	return false;
}

static bool is_thread(pid_t thread, const struct call *call, uint64_t argument)
{
	uint64_t flags = argument;
	if (call->shape == CLONES_3) {
		struct iovec ours = { &flags, sizeof(flags) };
		struct iovec theirs = { (void *)(uintptr_t)argument, sizeof(flags) };
		if (process_vm_readv(thread, &ours, 1, &theirs, 1, 0) != sizeof(flags))
			return false;
	}
	return (flags & CLONE_THREAD) != 0;
}

/* Whether the call will change something outside the process; `target` gets its target. */
static bool changes(const struct tracer *tracer, pid_t thread, const struct call *call,
		    const uint64_t *args, char target[PATH_MAX])
{
	struct stat status;
	target[0] = '\0';
	switch (call->shape) {
	case NAMELESS:
		return true;
	case DESCRIPTOR:
		read_descriptor(thread, (int)args[0], target);
		if (tracer->ignore != NULL && strcmp(target, tracer->ignore) == 0)
			return false;
		return strcmp(target, "anon_inode:[eventfd]") != 0 &&
		       !is_own_pipe(thread, (int)args[0], target);
	case MAKES:
		read_path(thread, call, args, target);
		return lstat(target, &status) != 0;
	case REMOVES:
		read_path(thread, call, args, target);
		return lstat(target, &status) == 0;
	case OPENS:
		read_path(thread, call, args, target);
		if (tracer->ignore != NULL && strcmp(target, tracer->ignore) == 0)
			return false;
		if (lstat(target, &status) == 0)
			return (args[call->at + 1] & O_TRUNC) != 0;
		return (args[call->at + 1] & O_CREAT) != 0;
	case CLONES:
	case CLONES_3:
		return !is_thread(thread, call, args[0]);
	}
	return false;
}

static bool ends_with(const char *text, const char *suffix)
{
	size_t size = strlen(text), tail = strlen(suffix);
	return size >= tail && strcmp(text + size - tail, suffix) == 0;
}

/* ---- stops ------------------------------------------------------------------------------ */

static void pull(struct tracer *tracer)
{
	/* A thread that is killed at the stop before a call never makes the call: the kernel checks
	 * for a fatal signal when the tracer resumes the thread. */
	kill(tracer->program, SIGKILL);
	tracer->killed = true;
}

/* A thread is about to enter the kernel, or to come back. */
static void call_stopped(struct tracer *tracer, pid_t thread)
{
	struct __ptrace_syscall_info info;
	if (!tracer->begun || ptrace(PTRACE_GET_SYSCALL_INFO, thread, sizeof(info), &info) <= 0)
		return;
	if (info.op == PTRACE_SYSCALL_INFO_EXIT) {
		if (tracer->dying == thread && !tracer->killed)
			pull(tracer);
		return;
	}
	if (info.op != PTRACE_SYSCALL_INFO_ENTRY || tracer->dying != 0)
		return;
	const struct call *call = call_find(info.entry.nr);
	char target[PATH_MAX];
	if (call == NULL || !changes(tracer, thread, call, info.entry.args, target))
		return;
	if (tracer->only != NULL && !ends_with(target, tracer->only))
		return;
	tracer->count++;
	fprintf(tracer->report, "%ld %s %s\n", tracer->count, call->name, target);
	if (tracer->count != tracer->kill_at)
		return;
	tracer->dying = thread;
	if (!tracer->after)
		pull(tracer);
}

static void stopped(struct tracer *tracer, pid_t thread, int status)
{
	int number = WSTOPSIG(status), event = status >> 16, deliver = 0;
	if (number == (SIGTRAP | 0x80))
		call_stopped(tracer, thread);
	else if (event == PTRACE_EVENT_EXEC)
		tracer->begun = true;
	else if (event == 0)
		deliver = number;
	/* The thread may be dead already; waitpid() then reports it. */
	ptrace(PTRACE_SYSCALL, thread, 0, deliver);
}

/* ---- the beginning and the end ------------------------------------------------------------ */

static void begin(struct tracer *tracer, char **argv)
{
	int gate[2];
	if (pipe2(gate, O_CLOEXEC) != 0)
		give_up(REFUSED, "no pipe: %s", strerror(errno));
	pid_t program = fork();
	if (program < 0)
		give_up(REFUSED, "no process: %s", strerror(errno));
	if (program == 0) {
		char go;
		close(gate[1]); /* when the tracer dies, the program dies, too */
		if (read(gate[0], &go, 1) == 1)
			execv(argv[0], argv);
		_exit(127);
	}
	tracer->program = signalled = program;
	long options = PTRACE_O_EXITKILL | PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE |
		       PTRACE_O_TRACEEXEC;
	if (ptrace(PTRACE_SEIZE, program, 0, options) != 0)
		give_up(REFUSED,
			"this system does not permit ptrace (%s), and without it the program cannot be "
			"killed at its system calls; in a container allow the call ptrace in its "
			"seccomp profile, or give it CAP_SYS_PTRACE",
			strerror(errno));
	signal(SIGTERM, hand_on);
	/* After the first stop, the program runs from stop to stop. */
	if (ptrace(PTRACE_INTERRUPT, program, 0, 0) != 0 || write(gate[1], "g", 1) != 1)
		give_up(REFUSED, "the program does not stop: %s", strerror(errno));
	close(gate[0]);
	close(gate[1]);
}

/* Traces the program to its end and returns its wait status. */
static int follow(struct tracer *tracer)
{
	for (;;) {
		int status;
		pid_t pid = waitpid(-1, &status, __WALL);
		if (pid < 0 && errno == EINTR)
			continue;
		if (pid < 0)
			give_up(REFUSED, "the program is lost: %s", strerror(errno));
		if (WIFSTOPPED(status))
			stopped(tracer, pid, status);
		else if (pid == tracer->program)
			return status; /* the end of the thread group leader is reported last */
	}
}

static void nothing(int number)
{
	(void)number;
}

/* Reports the remaining processes and kills them. */
static void end_survivors(struct tracer *tracer)
{
	char path[64], line[64] = "";
	snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
	FILE *children = fopen(path, "re");
	int pid;
	while (children != NULL && fscanf(children, "%d", &pid) == 1) {
		snprintf(path, sizeof(path), "/proc/%d/comm", pid);
		FILE *name = fopen(path, "re");
		if (name == NULL || fgets(line, sizeof(line), name) == NULL)
			line[0] = '\0';
		if (name != NULL)
			fclose(name);
		line[strcspn(line, "\n")] = '\0';
		fprintf(tracer->report, "survived %d %s\n", pid, line);
		kill(pid, SIGKILL);
	}
	if (children != NULL)
		fclose(children);
}

/* True when no process has outlived the program. */
static bool all_gone(struct tracer *tracer)
{
	struct sigaction wake = { .sa_handler = nothing }; /* no SA_RESTART: waitpid() returns */
	sigaction(SIGALRM, &wake, NULL);
	alarm((unsigned int)tracer->patience);
	bool gone = true;
	for (;;) {
		if (waitpid(-1, NULL, __WALL) >= 0)
			continue;
		if (errno != EINTR)
			return gone;
		gone = false;
		end_survivors(tracer);
		alarm(1); /* the children of those follow */
	}
}

static int finish(struct tracer *tracer, int status)
{
	bool gone = all_gone(tracer);
	if (!gone)
		return SURVIVED;
	if (tracer->killed) {
		fprintf(tracer->report, "killed %s\n", tracer->after ? "after" : "before");
		return DONE;
	}
	if (WIFSIGNALED(status))
		fprintf(tracer->report, "signal %d\n", WTERMSIG(status));
	else
		fprintf(tracer->report, "ended %d\n", WEXITSTATUS(status));
	return tracer->kill_at == 0 ? DONE : UNHARMED;
}

/* ---- arguments --------------------------------------------------------------------------- */

static const char *next(char ***argv)
{
	const char *value = *++*argv;
	if (value == NULL)
		give_up(USAGE, "a value is missing at the end");
	return value;
}

static long number(const char *text)
{
	char *end;
	long value = strtol(text, &end, 10);
	if (value <= 0 || *end != '\0')
		give_up(USAGE, "%s is not a positive number", text);
	return value;
}

int main(int argc, char **argv)
{
	struct tracer tracer = { .report = stderr, .patience = PATIENCE_S };
	bool asked = false;
	(void)argc;
	for (argv++; *argv != NULL && strncmp(*argv, "--", 2) == 0; argv++) {
		if (strcmp(*argv, "--report") == 0)
			tracer.report = fopen(next(&argv), "we");
		else if (strcmp(*argv, "--ignore") == 0)
			tracer.ignore = next(&argv);
		else if (strcmp(*argv, "--only") == 0)
			tracer.only = next(&argv);
		else if (strcmp(*argv, "--count") == 0)
			asked = true;
		else if (strcmp(*argv, "--kill-at") == 0)
			asked = (tracer.kill_at = number(next(&argv))) > 0;
		else if (strcmp(*argv, "--patience") == 0)
			tracer.patience = number(next(&argv));
		else if (strcmp(*argv, "--after") == 0)
			tracer.after = true;
		else
			give_up(USAGE, "unknown option %s", *argv);
	}
	if (!asked || *argv == NULL)
		give_up(USAGE,
			"tracer [--report FILE] [--ignore FILE] [--only SUFFIX] [--patience S] "
			"--count | --kill-at N [--after] PROGRAM [ARGUMENT...]");
	if (tracer.report == NULL)
		give_up(USAGE, "the report cannot be written: %s", strerror(errno));
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	begin(&tracer, argv);
	int status = finish(&tracer, follow(&tracer));
	if (fclose(tracer.report) != 0)
		give_up(USAGE, "the report cannot be written: %s", strerror(errno));
	return status;
}
