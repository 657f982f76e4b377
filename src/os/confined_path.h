/* os/confined_path.h -- files of a folder that others fill: paths that the kernel keeps beneath it.
 *
 * A path is relative to the root.  Symbolic links may lead from place to place within the root; one
 * that leads out of it, `..` that does, and an absolute path are FORBIDDEN, whatever changes
 * meanwhile (openat2).  Only regular files are touched: a FIFO or device is refused and never
 * waited for.  Errors name the path as it was given, never the root.
 *
 * For worker threads: everything here blocks on the disk.
 */
#ifndef OS_BENEATH_H
#define OS_BENEATH_H

#include "base/error.h"

/* Up to `limit` bytes from `offset` on; *out_size is the size of the whole file. */
MUST_CHECK bool confined_read(const char *root, const char *path, uint64_t offset, size_t limit,
			      struct arena *arena, struct str *out_bytes, uint64_t *out_size,
			      struct error *error);

struct confined_write {
	bool make_folders; /* those above the file that are missing */
	bool keep;         /* CONFLICT when there is a file already */
	unsigned mode;     /* of the file; 0 = as it was, a new one 0644 */
};

/* Puts the bytes in the file's place in one step and on the disk.  A file that was there keeps its
 * mode; a symbolic link in its place is refused.  Several threads may do it at once. */
MUST_CHECK bool confined_replace(const char *root, const char *path, struct str bytes,
				 struct confined_write how, struct error *error);

/* What tells a file from another one and from itself after a change, without reading it. */
struct file_signature {
	uint64_t device, inode, size;
	int64_t modified_ns, changed_ns;
	bool settled; /* its last change is so long ago that another one would show */
};

/* Of a path beneath the root, or of any when that is NULL; false when it cannot be looked at. */
bool confined_signature(const char *root, const char *path, struct file_signature *out_sign);
/* The bytes are those of then; false also when nobody can know. */
bool file_signature_equal(const struct file_signature *one, const struct file_signature *other);

/* Adds the lines, each with a line end, in one write, on the disk before it returns.  A torn line
 * at the end (the machine lost its power) is closed first.  Folders and file are made when missing;
 * several processes may append at once.  When it fails, so many from the first on are there, and
 * of the others none is whole. */
MUST_CHECK bool confined_append_lines(const char *root, const char *path, const struct str *lines,
				      size_t count, size_t *out_written, struct error *error);
/* One of them. */
MUST_CHECK bool confined_append_line(const char *root, const char *path, struct str line,
				     struct error *error);

/* Is there a whole line that ends in `tail`?  Looked for from the end, in at most `limit` bytes:
 * when they do not reach back to the beginning and it was not among them, *out_whole is false. */
MUST_CHECK bool confined_find_line(const char *root, const char *path, struct str tail,
				   uint64_t limit, bool *out_found, bool *out_whole,
				   struct error *error);

#endif
