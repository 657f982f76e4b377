/* os/confined_path.c -- every open uses openat2 with RESOLVE_BENEATH.
 *
 * The kernel checks the path while it resolves it, so a folder cannot be swapped for a symbolic
 * link between check and use.
 */
#include "os/confined_path.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"

enum { PIECE = 65536 };
static const int64_t SETTLED_NS = 2000000000;

static void descriptor_done(const int *descriptor)
{
	if (*descriptor >= 0)
		close(*descriptor);
}
#define AUTO_CLOSE __attribute__((cleanup(descriptor_done))) int

static bool fail_errno(struct error *error, const char *verb, const char *path, int number)
{
	enum error_code code = ERROR_IO;
	if (number == EXDEV || number == ELOOP)
		return fail(error, ERROR_FORBIDDEN, "cannot %s %s: the path leaves its folder",
			    verb, path);
	if (number == ENOENT || number == ENOTDIR)
		code = ERROR_NOT_FOUND;
	else if (number == EACCES || number == EPERM || number == EISDIR)
		code = ERROR_FORBIDDEN;
	else if (number == EEXIST)
		code = ERROR_CONFLICT;
	else if (number == ENOSPC || number == EDQUOT)
		code = ERROR_STORAGE_FULL;
	return fail(error, code, "cannot %s %s: %s", verb, path, strerror(number));
}

static int open_root(const char *root)
{
	return open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static int open_at(int folder, const char *path, int flags, mode_t mode)
{
	/* O_NONBLOCK: opening a FIFO must not block the thread.  O_PATH never blocks, and openat2
	 * refuses other flags together with it. */
	int nonblocking = (flags & O_PATH) != 0 ? 0 : O_NOCTTY | O_NONBLOCK;
	struct open_how how = { .flags = (unsigned)(flags | O_CLOEXEC | nonblocking),
				.mode = mode,
				.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS };
	int file;
	do
		file = (int)syscall(SYS_openat2, folder, path, &how, sizeof(how));
	while (file < 0 && (errno == EINTR || errno == EAGAIN));
	return file;
}

static bool is_regular(int file, const char *path, struct stat *out_info, struct error *error)
{
	if (fstat(file, out_info) != 0)
		return fail_errno(error, "examine", path, errno);
	return S_ISREG(out_info->st_mode) ||
	       fail(error, ERROR_FORBIDDEN, "%s is not a regular file", path);
}

/* ---- reading ------------------------------------------------------------------------- */

bool confined_read(const char *root, const char *path, uint64_t offset, size_t limit,
		   struct arena *arena, struct str *out_bytes, uint64_t *out_size,
		   struct error *error)
{
	AUTO_CLOSE folder = open_root(root);
	AUTO_CLOSE file = folder < 0 ? -1 : open_at(folder, path, O_RDONLY, 0);
	struct stat info;
	if (file < 0)
		return fail_errno(error, "read", path, errno);
	if (!is_regular(file, path, &info, error))
		return false;
	AUTO(buf) bytes = { 0 };
	while (bytes.size < limit) {
		size_t wanted = limit - bytes.size < PIECE ? limit - bytes.size : PIECE;
		char *room = buf_reserve(&bytes, wanted);
		ssize_t got = pread(file, room, wanted, (off_t)(offset + bytes.size));
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return fail_errno(error, "read", path, errno);
		if (got == 0)
			break;
		bytes.size += (size_t)got;
	}
	*out_bytes = str_copy(arena, buf_str(&bytes));
	*out_size = (uint64_t)info.st_size;
	return true;
}

/* ---- replacing ----------------------------------------------------------------------- */

static bool write_some(int file, struct str bytes, size_t *out_put)
{
	*out_put = 0;
	while (*out_put < bytes.size) {
		ssize_t put = write(file, bytes.at + *out_put, bytes.size - *out_put);
		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return false;
		*out_put += (size_t)put;
	}
	return true;
}

/* Opens a folder within the root and creates its missing parts. */
static int open_or_make_folder(int root, const char *path, struct arena *arena)
{
	int above = open_at(root, ".", O_RDONLY | O_DIRECTORY, 0);
	struct str rest = str_from_c(path), part;
	while (above >= 0 && str_cut(&rest, '/', &part)) {
		size_t size = (size_t)(part.at + part.size - path);
		const char *whole = str_c(arena, (struct str){ path, size });
		int next = open_at(root, whole, O_RDONLY | O_DIRECTORY, 0);
		/* Sync the new folder before anything is created in it, so that a synced file in
		 * it is reachable after a power failure. */
		if (next < 0 && errno == ENOENT &&
		    ((mkdirat(above, str_c(arena, part), 0755) == 0 && fsync(above) == 0) ||
		     errno == EEXIST))
			next = open_at(root, whole, O_RDONLY | O_DIRECTORY, 0);
		int number = errno;
		close(above);
		errno = number;
		above = next;
	}
	return above;
}

/* Opens the parent folder of the path; *out_name is the last part of the path. */
static int open_parent(const char *root, const char *path, bool make, const char **out_name,
		       struct arena *arena, struct error *error)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash == NULL ? path : slash + 1;
	if (name[0] == '\0' || strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
	    path[0] == '/') {
		fail(error, ERROR_FORBIDDEN, "%s is not the path of a file within the folder",
		     path);
		return -1;
	}
	AUTO_CLOSE folder = open_root(root);
	const char *above =
		slash == NULL ? "." : str_c(arena, (struct str){ path, (size_t)(slash - path) });
	int parent = folder < 0 ? -1
		     : make     ? open_or_make_folder(folder, above, arena)
				: open_at(folder, above, O_RDONLY | O_DIRECTORY, 0);
	if (parent < 0)
		fail_errno(error, "write", path, errno);
	*out_name = name;
	return parent;
}

