/* os/file.h -- files and folders, with errors that name the path. */
#ifndef OS_FILE_H
#define OS_FILE_H

#include "base/error.h"

MUST_CHECK bool file_read(const char *path, size_t limit, struct arena *arena, struct str *out_text,
			  struct error *error);
/* The same for a path beneath a folder, which the kernel holds to: neither `..` nor a symbolic link
 * leads out (ERROR_FORBIDDEN). */
MUST_CHECK bool file_read_confined(const char *root, const char *path, size_t limit,
				   struct arena *arena, struct str *out_text, struct error *error);
/* The same for a secret: a regular file of ours (or of root) that nobody else may read. */
MUST_CHECK bool file_read_private(const char *root, const char *path, size_t limit,
				  struct arena *arena, struct str *out_text, struct error *error);
/* Puts the text in the file's place in one step: whoever looks, after a crash too, finds the old
 * text or the new one.  Its mode stays, a new one is 0600; a symbolic link stays one.  For one
 * caller at a time: the new text is written to PATH.new first. */
MUST_CHECK bool file_replace(const char *path, struct str text, struct error *error);
/* Makes the folder and its parents, mode 0700; an existing one is fine. */
MUST_CHECK bool folder_make(const char *path, struct error *error);
/* The names in the folder, but for . and .., in no order; none when there is no such folder. */
MUST_CHECK bool folder_list(const char *path, struct arena *arena, struct str_list *out_names,
			    struct error *error);
/* One that is not there is fine. */
MUST_CHECK bool file_remove(const char *path, struct error *error);
bool file_exists(const char *path);
/* Bytes that a file in this folder could still take. */
MUST_CHECK bool folder_room(const char *path, uint64_t *out_bytes, struct error *error);

/* Opens (makes, 0600) and locks the file without waiting.  False with ERROR_LOCKED when somebody
 * else holds it.  The lock lives as long as the descriptor, in this process and in every child
 * that inherited it; flock, so no process can drop another's. */
MUST_CHECK bool file_lock(const char *path, int *out_descriptor, struct error *error);
void file_unlock(int descriptor); /* of file_lock() */
/* Writes the whole text into the open file, replacing what was there. */
MUST_CHECK bool file_rewrite(int descriptor, struct str text, struct error *error);

/* Lets this process have `wanted` open descriptors, or as many as the system allows; how many that
 * is.  Children inherit it, so it is no more than is needed. */
size_t descriptors_raise(size_t wanted);

#endif
