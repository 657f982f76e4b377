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

static int file_new(const char *name)
{
	int file = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_EXEC);
	if (file < 0 && errno == EINVAL)
		file = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	return file;
}

static bool file_fill(int file, const struct packed_file *program)
{
	const unsigned char *at = program->bytes;
	size_t left = program->size;
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

bool keeper_file_new(const struct packed_file *program, int *out_descriptor, struct error *error)
{
	int file = file_new(program->name);
	if (file >= 0 && file_fill(file, program)) {
		*out_descriptor = file;
		return true;
	}
	int number = errno;
	if (file >= 0)
		close(file);
	return fail(error, ERROR_ISOLATION,
		    "the sandbox cannot be built, because the program %s cannot be put into a file "
		    "in memory: %s",
		    program->name, strerror(number));
}

bool keeper_file_open(int *out_descriptor, struct error *error)
{
	int file = atomic_load(&kept), expected = NONE;
	if (file == NONE) {
		if (!keeper_file_new(&packed_keeper[0], &file, error))
			return false;
		/* Another thread may have been faster. */
		if (!atomic_compare_exchange_strong(&kept, &expected, file)) {
			close(file);
			file = expected;
		}
	}
	*out_descriptor = file;
	return true;
}
