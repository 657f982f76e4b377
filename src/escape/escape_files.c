/* escape/escape_files.c -- probes that look for files of the host, and for the kernel's. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "escape/escape.h"

enum { PATH_ROOM = 4096, MOST_DESCRIPTORS = 1024 };

enum escape_result escape_host_file(const struct escape *escape)
{
	return escape_open(escape, escape->secret, O_RDONLY);
}

enum escape_result escape_host_file_by_proc(const struct escape *escape)
{
	char path[PATH_ROOM];
	snprintf(path, sizeof(path), "/proc/1/root%s", escape->secret);
	return escape_open(escape, path, O_RDONLY);
}

enum escape_result escape_host_file_by_link(const struct escape *escape)
{
	if (symlink(escape->secret, "/workspace/link") != 0)
		return escape_say(escape, ESCAPE_ABSENT, "cannot make a link");
	return escape_open(escape, "/workspace/link", O_RDONLY);
}

enum escape_result escape_host_folder(const struct escape *escape)
{
	char path[PATH_ROOM];
	snprintf(path, sizeof(path), "%s/written", escape->outside);
	return escape_open(escape, path, O_WRONLY | O_CREAT);
}

enum escape_result escape_data_folder(const struct escape *escape)
{
	struct stat info;
	if (stat(escape->data, &info) == 0)
		return escape_say(escape, ESCAPE_ESCAPED, "the data folder is visible");
	return escape_say(escape, ESCAPE_HELD, "%s", strerror(errno));
}

enum escape_result escape_parent_folders(const struct escape *escape)
{
	enum { LEVELS = 64 };
	char path[PATH_ROOM], up[LEVELS * 3 + 1] = "";
	for (size_t i = 0; i < LEVELS; i++)
		memcpy(up + i * 3, "/..", 4);
	snprintf(path, sizeof(path), "/workspace%s%s", up, escape->secret);
	if (access(path, F_OK) == 0)
		return escape_say(escape, ESCAPE_ESCAPED, "the file outside is there");
	return escape_say(escape, ESCAPE_HELD, "%s", strerror(errno));
}

enum escape_result escape_hard_link(const struct escape *escape)
{
	return escape_refused(escape, link("/etc/passwd", "/workspace/passwd"));
}

enum escape_result escape_shadow(const struct escape *escape)
{
	return escape_open(escape, "/etc/shadow", O_RDONLY);
}

enum escape_result escape_homes(const struct escape *escape)
{
	static const char *const places[] = { "/root", "/home" };
	for (size_t i = 0; i < 2; i++) {
		DIR *folder = opendir(places[i]);
		const struct dirent *entry;
		size_t count = 0;
		while (folder != NULL && (entry = readdir(folder)) != NULL)
			count += entry->d_name[0] != '.' || strlen(entry->d_name) > 2;
		if (folder != NULL)
			closedir(folder);
		/* Toolchains may be mounted there; keys may not. */
		if (count > 0) {
			char path[PATH_ROOM];
			snprintf(path, sizeof(path), "%s/.ssh", places[i]);
			if (access(path, R_OK) == 0)
				return escape_say(escape, ESCAPE_ESCAPED, "%s is visible", path);
		}
	}
	return escape_say(escape, ESCAPE_HELD, "no home folder with keys is visible");
}

static enum escape_result write_new(const struct escape *escape, const char *path)
{
	enum escape_result result = escape_open(escape, path, O_WRONLY | O_CREAT | O_EXCL);
	if (result == ESCAPE_ESCAPED)
		unlink(path);
	return result;
}

enum escape_result escape_write_usr(const struct escape *escape)
{
	return write_new(escape, "/usr/baton-escape");
}

enum escape_result escape_write_etc(const struct escape *escape)
{
	return write_new(escape, "/etc/baton-escape");
}

enum escape_result escape_write_root(const struct escape *escape)
{
	return write_new(escape, "/baton-escape");
}

enum escape_result escape_write_dev(const struct escape *escape)
{
	return write_new(escape, "/dev/baton-escape");
}

enum escape_result escape_open_by_handle(const struct escape *escape)
{
	/* The root folder of ext4, xfs and btrfs has a small inode number. */
	static const unsigned numbers[] = { 2, 128, 256, 64, 1 };
	int mount = open("/workspace", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (mount < 0)
		return escape_say(escape, ESCAPE_ABSENT, "no workspace");
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		union {
			struct file_handle handle;
			char room[sizeof(struct file_handle) + 8];
		} root = { .handle = { .handle_bytes = 8, .handle_type = 1 } };
		memcpy(root.room + sizeof(struct file_handle), &numbers[i], sizeof(numbers[i]));
		if (open_by_handle_at(mount, &root.handle, O_RDONLY) >= 0)
			return escape_say(escape, ESCAPE_ESCAPED, "inode %u was opened",
					  numbers[i]);
	}
	return escape_say(escape, ESCAPE_HELD, "%s", strerror(errno));
}

