/* escape/escape_kernel.c -- probes of system calls that reach the kernel itself. */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "escape/escape.h"

enum { CALL_IO_URING_SETUP = 425, KEYCTL_GET_KEYRING_ID = 0, KEY_SESSION = -3 };

enum escape_result escape_bpf(const struct escape *escape)
{
	/* BPF_MAP_CREATE of an array: type, key size, value size, entries */
	const uint32_t map[32] = { 2, 4, 4, 1 };
	return escape_refused_or_absent(escape, syscall(__NR_bpf, 0, map, sizeof(map)));
}

enum escape_result escape_perf(const struct escape *escape)
{
	/* PERF_TYPE_SOFTWARE, size of the structure, PERF_COUNT_SW_CPU_CLOCK */
	const uint32_t event[32] = { 1, 112, 0 };
	return escape_refused_or_absent(escape, syscall(__NR_perf_event_open, event, 0, -1, -1, 0));
}

enum escape_result escape_userfaultfd(const struct escape *escape)
{
	return escape_refused_or_absent(escape, syscall(__NR_userfaultfd, 0));
}

enum escape_result escape_io_uring(const struct escape *escape)
{
	uint32_t parameters[64] = { 0 };
	return escape_refused_or_absent(escape, syscall(CALL_IO_URING_SETUP, 1, parameters));
}

enum escape_result escape_key_rings(const struct escape *escape)
{
	if (syscall(__NR_add_key, "user", "baton-escape", "x", 1, KEY_SESSION) >= 0)
		return escape_say(escape, ESCAPE_ESCAPED, "a key was added");
	return escape_refused_or_absent(
		escape, syscall(__NR_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SESSION, 1));
}

enum escape_result escape_kernel_module(const struct escape *escape)
{
	return escape_refused(escape, syscall(__NR_finit_module, -1, "", 0));
}

enum escape_result escape_other_kernel(const struct escape *escape)
{
	return escape_refused_or_absent(escape, syscall(__NR_kexec_load, 0, 0, NULL, 0));
}

enum escape_result escape_personality(const struct escape *escape)
{
	return escape_refused(escape, personality(READ_IMPLIES_EXEC));
}

enum escape_result escape_other_architecture(const struct escape *escape)
{
#ifdef __x86_64__
	/* getpid() of i386 by int 0x80, and of x32 */
	long number = 20;
	__asm__ volatile("int $0x80" : "+a"(number) : : "memory", "r8", "r9", "r10", "r11");
	if (number > 0)
		return escape_say(escape, ESCAPE_ESCAPED, "calls of i386 work");
	return escape_refused(escape, syscall(0x40000000 | __NR_getpid));
#else
	return escape_say(escape, ESCAPE_ABSENT, "this machine has one architecture");
#endif
}

/* In a session of its own, whose terminal it may control. */
static enum escape_result type_into(const struct escape *escape)
{
	int terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (terminal < 0)
		return escape_say(escape, ESCAPE_HELD, "there is no terminal");
	grantpt(terminal);
	unlockpt(terminal);
	const char *name = ptsname(terminal);
	setsid();
	int slave = name == NULL ? -1 : open(name, O_RDWR | O_CLOEXEC);
	if (slave < 0 || (ioctl(slave, TIOCSCTTY, 0) != 0 && errno != EPERM))
		return escape_say(escape, ESCAPE_HELD, "no terminal of its own: %s",
				  strerror(errno));
	return escape_refused(escape, ioctl(slave, TIOCSTI, "x"));
}

enum escape_result escape_terminal_input(const struct escape *escape)
{
	int status;
	pid_t child = fork(); /* the leader of a group cannot begin a session */
	if (child == 0)
		_exit((int)type_into(escape));
	if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status))
		return escape_say(escape, ESCAPE_ABSENT, "cannot start a process");
	return (enum escape_result)WEXITSTATUS(status);
}
