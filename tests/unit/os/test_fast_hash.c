/* libcrypto gives the same hashes as our own, wherever it is installed. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "base/limits.h"
#include "base/sha256.h"
#include "os/fast_hash.h"

static struct hash ours(struct str bytes)
{
	struct sha256 sha;
	sha256_init(&sha);
	sha256_add(&sha, bytes.at, bytes.size);
	return sha256_finish(&sha);
}

/* Around the size from which it is used, and far beyond. */
Test(fast_hash, says_what_our_own_says)
{
	enum { LARGEST = 1 << 20 };
	char *text = malloc(LARGEST);
	for (size_t i = 0; i < LARGEST; i++)
		text[i] = (char)(i * 31 + i / 251);
	bool there = fast_hash_load();
	cr_expect_eq(fast_hash_load(), there, "it is opened once");
	for (int off = -2; off <= 2; off++) {
		struct str bytes = { text, (size_t)(LIMIT_HASH_PORTABLE_BYTES + off) };
		struct hash got = hash_of(bytes), expected = ours(bytes);
		cr_expect(hash_equal(&got, &expected), "%zu", bytes.size);
	}
	struct str all = { text, LARGEST };
	struct hash got = hash_of(all), expected = ours(all);
	cr_expect(hash_equal(&got, &expected));
	free(text);
}

static unsigned asked;

static bool refuses(struct str bytes, struct hash *out_hash)
{
	(void)bytes;
	(void)out_hash;
	asked++;
	return false;
}

Test(fast_hash, one_that_cannot_is_stood_in_for)
{
	char text[LIMIT_HASH_PORTABLE_BYTES + 1] = { 1, 2, 3 };
	struct str longer = { text, sizeof(text) }, shorter = { text, sizeof(text) - 1 };
	hash_use_for_long(refuses);
	struct hash got = hash_of(longer), expected = ours(longer);
	cr_expect(hash_equal(&got, &expected));
	cr_expect_eq(asked, 1);
	hash_of(shorter);
	cr_expect_eq(asked, 1, "short ones are our own");
}
