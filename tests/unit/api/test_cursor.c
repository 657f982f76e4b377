/* Cursors of events: seq, or seq.n for a place inside the group that an event becomes. */
#include <criterion/criterion.h>

#include "api/event_cursor.h"
#include "base/arena.h"
#include "base/attributes.h"

Test(cursor, reads_both_forms)
{
	static const struct {
		const char *text;
		int64_t at, n;
	} good[] = { { "0", 0, EVENT_CURSOR_ALL },
		     { "7", 7, EVENT_CURSOR_ALL },
		     { "7.0", 7, 0 },
		     { "7.2", 7, 2 },
		     { "9223372036854775807.999", INT64_MAX, 999 } };
	AUTO(arena) arena = { 0 };
	for (size_t i = 0; i < COUNT(good); i++) {
		struct event_cursor cursor;
		cr_assert(event_cursor_parse(str_from_c(good[i].text), &cursor), "%s",
			  good[i].text);
		cr_expect_eq(cursor.at, good[i].at);
		cr_expect_eq(cursor.n, good[i].n);
		cr_expect(str_equal(event_cursor_text(cursor, &arena), str_from_c(good[i].text)));
	}
}

Test(cursor, refuses_everything_else)
{
	static const char *const bad[] = { "",
					   ".",
					   "7.",
					   ".7",
					   "-1",
					   "7.-1",
					   "7.2.1",
					   "7,2",
					   " 7",
					   "7 ",
					   "x",
					   "7.x",
					   "+7",
					   "0x7",
					   "9223372036854775808",
					   "7.9223372036854775808" };
	for (size_t i = 0; i < COUNT(bad); i++) {
		struct event_cursor cursor = { 5, 5 };
		cr_expect_not(event_cursor_parse(str_from_c(bad[i]), &cursor), "%s", bad[i]);
		cr_expect_eq(cursor.at, 5);
	}
}

Test(cursor, is_ordered_by_event_and_then_by_number)
{
	const struct event_cursor order[] = {
		{ 6, EVENT_CURSOR_ALL }, { 7, 0 }, { 7, 1 }, { 7, EVENT_CURSOR_ALL }, { 8, 0 }
	};
	for (size_t i = 0; i < COUNT(order); i++)
		for (size_t k = 0; k < COUNT(order); k++)
			cr_expect_eq(event_cursor_compare(order[i], order[k]), (i > k) - (i < k));
	cr_expect_eq(event_cursor_done(order[0]), 6);
	cr_expect_eq(event_cursor_done(order[1]), 6, "the rest of 7 is missing");
	cr_expect_eq(event_cursor_done(order[3]), 7);
	cr_expect_eq(event_cursor_done(event_cursor_of(-1)), -1);
}