static bool write_temporary(int parent, const char *temporary, const char *name, struct str bytes,
			    mode_t mode)
{
	struct stat info;
	bool exists = fstatat(parent, name, &info, AT_SYMLINK_NOFOLLOW) == 0;
	if (mode == 0)
		mode = exists ? info.st_mode & 0777 : 0644;
	unlinkat(parent, temporary, 0); /* left behind by a process that died */
	AUTO_CLOSE file = openat(parent, temporary,
				 O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	size_t put;
	return file >= 0 && fchmod(file, mode) == 0 && write_some(file, bytes, &put) &&
	       fsync(file) == 0;
}

/* Threads that replace the same file at once must not share a temporary file, so each takes the
 * smallest free number for its name.  Small numbers are reused soon, so the next writer removes the
 * temporary file that a crash left behind. */
static _Atomic uint64_t numbers_taken;

static unsigned number_take(void)
{
	uint64_t taken = atomic_load(&numbers_taken);
	unsigned number;
	do {
		require(taken != UINT64_MAX); /* there are far fewer than 64 threads */
		number = (unsigned)__builtin_ctzll(~taken);
	} while (!atomic_compare_exchange_weak(&numbers_taken, &taken, taken | 1ULL << number));
	return number;
}

static void number_release(unsigned number)
{
	atomic_fetch_and(&numbers_taken, ~(1ULL << number));
}

static bool replace_file(int parent, const char *name, struct str bytes, struct confined_write how,
			 struct arena *arena)
{
	unsigned number = number_take();
	const char *temporary = str_format(arena, ".%s.baton-new%u", name, number).at;
	bool good = write_temporary(parent, temporary, name, bytes, (mode_t)how.mode) &&
		    renameat2(parent, temporary, parent, name,
			      how.keep_existing ? RENAME_NOREPLACE : 0) == 0;
	int code = errno;
	if (!good)
		unlinkat(parent, temporary, 0);
	number_release(number);
	errno = code;
	return good;
}

bool confined_replace(const char *root, const char *path, struct str bytes,
		      struct confined_write how, struct error *error)
{
	AUTO(arena) arena = { 0 };
	const char *name;
	AUTO_CLOSE parent = open_parent(root, path, how.make_folders, &name, &arena, error);
	struct stat info;
	if (parent < 0)
		return false;
	if (fstatat(parent, name, &info, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISREG(info.st_mode))
		return fail(error, ERROR_FORBIDDEN, "%s is not a regular file", path);
	if (replace_file(parent, name, bytes, how, &arena) && fsync(parent) == 0)
		return true;
	return fail_errno(error, "write", path, errno);
}

/* ---- signatures ------------------------------------------------------------------------ */

static int64_t nanoseconds(struct timespec time)
{
	return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

bool confined_signature(const char *root, const char *path, struct file_signature *out_sign)
{
	AUTO_CLOSE folder = root == NULL ? AT_FDCWD : open_root(root);
	AUTO_CLOSE file = folder == -1   ? -1
			  : root == NULL ? open(path, O_PATH | O_CLOEXEC)
					 : open_at(folder, path, O_PATH, 0);
	struct stat info;
	struct timespec now;
	if (file < 0 || fstat(file, &info) != 0 || clock_gettime(CLOCK_REALTIME, &now) != 0)
		return false;
	*out_sign = (struct file_signature){ .device = info.st_dev,
					     .inode = info.st_ino,
					     .size = (uint64_t)info.st_size,
					     .modified_ns = nanoseconds(info.st_mtim),
					     .changed_ns = nanoseconds(info.st_ctim) };
	/* A file that changed a moment ago may change again without a new time stamp. */
	out_sign->settled = out_sign->changed_ns < nanoseconds(now) - SETTLED_NS;
	return true;
}

bool file_signature_equal(const struct file_signature *one, const struct file_signature *other)
{
	return one->settled && other->settled && one->device == other->device &&
	       one->inode == other->inode && one->size == other->size &&
	       one->modified_ns == other->modified_ns && one->changed_ns == other->changed_ns;
}

/* ---- lines --------------------------------------------------------------------------- */

/* Builds the text to append: a newline if the file does not end in one, then the lines. */
static bool gather_lines(int file, const struct stat *info, const struct str *lines, size_t count,
			 struct buf *text)
{
	char last = '\n';
	if (info->st_size > 0 && pread(file, &last, 1, info->st_size - 1) != 1)
		return false;
	if (last != '\n')
		buf_add_char(text, '\n');
	for (size_t i = 0; i < count; i++) {
		buf_add(text, lines[i]);
		buf_add_char(text, '\n');
	}
	return true;
}

/* The number of lines that are complete within the first `size` bytes of the text. */
static size_t whole_lines(struct str text, const struct str *lines, size_t count, size_t size)
{
	size_t all = 0, whole = 0;
	for (size_t i = 0; i < count; i++)
		all += lines[i].size + 1;
	for (size_t end = text.size - all; whole < count; whole++) {
		end += lines[whole].size + 1;
		if (end > size)
			break;
	}
	return whole;
}

bool confined_append_lines(const char *root, const char *path, const struct str *lines,
			   size_t count, size_t *out_written, struct error *error)
{
	AUTO(arena) arena = { 0 };
	AUTO(buf) text = { 0 };
	const char *name;
	struct stat info;
	*out_written = 0;
	AUTO_CLOSE parent = open_parent(root, path, true, &name, &arena, error);
	if (parent < 0)
		return false;
	AUTO_CLOSE file = open_at(parent, name, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW, 0644);
	if (file < 0)
		return fail_errno(error, "append to", path, errno);
	if (!is_regular(file, path, &info, error))
		return false;
	if (!gather_lines(file, &info, lines, count, &text))
		return fail_errno(error, "read", path, errno);
	size_t put;
	bool whole = write_some(file, buf_str(&text), &put);
	int number = errno;
	if (fdatasync(file) != 0 || (info.st_size == 0 && fsync(parent) != 0))
		return fail_errno(error, "append to", path, errno);
	*out_written = whole_lines(buf_str(&text), lines, count, put);
	return whole || fail_errno(error, "append to", path, number);
}

bool confined_append_line(const char *root, const char *path, struct str line, struct error *error)
{
	size_t written;
	return confined_append_lines(root, path, &line, 1, &written, error);
}

/* True when `tail` occurs immediately before a newline. */
static bool has_line(struct str bytes, struct str tail)
{
	size_t at;
	while (str_find(bytes, tail, &at)) {
		bytes = str_skip(bytes, at + tail.size);
		if (bytes.size > 0 && bytes.at[0] == '\n')
			return true;
	}
	return false;
}

bool confined_find_line(const char *root, const char *path, struct str tail, uint64_t limit,
			bool *out_found, bool *out_whole, struct error *error)
{
	AUTO_CLOSE folder = open_root(root);
	AUTO_CLOSE file = folder < 0 ? -1 : open_at(folder, path, O_RDONLY, 0);
	struct stat info;
	if (file < 0 && errno == ENOENT) {
		*out_found = false;
		*out_whole = true;
		return true;
	}
	if (file < 0)
		return fail_errno(error, "read", path, errno);
	if (!is_regular(file, path, &info, error))
		return false;
	uint64_t end = (uint64_t)info.st_size, size = end, overlap = tail.size + 1;
	AUTO(buf) piece = { 0 };
	char *room = buf_reserve(&piece, PIECE + overlap);
	bool found = false;
	/* Backwards; each piece overlaps the following one, so that a match across the boundary
	 * of two pieces is found. */
	while (end > 0 && !found && size - end < limit) {
		uint64_t begin = end > PIECE ? end - PIECE : 0;
		size_t wanted = (size_t)(end - begin + overlap);
		ssize_t got = pread(file, room, wanted, (off_t)begin);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return fail_errno(error, "read", path, errno);
		found = has_line((struct str){ room, (size_t)got }, tail);
		end = begin;
	}
	*out_found = found;
	*out_whole = end == 0;
	return true;
}
