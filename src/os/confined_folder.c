/* os/confined_folder.c -- the names in a folder, of which the first are kept in a heap.
 *
 * The heap has the last of the kept names at its top, where the next smaller name replaces it.
 */
#include "os/confined_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static int open_confined(const char *root, const char *path, int flags)
{
	int folder = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC), file;
	if (folder < 0)
		return -1;
	struct open_how how = { .flags = (unsigned)(flags | O_CLOEXEC),
				.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS };
	do
		file = (int)syscall(SYS_openat2, folder, path[0] == '\0' ? "." : path, &how,
				    sizeof(how));
	while (file < 0 && (errno == EINTR || errno == EAGAIN));
	int number = errno;
	close(folder);
	errno = number;
	return file;
}

bool confined_folder_open(const char *root, const char *path, size_t keep,
			  struct confined_folder **out_folder, struct error *error)
{
	int file = open_confined(root, path, O_RDONLY | O_DIRECTORY);
	DIR *stream = file < 0 ? NULL : fdopendir(file);
	if (stream == NULL) {
		int number = errno;
		if (file >= 0)
			close(file);
		if (number == EXDEV || number == ELOOP)
			return fail(
				error, ERROR_FORBIDDEN,
				"cannot list %s: the path leaves its folder, or is a symbolic link",
				path);
		return fail(error,
			    number == ENOENT    ? ERROR_NOT_FOUND
			    : number == ENOTDIR ? ERROR_INVALID
			    : number == EACCES  ? ERROR_FORBIDDEN
						: ERROR_IO,
			    "cannot list %s: %s", path, strerror(number));
	}
	struct confined_folder *folder = calloc(1, sizeof(*folder));
	require(folder != NULL);
	folder->stream = stream;
	folder->keep = keep;
	*out_folder = folder;
	return true;
}

static enum confined_kind kind_of_mode(mode_t mode)
{
	return S_ISREG(mode)   ? CONFINED_FILE
	       : S_ISDIR(mode) ? CONFINED_FOLDER
	       : S_ISLNK(mode) ? CONFINED_LINK
			       : CONFINED_OTHER;
}

/* Some file systems leave the type out. */
static enum confined_kind kind_of(DIR *stream, const struct dirent *entry)
{
	struct stat info;
	if (entry->d_type == DT_UNKNOWN)
		return fstatat(dirfd(stream), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) == 0
			       ? kind_of_mode(info.st_mode)
			       : CONFINED_OTHER;
	return entry->d_type == DT_REG   ? CONFINED_FILE
	       : entry->d_type == DT_DIR ? CONFINED_FOLDER
	       : entry->d_type == DT_LNK ? CONFINED_LINK
					 : CONFINED_OTHER;
}

static void swap(struct confined_entry *one, struct confined_entry *other)
{
	struct confined_entry kept = *one;
	*one = *other;
	*other = kept;
}

static void rise(struct confined_entry *at, size_t child)
{
	while (child > 0 && strcmp(at[child].name, at[(child - 1) / 2].name) > 0) {
		swap(&at[child], &at[(child - 1) / 2]);
		child = (child - 1) / 2;
	}
}

static void sink(struct confined_entry *at, size_t count)
{
	for (size_t parent = 0;;) {
		size_t largest = parent;
		for (size_t child = 2 * parent + 1; child <= 2 * parent + 2 && child < count;
		     child++)
			if (strcmp(at[child].name, at[largest].name) > 0)
				largest = child;
		if (largest == parent)
			return;
		swap(&at[parent], &at[largest]);
		parent = largest;
	}
}

static void add(struct confined_folder *folder, const struct dirent *entry)
{
	if (folder->count == folder->keep) {
		folder->dropped++;
		if (folder->count == 0 || strcmp(entry->d_name, folder->at[0].name) >= 0)
			return;
		free((void *)(uintptr_t)folder->at[0].name);
	} else if (folder->count == folder->room) {
		folder->room = folder->room == 0 ? 64 : folder->room * 2;
		folder->at = realloc(folder->at, folder->room * sizeof(*folder->at));
		require(folder->at != NULL);
	}
	char *name = strdup(entry->d_name);
	require(name != NULL);
	const struct confined_entry added = { name, kind_of(folder->stream, entry) };
	if (folder->count == folder->keep) {
		folder->at[0] = added;
		sink(folder->at, folder->count);
	} else {
		folder->at[folder->count] = added;
		rise(folder->at, folder->count++);
	}
}

static int compare(const void *one, const void *other)
{
	return strcmp(((const struct confined_entry *)one)->name,
		      ((const struct confined_entry *)other)->name);
}

bool confined_folder_step(struct confined_folder *folder, size_t names)
{
	for (size_t i = 0; i < names && !folder->sorted; i++) {
		const struct dirent *entry = readdir(folder->stream);
		if (entry == NULL) {
			if (folder->count > 1)
				qsort(folder->at, folder->count, sizeof(*folder->at), compare);
			folder->sorted = true;
		} else if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
			add(folder, entry);
		}
	}
	return folder->sorted;
}

void confined_folder_close(struct confined_folder *folder)
{
	if (folder == NULL)
		return;
	for (size_t i = 0; i < folder->count; i++)
		free((void *)(uintptr_t)folder->at[i].name);
	free(folder->at);
	closedir(folder->stream);
	free(folder);
}

bool confined_examine(const char *root, const char *path, struct confined_info *out_info)
{
	int file = open_confined(root, path, O_PATH | O_NOFOLLOW);
	struct stat info;
	bool good = file >= 0 && fstat(file, &info) == 0;
	if (file >= 0)
		close(file);
	/* RESOLVE_NO_SYMLINKS refuses a link as the last part; its name is all there is to say. */
	if (!good)
		return false;
	*out_info = (struct confined_info){
		.kind = kind_of_mode(info.st_mode),
		.size = (uint64_t)info.st_size,
		.modified_us = (int64_t)info.st_mtim.tv_sec * 1000000 + info.st_mtim.tv_nsec / 1000,
		.executable = S_ISREG(info.st_mode) && (info.st_mode & 0100) != 0,
	};
	return true;
}
