/* base/base64.c -- base64 encoding and decoding; every three bytes become four characters. */
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

/* The value of a base64 digit, or -1 for any other character. */
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
	size_t padding = 0;
	while (padding < 2 && text.size > padding && text.at[text.size - 1 - padding] == '=')
		padding++;
	size_t size = text.size / 4 * 3 - padding, written = 0;
	char *out = arena_take_text(arena, size + 1);
	uint32_t bits = 0;
	unsigned bit_count = 0;
	for (size_t i = 0; i < text.size - padding; i++) {
		int value = digit(text.at[i]);
		if (value < 0)
			return false;
		bits = bits << 6 | (uint32_t)value;
		bit_count += 6;
		if (bit_count < 8)
			continue;
		bit_count -= 8;
		out[written++] = (char)(bits >> bit_count & 255);
	}
	if ((bits & ((1U << bit_count) - 1)) != 0)
		return false;
	*out_bytes = (struct str){ out, written };
	return true;
}
