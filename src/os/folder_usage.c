/* os/folder_usage.c -- measures the disk space of a folder whose contents are not trusted.
 *
 * Every level of the walk holds an open folder, so names are resolved relative to it: a path of any
 * length works, and renaming a folder during the walk cannot lead the walk out of the root.
 */
#include "os/folder_usage.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/limits.h"

enum { BLOCK_BYTES = 512 }; /* unit of st_blocks */

struct folder_level {
	DIR *folder;
};

static int64_t changed_at(const struct stat *info)
{
	return (int64_t)info->st_ctim.tv_sec * 1000000 + info->st_ctim.tv_nsec / 1000;
}

bool folder_usage_begin(struct folder_usage *usage, const char *path, struct error *error)
{
	*usage = (struct folder_usage){ 0 };
	struct stat info;
	int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *stream = folder < 0 || fstat(folder, &info) != 0 ? NULL : fdopendir(folder);
	if (stream == NULL) {
		int number = errno;
		if (folder >= 0)
			close(folder);
		return fail(error, ERROR_IO, "cannot read the folder %s: %s", path,
			    strerror(number));
	}
	usage->levels = calloc(LIMIT_FOLDER_DEPTH, sizeof(*usage->levels));
	require(usage->levels != NULL);
	usage->levels[usage->depth++].folder = stream;
	usage->device = info.st_dev;
	usage->changed_us = changed_at(&info);
	return true;
}

static void level_enter(struct folder_usage *usage, const char *name)
{
	int parent = dirfd(usage->levels[usage->depth - 1].folder);
	if (usage->depth == LIMIT_FOLDER_DEPTH) {
		usage->too_deep = true;
		return;
	}
	int folder = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (folder < 0)
		return;
	DIR *stream = fdopendir(folder);
	if (stream == NULL)
		close(folder);
	else
		usage->levels[usage->depth++].folder = stream;
}

bool folder_usage_step(struct folder_usage *usage, size_t entries)
{
	for (size_t i = 0; i < entries && usage->depth > 0; i++) {
		DIR *folder = usage->levels[usage->depth - 1].folder;
		const struct dirent *entry = readdir(folder);
		struct stat info;
		if (entry == NULL) {
			closedir(folder);
			usage->depth--;
			continue;
		}
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
		    fstatat(dirfd(folder), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0)
			continue;
		uint64_t names = S_ISDIR(info.st_mode) || info.st_nlink < 1 ? 1 : info.st_nlink;
		usage->entries++;
		if (changed_at(&info) > usage->changed_us)
			usage->changed_us = changed_at(&info);
		/* Each of a file's names stands for its share. */
		usage->bytes += (uint64_t)info.st_blocks * BLOCK_BYTES / names;
		if (S_ISDIR(info.st_mode) && info.st_dev == usage->device)
			level_enter(usage, entry->d_name);
	}
	return usage->depth == 0;
}

void folder_usage_done(struct folder_usage *usage)
{
	while (usage->depth > 0)
		closedir(usage->levels[--usage->depth].folder);
	free(usage->levels);
	usage->levels = NULL;
}
