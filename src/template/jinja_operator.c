/* template/jinja_operator.c -- operators of two values, with Python's rules for numbers.
 *
 * Whole numbers have 64 bits here; a result that does not fit is an error, never a wrong number.
 */
#include <math.h>

#include "template/jinja_render.h"

void jinja_real_text(double real, struct buf *out)
{
	AUTO(buf) shortest = { 0 };
	struct json_writer writer = { .out = &shortest };
	if (isnan(real) || isinf(real)) {
		buf_add(out, isnan(real) ? S("nan") : real < 0 ? S("-inf") : S("inf"));
		return;
	}
	/* The writer prints the digits that identify the number; Python places the point otherwise. */
	json_put_real(&writer, real);
	struct str text = buf_str(&shortest);
	char digits[32];
	int count = 0, point = 0, exponent = 0;
	bool seen_point = false, negative = text.at[0] == '-';
	for (size_t i = negative; i < text.size; i++) {
		char c = text.at[i];
		if (c == '.') {
			seen_point = true;
		} else if (c == 'e') {
			int64_t number = 0;
			struct str rest = str_skip(text, i + 1);
			if (!str_to_int(rest.at[0] == '+' ? str_skip(rest, 1) : rest, &number))
				number = 0;
			exponent = (int)number;
			break;
		} else {
			point += !seen_point && (count > 0 || c != '0');
			point -= seen_point && count == 0 && c == '0';
			if ((count > 0 || c != '0') && count < (int)sizeof(digits))
				digits[count++] = c;
		}
	}
	point += exponent;
	while (count > 0 && digits[count - 1] == '0')
		count--;
	buf_add(out, negative ? S("-") : S(""));
	if (count == 0) {
		buf_add(out, S("0.0"));
	} else if (point > 16 || point < -3) {
		buf_add_char(out, digits[0]);
		if (count > 1)
			buf_add_format(out, ".%.*s", count - 1, digits + 1);
		buf_add_format(out, "e%c%02d", point - 1 < 0 ? '-' : '+',
			       point - 1 < 0 ? 1 - point : point - 1);
	} else if (point <= 0) {
		buf_add_format(out, "0.%.*s%.*s", -point, "000", count, digits);
	} else {
		for (int i = 0; i < point; i++)
			buf_add_char(out, i < count ? digits[i] : '0');
		buf_add_char(out, '.');
		if (count > point)
			buf_add_format(out, "%.*s", count - point, digits + point);
		else
			buf_add_char(out, '0');
	}
}

static bool fail_operands(struct renderer *r, const char *operator, struct value a, struct value b)
{
	if (a.kind == VALUE_UNDEFINED || b.kind == VALUE_UNDEFINED)
		return jinja_fail(r, STR_FMT " is undefined",
				  STR_ARG(a.kind == VALUE_UNDEFINED ? a.as.string : b.as.string));
	return jinja_fail(r, "%s cannot be applied to %s and %s", operator,
			  jinja_value_kind_name(a), jinja_value_kind_name(b));
}

static bool too_large(struct renderer *r)
{
	return jinja_fail(r, "the result is a whole number with more than 64 bits");
}

/* ---- strings and lists ------------------------------------------------------------------------ */

static bool add_strings(struct renderer *r, struct str a, struct str b, struct value *out)
{
	AUTO(buf) text = buf_limited(LIMIT_TEMPLATE_OUTPUT_BYTES);
	buf_add(&text, a);
	buf_add(&text, b);
	return jinja_copy(r, &text, out);
}

static bool add_sequences(struct renderer *r, const struct sequence *a, const struct sequence *b,
			  struct value *out)
{
	if (!jinja_sequence(r, a->flavor, a->count + b->count, out))
		return false;
	for (size_t i = 0; i < a->count; i++)
		out->as.sequence->at[i] = jinja_value_item(r, a, i);
	for (size_t i = 0; i < b->count; i++)
		out->as.sequence->at[a->count + i] = jinja_value_item(r, b, i);
	return true;
}

static bool is_list(struct value value)
{
	return value.kind == VALUE_SEQUENCE && value.as.sequence->flavor <= SEQUENCE_TUPLE;
}

static bool repeat(struct renderer *r, struct value what, int64_t times, struct value *out)
{
	AUTO(buf) text = buf_limited(LIMIT_TEMPLATE_OUTPUT_BYTES);
	if (times < 0)
		times = 0;
	if (what.kind == VALUE_STRING) {
		for (int64_t i = 0; i < times && what.as.string.size > 0 && !text.full; i++)
			buf_add(&text, what.as.string);
		return jinja_copy(r, &text, out);
	}
	const struct sequence *sequence = what.as.sequence;
	if (sequence->count == 0)
		times = 0;
	else if (times > LIMIT_TEMPLATE_STEPS / (int64_t)sequence->count)
		return jinja_fail(r, "the list would have too many items");
	if (!jinja_sequence(r, sequence->flavor, sequence->count * (size_t)times, out))
		return false;
	for (size_t i = 0; i < out->as.sequence->count; i++)
		out->as.sequence->at[i] = jinja_value_item(r, sequence, i % sequence->count);
	return true;
}

/* ---- numbers ----------------------------------------------------------------------------------- */

static bool whole_power(struct renderer *r, int64_t base, int64_t exponent, struct value *out)
{
	int64_t result = 1;
	if (exponent < 0) {
		if (base == 0)
			return jinja_fail(r, "division by zero");
		*out = jinja_value_real(pow((double)base, (double)exponent));
		return true;
	}
	while (exponent > 0) {
		if (exponent % 2 == 1 && __builtin_mul_overflow(result, base, &result))
			return too_large(r);
		exponent /= 2;
		if (exponent > 0 && __builtin_mul_overflow(base, base, &base))
			return too_large(r);
	}
	*out = jinja_value_int(result);
	return true;
}

