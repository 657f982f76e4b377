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

Test(arena, takes_over_what_another_has)
{
	enum { MANY = 300 };
	for (int filled = 0; filled < 4; filled++) {
		AUTO(arena) into = { 0 };
		AUTO(arena) from = { 0 };
		char *kept[2][MANY];
		for (int i = 0; i < MANY; i++) {
			char text[] = { (char)i, 'x' };
			kept[0][i] = (filled & 1) != 0 ? arena_copy(&into, text, 2) : NULL;
			kept[1][i] = (filled & 2) != 0 ? arena_copy(&from, text, 2) : NULL;
			if (i % 100 == 0 && (filled & 2) != 0)
				arena_take(&from, 100000);
		}
		size_t taken = into.taken + from.taken;
		arena_join(&into, &from);
		cr_expect_eq(into.taken, taken);
		cr_expect(from.newest == NULL && from.taken == 0);
		for (int i = 0; i < MANY; i++)
			for (int k = 0; k < 2; k++)
				cr_assert(kept[k][i] == NULL || kept[k][i][0] == (char)i);
		/* Both go on: neither hands out what the other has. */
		memset(arena_take(&into, 3000), 1, 3000);
		memset(arena_take(&from, 3000), 2, 3000);
		for (int i = 0; i < MANY; i++)
			for (int k = 0; k < 2; k++)
				cr_assert(kept[k][i] == NULL || kept[k][i][1] == 'x');
	}
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

Test(buf, begins_in_borrowed_memory_and_leaves_it_when_it_grows)
{
	char memory[8];
	{
		AUTO(buf) buf = buf_borrowing(memory, sizeof(memory), 0);
		cr_assert(buf_add(&buf, S("12345678")));
		cr_expect_eq(buf.at, memory);
		cr_assert(buf_add(&buf, S("9")));
		cr_expect_neq(buf.at, memory);
		expect_str(buf_str(&buf), S("123456789"));
	}
	/* The limit holds inside the borrowed memory too. */
	AUTO(buf) limited = buf_borrowing(memory, sizeof(memory), 3);
	cr_expect(buf_add(&limited, S("abc")));
	cr_expect(!buf_add(&limited, S("d")) && limited.full);
	expect_str(buf_str(&limited), S("abc"));
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
