/* os/file.c -- whole files, folders and file locks. */
#include "os/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/buf.h"
#include "os/failpoint.h"

static void descriptor_done(const int *descriptor)
{
	if (*descriptor >= 0)
		close(*descriptor);
}

static enum error_code code_of(int number)
{
	switch (number) {
	case ENOENT:
	case ENOTDIR:
		return ERROR_NOT_FOUND;
	case EACCES:
	case EPERM:
		return ERROR_FORBIDDEN;
	case ENOSPC:
	case EDQUOT:
		return ERROR_STORAGE_FULL;
	default:
		return ERROR_IO;
	}
}

static bool read_whole(int file, const char *path, size_t limit, struct arena *arena,
		       struct str *out_text, struct error *error)
{
	AUTO(buf) text = { 0 };
	for (;;) {
		/* Most files are small: the buffer starts small and doubles. */
		enum { LEAST = 1024, FIRST = 8192 };
		char *room = buf_reserve(&text, text.size == 0 ? FIRST : LEAST);
		ssize_t got = read(file, room, text.room - text.size);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return fail(error, ERROR_IO, "cannot read %s: %s", path, strerror(errno));
		if (got == 0)
			break;
		text.size += (size_t)got;
		if (text.size > limit)
			return fail(error, ERROR_TOO_LARGE,
				    "%s is larger than the limit of %zu bytes", path, limit);
	}
	*out_text = str_copy(arena, buf_str(&text));
	return true;
}

bool file_read(const char *path, size_t limit, struct arena *arena, struct str *out_text,
	       struct error *error)
{
	__attribute__((cleanup(descriptor_done))) int file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return fail(error, code_of(errno), "cannot read %s: %s", path, strerror(errno));
	return read_whole(file, path, limit, arena, out_text, error);
}

/* Opens a path within the folder; returns -1 with the error filled on failure. */
static int open_confined(const char *root, const char *path, uint64_t flags, struct error *error)
{
	__attribute__((cleanup(descriptor_done))) int folder =
		open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (folder < 0) {
		fail(error, code_of(errno), "cannot read %s: %s", root, strerror(errno));
		return -1;
	}
	struct open_how how = { .flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | flags,
				.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS |
					   RESOLVE_NO_SYMLINKS };
	int file = (int)syscall(SYS_openat2, folder, path, &how, sizeof(how));
	if (file < 0 && (errno == EXDEV || errno == ELOOP))
		fail(error, ERROR_FORBIDDEN, "%s leaves the folder %s or contains a symbolic link",
		     path, root);
	else if (file < 0)
		fail(error, code_of(errno), "cannot read %s in %s: %s", path, root,
		     strerror(errno));
	return file;
}

bool file_read_confined(const char *root, const char *path, size_t limit, struct arena *arena,
			struct str *out_text, struct error *error)
{
	__attribute__((cleanup(descriptor_done))) int file = open_confined(root, path, 0, error);
	return file >= 0 && read_whole(file, path, limit, arena, out_text, error);
}

bool file_read_private(const char *root, const char *path, size_t limit, struct arena *arena,
		       struct str *out_text, struct error *error)
{
	/* O_NONBLOCK: opening a FIFO must not block. */
	__attribute__((cleanup(descriptor_done))) int file =
		open_confined(root, path, O_NONBLOCK, error);
	struct stat info;
	if (file < 0)
		return false;
	if (fstat(file, &info) != 0 || !S_ISREG(info.st_mode))
		return fail(error, ERROR_FORBIDDEN, "%s is not a regular file", path);
	if (info.st_uid != geteuid() && info.st_uid != 0)
		return fail(error, ERROR_FORBIDDEN, "%s belongs to another user", path);
	if ((info.st_mode & 077) != 0)
		return fail(error, ERROR_FORBIDDEN,
			    "%s is accessible to other users (mode %03o); run: chmod 600 %s", path,
			    (unsigned)(info.st_mode & 0777), path);
	return read_whole(file, path, limit, arena, out_text, error);
}

/* ---- replacing ----------------------------------------------------------------------- */

static bool write_whole(int file, struct str text)
{
	while (text.size > 0) {
		ssize_t put = write(file, text.at, text.size);
		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return false;
		text = str_skip(text, (size_t)put);
	}
	return true;
}