enum escape_result escape_descriptors(const struct escape *escape)
{
	size_t count = 0;
	for (int i = 3; i < MOST_DESCRIPTORS; i++) {
		struct stat info;
		if (fstat(i, &info) != 0)
			continue;
		count++;
		/* The lock of an effect is a FIFO opened for reading. */
		if (!S_ISFIFO(info.st_mode))
			return escape_say(escape, ESCAPE_ESCAPED, "descriptor %d is open (type %o)",
					  i, (unsigned)info.st_mode & S_IFMT);
	}
	return escape_say(escape, ESCAPE_HELD,
			  "%zu inherited descriptors, none of a file or a socket", count);
}

enum escape_result escape_setuid_programs(const struct escape *escape)
{
	struct statvfs info;
	if (statvfs("/usr", &info) != 0)
		return escape_say(escape, ESCAPE_ABSENT, "%s", strerror(errno));
	if ((info.f_flag & ST_NOSUID) == 0)
		return escape_say(escape, ESCAPE_ESCAPED, "/usr is mounted with setuid");
	return escape_say(escape, ESCAPE_HELD, "/usr is mounted nosuid");
}

/* ---- the kernel's files -------------------------------------------------------------------- */

enum escape_result escape_core_pattern(const struct escape *escape)
{
	return escape_open(escape, "/proc/sys/kernel/core_pattern", O_WRONLY);
}

enum escape_result escape_sysrq(const struct escape *escape)
{
	return escape_open(escape, "/proc/sysrq-trigger", O_WRONLY);
}

enum escape_result escape_kernel_settings(const struct escape *escape)
{
	static const char *const files[] = { "/proc/sys/kernel/modprobe",
					     "/proc/sys/vm/overcommit_memory",
					     "/proc/sys/fs/binfmt_misc/register",
					     "/proc/sys/kernel/hostname",
					     "/proc/irq/default_smp_affinity" };
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (escape_open(escape, files[i], O_WRONLY) == ESCAPE_ESCAPED)
			return ESCAPE_ESCAPED;
	return ESCAPE_HELD;
}

enum escape_result escape_sysfs(const struct escape *escape)
{
	struct stat info;
	if (stat("/sys/kernel", &info) == 0)
		return escape_say(escape, ESCAPE_ESCAPED, "/sys is visible");
	return escape_say(escape, ESCAPE_HELD, "there is no /sys");
}

enum escape_result escape_kernel_memory(const struct escape *escape)
{
	static const char *const files[] = { "/dev/mem", "/dev/kmem", "/dev/port", "/proc/kcore",
					     "/dev/kvm" };
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		/* An empty cover in its place is harmless. */
		char byte;
		int file = open(files[i], O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		ssize_t size = file < 0 ? -1 : read(file, &byte, 1);
		if (file >= 0)
			close(file);
		if (size > 0)
			return escape_say(escape, ESCAPE_ESCAPED, "%s can be read", files[i]);
	}
	return escape_say(escape, ESCAPE_HELD, "no such device can be read");
}

enum escape_result escape_disks(const struct escape *escape)
{
	DIR *folder = opendir("/dev");
	const struct dirent *entry;
	size_t count = 0;
	if (folder == NULL)
		return escape_say(escape, ESCAPE_HELD, "there is no /dev");
	while ((entry = readdir(folder)) != NULL) {
		struct stat info;
		count++;
		if (fstatat(dirfd(folder), entry->d_name, &info, 0) == 0 && S_ISBLK(info.st_mode)) {
			closedir(folder);
			return escape_say(escape, ESCAPE_ESCAPED, "/dev/%s is a disk",
					  entry->d_name);
		}
	}
	closedir(folder);
	return escape_say(escape, ESCAPE_HELD, "%zu entries in /dev, no disk", count);
}

enum escape_result escape_device_nodes(const struct escape *escape)
{
	if (mknod("/workspace/disk", S_IFBLK | 0600, makedev(8, 0)) == 0)
		return escape_say(escape, ESCAPE_ESCAPED, "a disk was made");
	return escape_refused(escape, mknod("/tmp/mem", S_IFCHR | 0600, makedev(1, 1)));
}

enum escape_result escape_kernel_log(const struct escape *escape)
{
	return escape_open(escape, "/dev/kmsg", O_RDONLY);
}
