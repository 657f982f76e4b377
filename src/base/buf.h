/* base/buf.h -- owned, growing text that knows its limit from birth.
 *
 * Adding beyond the limit adds nothing and marks the buffer `full`; the caller may add a whole
 * document and ask once at the end.  A zeroed buf has no limit but memory.
 */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include "base/str.h"

struct buf {
	char *at;
	size_t size, room;
	size_t limit; /* 0 = none */
	bool full;    /* something did not fit */
};

struct buf buf_limited(size_t limit);
void buf_done(struct buf *buf);

bool buf_add(struct buf *buf, struct str s);
bool buf_add_char(struct buf *buf, char c);
bool buf_add_format(struct buf *buf, const char *format, ...) PRINTF_LIKE(2, 3);
/* Room for `size` more bytes at the end, to be filled and then counted in with buf->size;
 * NULL (and full) when that passes the limit. */
char *buf_reserve(struct buf *buf, size_t size);
void buf_clear(struct buf *buf); /* keeps the memory */
void buf_drop_front(struct buf *buf, size_t count);
struct str buf_str(const struct buf *buf); /* good until the next add */

#endif
