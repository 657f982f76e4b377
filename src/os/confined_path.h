/* os/confined_path.h -- file access confined to a folder whose contents are not trusted.
 *
 * A path is relative to the root folder.  Symbolic links may point to other places within the root.
 * An absolute path, and a path that leaves the root through `..` or a symbolic link, is FORBIDDEN;
 * the kernel checks this while it resolves the path (openat2), so concurrent changes cannot defeat
 * the check.  Only regular files are opened: a FIFO or device is refused without waiting for it.
 * Errors contain the path as the caller passed it, never the root.
 *
 * All functions block on the disk: call them on worker threads only.
 */
#ifndef OS_CONFINED_PATH_H
#define OS_CONFINED_PATH_H

#include "base/error.h"

/* Reads up to `limit` bytes from `offset` on; *out_size is the size of the whole file. */
MUST_CHECK bool confined_read(const char *root, const char *path, uint64_t offset, size_t limit,
			      struct arena *arena, struct str *out_bytes, uint64_t *out_size,
			      struct error *error);

struct confined_write {
	bool make_folders;  /* create missing parent folders */
	bool keep_existing; /* CONFLICT when the file already exists */
	unsigned mode;      /* 0 = keep the mode of an existing file, 0644 for a new file */
};

/* Replaces the file atomically and syncs it to disk.  FORBIDDEN when the path is a symbolic link.
 * Several threads may replace the same file at once. */
MUST_CHECK bool confined_replace(const char *root, const char *path, struct str bytes,
				 struct confined_write how, struct error *error);

/* Identity and change times of a file: detects a changed or replaced file without reading it. */
struct file_signature {
	uint64_t device, inode, size;
	int64_t modified_ns, changed_ns;
	bool settled; /* the last change is old enough that another change would alter changed_ns */
};

/* The signature of a path within the root, or of any path when `root` is NULL; false when the file
 * cannot be examined. */
bool confined_signature(const char *root, const char *path, struct file_signature *out_sign);
/* True when the content is certainly unchanged; false when it changed or when that is uncertain. */
bool file_signature_equal(const struct file_signature *one, const struct file_signature *other);

/* Appends the lines, each with a newline, in one write, and syncs them to disk.  If the file ends
 * in a torn line (after a power failure), a newline is written first.  Missing folders and a
 * missing file are created.  Several processes may append at once.  On failure the first
 * *out_written lines are complete in the file, and none of the others is. */
MUST_CHECK bool confined_append_lines(const char *root, const char *path, const struct str *lines,
				      size_t count, size_t *out_written, struct error *error);
/* Appends one line. */
MUST_CHECK bool confined_append_line(const char *root, const char *path, struct str line,
				     struct error *error);

/* Searches for a complete line that ends in `tail`, backwards from the end of the file.  The search
 * gives up after `limit` bytes; *out_whole is false when it did not reach the beginning. */
MUST_CHECK bool confined_find_line(const char *root, const char *path, struct str tail,
				   uint64_t limit, bool *out_found, bool *out_whole,
				   struct error *error);

#endif
