/* base/uuid.h -- UUIDs, random and derived.
 *
 * A derived id is the first 16 bytes of the SHA-256 of its parts, with the version-4 and variant
 * bits set.  Each part is preceded by its length (8 bytes, big endian).  The same parts give the
 * same id in every replay, and two different lists of parts never collide by concatenation.
 */
#ifndef BASE_UUID_H
#define BASE_UUID_H

#include "base/sha256.h"

struct uuid {
	uint8_t bytes[16];
};

enum { UUID_TEXT_SIZE = 37 };

struct uuid uuid_from_random(const uint8_t random[16]); /* sets the version-4 bits */
struct uuid uuid_derive(const struct str *parts, size_t count);
struct str uuid_text(const struct uuid *uuid, char out[UUID_TEXT_SIZE]);
bool uuid_parse(struct str text, struct uuid *out_uuid); /* 8-4-4-4-12 hex, any case */
/* The ids that begin with the text, as a range: 4 to 32 hex digits of any case, with the dashes of the
 * text form or without them.  False for other text. */
enum { UUID_PREFIX_LEAST = 4 };
bool uuid_prefix_parse(struct str text, struct uuid *out_first, struct uuid *out_last);
bool uuid_equal(const struct uuid *a, const struct uuid *b);
bool uuid_is_zero(const struct uuid *uuid);
struct str uuid_str(const struct uuid *uuid); /* the 16 bytes, borrowed */

#endif
