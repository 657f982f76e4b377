/* base/sha256.h -- SHA-256 (FIPS 180-4): hashing, comparing, and hashes as hex text. */
#ifndef BASE_SHA256_H
#define BASE_SHA256_H

#include "base/str.h"

struct hash {
	uint8_t bytes[32];
};

struct sha256 {
	uint32_t state[8];
	uint64_t size;
	uint8_t pending[64];
};

void sha256_init(struct sha256 *sha);
void sha256_add(struct sha256 *sha, const void *bytes, size_t size);
struct hash sha256_finish(struct sha256 *sha);

struct hash hash_of(struct str bytes);
struct hash hash_prefixed(struct str prefix, struct str bytes); /* of both, one behind the other */
/* A faster SHA-256 for texts over HASH_PORTABLE_BYTES, of a library that is there on most machines
 * (os/fast_hash.h); set once for the process, from any thread.  False: it could not. */
typedef bool hash_function(struct str bytes, struct hash *out_hash);
void hash_use_for_long(hash_function *function);
bool hash_equal(const struct hash *a, const struct hash *b);
enum { HASH_TEXT_SIZE = 65 };
struct str hash_text(const struct hash *hash, char out[HASH_TEXT_SIZE]); /* 64 lower-case hex */
bool hash_parse(struct str text, struct hash *out_hash);

#endif