static bool sync_folder_of(const char *path, struct arena *arena)
{
	const char *slash = strrchr(path, '/');
	size_t size = slash == NULL ? 0 : (size_t)(slash - path) + 1;
	const char *folder = size == 0 ? "." : str_c(arena, (struct str){ path, size });
	__attribute__((cleanup(descriptor_done))) int file =
		open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return file >= 0 && fsync(file) == 0;
}

/* Writes the new text to a temporary file and syncs it before the rename. */
static bool write_temporary(const char *path, const char *temporary, struct str text)
{
	struct stat info;
	mode_t mode = stat(path, &info) == 0 ? info.st_mode & 0777 : 0600;
	__attribute__((cleanup(descriptor_done))) int file = open(
		temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW, 0600);
	if (file < 0)
		return false;
	return fchmod(file, mode) == 0 && write_whole(file, text) && fsync(file) == 0;
}

bool file_real_path(const char *path, struct arena *arena, struct str *out_path,
		    struct error *error)
{
	char *real = realpath(path, NULL);
	if (real == NULL)
		return fail(error, errno == ENOENT ? ERROR_NOT_FOUND : ERROR_IO, "%s: %s", path,
			    strerror(errno));
	*out_path = str_copy(arena, str_from_c(real));
	free(real);
	return true;
}

bool file_replace(const char *path, struct str text, struct error *error)
{
	AUTO(arena) arena = { 0 };
	char *real = realpath(path, NULL);
	const char *target = str_c(&arena, str_from_c(real != NULL ? real : path));
	const char *temporary = str_format(&arena, "%s.new", target).at;
	free(real);
	unlink(temporary); /* left behind by a process that died */
	bool good = write_temporary(target, temporary, text);
	FAILPOINT("file.before_rename");
	good = good && rename(temporary, target) == 0;
	FAILPOINT("file.after_rename");
	int number = errno;
	if (good && sync_folder_of(target, &arena))
		return true;
	if (!good)
		unlink(temporary);
	return fail(error, number == ENOSPC || number == EDQUOT ? ERROR_STORAGE_FULL : ERROR_IO,
		    "cannot write %s: %s", path, strerror(number));
}

bool file_create(const char *path, struct str text, struct error *error)
{
	AUTO(arena) arena = { 0 };
	__attribute__((cleanup(descriptor_done))) int file =
		open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW, 0600);
	if (file < 0 && errno == EEXIST)
		return fail(error, ERROR_CONFLICT, "%s exists already", path);
	if (file >= 0 && write_whole(file, text) && fsync(file) == 0 &&
	    sync_folder_of(path, &arena))
		return true;
	int number = errno;
	if (file >= 0)
		unlink(path);
	return fail(error, code_of(number), "cannot write %s: %s", path, strerror(number));
}

static bool folder_make_one(const char *path, struct error *error)
{
	if (mkdir(path, 0700) == 0)
		return true;
	int number = errno;
	struct stat info;
	if (stat(path, &info) == 0) {
		if (S_ISDIR(info.st_mode))
			return true;
		return fail(error, ERROR_IO,
			    "cannot create the folder %s: a file of that name exists", path);
	}
	return fail(error,
		    number == EACCES                       ? ERROR_FORBIDDEN
		    : number == ENOSPC || number == EDQUOT ? ERROR_STORAGE_FULL
							   : ERROR_IO,
		    "cannot create the folder %s: %s", path, strerror(number));
}

bool folder_make(const char *path, struct error *error)
{
	AUTO(arena) scratch = { 0 };
	size_t size = strlen(path);
	struct stat info;
	if (size == 0)
		return fail(error, ERROR_USAGE, "cannot create a folder: its name is empty");
	if (stat(path, &info) == 0 && S_ISDIR(info.st_mode))
		return true;
	char *part = arena_copy(&scratch, path, size + 1);
	for (size_t i = 1; i < size; i++) {
		if (part[i] != '/')
			continue;
		part[i] = '\0';
		if (!folder_make_one(part, error))
			return false;
		part[i] = '/';
	}
	return folder_make_one(part, error);
}

int64_t file_owner(const char *path)
{
	struct stat info;
	return stat(path, &info) == 0 ? (int64_t)info.st_uid : 0;
}

