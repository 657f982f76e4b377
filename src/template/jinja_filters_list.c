/* template/jinja_filters_list.c -- filters of lists, mappings and numbers. */
#include <math.h>

#include "base/utf8.h"
#include "template/jinja_filters.h"

/* ---- values --------------------------------------------------------------------------------------- */

bool jinja_filter_default(struct renderer *r, struct value value, struct value *arguments,
			  struct value *out)
{
	bool boolean, truth = true;
	if (!jinja_bool_argument(r, arguments[1], false, &boolean))
		return false;
	if (value.kind == VALUE_UNDEFINED)
		truth = false;
	else if (boolean && !jinja_value_true(r, value, &truth))
		return false;
	*out = truth ? value : jinja_given(arguments[0]) ? arguments[0] : jinja_value_string(S(""));
	return true;
}

bool jinja_filter_abs(struct renderer *r, struct value value, struct value *arguments,
		      struct value *out)
{
	(void)arguments;
	if (value.kind == VALUE_REAL) {
		*out = jinja_value_real(fabs(value.as.real));
		return true;
	}
	if (!jinja_value_is_whole(value))
		return jinja_fail(r, "abs needs a number, not %s", jinja_value_kind_name(value));
	*out = jinja_value_int(jinja_value_whole(value));
	return out->as.integer >= 0 || jinja_negate(r, *out, out);
}

/* A number as Python reads it from text; false = it is none. */
static bool read_real(struct renderer *r, struct str text, double *out)
{
	const struct json *number;
	struct error ignored;
	AUTO(buf) plain = { 0 };
	text = jinja_text_strip(text, (struct str){ 0 }, true, true);
	bool negative = text.size > 0 && text.at[0] == '-';
	if (text.size > 0 && (text.at[0] == '-' || text.at[0] == '+'))
		text = str_skip(text, 1);
	if (text.size == 0 || text.size > 400 ||
	    !(text.at[0] == '.' || (text.at[0] >= '0' && text.at[0] <= '9')))
		return false;
	while (text.size > 1 && text.at[0] == '0' && text.at[1] >= '0' && text.at[1] <= '9')
		text = str_skip(text, 1);
	if (text.at[0] == '.')
		buf_add_char(&plain, '0');
	for (size_t i = 0; i < text.size; i++) {
		bool bare = text.at[i] == '.' &&
			    (i + 1 == text.size || text.at[i + 1] < '0' || text.at[i + 1] > '9');
		buf_add_char(&plain, text.at[i]);
		if (bare)
			buf_add_char(&plain, '0');
	}
	if (!json_read(str_copy(r->arena, buf_str(&plain)), r->arena, &number, &ignored) ||
	    !json_is_number(number))
		return false;
	*out = negative ? -json_real(number) : json_real(number);
	return true;
}

bool jinja_filter_float(struct renderer *r, struct value value, struct value *arguments,
			struct value *out)
{
	double number;
	*out = jinja_given(arguments[0]) ? arguments[0] : jinja_value_real(0);
	if (value.kind == VALUE_UNDEFINED)
		return jinja_fail(r, STR_FMT " is undefined", STR_ARG(value.as.string));
	if (jinja_value_is_number(value))
		*out = jinja_value_real(jinja_value_as_real(value));
	else if (value.kind == VALUE_STRING && read_real(r, value.as.string, &number))
		*out = jinja_value_real(number);
	return true;
}

