/* schema/number.c -- exact comparison and division of numbers.
 *
 * A double stands for the shortest decimal number that reads back as it, which is the number that a
 * person wrote (up to 17 digits): 0.3 is a multiple of 0.1.  Both numbers become a whole number
 * times a power of ten, and the rest of the division is found with whole numbers only.
 */
#include "schema/schema_internal.h"

__extension__ typedef unsigned __int128 wide;

struct decimal {
	uint64_t digits;
	int64_t exponent;
};

/* Reads what the JSON writer prints; zeros at the end go into the exponent, so 19 digits are
 * enough. */
static struct decimal decimal_read(struct str text)
{
	struct decimal out = { 0 };
	int64_t zeros = 0;
	bool fraction = false;
	size_t at = str_starts(text, S("-"));
	for (; at < text.size && (text.at[at] | 0x20) != 'e'; at++) {
		if (text.at[at] == '.') {
			fraction = true;
			continue;
		}
		out.exponent -= fraction;
		zeros++;
		if (text.at[at] == '0')
			continue;
		for (; zeros > 0; zeros--)
			out.digits *= 10;
		out.digits += (uint64_t)(text.at[at] - '0');
	}
	out.exponent += zeros;
	bool plus = at + 1 < text.size && text.at[at + 1] == '+';
	int64_t exponent = 0;
	if (at < text.size && str_to_int(str_skip(text, at + 1 + plus), &exponent))
		out.exponent += exponent;
	return out;
}

static struct decimal decimal_of(const struct json *number)
{
	if (number->kind == JSON_INT) {
		uint64_t digits = (uint64_t)number->as.integer;
		return (struct decimal){ number->as.integer < 0 ? 0 - digits : digits, 0 };
	}
	AUTO(buf) text = { 0 };
	struct json_writer writer = { .out = &text };
	json_put_real(&writer, number->as.real);
	return decimal_read(buf_str(&text));
}

/* The rest of 10^exponent / by. */
static uint64_t power_rest(int64_t exponent, uint64_t by)
{
	wide power = 10 % by, rest = 1 % by;
	for (; exponent > 0; exponent /= 2) {
		if (exponent % 2 == 1)
			rest = rest * power % by;
		power = power * power % by;
	}
	return (uint64_t)rest;
}

bool number_is_multiple(const struct json *value, const struct json *of)
{
	struct decimal a = decimal_of(value), b = decimal_of(of);
	int64_t shift = a.exponent - b.exponent;
	if (a.digits == 0 || b.digits == 0)
		return a.digits == 0;
	if (shift >= 0)
		return (wide)(a.digits % b.digits) * power_rest(shift, b.digits) % b.digits == 0;
	for (; shift < 0 && a.digits % 10 == 0; shift++)
		a.digits /= 10;
	wide by = b.digits;
	for (; shift < 0 && by <= a.digits; shift++)
		by *= 10;
	return shift == 0 && a.digits % by == 0;
}

/* A double beside an integer that it cannot represent is not rounded to it. */
int number_compare(const struct json *a, const struct json *b)
{
	if (a->kind == JSON_INT && b->kind == JSON_INT)
		return (a->as.integer > b->as.integer) - (a->as.integer < b->as.integer);
	if (a->kind == JSON_INT)
		return -number_compare(b, a);
	double x = a->as.real, y = json_real(b);
	if (b->kind == JSON_REAL || x != y)
		return (x > y) - (x < y);
	if (x >= 0x1p63)
		return 1;
	int64_t whole = (int64_t)x; /* x is y, so it is whole and at least -2^63 */
	return (whole > b->as.integer) - (whole < b->as.integer);
}

/* For trees that json_equal() calls equal: their integers and doubles are, too. */
static bool same_numbers(const struct json *a, const struct json *b)
{
	if (json_is_number(a))
		return number_compare(a, b) == 0;
	for (size_t i = 0; a->kind == JSON_LIST && i < a->as.list.count; i++)
		if (!same_numbers(&a->as.list.at[i], &b->as.list.at[i]))
			return false;
	for (size_t i = 0; a->kind == JSON_OBJECT && i < a->as.object.count; i++) {
		const struct json_member *member = &a->as.object.at[i];
		if (!same_numbers(&member->value, json_member(b, member->key)))
			return false;
	}
	return true;
}

bool number_equal_trees(const struct json *a, const struct json *b)
{
	return json_equal(a, b) && same_numbers(a, b);
}
