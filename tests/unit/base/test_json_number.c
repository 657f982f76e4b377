/* JSON numbers: the grammar, exact conversion both ways, locales with a decimal comma. */
#include "tests/unit/base/expect.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>

#include "base/json.h"

static struct json read_one(struct str text, struct error *error)
{
	AUTO(arena) arena = { 0 };
	const struct json *json = NULL;
	*error = (struct error){ 0 };
	return json_read(text, &arena, &json, error) ? *json : (struct json){ 0 };
}

static void expect_int(struct str text, int64_t expected)
{
	struct error error;
	struct json json = read_one(text, &error);
	cr_expect(json.kind == JSON_INT && json.as.integer == expected, STR_FMT, STR_ARG(text));
}

/* Compares bit patterns, so that -0 differs from 0. */
static void expect_real(struct str text, double expected)
{
	struct error error;
	struct json json = read_one(text, &error);
	cr_expect(json.kind == JSON_REAL && memcmp(&json.as.real, &expected, 8) == 0,
		  STR_FMT ": %.17g", STR_ARG(text), json.as.real);
}

static void expect_written(double value, struct str expected)
{
	AUTO(arena) arena = { 0 };
	struct json json = { .kind = JSON_REAL, .as.real = value };
	expect_str(json_print(&arena, &json), expected);
}

static void expect_bad(struct str text, uint32_t column, const char *words)
{
	struct error error;
	read_one(text, &error);
	expect_error(&error, ERROR_SYNTAX, 1, column, words);
}

Test(json_number, keeps_integers_exact)
{
	expect_int(S("0"), 0);
	expect_int(S("-1"), -1);
	expect_int(S("9007199254740993"), 9007199254740993);
	expect_int(S("9223372036854775807"), INT64_MAX);
	expect_int(S("-9223372036854775808"), INT64_MIN);
	expect_int(S("1000000000000000000"), 1000000000000000000);
}

Test(json_number, becomes_real_beyond_int64)
{
	expect_real(S("9223372036854775808"), 9223372036854775808.0);
	expect_real(S("-9223372036854775809"), -9223372036854775808.0);
	expect_real(S("18446744073709551615"), 18446744073709551616.0);
	expect_real(S("18446744073709551616"), 18446744073709551616.0);
	expect_real(S("123456789012345678901234567890"), 123456789012345678901234567890.0);
}

Test(json_number, reads_reals_correctly_rounded)
{
	expect_real(S("-0"), -0.0);
	expect_real(S("-0.0"), -0.0);
	expect_real(S("0.0"), 0.0);
	expect_real(S("-0e5"), -0.0);
	expect_real(S("0e999999999999"), 0.0);
	expect_real(S("1.0"), 1.0);
	expect_real(S("1E2"), 100.0);
	expect_real(S("1e+2"), 100.0);
	expect_real(S("0.1"), 0.1);
	expect_real(S("3.141592653589793"), 3.141592653589793);
	expect_real(S("9007199254740993.0"), 9007199254740992.0);
	expect_real(S("9007199254740993e0"), 9007199254740992.0);
	expect_real(S("1e22"), 1e22);
	expect_real(S("1e23"), 1e23);
	expect_real(S("8.41e21"), 8.41e21);
	expect_real(S("2.2250738585072011e-308"), 2.2250738585072011e-308);
	expect_real(S("5e-324"), 5e-324);
	expect_real(S("1e-400"), 0.0);
	expect_real(S("1.7976931348623157e308"), DBL_MAX);
	expect_real(S("0.3000000000000000444089209850062616169452667236328125"),
		    0.30000000000000004);
}

Test(json_number, refuses_what_is_no_number)
{
	expect_bad(S("-"), 2, "expected a digit after '-'");
	expect_bad(S("-a"), 2, "expected a digit after '-'");
	expect_bad(S("01"), 1, "must not start with 0");
	expect_bad(S("-01"), 2, "must not start with 0");
	expect_bad(S("1."), 3, "a digit after the decimal point");
	expect_bad(S("1.e1"), 3, "a digit after the decimal point");
	expect_bad(S(".5"), 1, "expected a value");
	expect_bad(S("+1"), 1, "expected a value");
	expect_bad(S("1e"), 3, "a digit in the exponent");
	expect_bad(S("1e+"), 4, "a digit in the exponent");
	expect_bad(S("0x10"), 2, "expected the end of the text");
	expect_bad(S("1_000"), 2, "expected the end of the text");
	expect_bad(S("NaN"), 1, "expected a value");
	expect_bad(S("Infinity"), 1, "expected a value");
}

