/* os/terminal.h -- the terminal that standard output is. */
#ifndef OS_TERMINAL_H
#define OS_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>

/* False when standard output is none, or does not say how large it is. */
bool terminal_size(size_t *out_rows, size_t *out_columns);

#endif
