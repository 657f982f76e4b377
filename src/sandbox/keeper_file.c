/* sandbox/keeper_file.c -- the keeper as a sealed file in memory. */
#include "sandbox/keeper_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/packed.h"

/* Since Linux 6.3; an older kernel makes every such file executable and refuses the flag. */
#ifndef MFD_EXEC
#define MFD_EXEC 0x10U
#endif

enum { NONE = -1 };
static atomic_int kept = NONE;

static int file_new(void)
{
	int file = memfd_create("baton-keeper", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_EXEC);
	if (file < 0 && errno == EINVAL)
		file = memfd_create("baton-keeper", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	return file;
}

static bool file_fill(int file)
{
	const unsigned char *at = packed_keeper[0].bytes;
	size_t left = packed_keeper[0].size;
	while (left > 0) {
		ssize_t size = write(file, at, left);
		if (size <= 0)
			return false;
		at += size;
		left -= (size_t)size;
	}
	return fcntl(file, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) ==
	       0;
}

bool keeper_file_open(int *out_descriptor, struct error *error)
{
	int file = atomic_load(&kept), expected = NONE;
	if (file == NONE) {
		file = file_new();
		if (file < 0 || !file_fill(file)) {
			int number = errno;
			if (file >= 0)
				close(file);
			return fail(error, ERROR_ISOLATION,
				    "the sandbox cannot be built, because the file of its first "
				    "process cannot be made in memory: %s",
				    strerror(number));
		}
		/* Another thread may have been faster. */
		if (!atomic_compare_exchange_strong(&kept, &expected, file)) {
			close(file);
			file = expected;
		}
	}
	*out_descriptor = file;
	return true;
}
