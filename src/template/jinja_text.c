/* template/jinja_text.c -- characters: white space, upper and lower case, HTML.
 *
 * Case is known for Latin, Greek, Cyrillic and Armenian letters by ranges; other scripts with case are
 * rare in prompts and stay as they are (docs/templates.md).
 */
#include "base/utf8.h"
#include "template/jinja_render.h"

bool jinja_text_is_space(uint32_t c)
{
	return (c >= 9 && c <= 13) || (c >= 28 && c <= 32) || c == 0x85 || c == 0xA0 ||
	       c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 ||
	       c == 0x202F || c == 0x205F || c == 0x3000;
}

/* The stretches where capitals and small letters alternate; the capital is even or odd. */
static bool alternates(uint32_t c, bool *out_even)
{
	*out_even = true;
	if ((c >= 0x100 && c <= 0x137 && c != 0x130 && c != 0x131) || (c >= 0x14A && c <= 0x177) ||
	    (c >= 0x460 && c <= 0x481) || (c >= 0x48A && c <= 0x4BF) ||
	    (c >= 0x4D0 && c <= 0x52F) || (c >= 0x1E00 && c <= 0x1E95) ||
	    (c >= 0x1EA0 && c <= 0x1EFF))
		return true;
	*out_even = false;
	return (c >= 0x139 && c <= 0x148) || (c >= 0x179 && c <= 0x17E) ||
	       (c >= 0x4C1 && c <= 0x4CE);
}

uint32_t jinja_text_upper(uint32_t c)
{
	bool even;
	if ((c >= 'a' && c <= 'z') || (c >= 0xE0 && c <= 0xFE && c != 0xF7) ||
	    (c >= 0x3B1 && c <= 0x3CB && c != 0x3C2) || (c >= 0x430 && c <= 0x44F))
		return c - 32;
	if (c == 0x3C2)
		return 0x3A3;
	if (c == 0xFF)
		return 0x178;
	if (c == 0xB5)
		return 0x39C;
	if (c == 0x131)
		return 'I';
	if (c >= 0x3AD && c <= 0x3AF)
		return c - 37;
	if (c == 0x3AC)
		return 0x386;
	if (c == 0x3CC)
		return 0x38C;
	if (c == 0x3CD || c == 0x3CE)
		return c - 63;
	if (c >= 0x450 && c <= 0x45F)
		return c - 80;
	if (c >= 0x561 && c <= 0x586)
		return c - 48;
	return alternates(c, &even) && (c % 2 == 0) != even ? c - 1 : c;
}

uint32_t jinja_text_lower(uint32_t c)
{
	bool even;
	if ((c >= 'A' && c <= 'Z') || (c >= 0xC0 && c <= 0xDE && c != 0xD7) ||
	    (c >= 0x391 && c <= 0x3AB && c != 0x3A2) || (c >= 0x410 && c <= 0x42F))
		return c + 32;
	if (c == 0x178)
		return 0xFF;
	if (c >= 0x388 && c <= 0x38A)
		return c + 37;
	if (c == 0x386)
		return 0x3AC;
	if (c == 0x38C)
		return 0x3CC;
	if (c == 0x38E || c == 0x38F)
		return c + 63;
	if (c >= 0x400 && c <= 0x40F)
		return c + 80;
	if (c >= 0x531 && c <= 0x556)
		return c + 48;
	return alternates(c, &even) && (c % 2 == 0) == even ? c + 1 : c;
}

/* Everything beyond ASCII counts as a letter, except signs and blanks of the common blocks. */
bool jinja_text_is_letter(uint32_t c)
{
	if (c < 0x80)
		return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
	return c >= 0xC0 ? c != 0xD7 && c != 0xF7 && !jinja_text_is_space(c) &&
				   !(c >= 0x2000 && c <= 0x2BFF) && !(c >= 0x3000 && c <= 0x3004) &&
				   !(c >= 0xFE00 && c <= 0xFE0F) && !(c >= 0x1F000 && c <= 0x1FAFF)
			 : c == 0xAA || c == 0xB5 || c == 0xBA;
}

void jinja_text_put(struct buf *out, uint32_t character)
{
	char bytes[4];
	buf_add(out, (struct str){ bytes, utf8_encode(character, bytes) });
}

void jinja_text_add_upper(struct str text, struct buf *out)
{
	uint32_t c;
	for (size_t size; (size = utf8_decode(text, &c)) > 0; text = str_skip(text, size)) {
		if (c == 0xDF)
			buf_add(out, S("SS"));
		else
			jinja_text_put(out, jinja_text_upper(c));
	}
}

void jinja_text_add_lower(struct str text, struct buf *out)
{
	uint32_t c;
	for (size_t size; (size = utf8_decode(text, &c)) > 0; text = str_skip(text, size))
		jinja_text_put(out, jinja_text_lower(c));
}

void jinja_text_add_escaped(struct str text, struct buf *out)
{
	for (size_t i = 0; i < text.size; i++) {
		char c = text.at[i];
		buf_add(out, c == '&'    ? S("&amp;")
			     : c == '<'  ? S("&lt;")
			     : c == '>'  ? S("&gt;")
			     : c == '"'  ? S("&#34;")
			     : c == '\'' ? S("&#39;")
					 : (struct str){ &text.at[i], 1 });
	}
}

struct str jinja_text_folded(struct renderer *r, struct str text)
{
	AUTO(buf) lower = { 0 };
	jinja_text_add_lower(text, &lower);
	return str_copy(r->arena, buf_str(&lower));
}

size_t jinja_text_offset(struct str text, size_t index)
{
	size_t at = 0;
	for (; index > 0 && at < text.size; index--)
		do
			at++;
		while (at < text.size && ((unsigned char)text.at[at] & 0xC0) == 0x80);
	return at;
}

static bool is_stripped(uint32_t c, struct str characters)
{
	uint32_t other;
	if (characters.at == NULL)
		return jinja_text_is_space(c);
	for (size_t size; (size = utf8_decode(characters, &other)) > 0;
	     characters = str_skip(characters, size))
		if (other == c)
			return true;
	return false;
}

/* `characters` with NULL: white space. */
struct str jinja_text_strip(struct str text, struct str characters, bool left, bool right)
{
	uint32_t c;
	while (left && text.size > 0) {
		size_t size = utf8_decode(text, &c);
		if (size == 0 || !is_stripped(c, characters))
			break;
		text = str_skip(text, size);
	}
	while (right && text.size > 0) {
		size_t at = text.size - 1;
		while (at > 0 && ((unsigned char)text.at[at] & 0xC0) == 0x80)
			at--;
		if (utf8_decode(str_skip(text, at), &c) == 0 || !is_stripped(c, characters))
			break;
		text.size = at;
	}
	return text;
}
