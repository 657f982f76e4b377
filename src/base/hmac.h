/* base/hmac.h -- HMAC-SHA256 (RFC 2104), and a comparison that takes the same time for every input. */
#ifndef BASE_HMAC_H
#define BASE_HMAC_H

#include "base/sha256.h"

/* The code of the parts, one behind the other. */
struct hash hmac_sha256(struct str key, const struct str *parts, size_t count);
/* Equal?  The time depends on the sizes alone, so it tells nothing about a secret. */
bool hmac_equal(struct str one, struct str other);

#endif
