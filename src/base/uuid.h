/* base/uuid.h -- UUIDs, random and derived (architecture R1).
 *
 * A derived id is the first 16 bytes of SHA-256 over its parts, each with its length in front
 * (8 bytes, big endian), with the version-4 and variant bits set: the same parts give the same
 * id after every replay, and no two different lists of parts collide by concatenation.
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
bool uuid_equal(const struct uuid *a, const struct uuid *b);
bool uuid_is_zero(const struct uuid *uuid);
struct str uuid_str(const struct uuid *uuid); /* its 16 bytes as a str */

#endif
