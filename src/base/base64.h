/* base/base64.h -- bytes as text and back (RFC 4648, section 4: with `+`, `/` and filling). */
#ifndef BASE_BASE64_H
#define BASE_BASE64_H

#include "base/str.h"

struct str base64_text(struct arena *arena, struct str bytes);
/* Strict: no blanks, no missing filling, no bits that would be lost. */
MUST_CHECK bool base64_read(struct arena *arena, struct str text, struct str *out_bytes);

#endif
