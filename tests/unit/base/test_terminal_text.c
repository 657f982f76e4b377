/* Foreign text on a terminal: whatever it contains, nothing in the result is obeyed. */
#include "tests/unit/base/expect.h"

#include <stdlib.h>

#include "base/json.h"
#include "base/terminal_text.h"
#include "base/utf8.h"

static void expect_shown_at(struct str text, unsigned flags, struct str expected, int line)
{
	AUTO(buf) out = { 0 };
	terminal_text_add(text, flags, &out);
	expect_str_at(buf_str(&out), expected, line);
}
#define expect_shown(text, flags, expected) expect_shown_at(text, flags, expected, __LINE__)

Test(terminal_text, keeps_what_a_terminal_shows)
{
	expect_shown(S(""), 0, S(""));
	expect_shown(S("plain ~ text"), 0, S("plain ~ text"));
	expect_shown(
		S("Größe → 木 \xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x94\xA7 می‌خواهم"),
		0,
		S("Größe → 木 \xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x94\xA7 می‌خواهم"));
	expect_shown(S("a backslash \\x1b is text"), 0, S("a backslash \\x1b is text"));
}

Test(terminal_text, shows_controls_as_escapes)
{
	expect_shown(S("a\033]0;title\007b"), 0, S("a\\x1b]0;title\\x07b"));
	expect_shown(S("a\0b\x7F"), 0, S("a\\x00b\\x7f"));
	expect_shown(S("c1 \xC2\x9B 31m"), 0, S("c1 \\u009b 31m"));
	expect_shown(S("left \xE2\x80\xAE thgir"), 0, S("left \\u202e thgir"));
	expect_shown(S("\xE2\x81\xA6isolate\xE2\x81\xA9\xD8\x9C"), 0,
		     S("\\u2066isolate\\u2069\\u061c"));
	expect_shown(S("tag \xF3\xA0\x81\x81"), 0, S("tag \\U000e0041"));
	expect_shown(S("zero\xE2\x80\x8Bwidth\xEF\xBB\xBF"), 0, S("zero\\u200bwidth\\ufeff"));
	expect_shown(S("not UTF-8 \xFF\xC2"), 0, S("not UTF-8 \\xff\\xc2"));
}

Test(terminal_text, keeps_lines_only_when_asked)
{
	expect_shown(S("one\ntwo\tthree\r\nfour\rfive"), 0, S("one two three four\\x0dfive"));
	expect_shown(S("one\ntwo\tthree\r\nfour\rfive"), TERMINAL_TEXT_LINES,
		     S("one\ntwo\tthree\nfour\\x0dfive"));
}

Test(terminal_text, keeps_colors_only_when_asked)
{
	struct str red = S("\033[1;31mred\033[0m\033[m");
	expect_shown(red, 0, S("\\x1b[1;31mred\\x1b[0m\\x1b[m"));
	expect_shown(red, TERMINAL_TEXT_COLORS, red);
	struct str rich = S("\033[38;5;8m\033[48;2;8;8;8m\033[4:3m");
	expect_shown(rich, TERMINAL_TEXT_COLORS, rich);
	/* What conceals, moves or never ends is not a color. */
	expect_shown(S("\033[8mx"), TERMINAL_TEXT_COLORS, S("\\x1b[8mx"));
	expect_shown(S("\033[1;08mx"), TERMINAL_TEXT_COLORS, S("\\x1b[1;08mx"));
	expect_shown(S("\033[38;5;1;8mx"), TERMINAL_TEXT_COLORS, S("\\x1b[38;5;1;8mx"));
	expect_shown(S("\033[2J\033[1A\033[?25l"), TERMINAL_TEXT_COLORS,
		     S("\\x1b[2J\\x1b[1A\\x1b[?25l"));
	expect_shown(S("\033[31"), TERMINAL_TEXT_COLORS, S("\\x1b[31"));
	expect_shown(S("\033"), TERMINAL_TEXT_COLORS, S("\\x1b"));
}