Test(json_number, refuses_what_no_double_holds)
{
	expect_bad(S("1e400"), 1, "too large for a double");
	expect_bad(S("-1e400"), 1, "too large for a double");
	expect_bad(S("1e99999999999999999999"), 1, "too large for a double");
	expect_bad(S("1.7976931348623159e308"), 1, "too large for a double");
	expect_real(S("1e-99999999999999999999"), 0.0);
}

Test(json_number, takes_very_long_digits)
{
	AUTO(buf) text = { 0 };
	buf_add(&text, S("0."));
	for (int i = 0; i < 100000; i++)
		buf_add_char(&text, '3');
	expect_real(buf_str(&text), 1.0 / 3);
	buf_clear(&text);
	for (int i = 0; i < 100000; i++)
		buf_add_char(&text, '9');
	struct error error;
	read_one(buf_str(&text), &error);
	expect_error(&error, ERROR_SYNTAX, 1, 1, "too large for a double");
	buf_add(&text, S("e-100000"));
	expect_real(buf_str(&text), 1.0);
}

Test(json_number, writes_few_digits)
{
	expect_written(0.0, S("0"));
	expect_written(-0.0, S("-0"));
	expect_written(1.0, S("1"));
	expect_written(-5.0, S("-5"));
	expect_written(0.1, S("0.1"));
	expect_written(-0.25, S("-0.25"));
	expect_written(0.1 + 0.2, S("0.30000000000000004"));
	expect_written(1.0 / 3, S("0.3333333333333333"));
	expect_written(12.34, S("12.34"));
	expect_written(0.000001, S("0.000001"));
	expect_written(0.0000001, S("1e-7"));
	expect_written(1.5e-10, S("1.5e-10"));
	expect_written(123456789.125, S("123456789.125"));
	expect_written(9007199254740992.0, S("9007199254740992"));
	expect_written(1234567890123456768.0, S("1234567890123456768"));
	expect_written(9223372036854775808.0, S("9223372036854776000"));
	expect_written(-9223372036854775808.0, S("-9223372036854775808"));
	expect_written(1e20, S("100000000000000000000"));
	expect_written(1e21, S("1e21"));
	expect_written(1.25e300, S("1.25e300"));
	expect_written(DBL_MAX, S("1.7976931348623157e308"));
	expect_written(DBL_MIN, S("2.2250738585072014e-308"));
	expect_written(5e-324, S("5e-324"));
	expect_written(-1.5e-323, S("-1.5e-323"));
}

Test(json_number, writes_integers)
{
	AUTO(arena) arena = { 0 };
	static const struct {
		int64_t value;
		struct str text;
	} cases[] = {
		{ 0, { "0", 1 } },
		{ 9, { "9", 1 } },
		{ 10, { "10", 2 } },
		{ 99, { "99", 2 } },
		{ 100, { "100", 3 } },
		{ -101, { "-101", 4 } },
		{ 123456789, { "123456789", 9 } },
		{ INT64_MAX, { "9223372036854775807", 19 } },
		{ INT64_MIN, { "-9223372036854775808", 20 } },
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct json json = { .kind = JSON_INT, .as.integer = cases[i].value };
		expect_str(json_print(&arena, &json), cases[i].text);
	}
}

/* Bit patterns from a deterministic generator; every exponent occurs. */
Test(json_number, reads_back_the_same_double)
{
	AUTO(arena) arena = { 0 };
	uint64_t state = 88172645463325252u;
	for (int i = 0; i < 100000; i++) {
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		double value;
		memcpy(&value, &state, sizeof(value));
		if (i % 2 == 0) /* half of them are ordinary decimals */
			value = (double)(int64_t)(state % 2000000000) /
				(i % 4 == 0 ? 1000 : 100000);
		if (!isfinite(value))
			continue;
		struct json json = { .kind = JSON_REAL, .as.real = value };
		struct str text = json_print(&arena, &json);
		struct error error;
		struct json back = read_one(text, &error);
		double again = back.kind == JSON_INT ? (double)back.as.integer : back.as.real;
		cr_assert(error.code == ERROR_NONE && memcmp(&again, &value, 8) == 0,
			  "%a as " STR_FMT, value, STR_ARG(text));
		arena_reset(&arena);
	}
}

/* Uses the locales that are installed; without any of them the test still checks the C locale. */
Test(json_number, does_not_care_for_the_locale)
{
	static const char *const names[] = { "de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "C" };
	for (size_t i = 0; i < COUNT(names); i++)
		if (setlocale(LC_ALL, names[i]) != NULL)
			break;
	expect_real(S("0.12345678901234567890123"), 0.12345678901234567890123);
	expect_real(S("1.5e-300"), 1.5e-300);
	expect_written(1.5e-300, S("1.5e-300"));
	expect_written(0.1 + 0.2, S("0.30000000000000004"));
}
