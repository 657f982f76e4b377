/* base/utf8.h -- whether bytes are UTF-8 (RFC 3629: no overlong forms, no surrogates, <=
 * U+10FFFF). */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include "base/str.h"

/* True when all of it is valid; else *out_bad is the offset of the first bad byte. */
bool utf8_valid(struct str s, size_t *out_bad);
size_t utf8_count(struct str s); /* characters of valid text */
/* Writes one character, returns its size (1 to 4); `out` has room for 4. */
size_t utf8_encode(uint32_t character, char *out);

#endif
