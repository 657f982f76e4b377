/* base/yaml_scalar.c -- tag resolution of YAML 1.2.2, section 10.3.2.
 *
 * The first byte usually shows that a scalar is a string; only the other scalars are compared with
 * the tables and the number grammar.
 */
#include "base/yaml_scalar.h"

#include <math.h>

#include "base/json_parts.h"

static const char TOO_LARGE[] = "the number is too large for a double";
static const char NOT_FINITE[] =
	"infinity and NaN are not supported; quote the value if it is text";

static bool is_one_of(struct str text, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (str_equal(text, str_from_c(words[i])))
			return true;
	return false;
}

static bool is_null(struct str text)
{
	static const char *const words[] = { "", "~", "null", "Null", "NULL" };
	return is_one_of(text, words, COUNT(words));
}

static bool is_bool(struct str text, bool *out_value)
{
	static const char *const yes[] = { "true", "True", "TRUE" };
	static const char *const no[] = { "false", "False", "FALSE" };
	*out_value = is_one_of(text, yes, COUNT(yes));
	return *out_value || is_one_of(text, no, COUNT(no));
}

static bool is_not_finite(struct str text)
{
	static const char *const infinities[] = { ".inf", ".Inf", ".INF" };
	static const char *const nans[] = { ".nan", ".NaN", ".NAN" };
	if (is_one_of(text, nans, COUNT(nans)))
		return true;
	bool sign = text.size > 0 && (text.at[0] == '-' || text.at[0] == '+');
	return is_one_of(str_skip(text, sign ? 1 : 0), infinities, COUNT(infinities));
}

static int digit_of(char c)
{
	char lower = (char)(c | 0x20);
	if (c >= '0' && c <= '9')
		return c - '0';
	return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : 99;
}

/* 0o17 and 0xff, without a sign.  A value of more than 64 bits keeps its upper bits; its lowest bit
 * records whether any dropped bit was set, so that the rounding to a double is correct. */
static bool read_based(struct str text, struct json *out, const char **out_reason)
{
	if (text.size < 3 || text.at[0] != '0' || (text.at[1] != 'o' && text.at[1] != 'x'))
		return false;
	int bits = text.at[1] == 'o' ? 3 : 4;
	uint64_t value = 0;
	int dropped = 0;
	for (size_t i = 2; i < text.size; i++) {
		int digit = digit_of(text.at[i]);
		if (digit >= 1 << bits)
			return false;
		if (dropped == 0 && value >> (64 - bits) == 0) {
			value = value << bits | (uint64_t)digit;
			continue;
		}
		dropped += bits;
		value |= digit != 0;
	}
	if (dropped == 0 && value <= INT64_MAX) {
		out->kind = JSON_INT;
		out->as.integer = (int64_t)value;
		return true;
	}
	out->kind = JSON_REAL;
	out->as.real = ldexp((double)value, dropped);
	*out_reason = isfinite(out->as.real) ? NULL : TOO_LARGE;
	return true;
}

static size_t count_digits(struct str text, size_t at)
{
	size_t end = at;
	while (end < text.size && text.at[end] >= '0' && text.at[end] <= '9')
		end++;
	return end - at;
}

/* [-+]? ( . digits | digits ( . digits* )? ) ( [eE] [-+]? digits )? */
static bool is_decimal(struct str text, bool *out_whole)
{
	size_t at = text.size > 0 && (text.at[0] == '-' || text.at[0] == '+');
	size_t whole = count_digits(text, at), fraction = 0;
	at += whole;
	*out_whole = true;
	if (at < text.size && text.at[at] == '.') {
		fraction = count_digits(text, at + 1);
		at += 1 + fraction;
		*out_whole = false;
	}
	if (whole + fraction == 0)
		return false;
	if (at < text.size && (text.at[at] == 'e' || text.at[at] == 'E')) {
		at++;
		at += at < text.size && (text.at[at] == '-' || text.at[at] == '+');
		size_t exponent = count_digits(text, at);
		if (exponent == 0)
			return false;
		at += exponent;
		*out_whole = false;
	}
	return at == text.size;
}

static const char *read_decimal(struct str text, bool whole, struct json *out)
{
	struct json_number number = { .negative = text.at[0] == '-', .whole = whole };
	if (whole) {
		const uint64_t most = (UINT64_MAX - 9) / 10;
		size_t at = text.at[0] == '-' || text.at[0] == '+';
		number.exact = true;
		for (; at < text.size; at++) {
			if (number.digits > most)
				number.exact = false;
			else
				number.digits = number.digits * 10 + (uint64_t)(text.at[at] - '0');
		}
	}
	return json_number_value(&number, text, out) ? NULL : TOO_LARGE;
}

static bool read_number(struct str text, struct json *out, bool *out_whole, const char **out_reason)
{
	*out_reason = NULL;
	*out_whole = true;
	if (read_based(text, out, out_reason))
		return true;
	if (is_decimal(text, out_whole)) {
		*out_reason = read_decimal(text, *out_whole, out);
		return true;
	}
	*out_whole = false;
	if (is_not_finite(text)) {
		*out_reason = NOT_FINITE;
		return true;
	}
	return false;
}

static void set_string(struct str text, struct json *out)
{
	out->kind = JSON_STRING;
	out->as.string = text;
}

static void set_bool(bool value, struct json *out)
{
	out->kind = JSON_BOOL;
	out->as.boolean = value;
}

static const char *plain(struct str text, struct json *out)
{
	bool value, whole;
	const char *reason = NULL;
	if (text.size > 0 && memchr("+-.0123456789", text.at[0], 13) != NULL) {
		if (!read_number(text, out, &whole, &reason))
			set_string(text, out);
	} else if (is_null(text)) {
		out->kind = JSON_NULL;
	} else if (is_bool(text, &value)) {
		set_bool(value, out);
	} else {
		set_string(text, out);
	}
	return reason;
}

static const char *tagged_number(enum yaml_type type, struct str text, struct json *out)
{
	bool whole;
	const char *reason;
	if (!read_number(text, out, &whole, &reason))
		return "the text after the tag is not a number";
	if (reason != NULL)
		return reason;
	if (type == YAML_INT && !whole)
		return "the text after !!int is not an integer";
	if (type == YAML_FLOAT && out->kind == JSON_INT) {
		out->kind = JSON_REAL;
		out->as.real = (double)out->as.integer;
	}
	return NULL;
}

const char *yaml_scalar(enum yaml_type type, struct str text, struct json *out)
{
	bool value;
	switch (type) {
	case YAML_PLAIN:
		return plain(text, out);
	case YAML_STR:
		set_string(text, out);
		return NULL;
	case YAML_INT:
	case YAML_FLOAT:
		return tagged_number(type, text, out);
	case YAML_BOOL:
		if (!is_bool(text, &value))
			return "the text after !!bool is neither true nor false";
		set_bool(value, out);
		return NULL;
	case YAML_NULL:
		out->kind = JSON_NULL;
		return is_null(text) ? NULL : "the text after !!null is not null";
	}
	return NULL;
}