bool folder_room(const char *path, uint64_t *out_bytes, struct error *error)
{
	struct statvfs info;
	if (statvfs(path, &info) != 0)
		return fail(error, code_of(errno), "cannot read the free disk space of %s: %s",
			    path, strerror(errno));
	*out_bytes = (uint64_t)info.f_bavail * (uint64_t)info.f_frsize;
	return true;
}

static void folder_done(DIR **folder)
{
	if (*folder != NULL)
		closedir(*folder);
}

bool folder_list(const char *path, struct arena *arena, struct str_list *out_names,
		 struct error *error)
{
	__attribute__((cleanup(folder_done))) DIR *folder = opendir(path);
	struct str *names = NULL;
	size_t count = 0, room = 0;
	if (folder == NULL && errno != ENOENT)
		return fail(error, code_of(errno), "cannot read %s: %s", path, strerror(errno));
	for (;;) {
		errno = 0;
		const struct dirent *entry = folder == NULL ? NULL : readdir(folder);
		if (entry == NULL && errno != 0)
			return fail(error, ERROR_IO, "cannot read %s: %s", path, strerror(errno));
		if (entry == NULL)
			break;
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		if (count == room) {
			struct str *more = arena_array(arena, struct str, room = room * 2 + 16);
			if (count > 0)
				memcpy(more, names, count * sizeof(*names));
			names = more;
		}
		names[count++] = str_copy(arena, str_from_c(entry->d_name));
	}
	*out_names = (struct str_list){ names, count };
	return true;
}

bool file_remove(const char *path, struct error *error)
{
	return unlink(path) == 0 || errno == ENOENT ||
	       fail(error, code_of(errno), "cannot remove %s: %s", path, strerror(errno));
}

bool file_identify(const char *path, struct file_identity *out_identity)
{
	struct stat info;
	if (stat(path, &info) != 0)
		return false;
	*out_identity = (struct file_identity){ (uint64_t)info.st_dev, (uint64_t)info.st_ino };
	return true;
}

bool file_exists(const char *path)
{
	struct stat info;
	return stat(path, &info) == 0;
}

bool folder_exists(const char *path)
{
	struct stat info;
	return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* Locks the open file, or closes it and fails. */
static bool descriptor_lock(int file, const char *path, int *out_descriptor, struct error *error)
{
	if (file < 0)
		return fail(error, code_of(errno), "cannot open the lock file %s: %s", path,
			    strerror(errno));
	int result;
	do
		result = flock(file, LOCK_EX | LOCK_NB);
	while (result != 0 && errno == EINTR);
	if (result == 0) {
		*out_descriptor = file;
		return true;
	}
	int number = errno;
	close(file);
	if (number == EWOULDBLOCK)
		return fail(error, ERROR_LOCKED, "%s is locked by another process", path);
	return fail(error, ERROR_IO, "cannot lock %s: %s", path, strerror(number));
}

bool file_lock(const char *path, int *out_descriptor, struct error *error)
{
	int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY, 0600);
	return descriptor_lock(file, path, out_descriptor, error);
}

bool file_lock_for_children(const char *path, int *out_descriptor, struct error *error)
{
	/* A regular file that an older version left is locked like a FIFO. */
	int file = mkfifo(path, 0600) == 0 || errno == EEXIST
			   ? open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
			   : -1;
	return descriptor_lock(file, path, out_descriptor, error);
}

void file_unlock(int descriptor)
{
	close(descriptor);
}

bool file_rewrite(int descriptor, struct str text, struct error *error)
{
	/* Write first, truncate afterwards: the file is never empty in between. */
	size_t written = 0;
	while (written < text.size) {
		ssize_t put =
			pwrite(descriptor, text.at + written, text.size - written, (off_t)written);
		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return fail(error, ERROR_IO, "cannot write to file descriptor %d: %s",
				    descriptor, strerror(errno));
		written += (size_t)put;
	}
	if (ftruncate(descriptor, (off_t)text.size) != 0)
		return fail(error, ERROR_IO, "cannot truncate file descriptor %d: %s", descriptor,
			    strerror(errno));
	return true;
}

size_t file_descriptor_limit_raise(size_t wanted)
{
	struct rlimit limit;
	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		return 0;
	if (limit.rlim_cur < wanted) {
		rlim_t before = limit.rlim_cur;
		limit.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : (rlim_t)wanted;
		if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
			return (size_t)before;
	}
	return (size_t)limit.rlim_cur;
}
