/* UTF-8: every boundary of RFC 3629, at every offset from a word boundary. */
#include "tests/unit/base/expect.h"

#include "base/utf8.h"

static bool valid(struct str s)
{
	size_t bad;
	return utf8_valid(s, &bad);
}

Test(utf8, takes_the_edges_of_each_size)
{
	cr_expect(valid(S("")));
	cr_expect(valid(S("\x00\x7F")));
	cr_expect(valid(S("\xC2\x80\xDF\xBF")));
	cr_expect(valid(S("\xE0\xA0\x80\xED\x9F\xBF\xEE\x80\x80\xEF\xBF\xBF")));
	cr_expect(valid(S("\xF0\x90\x80\x80\xF4\x8F\xBF\xBF")));
}

Test(utf8, refuses_what_is_just_outside)
{
	static const struct str bad[] = {
		{ "\x80", 1 },
		{ "\xBF", 1 },
		{ "\xC0\x80", 2 },
		{ "\xC1\xBF", 2 },
		{ "\xC2", 1 },
		{ "\xC2\x7F", 2 },
		{ "\xC2\xC0", 2 },
		{ "\xE0\x9F\xBF", 3 },
		{ "\xE0\xA0", 2 },
		{ "\xED\xA0\x80", 3 },
		{ "\xED\xBF\xBF", 3 },
		{ "\xEF\xBF", 2 },
		{ "\xE1\x80\x7F", 3 },
		{ "\xF0\x8F\xBF\xBF", 4 },
		{ "\xF0\x90\x80", 3 },
		{ "\xF4\x90\x80\x80", 4 },
		{ "\xF5\x80\x80\x80", 4 },
		{ "\xFF", 1 },
		{ "\xF1\x80\x80\x41", 4 },
		{ "\xFE", 1 },
	};
	for (size_t i = 0; i < COUNT(bad); i++)
		cr_expect(!valid(bad[i]), "case %zu", i);
}

Test(utf8, names_the_first_bad_byte_wherever_it_stands)
{
	char text[64];
	for (size_t at = 0; at < sizeof(text); at++) {
		memset(text, 'a', sizeof(text));
		text[at] = '\xFF';
		size_t bad = 999;
		cr_expect(!utf8_valid((struct str){ text, sizeof(text) }, &bad));
		cr_expect_eq(bad, at);
	}
}

Test(utf8, does_not_read_beyond_a_cut_character)
{
	struct str whole = S("aaaaaaa\xF0\x9F\x98\x80");
	for (size_t size = 8; size < whole.size; size++) {
		size_t bad = 0;
		cr_expect(!utf8_valid(str_head(whole, size), &bad));
		cr_expect_eq(bad, 7);
	}
	cr_expect(valid(whole));
}

Test(utf8, counts_characters)
{
	cr_expect_eq(utf8_count(S("")), 0);
	cr_expect_eq(utf8_count(S("a\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80")), 4);
}

Test(utf8, encodes_every_character_validly)
{
	for (uint32_t character = 0; character <= 0x10FFFF; character += 7) {
		if (character >= 0xD800 && character <= 0xDFFF)
			continue;
		char text[4];
		size_t size = utf8_encode(character, text);
		struct str s = { text, size };
		cr_assert(valid(s) && utf8_count(s) == 1, "U+%04X", character);
	}
	char text[4];
	expect_str(((struct str){ text, utf8_encode(0x20AC, text) }), S("\xE2\x82\xAC"));
	expect_str(((struct str){ text, utf8_encode(0x10FFFF, text) }), S("\xF4\x8F\xBF\xBF"));
}

Test(utf8, decodes_what_it_encodes)
{
	static const uint32_t edges[] = { 0,      0x7F,   0x80,   0x7FF,   0x800,
					  0xD7FF, 0xE000, 0xFFFF, 0x10000, 0x10FFFF };
	uint32_t character = 1;
	for (size_t i = 0; i < COUNT(edges); i++) {
		char bytes[4];
		size_t size = utf8_encode(edges[i], bytes);
		cr_expect_eq(utf8_decode((struct str){ bytes, size }, &character), size);
		cr_expect_eq(character, edges[i]);
		cr_expect_eq(utf8_decode((struct str){ bytes, size - 1 }, &character), 0);
	}
	cr_expect_eq(utf8_decode(S("\xFF"), &character), 0);
	cr_expect_eq(utf8_decode(S("\xED\xA0\x80"), &character), 0);
}
