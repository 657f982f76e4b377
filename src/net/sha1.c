/* net/sha1.c -- SHA-1 after FIPS 180-4, section 6.1. */
#include "net/sha1.h"

#include <string.h>

enum { BLOCK = 64, LENGTH_BYTES = 8, ROUNDS = 80 };

static uint32_t rotate(uint32_t word, unsigned count)
{
	return word << count | word >> (32 - count);
}

/* The function and constant of a round; they change every twenty rounds. */
static uint32_t mix(unsigned round, uint32_t b, uint32_t c, uint32_t d)
{
	switch (round / 20) {
	case 0:
		return ((b & c) | (~b & d)) + 0x5a827999U;
	case 1:
		return (b ^ c ^ d) + 0x6ed9eba1U;
	case 2:
		return ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdcU;
	default:
		return (b ^ c ^ d) + 0xca62c1d6U;
	}
}

static void add_block(uint32_t state[5], const uint8_t block[BLOCK])
{
	uint32_t words[ROUNDS];
	for (unsigned i = 0; i < 16; i++)
		words[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
			   (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
	for (unsigned i = 16; i < ROUNDS; i++)
		words[i] = rotate(words[i - 3] ^ words[i - 8] ^ words[i - 14] ^ words[i - 16], 1);
	uint32_t a = state[0], b = state[1], c = state[2], d = state[3], e = state[4];
	for (unsigned i = 0; i < ROUNDS; i++) {
		uint32_t next = rotate(a, 5) + mix(i, b, c, d) + e + words[i];
		e = d;
		d = c;
		c = rotate(b, 30);
		b = a;
		a = next;
	}
	state[0] += a;
	state[1] += b;
	state[2] += c;
	state[3] += d;
	state[4] += e;
}

void sha1(struct str bytes, uint8_t out[SHA1_SIZE])
{
	uint32_t state[5] = { 0x67452301U, 0xefcdab89U, 0x98badcfeU, 0x10325476U, 0xc3d2e1f0U };
	uint64_t bits = (uint64_t)bytes.size * 8;
	uint8_t block[BLOCK];
	for (; bytes.size >= BLOCK; bytes = str_skip(bytes, BLOCK)) {
		memcpy(block, bytes.at, BLOCK);
		add_block(state, block);
	}
	memset(block, 0, BLOCK);
	if (bytes.size > 0)
		memcpy(block, bytes.at, bytes.size);
	block[bytes.size] = 0x80;
	if (bytes.size + 1 > BLOCK - LENGTH_BYTES) {
		add_block(state, block);
		memset(block, 0, BLOCK);
	}
	for (unsigned i = 0; i < LENGTH_BYTES; i++)
		block[BLOCK - 1 - i] = (uint8_t)(bits >> (8 * i));
	add_block(state, block);
	for (unsigned i = 0; i < SHA1_SIZE; i++)
		out[i] = (uint8_t)(state[i / 4] >> (24 - 8 * (i % 4)));
}
