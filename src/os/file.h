/* os/file.h -- whole files, folders and file locks; every error contains the path.
 *
 * All functions block on the disk.
 */
#ifndef OS_FILE_H
#define OS_FILE_H

#include "base/error.h"

/* The path without symbolic links, `.` and `..`; NOT_FOUND when it does not exist. */
MUST_CHECK bool file_real_path(const char *path, struct arena *arena, struct str *out_path,
			       struct error *error);

MUST_CHECK bool file_read(const char *path, size_t limit, struct arena *arena, struct str *out_text,
			  struct error *error);
/* Like file_read(), for a path within the folder `root`.  ERROR_FORBIDDEN when the path leaves the
 * folder through `..` or contains a symbolic link; the kernel checks this. */
MUST_CHECK bool file_read_confined(const char *root, const char *path, size_t limit,
				   struct arena *arena, struct str *out_text, struct error *error);
/* Like file_read_confined(), for a secret: the file must be a regular file that belongs to this
 * user or to root and that no other user can access, else ERROR_FORBIDDEN. */
MUST_CHECK bool file_read_private(const char *root, const char *path, size_t limit,
				  struct arena *arena, struct str *out_text, struct error *error);
/* Replaces the file atomically: readers see the old text or the new text, also after a crash.  An
 * existing file keeps its mode, a new file gets 0600; a symbolic link is followed.  The new text is
 * written to PATH.new first, so only one caller at a time may replace a file. */
MUST_CHECK bool file_replace(const char *path, struct str text, struct error *error);
/* Creates a file with mode 0600 that did not exist; ERROR_CONFLICT when it does.  Of several callers
 * one succeeds.  A crash can leave the file without its text. */
MUST_CHECK bool file_create(const char *path, struct str text, struct error *error);
/* Creates the folder and its parents with mode 0700; succeeds when the folder exists. */
MUST_CHECK bool folder_make(const char *path, struct error *error);
/* The names in the folder except . and .., unsorted; empty when the folder does not exist. */
MUST_CHECK bool folder_list(const char *path, struct arena *arena, struct str_list *out_names,
			    struct error *error);
/* Succeeds when the file does not exist. */
MUST_CHECK bool file_remove(const char *path, struct error *error);
bool file_exists(const char *path);
bool folder_exists(const char *path);
/* Two paths with the same identity are the same file.  False when there is no such file. */
struct file_identity {
	uint64_t device, number;
};
bool file_identify(const char *path, struct file_identity *out_identity);
/* User id of the owner of a file or folder; 0 = root, or it cannot be read. */
int64_t file_owner(const char *path);
/* Free disk space, in bytes, of the file system that holds the folder. */
MUST_CHECK bool folder_room(const char *path, uint64_t *out_bytes, struct error *error);

/* Opens the file (creates it with mode 0600) and locks it without waiting; ERROR_LOCKED when
 * another process holds the lock.  The lock is a flock(2): it is held until the descriptor is
 * closed in this process and in every child that inherited it, and no other process can release it.
 */
MUST_CHECK bool file_lock(const char *path, int *out_descriptor, struct error *error);
/* Like file_lock(), for a lock that untrusted children inherit: the file is a FIFO, opened for
 * reading, so that nothing that a child writes through the descriptor reaches the disk. */
MUST_CHECK bool file_lock_for_children(const char *path, int *out_descriptor, struct error *error);
void file_unlock(int descriptor); /* of both */
/* Overwrites the content of the open file with the text. */
MUST_CHECK bool file_rewrite(int descriptor, struct str text, struct error *error);

/* Raises this process's limit of open descriptors to `wanted`, or as far as the system allows, and
 * returns the limit.  Children inherit the limit, so ask for no more than needed. */
size_t file_descriptor_limit_raise(size_t wanted);

#endif