static bool read_whole(struct str text, int64_t base, int64_t *out)
{
	text = jinja_text_strip(text, (struct str){ 0 }, true, true);
	bool negative = text.size > 0 && text.at[0] == '-';
	int64_t number = 0;
	if (text.size > 0 && (text.at[0] == '-' || text.at[0] == '+'))
		text = str_skip(text, 1);
	if (text.size > 2 && text.at[0] == '0') {
		char kind = (char)(text.at[1] | 0x20);
		if ((kind == 'x' && base == 16) || (kind == 'o' && base == 8) ||
		    (kind == 'b' && base == 2))
			text = str_skip(text, 2);
	}
	if (text.size == 0)
		return false;
	for (size_t i = 0; i < text.size; i++) {
		char c = text.at[i], low = (char)(c | 0x20);
		int64_t digit = c >= '0' && c <= '9'       ? c - '0'
				: low >= 'a' && low <= 'z' ? low - 'a' + 10
							   : 99;
		if (c == '_' && i > 0 && i + 1 < text.size && text.at[i - 1] != '_')
			continue;
		if (digit >= base || __builtin_mul_overflow(number, base, &number) ||
		    __builtin_add_overflow(number, digit, &number))
			return false;
	}
	*out = negative ? -number : number;
	return true;
}

bool jinja_filter_int(struct renderer *r, struct value value, struct value *arguments,
		      struct value *out)
{
	int64_t base, number;
	double real;
	if (!jinja_int_argument(r, arguments[1], "base", 10, &base))
		return false;
	if (base < 2 || base > 36)
		return jinja_fail(r, "base must be from 2 to 36");
	*out = jinja_given(arguments[0]) ? arguments[0] : jinja_value_int(0);
	if (value.kind == VALUE_UNDEFINED)
		return jinja_fail(r, STR_FMT " is undefined", STR_ARG(value.as.string));
	if (jinja_value_is_whole(value)) {
		*out = jinja_value_int(jinja_value_whole(value));
		return true;
	}
	if (value.kind == VALUE_STRING && read_whole(value.as.string, base, &number)) {
		*out = jinja_value_int(number);
		return true;
	}
	if (value.kind == VALUE_REAL)
		real = value.as.real;
	else if (value.kind != VALUE_STRING || !read_real(r, value.as.string, &real))
		return true;
	if (!(real > -9.2e18 && real < 9.2e18))
		return jinja_fail(r, "the number is too large for a whole number of 64 bits");
	*out = jinja_value_int((int64_t)real);
	return true;
}

static bool round_common(struct renderer *r, double value, int64_t precision, struct value *out)
{
	AUTO(buf) text = { 0 };
	double number;
	if (isinf(value) || isnan(value) || precision > 300) {
		*out = jinja_value_real(value);
		return true;
	}
	if (precision >= 0) {
		buf_add_format(&text, "%.*f", (int)precision, value);
		if (!read_real(r, buf_str(&text), &number))
			number = value;
		*out = jinja_value_real(number);
		return true;
	}
	double power = precision < -300 ? 0 : pow(10, (double)-precision);
	*out = jinja_value_real(power > 0 ? rint(value / power) * power : 0);
	return true;
}

bool jinja_filter_round(struct renderer *r, struct value value, struct value *arguments,
			struct value *out)
{
	int64_t precision;
	struct str method;
	if (!jinja_int_argument(r, arguments[0], "precision", 0, &precision) ||
	    !jinja_text_argument(r, arguments[1], "method", S("common"), &method))
		return false;
	bool up = str_equal(method, S("ceil")), down = str_equal(method, S("floor"));
	if (!up && !down && !str_equal(method, S("common")))
		return jinja_fail(r, "method must be common, ceil or floor");
	if (!jinja_value_is_number(value))
		return jinja_fail(r, "round needs a number, not %s", jinja_value_kind_name(value));
	if (up || down) {
		double power = pow(10, (double)precision);
		double scaled = jinja_value_as_real(value) * power;
		*out = jinja_value_real((up ? ceil(scaled) : floor(scaled)) / power);
		return true;
	}
	if (value.kind == VALUE_REAL)
		return round_common(r, value.as.real, precision, out);
	*out = jinja_value_int(jinja_value_whole(value));
	if (precision >= 0)
		return true;
	if (!round_common(r, (double)out->as.integer, precision, out))
		return false;
	*out = jinja_value_int((int64_t)out->as.real);
	return true;
}

/* ---- items ------------------------------------------------------------------------------------------ */

