/* base/base64.h -- base64 encoding and decoding (RFC 4648, section 4: `+`, `/` and padding). */
#ifndef BASE_BASE64_H
#define BASE_BASE64_H

#include "base/str.h"

struct str base64_text(struct arena *arena, struct str bytes);
/* Strict: false for blanks, missing padding, or nonzero bits that the last byte would drop. */
MUST_CHECK bool base64_read(struct arena *arena, struct str text, struct str *out_bytes);

#endif
