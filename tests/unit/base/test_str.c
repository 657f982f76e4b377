/* String functions. */
#include "tests/unit/base/expect.h"

Test(str, compares_bytes)
{
	cr_expect(str_equal(S(""), (struct str){ NULL, 0 }));
	cr_expect(str_equal(S("a\0b"), S("a\0b")));
	cr_expect(!str_equal(S("a\0b"), S("a\0c")));
	cr_expect(str_equal_folded(S("Content-TYPE"), S("content-type")));
	cr_expect(!str_equal_folded(S("a["), S("a{")));
	cr_expect_lt(str_compare(S("a"), S("ab")), 0);
	cr_expect_gt(str_compare(S("\xFF"), S("a")), 0);
	cr_expect_eq(str_compare(S("ab"), S("ab")), 0);
}

Test(str, cuts_and_trims)
{
	expect_str(str_skip(S("abc"), 5), S(""));
	expect_str(str_head(S("abc"), 5), S("abc"));
	expect_str(str_trim(S(" \t\r\na b\n ")), S("a b"));
	expect_str(str_trim(S(" \n")), S(""));
	struct str rest = S("a,,b"), piece;
	cr_assert(str_cut(&rest, ',', &piece));
	expect_str(piece, S("a"));
	cr_assert(str_cut(&rest, ',', &piece));
	expect_str(piece, S(""));
	cr_assert(str_cut(&rest, ',', &piece));
	expect_str(piece, S("b"));
	cr_expect(!str_cut(&rest, ',', &piece));
}

Test(str, finds)
{
	size_t at = 99;
	cr_expect(str_find(S("hello"), S("llo"), &at));
	cr_expect_eq(at, 2);
	cr_expect(!str_find(S("hello"), S("lloo"), &at));
	cr_expect(str_starts(S("hello"), S("he")) && !str_starts(S("h"), S("he")));
	cr_expect(str_ends(S("hello"), S("lo")) && !str_ends(S("o"), S("lo")));
}

Test(str, reads_integers_exactly)
{
	int64_t number = 0;
	cr_expect(str_to_int(S("9223372036854775807"), &number) && number == INT64_MAX);
	cr_expect(str_to_int(S("-9223372036854775808"), &number) && number == INT64_MIN);
	cr_expect(!str_to_int(S("9223372036854775808"), &number));
	cr_expect(!str_to_int(S("-9223372036854775809"), &number));
	cr_expect(!str_to_int(S(""), &number));
	cr_expect(!str_to_int(S("-"), &number));
	cr_expect(!str_to_int(S("1 "), &number));
	cr_expect(!str_to_int(S("0x1"), &number));
}

Test(str, crosses_the_door_to_c)
{
	AUTO(arena) arena = { 0 };
	expect_str(str_from_c(NULL), S(""));
	cr_expect_str_eq(str_c(&arena, S("abc")), "abc");
	expect_str(str_format(&arena, "%d-%s", 5, "x"), S("5-x"));
	struct str copy = str_copy(&arena, S("abc"));
	cr_expect_eq(copy.at[3], '\0');
}
