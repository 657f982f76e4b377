/* base/json_parts.h -- helpers shared by the JSON and YAML readers and the JSON writer.
 *
 * Private to json_*.c, yaml.c and yaml_scalar.c.
 *
 * json_scan      finds the next byte that a JSON string must escape: quote, backslash, control
 * json_scratch   a stack that collects the children of a container before they are copied into the
 *                arena as one array; it starts in the caller's memory, so that small documents need
 *                no malloc
 * numbers        conversion between text and numbers, independent of the process's locale
 */
#ifndef BASE_JSON_PARTS_H
#define BASE_JSON_PARTS_H

#include <string.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "base/json.h"

/* ---- scanning -------------------------------------------------------------------------- */

static inline bool json_is_special(char c)
{
	return (unsigned char)c < 0x20 || c == '"' || c == '\\';
}

/* True when one of the eight bytes of the word is special.  A subtraction borrows only from a byte
 * that is itself special, so the result is exact. */
static inline bool json_word_special(uint64_t word)
{
	const uint64_t ones = 0x0101010101010101u, highs = 0x8080808080808080u;
	uint64_t quote = word ^ (ones * '"'), backslash = word ^ (ones * '\\');
	uint64_t hits = ((word - ones * 0x20) & ~word) | ((quote - ones) & ~quote) |
			((backslash - ones) & ~backslash);
	return (hits & highs) != 0;
}

/* The first special byte in [at, end), or `end`.  Sets *high when it passed a byte >= 0x80: only
 * then must the caller validate UTF-8. */
static inline const char *json_scan(const char *at, const char *end, bool *high)
{
#if defined(__SSE2__)
	const __m128i quote = _mm_set1_epi8('"'), backslash = _mm_set1_epi8('\\');
	const __m128i control = _mm_set1_epi8(0x1F);
	while (end - at >= 16) {
		__m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)at);
		__m128i hits = _mm_or_si128(_mm_cmpeq_epi8(bytes, quote),
					    _mm_cmpeq_epi8(bytes, backslash));
		hits = _mm_or_si128(hits, _mm_cmpeq_epi8(_mm_min_epu8(bytes, control), bytes));
		unsigned mask = (unsigned)_mm_movemask_epi8(hits);
		unsigned highs = (unsigned)_mm_movemask_epi8(bytes);
		if (mask != 0) {
			unsigned before = (unsigned)__builtin_ctz(mask);
			*high |= (highs & ((1u << before) - 1)) != 0;
			return at + before;
		}
		*high |= highs != 0;
		at += 16;
	}
#endif
	while (end - at >= 8) {
		uint64_t word;
		memcpy(&word, at, sizeof(word));
		if (json_word_special(word))
			break;
		*high |= (word & 0x8080808080808080u) != 0;
		at += 8;
	}
	for (; at < end && !json_is_special(*at); at++)
		*high |= (unsigned char)*at >= 0x80;
	return at;
}

/* ---- collecting ------------------------------------------------------------------------ */

enum { JSON_SCRATCH_FIRST = 4096 };

struct json_scratch {
	char *at;
	size_t size, room;
	char *heap; /* NULL while the caller's memory is large enough */
};

static inline struct json_scratch json_scratch_on(char *memory, size_t size)
{
	return (struct json_scratch){ .at = memory, .room = size };
}

void json_scratch_grow(struct json_scratch *scratch, size_t size);
void json_scratch_done(struct json_scratch *scratch);

static inline void json_scratch_push(struct json_scratch *scratch, const void *item, size_t size)
{
	if (scratch->room - scratch->size < size)
		json_scratch_grow(scratch, size);
	memcpy(scratch->at + scratch->size, item, size);
	scratch->size += size;
}

/* Moves everything above `base` from the stack into the arena. */
static inline const void *json_scratch_pop(struct json_scratch *scratch, size_t base,
					   struct arena *arena)
{
	const void *copy = arena_copy(arena, scratch->at + base, scratch->size - base);
	scratch->size = base;
	return copy;
}

/* The first member whose key an earlier member already has, or NULL.  Linear time. */
const struct json_member *json_duplicate(const struct json_member *at, size_t count);

/* ---- numbers --------------------------------------------------------------------------- */

enum { JSON_NUMBER_SIZE = 32 };

/* A number as the parser collected it; its text follows the grammar. */
struct json_number {
	bool negative, whole; /* whole: neither fraction nor exponent */
	bool exact;           /* `digits` holds all digits of the text */
	uint64_t digits;
	int exponent; /* value = digits * 10^exponent, when exact */
};

/* JSON_INT when the number is whole and fits int64, else JSON_REAL; false when it does not fit a
 * double. */
bool json_number_value(const struct json_number *number, struct str text, struct json *out);
/* strtod() in the C locale, for a text without a NUL that follows strtod's grammar. */
double json_real_parse(struct str text);
size_t json_int_text(int64_t value, char out[JSON_NUMBER_SIZE]);
size_t json_real_text(double value, char out[JSON_NUMBER_SIZE]);
/* The double is printed as an integer, and so reads back as one. */
bool json_real_is_whole(double value);

/* ---- building (json_build.c): what the writer's calls come to in a tree --------------------- */

void json_build_open(struct json_builder *builder, char bracket);
void json_build_close(struct json_builder *builder);
void json_build_key(struct json_builder *builder, struct str key);
void json_build_value(struct json_builder *builder, struct json value);
void json_build_tree(struct json_builder *builder, const struct json *tree);

#endif
