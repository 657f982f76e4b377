/* base/terminal_text.c -- one pass over the characters of a text.
 *
 * Only characters are judged, never whole escape sequences: without its ESC a sequence is harmless
 * text.  Color sequences are the exception, because tools color their output and a color cannot
 * hide or move anything.  A sequence is kept only if all of it is understood.
 */
#include "base/terminal_text.h"

#include "base/utf8.h"

enum { ESC = 0x1b, SEQUENCE_MOST = 64 }; /* longer color sequences are shown as text */

struct range {
	uint32_t first, last;
};

/* Beyond control characters: what reorders a line or takes no room in it. */
static const struct range hidden[] = {
	{ 0xad, 0xad },       /* soft hyphen */
	{ 0x61c, 0x61c },     /* Arabic letter mark */
	{ 0x115f, 0x1160 },   /* Hangul fillers */
	{ 0x180e, 0x180e },   /* Mongolian vowel separator */
	{ 0x200b, 0x200b },   /* zero width space; 200c and 200d join letters of words and emoji */
	{ 0x200e, 0x200f },   /* left-to-right and right-to-left marks */
	{ 0x2028, 0x202e },   /* line and paragraph separators, embeddings, overrides */
	{ 0x2060, 0x206f },   /* word joiner, invisible operators, isolates, deprecated controls */
	{ 0x3164, 0x3164 },   /* Hangul filler */
	{ 0xfeff, 0xfeff },   /* byte order mark */
	{ 0xffa0, 0xffa0 },   /* half width Hangul filler */
	{ 0xfff9, 0xfffb },   /* interlinear annotations */
	{ 0xe0000, 0xe0fff }, /* tags, variation selectors */
};

bool terminal_text_is_hidden(uint32_t character)
{
	if (character < 0x20 || (character >= 0x7f && character < 0xa0))
		return true;
	for (size_t i = 0; i < COUNT(hidden); i++)
		if (character >= hidden[i].first && character <= hidden[i].last)
			return true;
	return false;
}

/* ---- color sequences ------------------------------------------------------------------- */

/* Reads the next number of a parameter list; false at its end.  An empty number is 0. */
static bool take_number(struct str *rest, int64_t *out_number)
{
	int64_t number = 0;
	if (rest->size == 0)
		return false;
	while (rest->size > 0 && rest->at[0] != ';' && rest->at[0] != ':') {
		number = number < 1000 ? number * 10 + (rest->at[0] - '0') : number;
		*rest = str_skip(*rest, 1);
	}
	*rest = str_skip(*rest, 1);
	*out_number = number;
	return true;
}

/* Do the parameters conceal text?  38, 48 and 58 begin a color of several numbers: 5;N or 2;R;G;B. */
static bool is_concealing(struct str parameters)
{
	int64_t number, kind, ignored;
	while (take_number(&parameters, &number)) {
		if (number == 8)
			return true;
		if ((number != 38 && number != 48 && number != 58) ||
		    !take_number(&parameters, &kind))
			continue;
		for (int i = kind == 2 ? 3 : 1; i > 0; i--)
			(void)!take_number(&parameters, &ignored);
	}
	return false;
}

/* Size of the color sequence at the start of the text; 0 = there is none.  *out_cut is true when the
 * text ends within a sequence that may become one. */
static size_t color_sequence(struct str text, bool *out_cut)
{
	*out_cut = false;
	if (text.size == 0 || text.at[0] != ESC)
		return 0;
	*out_cut = text.size == 1;
	if (text.size == 1 || text.at[1] != '[')
		return 0;
	for (size_t i = 2; i < SEQUENCE_MOST; i++) {
		*out_cut = i == text.size;
		if (i == text.size)
			return 0;
		char c = text.at[i];
		if (c == 'm')
			return is_concealing((struct str){ text.at + 2, i - 2 }) ? 0 : i + 1;
		if ((c < '0' || c > '9') && c != ';' && c != ':')
			return 0;
	}
	return 0;
}

/* ---- text ------------------------------------------------------------------------------ */

static void add_json_escape(uint32_t character, struct buf *out)
{
	if (character < 0x10000) {
		buf_add_format(out, "\\u%04x", character);
		return;
	}
	uint32_t rest = character - 0x10000;
	buf_add_format(out, "\\u%04x\\u%04x", 0xd800 + (rest >> 10), 0xdc00 + (rest & 0x3ff));
}

static void add_escape(uint32_t character, unsigned flags, struct buf *out)
{
	if ((flags & TERMINAL_TEXT_JSON) != 0)
		add_json_escape(character, out);
	else if (character < 0x80)
		buf_add_format(out, "\\x%02x", character);
	else if (character < 0x10000)
		buf_add_format(out, "\\u%04x", character);
	else
		buf_add_format(out, "\\U%08x", character);
}

/* Line ends and tabs; returns false for every other character.  CR LF is one line end. */
static bool add_blank(struct str text, unsigned flags, struct buf *out)
{
	bool keep = (flags & (TERMINAL_TEXT_LINES | TERMINAL_TEXT_JSON)) != 0;
	if (str_starts(text, S("\r\n")))
		return true; /* the LF follows */
	if (text.at[0] != '\n' && text.at[0] != '\t')
		return false;
	buf_add_char(out, keep ? text.at[0] : ' ');
	return true;
}

/* Appends the character at the start of the text and returns its size. */
static size_t add_character(struct str text, unsigned flags, struct buf *out)
{
	uint32_t character;
	size_t size = utf8_decode(text, &character);
	if (size == 0) { /* JSON is UTF-8, so a bad byte in it has no escape of its own */
		if ((flags & TERMINAL_TEXT_JSON) != 0)
			buf_add(out, S("\\ufffd"));
		else
			buf_add_format(out, "\\x%02x", (unsigned char)text.at[0]);
		return 1;
	}
	if (add_blank(text, flags, out))
		return 1;
	if (terminal_text_is_hidden(character))
		add_escape(character, flags, out);
	else
		buf_add(out, str_head(text, size));
	return size;
}

void terminal_text_add(struct str text, unsigned flags, struct buf *out)
{
	while (text.size > 0) {
		size_t plain = 0;
		while (plain < text.size && text.at[plain] >= 0x20 && text.at[plain] < 0x7f)
			plain++;
		buf_add(out, str_head(text, plain));
		text = str_skip(text, plain);
		if (text.size == 0)
			return;
		bool cut;
		size_t size = (flags & TERMINAL_TEXT_COLORS) != 0 ? color_sequence(text, &cut) : 0;
		if (size > 0)
			buf_add(out, str_head(text, size));
		else
			size = add_character(text, flags, out);
		text = str_skip(text, size);
	}
}

size_t terminal_text_complete(struct str text)
{
	size_t from = text.size > SEQUENCE_MOST ? text.size - SEQUENCE_MOST : 0;
	for (size_t i = text.size; i-- > from;) {
		bool cut;
		unsigned char c = (unsigned char)text.at[i];
		if (c == '\r' && i + 1 == text.size)
			return i; /* the LF of a line end may follow */
		if (c == ESC)
			return color_sequence(str_skip(text, i), &cut) == 0 && cut ? i : text.size;
		if (c >= 0xc2 && text.size - i < (c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4) && c <= 0xf4)
			return i;
		if (c >= 0xc0 || (c < 0x20 && c != ESC))
			break;
	}
	return text.size;
}
