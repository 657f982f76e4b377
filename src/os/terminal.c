/* os/terminal.c -- the size is read on every call, because terminal windows are resized. */
#include "os/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

bool terminal_size(size_t *out_rows, size_t *out_columns)
{
	struct winsize size;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0 || size.ws_col == 0)
		return false;
	*out_rows = size.ws_row;
	*out_columns = size.ws_col;
	return true;
}

bool terminal_is_at(int descriptor)
{
	return isatty(descriptor) == 1;
}
