/* base/error.h -- how a function says no.
 *
 * A function that can fail returns bool and takes `struct error *error` last.  On failure it
 * fills the caller's error in one line and outputs stay untouched; on success the error stays
 * untouched:
 *
 *	if (run == NULL)
 *		return fail(error, ERROR_NOT_FOUND, "run " STR_FMT, STR_ARG(id));
 *
 * A level that knows more puts it in front with error_prefix().  The codes are the rows of
 * contracts/errors.def: status, exit status and retry class are read from there.
 */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

enum error_code {
#define ERROR(name, wire, status, exit_status, retry, class, text) ERROR_##name,
#include "contracts/errors.def"
#undef ERROR
};

enum error_retry { ERROR_RETRY_FINAL, ERROR_RETRY_AGAIN, ERROR_RETRY_ASK };

struct error_row {
	struct str name;
	int http_status, exit_status;
	enum error_retry retry;
	struct str class; /* in the hierarchy of runtime.AgenticError */
	struct str text;
};

enum { ERROR_TEXT_SIZE = 480 };

struct error {
	enum error_code code;
	uint32_t line, column; /* place in a document, 1-based; 0 = none */
	char text[ERROR_TEXT_SIZE];
};

void error_fill(struct error *error, enum error_code code, const char *format, ...)
	PRINTF_LIKE(3, 4);
/* Fills the error and is false.  A macro only so that the compiler sees the false: it then knows
 * that outputs are set wherever the call succeeded. */
#define fail(...)                        \
	__extension__({                  \
		error_fill(__VA_ARGS__); \
		false;                   \
	})
void error_prefix(struct error *error, const char *format, ...) PRINTF_LIKE(2, 3);
const struct error_row *error_row(enum error_code code);
bool error_code_from_name(struct str name, enum error_code *out_code);
size_t error_count(void);

#endif