Test(terminal_text, keeps_the_meaning_of_json)
{
	AUTO(arena) arena = { 0 };
	AUTO(buf) out = { 0 };
	const struct json *json;
	struct error error;
	struct str text = S("{\"a\":\"\xE2\x80\xAE \xC2\x9B \x7F \xF3\xA0\x81\x81 \xC3\xA4\"}");
	terminal_text_add(text, TERMINAL_TEXT_JSON, &out);
	expect_str(buf_str(&out), S("{\"a\":\"\\u202e \\u009b \\u007f \\udb40\\udc41 \xC3\xA4\"}"));
	cr_assert(json_read(buf_str(&out), &arena, &json, &error), "%s", error.text);
	expect_str(json_text(json_member(json, S("a"))),
		   S("\xE2\x80\xAE \xC2\x9B \x7F \xF3\xA0\x81\x81 \xC3\xA4"));
}

/* Pieces from which a random text is made: everything that the functions treat in a special way. */
static const struct str pieces[] = {
	{ "a", 1 },
	{ "\033", 1 },
	{ "[", 1 },
	{ "3", 1 },
	{ "8", 1 },
	{ ";", 1 },
	{ "m", 1 },
	{ "\033[32m", 5 },
	{ "\r", 1 },
	{ "\n", 1 },
	{ "\t", 1 },
	{ "\xC2\x9B", 2 },
	{ "\xC2", 1 },
	{ "\x80", 1 },
	{ "\xE2\x80\xAE", 3 },
	{ "\xE2\x80", 2 },
	{ "\xF3\xA0", 2 },
	{ "\x81\x81", 2 },
	{ "\xFF", 1 },
	{ "\033]8;;x\007", 7 },
};

static void add_random(struct buf *text, size_t count)
{
	for (size_t i = 0; i < count; i++)
		buf_add(text, pieces[(size_t)random() % COUNT(pieces)]);
}

static void expect_harmless(struct str shown)
{
	size_t bad;
	cr_assert(utf8_valid(shown, &bad));
	while (shown.size > 0) {
		uint32_t character;
		size_t size = utf8_decode(shown, &character);
		cr_assert(!terminal_text_is_hidden(character), "U+%04x", character);
		shown = str_skip(shown, size);
	}
}

Test(terminal_text, lets_no_random_text_through)
{
	srandom(1);
	for (int round = 0; round < 20000; round++) {
		AUTO(buf) text = { 0 };
		AUTO(buf) shown = { 0 };
		AUTO(buf) again = { 0 };
		add_random(&text, (size_t)random() % 24);
		terminal_text_add(buf_str(&text), 0, &shown);
		expect_harmless(buf_str(&shown));
		terminal_text_add(buf_str(&shown), 0, &again);
		expect_str(buf_str(&again), buf_str(&shown));
	}
}

/* A stream that is printed in two pieces looks like the whole, wherever it is cut. */
Test(terminal_text, shows_a_stream_like_the_whole)
{
	const unsigned flags = TERMINAL_TEXT_LINES | TERMINAL_TEXT_COLORS;
	srandom(2);
	for (int round = 0; round < 5000; round++) {
		AUTO(buf) text = { 0 };
		AUTO(buf) whole = { 0 };
		add_random(&text, 1 + (size_t)random() % 16);
		terminal_text_add(buf_str(&text), flags, &whole);
		for (size_t cut = 0; cut <= text.size; cut++) {
			AUTO(buf) parts = { 0 };
			size_t ready = terminal_text_complete(str_head(buf_str(&text), cut));
			cr_assert(ready <= cut && cut - ready < 64);
			terminal_text_add(str_head(buf_str(&text), ready), flags, &parts);
			terminal_text_add(str_skip(buf_str(&text), ready), flags, &parts);
			expect_str(buf_str(&parts), buf_str(&whole));
		}
	}
}
