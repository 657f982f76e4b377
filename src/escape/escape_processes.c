/* escape/escape_processes.c -- probes that look for other processes and for rights. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "escape/escape.h"

enum { MOST_DESCRIPTORS = 32 };
enum { CALL_CLONE3 = 435, CALL_PIDFD_OPEN = 434, CALL_PIDFD_GETFD = 438, CALL_FSOPEN = 430 };

enum escape_result escape_other_processes(const struct escape *escape)
{
	DIR *folder = opendir("/proc");
	const struct dirent *entry;
	size_t count = 0;
	if (folder == NULL)
		return escape_say(escape, ESCAPE_HELD, "there is no /proc");
	while ((entry = readdir(folder)) != NULL)
		count += entry->d_name[0] >= '1' && entry->d_name[0] <= '9';
	closedir(folder);
	/* The keeper, the kit, the probe. */
	if (count > 3)
		return escape_say(escape, ESCAPE_ESCAPED, "%zu processes are visible", count);
	return escape_say(escape, ESCAPE_HELD, "%zu processes are visible, all of this sandbox",
			  count);
}

enum escape_result escape_signal_outside(const struct escape *escape)
{
	return escape_refused(escape, kill((pid_t)escape->server, 0));
}

enum escape_result escape_keeper_memory(const struct escape *escape)
{
	return escape_open(escape, "/proc/1/mem", O_RDONLY);
}

enum escape_result escape_keeper_descriptors(const struct escape *escape)
{
	/* The folder can be opened by its owner; what is in it is what counts. */
	for (int i = 0; i < MOST_DESCRIPTORS; i++) {
		char path[40], target[10];
		snprintf(path, sizeof(path), "/proc/1/fd/%d", i);
		if (readlink(path, target, sizeof(target)) >= 0 ||
		    escape_open(escape, path, O_RDONLY) == ESCAPE_ESCAPED)
			return escape_say(escape, ESCAPE_ESCAPED, "%s can be used", path);
	}
	return ESCAPE_HELD;
}

enum escape_result escape_trace(const struct escape *escape)
{
	return escape_refused(escape, ptrace(PTRACE_SEIZE, 1, NULL, NULL));
}

enum escape_result escape_foreign_memory(const struct escape *escape)
{
	char bytes[8];
	struct iovec ours = { bytes, sizeof(bytes) }, theirs = { (void *)0x400000, sizeof(bytes) };
	return escape_refused(escape, process_vm_readv(1, &ours, 1, &theirs, 1, 0));
}

enum escape_result escape_foreign_descriptor(const struct escape *escape)
{
	long process = syscall(CALL_PIDFD_OPEN, 1, 0);
	if (process < 0)
		return escape_refused_or_absent(escape, process);
	return escape_refused_or_absent(escape, syscall(CALL_PIDFD_GETFD, process, 0, 0));
}

enum escape_result escape_environment(const struct escape *escape)
{
	for (char **at = environ; *at != NULL; at++)
		if (strstr(*at, escape->canary) != NULL || strstr(*at, "API_KEY") != NULL)
			return escape_say(escape, ESCAPE_ESCAPED, "the environment has %.40s", *at);
	if (escape_open(escape, "/proc/1/environ", O_RDONLY) == ESCAPE_ESCAPED)
		return ESCAPE_ESCAPED;
	return escape_say(escape, ESCAPE_HELD, "nothing of the server's environment");
}

enum escape_result escape_own_program(const struct escape *escape)
{
	return escape_open(escape, "/proc/1/exe", O_WRONLY);
}

/* ---- rights -------------------------------------------------------------------------------- */

enum escape_result escape_capabilities(const struct escape *escape)
{
	char line[200];
	FILE *status = fopen("/proc/self/status", "re");
	if (status == NULL)
		return escape_say(escape, ESCAPE_ABSENT, "there is no /proc");
	while (fgets(line, sizeof(line), status) != NULL) {
		if (strncmp(line, "CapInh:", 7) != 0 && strncmp(line, "CapPrm:", 7) != 0 &&
		    strncmp(line, "CapEff:", 7) != 0 && strncmp(line, "CapBnd:", 7) != 0 &&
		    strncmp(line, "CapAmb:", 7) != 0)
			continue;
		if (strtoull(line + 7, NULL, 16) != 0) {
			fclose(status);
			return escape_say(escape, ESCAPE_ESCAPED, "%.30s", line);
		}
	}
	fclose(status);
	return escape_say(escape, ESCAPE_HELD, "every set is empty");
}

enum escape_result escape_new_privileges(const struct escape *escape)
{
	if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1)
		return escape_say(escape, ESCAPE_ESCAPED, "no_new_privs is not set");
	return escape_say(escape, ESCAPE_HELD, "no_new_privs is set");
}

enum escape_result escape_other_user(const struct escape *escape)
{
	uid_t other = getuid() == 0 ? 1 : 0;
	return escape_refused(escape, setresuid(other, other, other));
}

enum escape_result escape_user_namespace(const struct escape *escape)
{
	return escape_refused(escape, unshare(CLONE_NEWUSER));
}

enum escape_result escape_clone_namespace(const struct escape *escape)
{
	long child = syscall(__NR_clone, CLONE_NEWUSER | CLONE_NEWNS | SIGCHLD, 0, 0, 0, 0);
	if (child == 0)
		_exit(0);
	return escape_refused(escape, child);
}

enum escape_result escape_clone3_namespace(const struct escape *escape)
{
	/* struct clone_args, as far as needed: flags, five addresses, exit signal, ... */
	uint64_t arguments[11] = { CLONE_NEWUSER, [4] = SIGCHLD };
	long child = syscall(CALL_CLONE3, arguments, sizeof(arguments));
	if (child == 0)
		_exit(0);
	return escape_refused(escape, child);
}

enum escape_result escape_enter_namespace(const struct escape *escape)
{
	int space = open("/proc/self/ns/user", O_RDONLY | O_CLOEXEC);
	return escape_refused(escape, setns(space, CLONE_NEWUSER));
}

enum escape_result escape_mount(const struct escape *escape)
{
	return escape_refused(escape, mount("none", "/tmp", "tmpfs", 0, NULL));
}

enum escape_result escape_remount(const struct escape *escape)
{
	return escape_refused(escape, mount(NULL, "/usr", NULL, MS_REMOUNT | MS_BIND, NULL));
}

enum escape_result escape_unmount(const struct escape *escape)
{
	return escape_refused(escape, umount2("/proc/sys", MNT_DETACH));
}

enum escape_result escape_new_mount_calls(const struct escape *escape)
{
	return escape_refused_or_absent(escape, syscall(CALL_FSOPEN, "tmpfs", 0));
}

enum escape_result escape_change_root(const struct escape *escape)
{
	return escape_refused(escape, chroot("/workspace"));
}

enum escape_result escape_clock(const struct escape *escape)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	return escape_refused(escape, clock_settime(CLOCK_REALTIME, &now));
}

enum escape_result escape_host_name(const struct escape *escape)
{
	char name[256];
	if (gethostname(name, sizeof(name) - 1) != 0)
		return escape_say(escape, ESCAPE_ABSENT, "there is no name");
	return escape_refused(escape, sethostname(name, strlen(name)));
}

enum escape_result escape_priority(const struct escape *escape)
{
	const struct sched_param most = { .sched_priority = 1 };
	if (sched_setscheduler(0, SCHED_FIFO, &most) == 0)
		return escape_say(escape, ESCAPE_ESCAPED, "a real-time priority was given");
	return escape_refused(escape, setpriority(PRIO_PROCESS, 0, -20));
}