static bool whole(struct renderer *r, enum operator_kind operator, int64_t a, int64_t b,
		  struct value *out)
{
	int64_t result = 0;
	bool overflow = false;
	if (operator== OP_POWER)
		return whole_power(r, a, b, out);
	if ((operator== OP_DIVIDE || operator== OP_FLOOR_DIVIDE || operator== OP_REST) && b == 0)
		return jinja_fail(r, "division by zero");
	if (operator== OP_DIVIDE) {
		*out = jinja_value_real((double)a / (double)b);
		return true;
	}
	if (operator== OP_ADD)
		overflow = __builtin_add_overflow(a, b, &result);
	else if (operator== OP_SUBTRACT)
		overflow = __builtin_sub_overflow(a, b, &result);
	else if (operator== OP_MULTIPLY)
		overflow = __builtin_mul_overflow(a, b, &result);
	else if (b == -1)
		overflow = operator== OP_FLOOR_DIVIDE && __builtin_sub_overflow(0, a, &result);
	else if (operator== OP_FLOOR_DIVIDE)
		result = a / b - (a % b != 0 && (a < 0) != (b < 0));
	else
		result = a % b + (a % b != 0 && (a < 0) != (b < 0) ? b : 0);
	if (overflow)
		return too_large(r);
	*out = jinja_value_int(result);
	return true;
}

static bool is_zero(double x)
{
	return !(x < 0) && !(x > 0) && !isnan(x);
}

static double real_rest(double a, double b)
{
	double rest = fmod(a, b);
	if (!is_zero(rest))
		return (rest < 0) != (b < 0) ? rest + b : rest;
	return copysign(0, b);
}

static bool real(struct renderer *r, enum operator_kind operator, double a, double b,
		 struct value *out)
{
	double result = 0;
	if ((operator== OP_DIVIDE || operator== OP_FLOOR_DIVIDE || operator== OP_REST) &&
	    is_zero(b))
		return jinja_fail(r, "division by zero");
	if (operator== OP_ADD)
		result = a + b;
	else if (operator== OP_SUBTRACT)
		result = a - b;
	else if (operator== OP_MULTIPLY)
		result = a * b;
	else if (operator== OP_DIVIDE)
		result = a / b;
	else if (operator== OP_FLOOR_DIVIDE)
		result = floor((a - real_rest(a, b)) / b + 0.5);
	else if (operator== OP_REST)
		result = real_rest(a, b);
	else if (is_zero(a) && b < 0)
		return jinja_fail(r, "division by zero");
	else
		result = pow(a, b);
	if (operator== OP_POWER &&(isnan(result) || (isinf(result) && !isinf(a) && !isinf(b))))
		return jinja_fail(r, "the result of ** is no number that can be represented");
	*out = jinja_value_real(result);
	return true;
}

static bool format_one(struct renderer *r, struct str format, struct value value, struct value *out)
{
	struct arguments arguments = { .at = &value, .count = 1 };
	if (value.kind == VALUE_SEQUENCE && value.as.sequence->flavor == SEQUENCE_TUPLE) {
		arguments.at = value.as.sequence->at;
		arguments.count = value.as.sequence->count;
	}
	return jinja_format(r, format, &arguments, out);
}

bool jinja_binary(struct renderer *r, enum operator_kind operator, struct value a, struct value b,
		  struct value *out)
{
	static const char *const names[] = { "+", "-", "*", "/", "//", "%", "**" };
	if (jinja_value_is_whole(a) && jinja_value_is_whole(b))
		return whole(r, operator, jinja_value_whole(a), jinja_value_whole(b), out);
	if (jinja_value_is_number(a) && jinja_value_is_number(b))
		return real(r, operator, jinja_value_as_real(a), jinja_value_as_real(b), out);
	if (operator== OP_ADD && a.kind == VALUE_STRING && b.kind == VALUE_STRING)
		return add_strings(r, a.as.string, b.as.string, out);
	if (operator== OP_ADD && is_list(a) && is_list(b) &&
	    a.as.sequence->flavor == b.as.sequence->flavor)
		return add_sequences(r, a.as.sequence, b.as.sequence, out);
	if (operator== OP_MULTIPLY &&(a.kind == VALUE_STRING || is_list(a)) &&
	    jinja_value_is_whole(b))
		return repeat(r, a, jinja_value_whole(b), out);
	if (operator== OP_MULTIPLY &&(b.kind == VALUE_STRING || is_list(b)) &&
	    jinja_value_is_whole(a))
		return repeat(r, b, jinja_value_whole(a), out);
	if (operator== OP_REST && a.kind == VALUE_STRING && b.kind != VALUE_UNDEFINED)
		return format_one(r, a.as.string, b, out);
	return fail_operands(r, names[operator], a, b);
}

bool jinja_negate(struct renderer *r, struct value a, struct value *out)
{
	if (a.kind == VALUE_REAL) {
		*out = jinja_value_real(-a.as.real);
		return true;
	}
	if (jinja_value_is_whole(a))
		return whole(r, OP_SUBTRACT, 0, jinja_value_whole(a), out);
	if (a.kind == VALUE_UNDEFINED)
		return jinja_fail(r, STR_FMT " is undefined", STR_ARG(a.as.string));
	return jinja_fail(r, "%s has no sign", jinja_value_kind_name(a));
}
