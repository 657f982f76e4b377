/* base/utf8.h -- UTF-8 validation (RFC 3629: no overlong forms, no surrogates, <= U+10FFFF). */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include "base/str.h"

/* True when the whole text is valid; else *out_bad is the offset of the first invalid byte. */
bool utf8_valid(struct str s, size_t *out_bad);
/* Reads the character at the start of the text and returns its size; 0 = no valid one is there. */
size_t utf8_decode(struct str s, uint32_t *out_character);
/* The longest beginning of a valid text that has at most `most` bytes and ends with a character. */
struct str utf8_head(struct str s, size_t most);
size_t utf8_count(struct str s); /* number of characters of a valid text */
/* Writes one character into `out` (at least 4 bytes) and returns its size (1 to 4). */
size_t utf8_encode(uint32_t character, char *out);

#endif
