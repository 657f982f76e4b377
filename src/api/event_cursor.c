/* api/event_cursor.c -- cursors are compared by their event first, then by the number in its group. */
#include "api/event_cursor.h"

#include "base/arena.h"

int event_cursor_compare(struct event_cursor one, struct event_cursor other)
{
	if (one.at != other.at)
		return one.at < other.at ? -1 : 1;
	return (one.n > other.n) - (one.n < other.n);
}

int64_t event_cursor_done(struct event_cursor cursor)
{
	return cursor.n == EVENT_CURSOR_ALL || cursor.at < 0 ? cursor.at : cursor.at - 1;
}

/* Digits only: a sign is no part of a cursor. */
static bool parse_number(struct str text, int64_t *out)
{
	return text.size > 0 && text.at[0] != '-' && str_to_int(text, out);
}

bool event_cursor_parse(struct str text, struct event_cursor *out_cursor)
{
	struct event_cursor cursor = { 0, EVENT_CURSOR_ALL };
	size_t dot;
	bool inside = str_find(text, S("."), &dot);
	if (!parse_number(inside ? str_head(text, dot) : text, &cursor.at) ||
	    (inside && !parse_number(str_skip(text, dot + 1), &cursor.n)))
		return false;
	*out_cursor = cursor;
	return true;
}

struct str event_cursor_text(struct event_cursor cursor, struct arena *arena)
{
	if (cursor.n == EVENT_CURSOR_ALL)
		return str_format(arena, "%lld", (long long)cursor.at);
	return str_format(arena, "%lld.%lld", (long long)cursor.at, (long long)cursor.n);
}
