/* os/standard_input.h -- standard input as a stream that a conversation is read from.
 *
 * Reading waits, so it is not for a loop thread.
 */
#ifndef OS_STANDARD_INPUT_H
#define OS_STANDARD_INPUT_H

#include <stdbool.h>
#include <stddef.h>

/* Waits for bytes and reads at most `room`.  Returns 0 at the end of the input and when it cannot be read. */
size_t standard_input_read(char *bytes, size_t room);
/* True when standard_input_read() would return at once; does not wait. */
bool standard_input_waits(void);

#endif
