/* os/terminal.h -- whether output goes to a terminal, and its size. */
#ifndef OS_TERMINAL_H
#define OS_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>

/* False when standard output is not a terminal, or its size is unknown. */
bool terminal_size(size_t *out_rows, size_t *out_columns);
/* True when the descriptor is a terminal. */
bool terminal_is_at(int descriptor);

#endif
