/* escape/escape_limits.c -- probes that use more of the machine than allowed. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "escape/escape.h"

enum { MB = 1048576 };

static enum escape_result not_enforced(const struct escape *escape)
{
	return escape_say(escape, ESCAPE_ABSENT,
			  "the kernel does not enforce it here; a server checks it at intervals");
}

enum escape_result escape_fork_bomb(const struct escape *escape)
{
	if (escape->processes == 0)
		return not_enforced(escape);
	for (long long i = 0; i <= escape->processes; i++) {
		pid_t child = fork();
		if (child < 0)
			return escape_say(escape, ESCAPE_HELD, "after %lld processes: %s", i,
					  strerror(errno));
		if (child == 0) {
			pause();
			_exit(0);
		}
	}
	return escape_say(escape, ESCAPE_ESCAPED, "%lld processes were started",
			  escape->processes + 1);
}

enum escape_result escape_memory(const struct escape *escape)
{
	if (escape->memory == 0)
		return not_enforced(escape);
	for (long long used = 0; used <= escape->memory + 64LL * MB; used += MB) {
		char *piece =
			mmap(NULL, MB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (piece == MAP_FAILED)
			return escape_say(escape, ESCAPE_HELD, "after %lld MB: %s", used / MB,
					  strerror(errno));
		memset(piece, 1, MB);
	}
	return escape_say(escape, ESCAPE_ESCAPED, "%lld MB were used", escape->memory / MB + 64);
}

/* Writes until it fails, at most `most` bytes and 32 MB. */
static enum escape_result fill(const struct escape *escape, const char *path, long long most)
{
	static char piece[MB];
	int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	signal(SIGXFSZ, SIG_IGN);
	if (file < 0)
		return escape_say(escape, ESCAPE_HELD, "%s: %s", path, strerror(errno));
	for (long long used = 0; used <= most + 32LL * MB; used += MB)
		if (write(file, piece, MB) != MB) {
			int number = errno;
			unlink(path);
			return escape_say(escape, ESCAPE_HELD, "after %lld MB: %s", used / MB,
					  number == 0 ? "short write" : strerror(number));
		}
	unlink(path);
	return escape_say(escape, ESCAPE_ESCAPED, "%lld MB were written", most / MB + 32);
}

enum escape_result escape_large_file(const struct escape *escape)
{
	return fill(escape, "/workspace/large", escape->file);
}

enum escape_result escape_fill_tmp(const struct escape *escape)
{
	return fill(escape, "/tmp/large", escape->room);
}

enum escape_result escape_fill_shared_memory(const struct escape *escape)
{
	return fill(escape, "/dev/shm/large", escape->room);
}

enum escape_result escape_core_files(const struct escape *escape)
{
	struct rlimit limit;
	if (getrlimit(RLIMIT_CORE, &limit) != 0 || limit.rlim_max != 0)
		return escape_say(escape, ESCAPE_ESCAPED, "a core file may have %llu bytes",
				  (unsigned long long)limit.rlim_max);
	return escape_say(escape, ESCAPE_HELD, "a core file may have 0 bytes");
}
