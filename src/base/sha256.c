/* base/sha256.c -- portable SHA-256 after FIPS 180-4.
 *
 * The message schedule is a ring of sixteen words instead of an array of sixty-four, which the
 * standard describes as the alternate method (6.2.3): it stays in registers and cache.
 */
#include "base/sha256.h"

#include <stdatomic.h>
#include <string.h>

#include "base/limits.h"
#include "base/work.h"

static const uint32_t rounds[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
	0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
	0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
	0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
	0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
	0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
	0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
	0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
	0xc67178f2,
};

static uint32_t rotate(uint32_t word, int count)
{
	return word >> count | word << (32 - count);
}

static uint32_t load(const uint8_t *at)
{
	return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static void store(uint8_t *at, uint32_t word)
{
	at[0] = (uint8_t)(word >> 24);
	at[1] = (uint8_t)(word >> 16);
	at[2] = (uint8_t)(word >> 8);
	at[3] = (uint8_t)word;
}

/* Computes word `t` of the schedule; it replaces word t - 16 in the ring. */
static uint32_t schedule(uint32_t ring[16], unsigned t)
{
	uint32_t w15 = ring[(t + 1) & 15], w2 = ring[(t + 14) & 15];
	uint32_t sigma0 = rotate(w15, 7) ^ rotate(w15, 18) ^ w15 >> 3;
	uint32_t sigma1 = rotate(w2, 17) ^ rotate(w2, 19) ^ w2 >> 10;
	ring[t & 15] += sigma0 + ring[(t + 9) & 15] + sigma1;
	return ring[t & 15];
}

static void compress(uint32_t state[8], const uint8_t *block)
{
	uint32_t ring[16];
	for (unsigned t = 0; t < 16; t++)
		ring[t] = load(block + t * 4);
	uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
	uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
	for (unsigned t = 0; t < 64; t++) {
		uint32_t word = t < 16 ? ring[t] : schedule(ring, t);
		uint32_t sum1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
		uint32_t choice = (e & f) ^ (~e & g);
		uint32_t first = h + sum1 + choice + rounds[t] + word;
		uint32_t sum0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
		uint32_t majority = (a & b) ^ (a & c) ^ (b & c);
		h = g;
		g = f;
		f = e;
		e = d + first;
		d = c;
		c = b;
		b = a;
		a = first + sum0 + majority;
	}
	state[0] += a;
	state[1] += b;
	state[2] += c;
	state[3] += d;
	state[4] += e;
	state[5] += f;
	state[6] += g;
	state[7] += h;
}

void sha256_init(struct sha256 *sha)
{
	*sha = (struct sha256){ .state = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
					   0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19 } };
}

void sha256_add(struct sha256 *sha, const void *bytes, size_t size)
{
	const uint8_t *at = bytes;
	size_t pending = sha->size % 64;
	sha->size += size;
	work_add(WORK_HASHED, size);
	if (pending > 0) {
		size_t part = size < 64 - pending ? size : 64 - pending;
		if (part > 0)
			memcpy(sha->pending + pending, at, part);
		if (pending + part < 64)
			return;
		compress(sha->state, sha->pending);
		at += part;
		size -= part;
	}
	for (; size >= 64; at += 64, size -= 64)
		compress(sha->state, at);
	if (size > 0)
		memcpy(sha->pending, at, size);
}

struct hash sha256_finish(struct sha256 *sha)
{
	uint64_t bits = sha->size * 8;
	size_t pending = sha->size % 64;
	sha->pending[pending++] = 0x80;
	if (pending > 56) {
		memset(sha->pending + pending, 0, 64 - pending);
		compress(sha->state, sha->pending);
		pending = 0;
	}
	memset(sha->pending + pending, 0, 56 - pending);
	store(sha->pending + 56, (uint32_t)(bits >> 32));
	store(sha->pending + 60, (uint32_t)bits);
	compress(sha->state, sha->pending);
	struct hash hash;
	for (size_t i = 0; i < 8; i++)
		store(hash.bytes + i * 4, sha->state[i]);
	return hash;
}

static _Atomic(hash_function *) long_function;

void hash_use_for_long(hash_function *function)
{
	atomic_store_explicit(&long_function, function, memory_order_release);
}

struct hash hash_of(struct str bytes)
{
	struct hash hash;
	hash_function *other = bytes.size > LIMIT_HASH_PORTABLE_BYTES
				       ? atomic_load_explicit(&long_function, memory_order_acquire)
				       : NULL;
	if (other != NULL && other(bytes, &hash)) {
		work_add(WORK_HASHED, bytes.size);
		return hash;
	}
	struct sha256 sha;
	sha256_init(&sha);
	sha256_add(&sha, bytes.at, bytes.size);
	return sha256_finish(&sha);
}

struct hash hash_prefixed(struct str prefix, struct str bytes)
{
	struct sha256 sha;
	sha256_init(&sha);
	sha256_add(&sha, prefix.at, prefix.size);
	sha256_add(&sha, bytes.at, bytes.size);
	return sha256_finish(&sha);
}

bool hash_equal(const struct hash *a, const struct hash *b)
{
	return memcmp(a->bytes, b->bytes, sizeof(a->bytes)) == 0;
}

struct str hash_text(const struct hash *hash, char out[HASH_TEXT_SIZE])
{
	static const char digits[] = "0123456789abcdef";
	for (size_t i = 0; i < sizeof(hash->bytes); i++) {
		out[i * 2] = digits[hash->bytes[i] >> 4];
		out[i * 2 + 1] = digits[hash->bytes[i] & 15];
	}
	out[HASH_TEXT_SIZE - 1] = '\0';
	return (struct str){ out, HASH_TEXT_SIZE - 1 };
}

static int digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool hash_parse(struct str text, struct hash *out_hash)
{
	if (text.size != HASH_TEXT_SIZE - 1)
		return false;
	struct hash hash;
	for (size_t i = 0; i < sizeof(hash.bytes); i++) {
		int high = digit_value(text.at[i * 2]), low = digit_value(text.at[i * 2 + 1]);
		if (high < 0 || low < 0)
			return false;
		hash.bytes[i] = (uint8_t)(high << 4 | low);
	}
	*out_hash = hash;
	return true;
}