bool jinja_filter_length(struct renderer *r, struct value value, struct value *arguments,
			 struct value *out)
{
	size_t count;
	(void)arguments;
	if (!jinja_value_count(r, value, &count))
		return false;
	*out = jinja_value_int((int64_t)count);
	return true;
}

bool jinja_filter_list(struct renderer *r, struct value value, struct value *arguments,
		       struct value *out)
{
	struct sequence *items;
	(void)arguments;
	if (!jinja_value_iterate(r, value, &items) ||
	    !jinja_sequence(r, SEQUENCE_LIST, items->count, out))
		return false;
	for (size_t i = 0; i < items->count; i++)
		out->as.sequence->at[i] = jinja_value_item(r, items, i);
	return true;
}

bool jinja_filter_first(struct renderer *r, struct value value, struct value *arguments,
			struct value *out)
{
	struct sequence *items;
	(void)arguments;
	bool generator =
		value.kind == VALUE_SEQUENCE && value.as.sequence->flavor == SEQUENCE_GENERATOR;
	size_t taken = generator ? value.as.sequence->taken : 0;
	if (!jinja_value_iterate(r, value, &items))
		return false;
	if (generator && items->count > 0)
		value.as.sequence->taken = taken + 1;
	*out = items->count > 0 ? jinja_value_item(r, items, 0)
				: jinja_value_undefined(S("the first item"));
	return true;
}

static bool is_generator(struct value value)
{
	return value.kind == VALUE_SEQUENCE && value.as.sequence->flavor == SEQUENCE_GENERATOR;
}

bool jinja_filter_last(struct renderer *r, struct value value, struct value *arguments,
		       struct value *out)
{
	struct sequence *items;
	(void)arguments;
	if (is_generator(value))
		return jinja_fail(r, "last needs a list; write |list|last");
	if (!jinja_value_iterate(r, value, &items))
		return false;
	*out = items->count > 0 ? jinja_value_item(r, items, items->count - 1)
				: jinja_value_undefined(S("the last item"));
	return true;
}

bool jinja_filter_reverse(struct renderer *r, struct value value, struct value *arguments,
			  struct value *out)
{
	struct sequence *items;
	(void)arguments;
	if (!jinja_value_iterate(r, value, &items) ||
	    !jinja_sequence(r, SEQUENCE_GENERATOR, items->count, out))
		return false;
	for (size_t i = 0; i < items->count; i++)
		out->as.sequence->at[i] = jinja_value_item(r, items, items->count - 1 - i);
	if (value.kind != VALUE_STRING)
		return true;
	AUTO(buf) text = buf_limited(LIMIT_TEMPLATE_OUTPUT_BYTES);
	for (size_t i = 0; i < items->count; i++)
		buf_add(&text, out->as.sequence->at[i].as.string);
	return jinja_copy(r, &text, out);
}

static bool add_piece(struct renderer *r, const struct sequence *items, size_t from, size_t to,
		      size_t filled, struct value fill, struct value *out)
{
	if (!jinja_sequence(r, SEQUENCE_LIST, to - from + filled, out))
		return false;
	for (size_t i = from; i < to; i++)
		out->as.sequence->at[i - from] = jinja_value_item(r, items, i);
	for (size_t i = 0; i < filled; i++)
		out->as.sequence->at[to - from + i] = fill;
	return true;
}

bool jinja_filter_batch(struct renderer *r, struct value value, struct value *arguments,
			struct value *out)
{
	struct sequence *items;
	int64_t size;
	bool fills = jinja_given(arguments[1]) && arguments[1].kind != VALUE_NONE;
	if (!jinja_int_argument(r, arguments[0], "linecount", 1, &size) ||
	    !jinja_value_iterate(r, value, &items))
		return false;
	if (size < 1 || size > LIMIT_TEMPLATE_STEPS)
		return jinja_fail(r, "linecount must be from 1 to %d", LIMIT_TEMPLATE_STEPS);
	size_t step = (size_t)size, count = (items->count + step - 1) / step;
	if (!jinja_sequence(r, SEQUENCE_GENERATOR, count, out))
		return false;
	for (size_t i = 0; i < count; i++) {
		size_t from = i * step;
		size_t to = from + step < items->count ? from + step : items->count;
		if (!add_piece(r, items, from, to, fills ? step - (to - from) : 0, arguments[1],
			       &out->as.sequence->at[i]))
			return false;
	}
	return true;
}

