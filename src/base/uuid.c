/* base/uuid.c -- the RFC 9562 text form, and ids derived by hashing. */
#include "base/uuid.h"

#include <string.h>

/* Derived ids have the version and variant bits of random ids, so readers know only one kind. */
static void mark_version_4(struct uuid *uuid)
{
	uuid->bytes[6] = (uint8_t)((uuid->bytes[6] & 0x0F) | 0x40);
	uuid->bytes[8] = (uint8_t)((uuid->bytes[8] & 0x3F) | 0x80);
}

struct uuid uuid_from_random(const uint8_t random[16])
{
	struct uuid uuid;
	memcpy(uuid.bytes, random, sizeof(uuid.bytes));
	mark_version_4(&uuid);
	return uuid;
}

struct uuid uuid_derive(const struct str *parts, size_t count)
{
	struct sha256 sha;
	sha256_init(&sha);
	for (size_t i = 0; i < count; i++) {
		uint8_t size[8];
		for (size_t k = 0; k < sizeof(size); k++)
			size[k] = (uint8_t)((uint64_t)parts[i].size >> (56 - 8 * k));
		sha256_add(&sha, size, sizeof(size));
		sha256_add(&sha, parts[i].at, parts[i].size);
	}
	struct hash hash = sha256_finish(&sha);
	return uuid_from_random(hash.bytes);
}

/* True for the bytes that follow a dash. */
static bool is_group_start(size_t byte)
{
	return byte == 4 || byte == 6 || byte == 8 || byte == 10;
}

struct str uuid_text(const struct uuid *uuid, char out[UUID_TEXT_SIZE])
{
	static const char digits[] = "0123456789abcdef";
	char *end = out;
	for (size_t i = 0; i < sizeof(uuid->bytes); i++) {
		if (is_group_start(i))
			*end++ = '-';
		*end++ = digits[uuid->bytes[i] >> 4];
		*end++ = digits[uuid->bytes[i] & 15];
	}
	*end = '\0';
	return (struct str){ out, UUID_TEXT_SIZE - 1 };
}

static int digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	char lower = (char)(c | 0x20);
	return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

bool uuid_parse(struct str text, struct uuid *out_uuid)
{
	if (text.size != UUID_TEXT_SIZE - 1)
		return false;
	struct uuid uuid;
	const char *at = text.at;
	for (size_t i = 0; i < sizeof(uuid.bytes); i++) {
		if (is_group_start(i) && *at++ != '-')
			return false;
		int high = digit_value(at[0]), low = digit_value(at[1]);
		if (high < 0 || low < 0)
			return false;
		uuid.bytes[i] = (uint8_t)(high << 4 | low);
		at += 2;
	}
	*out_uuid = uuid;
	return true;
}

bool uuid_prefix_parse(struct str text, struct uuid *out_first, struct uuid *out_last)
{
	struct uuid first = { 0 }, last;
	size_t digits = 0;
	memset(last.bytes, 0xFF, sizeof(last.bytes));
	for (size_t i = 0; i < text.size; i++) {
		bool after_group = digits % 2 == 0 && is_group_start(digits / 2);
		if (text.at[i] == '-' && after_group && text.at[i - 1] != '-')
			continue;
		int value = digit_value(text.at[i]);
		if (value < 0 || digits == 2 * sizeof(first.bytes))
			return false;
		unsigned shift = digits % 2 == 0 ? 4 : 0;
		uint8_t *low = &first.bytes[digits / 2], *high = &last.bytes[digits / 2];
		*low = (uint8_t)(*low | value << shift);
		*high = (uint8_t)((*high & ~(0xF << shift)) | value << shift);
		digits++;
	}
	if (digits < UUID_PREFIX_LEAST)
		return false;
	*out_first = first;
	*out_last = last;
	return true;
}

bool uuid_equal(const struct uuid *a, const struct uuid *b)
{
	return memcmp(a->bytes, b->bytes, sizeof(a->bytes)) == 0;
}

bool uuid_is_zero(const struct uuid *uuid)
{
	static const struct uuid zero;
	return uuid_equal(uuid, &zero);
}

struct str uuid_str(const struct uuid *uuid)
{
	return (struct str){ (const char *)uuid->bytes, sizeof(uuid->bytes) };
}
