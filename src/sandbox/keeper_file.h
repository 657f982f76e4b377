/* sandbox/keeper_file.h -- the keeper (keeper/keeper.h) as an executable file without a name.
 *
 * The file is made once, in memory, and sealed: nothing can change it, not even a command that opens
 * it through /proc.  Every child inherits its descriptor and executes it as /proc/self/fd/N, so it needs
 * no place in the sandbox, and none in the data folder.
 *
 * Threads: any.
 */
#ifndef SANDBOX_KEEPER_FILE_H
#define SANDBOX_KEEPER_FILE_H

#include "base/error.h"

/* The descriptor belongs to the process and stays open. */
MUST_CHECK bool keeper_file_open(int *out_descriptor, struct error *error);
/* Any packed program as such a file; the caller closes it. */
struct packed_file;
MUST_CHECK bool keeper_file_new(const struct packed_file *program, int *out_descriptor,
				struct error *error);

#endif
