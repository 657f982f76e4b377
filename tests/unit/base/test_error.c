/* Errors: the table of codes and the functions that fill an error. */
#include "tests/unit/base/expect.h"

Test(error, finds_every_row_by_its_name)
{
	for (size_t i = 0; i < error_count(); i++) {
		const struct error_row *row = error_row((enum error_code)i);
		enum error_code code;
		cr_assert(error_code_from_name(row->name, &code));
		cr_expect_eq((size_t)code, i);
		cr_expect(row->http_status >= 200 && row->http_status < 600);
		cr_expect(row->exit_status >= 0 && row->exit_status < 126);
		cr_expect_gt(row->text.size, 0);
	}
	enum error_code code;
	cr_expect(!error_code_from_name(S("no_such_error"), &code));
}

Test(error, says_no_in_one_line)
{
	struct error error = { .line = 3, .column = 4 };
	cr_expect(!fail(&error, ERROR_NOT_FOUND, "run %d", 7));
	expect_error(&error, ERROR_NOT_FOUND, 0, 0, "run 7");
	error_prefix(&error, "step %s: ", "a");
	expect_str(str_from_c(error.text), S("step a: run 7"));
}

Test(error, cuts_a_text_that_does_not_fit)
{
	char text[2000];
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	struct error error;
	fail(&error, ERROR_INVALID, "%s", text);
	cr_expect_eq(strlen(error.text), ERROR_TEXT_SIZE - 1);
	error_prefix(&error, "front: ");
	cr_expect_eq(strlen(error.text), ERROR_TEXT_SIZE - 1);
	cr_expect(str_starts(str_from_c(error.text), S("front: xxx")));
	error_prefix(&error, "%s", text);
	cr_expect_eq(strlen(error.text), ERROR_TEXT_SIZE - 1);
}
