/* Arena and buffer: alignment, zeroing, limits. */
#include "tests/unit/base/expect.h"

#include "base/arena.h"
#include "base/buf.h"

Test(arena, gives_aligned_zeroed_memory_of_every_size)
{
	AUTO(arena) arena = { 0 };
	for (int round = 0; round < 3; round++) {
		for (size_t size = 0; size < 5000; size += 13) {
			unsigned char *at = arena_take(&arena, size);
			cr_assert_eq((uintptr_t)at % 16, 0);
			for (size_t i = 0; i < size; i++)
				cr_assert_eq(at[i], 0);
			memset(at, 0xAA, size);
			memset(arena_take_text(&arena, 3), 0xBB, 3);
		}
		arena_reset(&arena);
	}
}

Test(arena, keeps_what_it_copied_while_it_grows)
{
	AUTO(arena) arena = { 0 };
	const char *copies[500];
	for (int i = 0; i < 500; i++) {
		char text[200];
		memset(text, 'a' + i % 26, sizeof(text));
		copies[i] = arena_copy(&arena, text, sizeof(text));
		arena_take(&arena, i % 50 == 0 ? 100000 : 10);
	}
	for (int i = 0; i < 500; i++)
		cr_expect(copies[i][0] == 'a' + i % 26 && copies[i][199] == 'a' + i % 26);
}

Test(arena, keeps_one_block_after_a_reset)
{
	AUTO(arena) arena = { 0 };
	for (int i = 0; i < 100; i++)
		arena_take(&arena, 100000);
	size_t taken = arena.taken;
	arena_reset(&arena);
	cr_expect_lt(arena.taken, taken / 10);
	cr_expect_not_null(arena_take(&arena, 10));
	arena_done(&arena);
	arena_done(&arena);
	arena_reset(&arena);
	cr_expect_eq(arena.taken, 0);
}

Test(buf, grows_and_drops)
{
	AUTO(buf) buf = { 0 };
	for (int i = 0; i < 1000; i++)
		cr_assert(buf_add_format(&buf, "%03d,", i));
	cr_expect_eq(buf.size, 4000);
	expect_str(str_head(buf_str(&buf), 8), S("000,001,"));
	buf_drop_front(&buf, 3996);
	expect_str(buf_str(&buf), S("999,"));
	buf_add_char(&buf, '!');
	expect_str(buf_str(&buf), S("999,!"));
	buf_clear(&buf);
	expect_str(buf_str(&buf), S(""));
}

Test(buf, is_full_at_its_limit_and_keeps_what_fitted)
{
	AUTO(buf) buf = buf_limited(10);
	cr_expect(buf_add(&buf, S("0123456789")));
	cr_expect(!buf.full);
	cr_expect(!buf_add_char(&buf, 'x'));
	cr_expect(buf.full);
	cr_expect_null(buf_reserve(&buf, 1));
	expect_str(buf_str(&buf), S("0123456789"));
	buf_clear(&buf);
	cr_expect(!buf.full);
	cr_expect(!buf_add(&buf, S("0123456789a")));
	expect_str(buf_str(&buf), S(""));
}
