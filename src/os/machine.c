/* os/machine.c -- read-only queries to the kernel. */
#include "os/machine.h"

#include <dirent.h>
#include <errno.h>
#include <linux/magic.h>
#include <malloc.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

/* Not in linux/magic.h. */
static const uint32_t cifs_magic = 0xFF534D42, smb2_magic = 0xFE534D42;

bool machine_disk(const char *path, struct machine_disk *out_disk, struct error *error)
{
	struct statfs info;
	if (statfs(path, &info) != 0)
		return fail(error, ERROR_IO, "cannot read the disk usage of %s: %s", path,
			    strerror(errno));
	uint32_t kind = (uint32_t)info.f_type;
	*out_disk = (struct machine_disk){
		.free_bytes = (int64_t)info.f_bavail * info.f_bsize,
		.total_bytes = (int64_t)info.f_blocks * info.f_bsize,
		.network = kind == NFS_SUPER_MAGIC || kind == cifs_magic || kind == smb2_magic ||
			   kind == SMB_SUPER_MAGIC || kind == AFS_SUPER_MAGIC || kind == V9FS_MAGIC,
	};
	return true;
}

bool machine_file(const char *path, struct machine_file *out_file)
{
	struct stat info;
	if (stat(path, &info) != 0)
		return false;
	*out_file = (struct machine_file){
		.folder = S_ISDIR(info.st_mode),
		.ours = info.st_uid == geteuid(),
		.mode = (unsigned)(info.st_mode & 07777),
		.size = info.st_size,
		.changed_at = (int64_t)info.st_mtim.tv_sec * 1000000 + info.st_mtim.tv_nsec / 1000,
	};
	return true;
}

static int64_t as_count(rlim_t limit)
{
	return limit == RLIM_INFINITY || limit > INT64_MAX ? INT64_MAX : (int64_t)limit;
}

void machine_open_files(int64_t *out_now, int64_t *out_most)
{
	struct rlimit limit = { 0 };
	getrlimit(RLIMIT_NOFILE, &limit);
	*out_now = as_count(limit.rlim_cur);
	*out_most = as_count(limit.rlim_max);
}

struct str_list machine_names(const char *folder, size_t limit, struct arena *arena)
{
	struct str *names = arena_array(arena, struct str, limit);
	struct str_list list = { names, 0 };
	DIR *open = opendir(folder);
	if (open == NULL)
		return list;
	for (struct dirent *entry; list.count < limit && (entry = readdir(open)) != NULL;)
		if (entry->d_name[0] != '.')
			names[list.count++] = str_copy(arena, str_from_c(entry->d_name));
	closedir(open);
	return list;
}

void machine_return_memory(void)
{
	malloc_trim(0);
}
