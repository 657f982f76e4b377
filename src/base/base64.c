/* base/base64.c -- three bytes are four characters of the alphabet. */
#include "base/base64.h"

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

struct str base64_text(struct arena *arena, struct str bytes)
{
	size_t size = (bytes.size + 2) / 3 * 4;
	char *out = arena_take_text(arena, size + 1);
	for (size_t i = 0; i < bytes.size; i += 3) {
		size_t left = bytes.size - i;
		uint32_t three = (uint32_t)(uint8_t)bytes.at[i] << 16;
		if (left > 1)
			three |= (uint32_t)(uint8_t)bytes.at[i + 1] << 8;
		if (left > 2)
			three |= (uint8_t)bytes.at[i + 2];
		char *four = out + i / 3 * 4;
		four[0] = alphabet[three >> 18];
		four[1] = alphabet[three >> 12 & 63];
		four[2] = '=';
		four[3] = '=';
		if (left > 1)
			four[2] = alphabet[three >> 6 & 63];
		if (left > 2)
			four[3] = alphabet[three & 63];
	}
	return (struct str){ out, size };
}

/* -1 for a character that is not of the alphabet. */
static int digit(char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	return c == '+' ? 62 : c == '/' ? 63 : -1;
}

bool base64_read(struct arena *arena, struct str text, struct str *out_bytes)
{
	if (text.size % 4 != 0)
		return false;
	size_t filling = 0;
	while (filling < 2 && text.size > filling && text.at[text.size - 1 - filling] == '=')
		filling++;
	size_t size = text.size / 4 * 3 - filling, made = 0;
	char *out = arena_take_text(arena, size + 1);
	uint32_t bits = 0;
	unsigned waiting = 0;
	for (size_t i = 0; i < text.size - filling; i++) {
		int value = digit(text.at[i]);
		if (value < 0)
			return false;
		bits = bits << 6 | (uint32_t)value;
		waiting += 6;
		if (waiting < 8)
			continue;
		waiting -= 8;
		out[made++] = (char)(bits >> waiting & 255);
	}
	if ((bits & ((1U << waiting) - 1)) != 0)
		return false;
	*out_bytes = (struct str){ out, made };
	return true;
}
