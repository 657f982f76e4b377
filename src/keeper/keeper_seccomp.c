/* keeper/keeper_seccomp.c -- the filter of system calls.
 *
 * A list of what is denied, because a command may be any program: compilers, interpreters and package
 * managers must work.  Denied are the calls of denied_calls.def, new namespaces, terminal input for
 * others, sockets other than Unix, IPv4, IPv6 and routing queries, raw sockets, and unusual
 * personalities.  clone3() is answered with ENOSYS, because its flags are in memory that a filter cannot
 * read; the C library then calls clone().  Calls of another architecture (32 bits, x32) are refused.
 *
 * The filter is a program of the kernel's classic BPF.  Each test has two instructions, "unless equal
 * skip one" and "return", so no jump is longer than a few instructions.
 */
#include "keeper/keeper.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define FILTER_ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define FILTER_ARCHITECTURE AUDIT_ARCH_AARCH64
#else
#define FILTER_ARCHITECTURE 0 /* not supported: seccomp counts as missing */
#endif

enum {
	FILTER_ROOM = 512,
	CALL_CLONE3 = 435,
	X32_BIT = 0x40000000,
	NAMESPACES = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER |
		     CLONE_NEWPID | CLONE_NEWNET,
	NEW_TIME = 0x80, /* CLONE_NEWTIME; in clone() these bits are the signal */
	SOCKET_TYPE_MASK = 0xf,
};

struct program {
	struct sock_filter at[FILTER_ROOM];
	unsigned short count;
};

static void add(struct program *program, uint16_t code, uint32_t value, uint8_t yes, uint8_t no)
{
	if (program->count == FILTER_ROOM)
		keeper_die("the filter of system calls is too long", NULL, 0);
	program->at[program->count++] = (struct sock_filter){ code, yes, no, value };
}

static void load(struct program *program, size_t offset)
{
	add(program, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0, 0);
}

/* The low half of an argument; both architectures are little-endian. */
static void load_argument(struct program *program, size_t number)
{
	load(program, offsetof(struct seccomp_data, args) + number * sizeof(uint64_t));
}

static void load_call(struct program *program)
{
	load(program, offsetof(struct seccomp_data, nr));
}

static void give(struct program *program, uint32_t answer)
{
	add(program, BPF_RET | BPF_K, answer, 0, 0);
}

static void refuse(struct program *program, int number)
{
	give(program, SECCOMP_RET_ERRNO | (uint32_t)number);
}

static void refuse_if_equal(struct program *program, uint32_t value, int number)
{
	add(program, BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1);
	refuse(program, number);
}

static void allow_if_equal(struct program *program, uint32_t value)
{
	add(program, BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1);
	give(program, SECCOMP_RET_ALLOW);
}

static void refuse_if_any(struct program *program, uint32_t bits, int number)
{
	add(program, BPF_JMP | BPF_JSET | BPF_K, bits, 0, 1);
	refuse(program, number);
}

/* What follows is for one call only: begin skips it for all others, end corrects the distance. */
static size_t call_begin(struct program *program, uint32_t call)
{
	add(program, BPF_JMP | BPF_JEQ | BPF_K, call, 0, 0);
	return (size_t)program->count - 1;
}

static void call_end(struct program *program, size_t begin)
{
	give(program, SECCOMP_RET_ALLOW);
	program->at[begin].jf = (uint8_t)(program->count - begin - 1);
}

static void add_denied(struct program *program)
{
#define DENIED(name, why)                refuse_if_equal(program, __NR_##name, EPERM);
#define DENIED_NUMBER(name, number, why) refuse_if_equal(program, number, EPERM);
#include "keeper/denied_calls.def"
#undef DENIED
#undef DENIED_NUMBER
	refuse_if_equal(program, CALL_CLONE3, ENOSYS);
}

static void add_namespaces(struct program *program)
{
	size_t begin = call_begin(program, __NR_clone);
	load_argument(program, 0);
	refuse_if_any(program, NAMESPACES, EPERM);
	call_end(program, begin);
	begin = call_begin(program, __NR_unshare);
	load_argument(program, 0);
	refuse_if_any(program, NAMESPACES | NEW_TIME, EPERM);
	call_end(program, begin);
}

static void add_terminal(struct program *program)
{
	size_t begin = call_begin(program, __NR_ioctl);
	load_argument(program, 1);
	refuse_if_equal(program, TIOCSTI, EPERM);
	refuse_if_equal(program, TIOCLINUX, EPERM);
	call_end(program, begin);
}

static void add_personality(struct program *program)
{
	/* Linux with and without 32-bit names, old version numbers, fixed addresses, the question */
	static const uint32_t usual[] = { 0, 0x8, 0x20000, 0x20008, 0x40000, 0xffffffff };
	size_t begin = call_begin(program, __NR_personality);
	load_argument(program, 0);
	for (size_t i = 0; i < sizeof(usual) / sizeof(usual[0]); i++)
		allow_if_equal(program, usual[i]);
	refuse(program, EPERM);
	call_end(program, begin);
}

static void add_sockets(struct program *program)
{
	size_t begin = call_begin(program, __NR_socket), netlink;
	load_argument(program, 0);
	allow_if_equal(program, AF_UNIX);
	/* Routing queries: getifaddrs() needs them. */
	netlink = call_begin(program, AF_NETLINK);
	load_argument(program, 2);
	allow_if_equal(program, 0);
	refuse(program, EPERM);
	program->at[netlink].jf = (uint8_t)(program->count - netlink - 1);
	/* Of the others only IPv4 and IPv6: equal skips the test of the second and the refusal. */
	add(program, BPF_JMP | BPF_JEQ | BPF_K, AF_INET, 2, 0);
	add(program, BPF_JMP | BPF_JEQ | BPF_K, AF_INET6, 1, 0);
	refuse(program, EAFNOSUPPORT);
	load_argument(program, 1);
	add(program, BPF_ALU | BPF_AND | BPF_K, SOCKET_TYPE_MASK, 0, 0);
	refuse_if_equal(program, SOCK_RAW, EPERM);
	refuse_if_equal(program, SOCK_PACKET, EPERM);
	call_end(program, begin);
}

static bool has_filters(void)
{
	uint32_t action = SECCOMP_RET_ERRNO;
	return syscall(__NR_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
}

bool keeper_seccomp_available(void)
{
	return FILTER_ARCHITECTURE != 0 && has_filters();
}

void keeper_seccomp(const struct keeper *keeper)
{
	struct program program = { .count = 0 };
	if (keeper->seccomp == KEEPER_OFF)
		return;
	if (!keeper_seccomp_available()) {
		if (keeper->seccomp == KEEPER_REQUIRED)
			keeper_die("sandbox.seccomp is required, but this kernel has no seccomp "
				   "filters",
				   NULL, 0);
		return;
	}
	load(&program, offsetof(struct seccomp_data, arch));
	add(&program, BPF_JMP | BPF_JEQ | BPF_K, FILTER_ARCHITECTURE, 1, 0);
	refuse(&program, ENOSYS);
	load_call(&program);
#ifdef __x86_64__
	refuse_if_any(&program, X32_BIT, ENOSYS);
#endif
	add_denied(&program);
	add_namespaces(&program);
	add_terminal(&program);
	add_personality(&program);
	add_sockets(&program);
	give(&program, SECCOMP_RET_ALLOW);
	const struct sock_fprog filter = { .len = program.count, .filter = program.at };
	if (syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter) != 0)
		keeper_die("cannot install the filter of system calls", NULL, errno);
}
