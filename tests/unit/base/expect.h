/* tests/unit/base/expect.h -- comparisons shared by the tests of base. */
#ifndef TESTS_UNIT_BASE_EXPECT_H
#define TESTS_UNIT_BASE_EXPECT_H

#include <criterion/criterion.h>
#include <string.h>

#include "base/error.h"
#include "base/str.h"

#define expect_str(actual, expected) expect_str_at((actual), (expected), __LINE__)

static inline void expect_str_at(struct str actual, struct str expected, int line)
{
	cr_expect(str_equal(actual, expected), "line %d: \"%.*s\" instead of \"%.*s\"", line,
		  STR_ARG(actual), STR_ARG(expected));
}

/* Expects the error's code and position, and `words` somewhere in its text. */
#define expect_error(error, code_, line_, column_, words) \
	expect_error_at((error), (code_), (line_), (column_), (words), __LINE__)

static inline void expect_error_at(const struct error *error, enum error_code code, uint32_t line,
				   uint32_t column, const char *words, int test_line)
{
	cr_expect(error->code == code, "line %d: code %d instead of %d (%s)", test_line,
		  (int)error->code, (int)code, error->text);
	cr_expect(error->line == line && error->column == column,
		  "line %d: at %u:%u instead of %u:%u (%s)", test_line, error->line, error->column,
		  line, column, error->text);
	cr_expect(strstr(error->text, words) != NULL, "line %d: \"%s\" does not contain \"%s\"",
		  test_line, error->text, words);
}

#endif
