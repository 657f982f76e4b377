/* keeper/keeper_landlock.c -- the wall behind the mounts: what is visible may be read, and the places given
 * may be written.
 *
 * Everything below the sandbox's root may be read and executed.  A file that is reached by other ways
 * (through a descriptor, or because a mount was undone) is below another root, and is refused.  Landlock
 * also forbids to mount, to trace processes outside, and, from version 6 on, to signal them or to reach
 * their abstract sockets.
 *
 * Version 1 cannot allow that a file moves to another folder, so it is not used.
 */
#include "keeper/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The headers of the system may be older than its kernel. */
enum {
	CALL_CREATE_RULESET = 444,
	CALL_ADD_RULE = 445,
	CALL_RESTRICT_SELF = 446,
	ASK_VERSION = 1,
	RULE_BENEATH = 1,
	LEAST_VERSION = 2,
};

enum {
	EXECUTE = 1 << 0,
	WRITE_FILE = 1 << 1,
	READ_FILE = 1 << 2,
	READ_DIR = 1 << 3,
	REMOVE_DIR = 1 << 4,
	REMOVE_FILE = 1 << 5,
	MAKE_CHAR = 1 << 6,
	MAKE_DIR = 1 << 7,
	MAKE_REG = 1 << 8,
	MAKE_SOCK = 1 << 9,
	MAKE_FIFO = 1 << 10,
	MAKE_BLOCK = 1 << 11,
	MAKE_SYM = 1 << 12,
	REFER = 1 << 13,
	TRUNCATE = 1 << 14,
	IOCTL_DEV = 1 << 15,
	TO_READ = EXECUTE | READ_FILE | READ_DIR | IOCTL_DEV,
	/* No device nodes. */
	TO_WRITE = WRITE_FILE | REMOVE_DIR | REMOVE_FILE | MAKE_DIR | MAKE_REG | MAKE_SOCK |
		   MAKE_FIFO | MAKE_SYM | REFER | TRUNCATE,
	OF_A_FILE = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV,
	SCOPE_ABSTRACT_SOCKETS = 1 << 0,
	SCOPE_SIGNALS = 1 << 1,
};

struct ruleset {
	uint64_t files, network, scoped;
};

struct beneath {
	uint64_t allowed;
	int32_t parent;
} __attribute__((packed));

int keeper_landlock_version(void)
{
	long version = syscall(CALL_CREATE_RULESET, NULL, 0, ASK_VERSION);
	return version < 0 ? 0 : (int)version;
}

static uint64_t handled(int version)
{
	uint64_t all = TO_READ | TO_WRITE | MAKE_CHAR | MAKE_BLOCK;
	if (version < 3)
		all &= ~(uint64_t)TRUNCATE;
	if (version < 5)
		all &= ~(uint64_t)IOCTL_DEV;
	return all;
}

static void allow(int rules, const char *path, uint64_t access)
{
	struct stat info;
	int place = open(path, O_PATH | O_CLOEXEC);
	if (place < 0 || fstat(place, &info) != 0)
		keeper_die("cannot open for Landlock", path, errno);
	if (!S_ISDIR(info.st_mode))
		access &= OF_A_FILE;
	const struct beneath rule = { .allowed = access, .parent = place };
	if (syscall(CALL_ADD_RULE, rules, RULE_BENEATH, &rule, 0) != 0)
		keeper_die("cannot add a Landlock rule for", path, errno);
	close(place);
}

void keeper_landlock(const struct keeper *keeper)
{
	if (keeper->landlock == KEEPER_OFF)
		return;
	int version = keeper_landlock_version();
	if (version < LEAST_VERSION) {
		if (keeper->landlock == KEEPER_REQUIRED)
			keeper_die("sandbox.landlock is required, but this kernel has no Landlock "
				   "version 2",
				   NULL, 0);
		return;
	}
	const uint64_t all = handled(version);
	const struct ruleset wanted = {
		.files = all, .scoped = version >= 6 ? SCOPE_ABSTRACT_SOCKETS | SCOPE_SIGNALS : 0
	};
	const size_t size = version >= 6 ? sizeof(wanted) : sizeof(wanted.files);
	int rules = (int)syscall(CALL_CREATE_RULESET, &wanted, size, 0);
	if (rules < 0)
		keeper_die("cannot create the Landlock rules", NULL, errno);
	allow(rules, "/", TO_READ & all);
	/* Devices can be written and controlled, but none can be made. */
	allow(rules, "/dev", (WRITE_FILE | TRUNCATE | IOCTL_DEV) & all);
	for (size_t i = 0; i < keeper->place_count; i++)
		allow(rules, keeper->places[i], TO_WRITE & all);
	if (syscall(CALL_RESTRICT_SELF, rules, 0) != 0)
		keeper_die("cannot apply the Landlock rules", NULL, errno);
	close(rules);
}
