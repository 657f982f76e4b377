/* os/machine.h -- what this machine has and allows, for `baton doctor`. */
#ifndef OS_MACHINE_H
#define OS_MACHINE_H

#include "base/error.h"

struct machine_disk {
	int64_t free_bytes, total_bytes; /* free: for us, without root's reserve */
	bool network;                    /* a file system of another machine */
};

struct machine_file {
	bool folder, ours;
	unsigned mode;            /* permission bits */
	int64_t size, changed_at; /* us since 1970 UTC */
};

MUST_CHECK bool machine_disk(const char *path, struct machine_disk *out_disk, struct error *error);
bool machine_file(const char *path, struct machine_file *out_file); /* false when it is not there */
/* Open files a process of ours may have, and what that could be raised to. */
void machine_open_files(int64_t *out_now, int64_t *out_most);
/* Names in a folder, without those that begin with a dot, at most `limit`; none when it cannot be
 * read. */
struct str_list machine_names(const char *folder, size_t limit, struct arena *arena);

#endif
