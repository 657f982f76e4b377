/* base/buf.c -- doubling growth; buf_reserve() is the only place that checks the limit. */
#include "base/buf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct buf buf_limited(size_t limit)
{
	return (struct buf){ .limit = limit };
}

struct buf buf_borrowing(char *memory, size_t size, size_t limit)
{
	return (struct buf){ .at = memory,
			     .room = limit != 0 && limit < size ? limit : size,
			     .limit = limit,
			     .borrowed = true };
}

void buf_done(struct buf *buf)
{
	if (!buf->borrowed)
		free(buf->at);
	*buf = (struct buf){ .limit = buf->limit };
}

char *buf_reserve(struct buf *buf, size_t size)
{
	if (buf->at != NULL && size <= buf->room - buf->size)
		return buf->at + buf->size;
	size_t needed = buf->size + size;
	require(needed >= size);
	if (buf->limit != 0 && needed > buf->limit) {
		buf->full = true;
		return NULL;
	}
	size_t room = buf->room == 0 ? 256 : buf->room * 2;
	if (room < needed)
		room = needed;
	if (buf->limit != 0 && room > buf->limit)
		room = buf->limit;
	char *grown = realloc(buf->borrowed ? NULL : buf->at, room);
	require(grown != NULL);
	if (buf->borrowed && buf->size > 0)
		memcpy(grown, buf->at, buf->size);
	buf->borrowed = false;
	buf->at = grown;
	buf->room = room;
	return buf->at + buf->size;
}

bool buf_add(struct buf *buf, struct str s)
{
	if (s.size == 0)
		return true;
	char *end = buf_reserve(buf, s.size);
	if (end == NULL)
		return false;
	memcpy(end, s.at, s.size);
	buf->size += s.size;
	return true;
}

bool buf_add_char(struct buf *buf, char c)
{
	return buf_add(buf, (struct str){ &c, 1 });
}

bool buf_add_format(struct buf *buf, const char *format, ...)
{
	va_list list;
	va_start(list, format);
	int size = vsnprintf(NULL, 0, format, list);
	va_end(list);
	require(size >= 0);
	char *end = buf_reserve(buf, (size_t)size + 1);
	if (end == NULL)
		return false;
	va_start(list, format);
	vsnprintf(end, (size_t)size + 1, format, list);
	va_end(list);
	buf->size += (size_t)size;
	return true;
}

void buf_clear(struct buf *buf)
{
	buf->size = 0;
	buf->full = false;
}

void buf_drop_front(struct buf *buf, size_t count)
{
	require(count <= buf->size);
	if (count == 0)
		return;
	memmove(buf->at, buf->at + count, buf->size - count);
	buf->size -= count;
}

struct str buf_str(const struct buf *buf)
{
	return (struct str){ buf->size == 0 ? "" : buf->at, buf->size };
}
