/* os/machine.h -- disk, file and limit information about this machine, for `baton doctor`. */
#ifndef OS_MACHINE_H
#define OS_MACHINE_H

#include "base/error.h"

struct machine_disk {
	int64_t free_bytes, total_bytes; /* free: without the blocks reserved for root */
	bool network;                    /* a network file system */
};

struct machine_file {
	bool folder;
	bool ours;                /* belongs to the effective user */
	unsigned mode;            /* permission bits */
	int64_t size, changed_at; /* us since 1970 UTC */
};

MUST_CHECK bool machine_disk(const char *path, struct machine_disk *out_disk, struct error *error);
bool machine_file(const char *path,
		  struct machine_file *out_file); /* false when it does not exist */
/* Soft and hard limit of open files of this process. */
void machine_open_files(int64_t *out_now, int64_t *out_most);
/* Up to `limit` names in a folder, without those that begin with a dot; none when the folder cannot
 * be read. */
struct str_list machine_names(const char *folder, size_t limit, struct arena *arena);

/* Returns memory that was freed to the system; milliseconds, so not on the loop. */
void machine_return_memory(void);

#endif
