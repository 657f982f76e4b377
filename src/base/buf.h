/* base/buf.h -- growing buffer of bytes that it owns, with an optional size limit.
 *
 * An addition that would exceed the limit adds nothing and sets `full`, so a caller may write a
 * whole document and check `full` once at the end.  A zeroed struct is an empty buffer without a
 * limit.
 */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include "base/str.h"

struct buf {
	char *at;
	size_t size, room;
	size_t limit;  /* 0 = none */
	bool full;     /* an addition was dropped because of the limit */
	bool borrowed; /* `at` is the caller's memory */
};

struct buf buf_limited(size_t limit);
/* Starts in memory of the caller's, which must outlive the buffer; short texts then need no malloc. */
struct buf buf_borrowing(char *memory, size_t size, size_t limit);
enum { BUF_SHORT = 1024 }; /* a good size for that on the stack */
void buf_done(struct buf *buf);

bool buf_add(struct buf *buf, struct str s);
bool buf_add_char(struct buf *buf, char c);
bool buf_add_format(struct buf *buf, const char *format, ...) PRINTF_LIKE(2, 3);
/* Reserves `size` bytes behind the content.  The caller writes them and adds their number to
 * buf->size.  Returns NULL and sets `full` when the limit would be exceeded. */
char *buf_reserve(struct buf *buf, size_t size);
void buf_clear(struct buf *buf); /* keeps the memory */
void buf_drop_front(struct buf *buf, size_t count);
struct str buf_str(const struct buf *buf); /* valid until the next addition */

#endif
