/* net/local_address.c -- data folders may have long paths, but socket addresses are short. */
#include "net/local_address.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

bool local_address(const char *path, struct sockaddr_un *out_address, int *out_folder,
		   struct error *error)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	size_t size = strlen(path);
	if (size == 0)
		return fail(error, ERROR_USAGE, "the path of the socket is empty");
	if (size < sizeof(address.sun_path)) {
		memcpy(address.sun_path, path, size);
		*out_address = address;
		*out_folder = -1;
		return true;
	}
	AUTO(arena) scratch = { 0 };
	char *folder_path = arena_copy(&scratch, path, size + 1);
	char *slash = strrchr(folder_path, '/');
	if (slash == NULL || slash == folder_path)
		return fail(error, ERROR_USAGE, "%s is too long for the name of a socket", path);
	*slash = '\0';
	int folder = open(folder_path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (folder < 0)
		return fail(error, errno == ENOENT ? ERROR_UNAVAILABLE : ERROR_IO,
			    "cannot open %s: %s", folder_path, strerror(errno));
	int written = snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/%s",
			       folder, slash + 1);
	if (written < 0 || (size_t)written >= sizeof(address.sun_path)) {
		close(folder);
		return fail(error, ERROR_USAGE, "%s is too long for the name of a socket",
			    slash + 1);
	}
	*out_address = address;
	*out_folder = folder;
	return true;
}
