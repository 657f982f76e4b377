/* base/utf8.c -- a validator that walks ASCII eight bytes at a time.
 *
 * Nearly all text is ASCII, so the eight-byte loop decides the speed.  Other characters are checked
 * against the table of RFC 3629 section 4, as ranges for the second byte: that byte reveals
 * overlong forms, surrogates and characters beyond U+10FFFF.
 */
#include "base/utf8.h"

#include <string.h>

static const uint64_t HIGH_BITS = 0x8080808080808080u;

static bool is_tail(unsigned char byte)
{
	return (byte & 0xC0) == 0x80;
}

/* Size of the character at `at` (at most `left` bytes), 0 when the bytes are invalid. */
static size_t character_size(const unsigned char *at, size_t left)
{
	unsigned char first = at[0];
	if (first < 0x80)
		return 1;
	if (first < 0xC2 || first > 0xF4)
		return 0;
	if (first < 0xE0)
		return left >= 2 && is_tail(at[1]) ? 2 : 0;
	if (left < 3 || !is_tail(at[1]) || !is_tail(at[2]))
		return 0;
	if (first < 0xF0) {
		bool overlong = first == 0xE0 && at[1] < 0xA0;
		bool surrogate = first == 0xED && at[1] >= 0xA0;
		return overlong || surrogate ? 0 : 3;
	}
	if (left < 4 || !is_tail(at[3]))
		return 0;
	bool overlong = first == 0xF0 && at[1] < 0x90;
	bool beyond = first == 0xF4 && at[1] >= 0x90;
	return overlong || beyond ? 0 : 4;
}

bool utf8_valid(struct str s, size_t *out_bad)
{
	const unsigned char *at = (const unsigned char *)s.at;
	size_t i = 0;
	while (i < s.size) {
		while (s.size - i >= sizeof(uint64_t)) {
			uint64_t word;
			memcpy(&word, at + i, sizeof(word));
			if ((word & HIGH_BITS) != 0)
				break;
			i += sizeof(word);
		}
		if (i == s.size)
			break;
		size_t size = character_size(at + i, s.size - i);
		if (size == 0) {
			*out_bad = i;
			return false;
		}
		i += size;
	}
	return true;
}

size_t utf8_decode(struct str s, uint32_t *out_character)
{
	const unsigned char *at = (const unsigned char *)s.at;
	static const unsigned char first_bits[] = { 0, 0x7F, 0x1F, 0x0F, 0x07 };
	size_t size = s.size > 0 ? character_size(at, s.size) : 0;
	if (size == 0)
		return 0;
	uint32_t character = at[0] & first_bits[size];
	for (size_t i = 1; i < size; i++)
		character = character << 6 | (at[i] & 0x3F);
	*out_character = character;
	return size;
}

size_t utf8_count(struct str s)
{
	size_t count = 0;
	for (size_t i = 0; i < s.size; i++)
		count += !is_tail((unsigned char)s.at[i]);
	return count;
}

size_t utf8_encode(uint32_t character, char *out)
{
	require(character <= 0x10FFFF && (character < 0xD800 || character > 0xDFFF));
	if (character < 0x80) {
		out[0] = (char)character;
		return 1;
	}
	if (character < 0x800) {
		out[0] = (char)(0xC0 | character >> 6);
		out[1] = (char)(0x80 | (character & 0x3F));
		return 2;
	}
	if (character < 0x10000) {
		out[0] = (char)(0xE0 | character >> 12);
		out[1] = (char)(0x80 | (character >> 6 & 0x3F));
		out[2] = (char)(0x80 | (character & 0x3F));
		return 3;
	}
	out[0] = (char)(0xF0 | character >> 18);
	out[1] = (char)(0x80 | (character >> 12 & 0x3F));
	out[2] = (char)(0x80 | (character >> 6 & 0x3F));
	out[3] = (char)(0x80 | (character & 0x3F));
	return 4;
}

struct str utf8_head(struct str s, size_t most)
{
	if (s.size <= most)
		return s;
	while (most > 0 && ((unsigned char)s.at[most] & 0xC0) == 0x80)
		most--;
	return str_head(s, most);
}