bool jinja_filter_slice(struct renderer *r, struct value value, struct value *arguments,
			struct value *out)
{
	struct sequence *items;
	int64_t slices;
	size_t offset = 0;
	bool fills = jinja_given(arguments[1]) && arguments[1].kind != VALUE_NONE;
	if (!jinja_int_argument(r, arguments[0], "slices", 1, &slices) ||
	    !jinja_value_iterate(r, value, &items))
		return false;
	if (slices < 1 || slices > LIMIT_TEMPLATE_STEPS)
		return jinja_fail(r, "slices must be from 1 to %d", LIMIT_TEMPLATE_STEPS);
	size_t count = (size_t)slices, each = items->count / count, extra = items->count % count;
	if (!jinja_sequence(r, SEQUENCE_GENERATOR, count, out))
		return false;
	for (size_t i = 0; i < count; i++) {
		size_t from = offset + i * each;
		offset += i < extra;
		size_t to = offset + (i + 1) * each;
		if (!add_piece(r, items, from, to, fills && i >= extra, arguments[1],
			       &out->as.sequence->at[i]))
			return false;
	}
	return true;
}

bool jinja_filter_items(struct renderer *r, struct value value, struct value *arguments,
			struct value *out)
{
	(void)arguments;
	if (value.kind == VALUE_UNDEFINED)
		return jinja_sequence(r, SEQUENCE_GENERATOR, 0, out);
	if (value.kind != VALUE_MAPPING)
		return jinja_fail(r, "items needs a mapping, not %s", jinja_value_kind_name(value));
	struct arguments none = { 0 };
	if (!jinja_method(r, value, S("items"), &none, out))
		return false;
	out->as.sequence->flavor = SEQUENCE_GENERATOR;
	return true;
}

bool jinja_filter_join(struct renderer *r, struct value value, struct value *arguments,
		       struct value *out)
{
	struct sequence *items;
	AUTO(buf) text = buf_limited(LIMIT_TEMPLATE_OUTPUT_BYTES);
	struct value between = jinja_given(arguments[0]) ? arguments[0] : jinja_value_string(S(""));
	if (!jinja_value_iterate(r, value, &items))
		return false;
	for (size_t i = 0; i < items->count; i++) {
		struct value item = jinja_value_item(r, items, i);
		if (!jinja_work(r, 1) || (i > 0 && !jinja_value_print(r, between, &text)))
			return false;
		if (jinja_given(arguments[1]) && arguments[1].kind != VALUE_NONE &&
		    !jinja_path(r, item, arguments[1], &item))
			return false;
		if (!jinja_value_print(r, item, &text))
			return false;
	}
	return jinja_copy(r, &text, out);
}

bool jinja_filter_sum(struct renderer *r, struct value value, struct value *arguments,
		      struct value *out)
{
	struct sequence *items;
	struct value sum = jinja_given(arguments[1]) ? arguments[1] : jinja_value_int(0);
	if (sum.kind == VALUE_STRING)
		return jinja_fail(r, "sum cannot add strings; use join");
	if (!jinja_value_iterate(r, value, &items))
		return false;
	for (size_t i = 0; i < items->count; i++) {
		struct value item = jinja_value_item(r, items, i);
		if (jinja_given(arguments[0]) && arguments[0].kind != VALUE_NONE &&
		    !jinja_path(r, item, arguments[0], &item))
			return false;
		if (!jinja_work(r, 1) || !jinja_binary(r, OP_ADD, sum, item, &sum))
			return false;
	}
	*out = sum;
	return true;
}
