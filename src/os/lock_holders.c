/* os/lock_holders.c -- looks for the file among the descriptors of all processes. */
#include "os/lock_holders.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static void folder_done(DIR **folder)
{
	if (*folder != NULL)
		closedir(*folder);
}

#define FOLDER __attribute__((cleanup(folder_done))) DIR *

static bool is_same(const struct stat *one, const struct stat *other)
{
	return one->st_dev == other->st_dev && one->st_ino == other->st_ino;
}

/* Also false for a process that has ended or that this user may not inspect. */
static bool has_open(int proc, const char *pid, const struct stat *wanted)
{
	char path[64];
	if (snprintf(path, sizeof(path), "%s/fd", pid) >= (int)sizeof(path))
		return false;
	int descriptors = openat(proc, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	FOLDER folder = descriptors < 0 ? NULL : fdopendir(descriptors);
	if (folder == NULL)
		return false;
	for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
		struct stat info;
		if (fstatat(dirfd(folder), entry->d_name, &info, 0) == 0 && is_same(&info, wanted))
			return true;
	}
	return false;
}

size_t lock_holders_kill(const char *path)
{
	struct stat wanted;
	FOLDER proc = opendir("/proc");
	size_t count = 0;
	if (proc == NULL || stat(path, &wanted) != 0)
		return 0;
	for (const struct dirent *entry; (entry = readdir(proc)) != NULL;) {
		char *end;
		long pid = strtol(entry->d_name, &end, 10);
		if (*end != '\0' || pid <= 1 || pid == (long)getpid() ||
		    !has_open(dirfd(proc), entry->d_name, &wanted))
			continue;
		count += kill((pid_t)pid, SIGKILL) == 0;
	}
	return count;
}
