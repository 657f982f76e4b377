/* base/error.h -- error codes, and how a function reports a failure.
 *
 * A function that can fail returns bool and takes `struct error *error` as its last parameter.  On
 * failure it fills the error and leaves its outputs untouched; on success it leaves the error
 * untouched:
 *
 *	if (run == NULL)
 *		return fail(error, ERROR_NOT_FOUND, "run " STR_FMT, STR_ARG(id));
 *
 * A caller that knows more, such as a file name, puts it in front of the text with error_prefix().
 * contracts/errors.def declares the codes with their HTTP status, exit status and retry class.
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
	uint32_t line, column; /* position in a document, 1-based; 0 = none */
	uint32_t offset;       /* in the string at that position, 1-based, in bytes; 0 = unknown */
	char text[ERROR_TEXT_SIZE];
};

void error_fill(struct error *error, enum error_code code, const char *format, ...)
	PRINTF_LIKE(3, 4);
/* Fills the error and evaluates to false.  A macro, so that the compiler sees the constant false:
 * it then knows that a function's outputs are set whenever the function returns true. */
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
