/* base/error.c -- the table of contracts/errors.def and the functions that fill an error. */
#include "base/error.h"

#include <stdio.h>
#include <string.h>

static const struct error_row rows[] = {
#define ERROR(id, wire, status, exits, again, kind, words)    \
	[ERROR_##id] = { .name = { wire, sizeof(wire) - 1 },  \
			 .http_status = (status),             \
			 .exit_status = (exits),              \
			 .retry = ERROR_RETRY_##again,        \
			 .class = { kind, sizeof(kind) - 1 }, \
			 .text = { words, sizeof(words) - 1 } },
#include "contracts/errors.def"
#undef ERROR
};

const struct error_row *error_row(enum error_code code)
{
	require((size_t)code < COUNT(rows));
	return &rows[code];
}

size_t error_count(void)
{
	return COUNT(rows);
}

bool error_code_from_name(struct str name, enum error_code *out_code)
{
	for (size_t i = 0; i < COUNT(rows); i++)
		if (str_equal(rows[i].name, name)) {
			*out_code = (enum error_code)i;
			return true;
		}
	return false;
}

void error_fill(struct error *error, enum error_code code, const char *format, ...)
{
	*error = (struct error){ .code = code };
	va_list list;
	va_start(list, format);
	vsnprintf(error->text, sizeof(error->text), format, list);
	va_end(list);
}

void error_prefix(struct error *error, const char *format, ...)
{
	char old[ERROR_TEXT_SIZE];
	memcpy(old, error->text, sizeof(old));
	va_list list;
	va_start(list, format);
	int size = vsnprintf(error->text, sizeof(error->text), format, list);
	va_end(list);
	if (size < 0 || (size_t)size >= sizeof(error->text))
		return;
	snprintf(error->text + size, sizeof(error->text) - (size_t)size, "%s", old);
}
