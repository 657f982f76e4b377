/* base/hmac.c -- HMAC-SHA256, made of two hashes. */
#include "base/hmac.h"

#include <string.h>

enum { BLOCK_SIZE = 64 };

static struct str hash_bytes(const struct hash *hash)
{
	return (struct str){ (const char *)hash->bytes, sizeof(hash->bytes) };
}

/* The hash of the key, combined with `pad`, and of the parts. */
static struct hash padded_hash(const uint8_t block[BLOCK_SIZE], uint8_t pad,
			       const struct str *parts, size_t count)
{
	uint8_t padded[BLOCK_SIZE];
	struct sha256 sha;
	for (size_t i = 0; i < BLOCK_SIZE; i++)
		padded[i] = block[i] ^ pad;
	sha256_init(&sha);
	sha256_add(&sha, padded, sizeof(padded));
	for (size_t i = 0; i < count; i++)
		sha256_add(&sha, parts[i].at, parts[i].size);
	return sha256_finish(&sha);
}

struct hash hmac_sha256(struct str key, const struct str *parts, size_t count)
{
	uint8_t block[BLOCK_SIZE] = { 0 };
	struct hash hashed;
	if (key.size > BLOCK_SIZE) {
		hashed = hash_of(key);
		key = hash_bytes(&hashed);
	}
	if (key.size > 0)
		memcpy(block, key.at, key.size);
	struct hash inner = padded_hash(block, 0x36, parts, count);
	struct str inner_bytes = hash_bytes(&inner);
	return padded_hash(block, 0x5c, &inner_bytes, 1);
}

bool hmac_equal(struct str one, struct str other)
{
	unsigned difference = 0;
	if (one.size != other.size)
		return false;
	for (size_t i = 0; i < one.size; i++)
		difference |= (unsigned)(uint8_t)one.at[i] ^ (unsigned)(uint8_t)other.at[i];
	return difference == 0;
}
