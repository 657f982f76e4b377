/* base/str.h -- borrowed text: a pointer and a size, without a terminating NUL.
 *
 * A struct str points into memory that it does not own (a literal, an arena, a request's buffer)
 * and is valid as long as that memory.  str_from_c() and str_c() convert from and to C strings for
 * libc.
 */
#ifndef BASE_STR_H
#define BASE_STR_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

struct str {
	const char *at;
	size_t size;
};

struct str_list {
	const struct str *at;
	size_t count;
};

#define S(literal) ((struct str){ "" literal, sizeof(literal) - 1 })
#define STR_FMT    "%.*s"
#define STR_ARG(s) (int)(s).size, (s).at

struct str str_from_c(const char *text);              /* NULL gives an empty str */
const char *str_c(struct arena *arena, struct str s); /* a NUL-terminated copy */
struct str str_copy(struct arena *arena, struct str s);
struct str str_format(struct arena *arena, const char *format, ...) PRINTF_LIKE(2, 3);
struct str str_format_list(struct arena *arena, const char *format, va_list list) PRINTF_LIKE(2, 0);

bool str_equal(struct str a, struct str b);
bool str_equal_folded(struct str a, struct str b); /* ignores the case of ASCII letters */
int str_compare(struct str a, struct str b);       /* byte order */
bool str_starts(struct str s, struct str with);
bool str_ends(struct str s, struct str with);
struct str str_skip(struct str s, size_t count); /* all but the first `count` bytes */
struct str str_head(struct str s, size_t count); /* the first `count` bytes */
struct str str_trim(struct str s);               /* strips blanks, tabs and line ends */
bool str_find(struct str s, struct str what, size_t *out_at);
/* Splits: removes the text before the next `separator` (or all of it) from the front of *rest;
 * false when nothing is left. */
bool str_cut(struct str *rest, char separator, struct str *out_piece);
bool str_to_int(struct str s, int64_t *out_number); /* whole text, decimal */

#endif
