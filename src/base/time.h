/* base/time.h -- RFC 3339 text to and from microseconds since 1970 UTC.
 *
 * These functions convert; they never read a clock.  time_parse() treats text without a zone as
 * UTC, accepts a lower-case t or z and a blank instead of the T, and turns second 60 into the first
 * second of the next minute.
 */
#ifndef BASE_TIME_H
#define BASE_TIME_H

#include "base/str.h"

enum { TIME_TEXT_SIZE = 40 };
/* "2026-11-15T20:03:21.123456Z"; the fraction has 0, 3 or 6 digits as needed. */
struct str time_text(int64_t us, char out[TIME_TEXT_SIZE]);
bool time_parse(struct str text, int64_t *out_us);

#endif
