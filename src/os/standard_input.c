/* os/standard_input.c -- reading standard input piece by piece. */
#include "os/standard_input.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

size_t standard_input_read(char *bytes, size_t room)
{
	ssize_t got;
	do
		got = read(STDIN_FILENO, bytes, room);
	while (got < 0 && errno == EINTR);
	return got > 0 ? (size_t)got : 0;
}

bool standard_input_waits(void)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
	return poll(&input, 1, 0) > 0;
}
