/* template/jinja_tests.c -- tests: `value is name(argument)`. */
#include "base/utf8.h"
#include "contract/closest.h"
#include "template/jinja_render.h"

typedef bool test_function(struct renderer *r, struct value value, struct value argument,
			   bool *out);

/* ---- kinds ---------------------------------------------------------------------------------------- */

/* The tests that depend on nothing but the value's kind. */
static bool is_iterable(struct value value)
{
	return value.kind == VALUE_STRING || value.kind == VALUE_SEQUENCE ||
	       value.kind == VALUE_MAPPING || value.kind == VALUE_UNDEFINED;
}

static bool is_callable(struct value value)
{
	return value.kind == VALUE_MACRO || value.kind == VALUE_FUNCTION ||
	       value.kind == VALUE_LOOP || value.kind == VALUE_UNDEFINED;
}

static bool is_sequence(struct value value)
{
	return value.kind == VALUE_STRING || value.kind == VALUE_MAPPING ||
	       value.kind == VALUE_UNDEFINED ||
	       (value.kind == VALUE_SEQUENCE && value.as.sequence->flavor <= SEQUENCE_RANGE);
}

#define KIND_TEST(name, condition)                                                             \
	static bool test_##name(struct renderer *r, struct value value, struct value argument, \
				bool *out)                                                     \
	{                                                                                      \
		(void)r, (void)argument;                                                       \
		*out = (condition);                                                            \
		return true;                                                                   \
	}

KIND_TEST(boolean, value.kind == VALUE_BOOL)
KIND_TEST(callable, is_callable(value))
KIND_TEST(defined, value.kind != VALUE_UNDEFINED)
KIND_TEST(escaped, value.kind == VALUE_STRING && value.safe)
KIND_TEST(false, value.kind == VALUE_BOOL && !value.as.boolean)
KIND_TEST(filter, value.kind == VALUE_STRING && jinja_filter_exists(value.as.string))
KIND_TEST(float, value.kind == VALUE_REAL)
KIND_TEST(integer, value.kind == VALUE_INT)
KIND_TEST(iterable, is_iterable(value))
KIND_TEST(mapping, value.kind == VALUE_MAPPING)
KIND_TEST(none, value.kind == VALUE_NONE)
KIND_TEST(number, jinja_value_is_number(value))
KIND_TEST(sequence, is_sequence(value))
KIND_TEST(string, value.kind == VALUE_STRING)
KIND_TEST(test, value.kind == VALUE_STRING && jinja_test_exists(value.as.string))
KIND_TEST(true, value.kind == VALUE_BOOL && value.as.boolean)
KIND_TEST(undefined, value.kind == VALUE_UNDEFINED)

/* ---- values --------------------------------------------------------------------------------------- */

static bool has_rest(struct renderer *r, struct value value, int64_t by, int64_t rest, bool *out)
{
	struct value left;
	if (value.kind == VALUE_STRING)
		return jinja_fail(r, "a string is not even, odd or divisible");
	return jinja_binary(r, OP_REST, value, jinja_value_int(by), &left) &&
	       jinja_value_equal(r, left, jinja_value_int(rest), out);
}

static bool test_divisibleby(struct renderer *r, struct value value, struct value argument,
			     bool *out)
{
	struct value left;
	if (value.kind == VALUE_STRING)
		return jinja_fail(r, "a string is not divisible");
	return jinja_binary(r, OP_REST, value, argument, &left) &&
	       jinja_value_equal(r, left, jinja_value_int(0), out);
}

static bool test_even(struct renderer *r, struct value value, struct value argument, bool *out)
{
	(void)argument;
	return has_rest(r, value, 2, 0, out);
}

static bool test_odd(struct renderer *r, struct value value, struct value argument, bool *out)
{
	(void)argument;
	return has_rest(r, value, 2, 1, out);
}

/* Whether the text has letters, all of them in one case. */
static bool has_case(struct renderer *r, struct value value, bool upper, bool *out)
{
	struct str text;
	uint32_t c;
	bool any = false, good = true;
	if (!jinja_value_text(r, value, &text) || !jinja_work(r, text.size / 64))
		return false;
	for (size_t size; (size = utf8_decode(text, &c)) > 0; text = str_skip(text, size)) {
		bool is_upper = jinja_text_lower(c) != c;
		bool is_lower = jinja_text_upper(c) != c || c == 0xDF;
		any |= upper ? is_upper : is_lower;
		good &= upper ? !is_lower : !is_upper;
	}
	*out = any && good;
	return true;
}

static bool test_lower(struct renderer *r, struct value value, struct value argument, bool *out)
{
	(void)argument;
	return has_case(r, value, false, out);
}

static bool test_upper(struct renderer *r, struct value value, struct value argument, bool *out)
{
	(void)argument;
	return has_case(r, value, true, out);
}

static bool test_sameas(struct renderer *r, struct value value, struct value argument, bool *out)
{
	*out = value.kind == argument.kind;
	if (*out && value.kind == VALUE_SEQUENCE) {
		const struct sequence *a = value.as.sequence, *b = argument.as.sequence;
		*out = a == b || (a->json != NULL && a->json == b->json);
		return true;
	}
	if (*out && value.kind == VALUE_MAPPING) {
		const struct mapping *a = value.as.mapping, *b = argument.as.mapping;
		*out = a == b || (a->json != NULL && a->json == b->json);
		return true;
	}
	return !*out || value.kind == VALUE_UNDEFINED || jinja_value_equal(r, value, argument, out);
}

/* ---- by name ---------------------------------------------------------------------------------------- */

struct test_row {
	struct str name;
	test_function *function; /* NULL = an operator */
	size_t arguments;
	enum operator_kind operator;
};

static const struct test_row tests[] = {
#define TEST(name, function, arguments) \
	{ { #name, sizeof(#name) - 1 }, test_##function, arguments, OP_EQUAL },
#define OPERATOR(name, operator) { { #name, sizeof(#name) - 1 }, NULL, 1, operator},
#include "template/tests.def"
#undef TEST
#undef OPERATOR
};

static const struct test_row *find(struct str name)
{
	for (size_t i = 0; i < COUNT(tests); i++)
		if (str_equal(tests[i].name, name))
			return &tests[i];
	return NULL;
}

bool jinja_test_exists(struct str name)
{
	return find(name) != NULL;
}

struct str_list jinja_test_names(struct arena *arena)
{
	struct str *names = arena_array(arena, struct str, COUNT(tests));
	for (size_t i = 0; i < COUNT(tests); i++)
		names[i] = tests[i].name;
	return (struct str_list){ names, COUNT(tests) };
}

struct str jinja_test_closest(struct str name)
{
	struct str names[COUNT(tests)];
	for (size_t i = 0; i < COUNT(tests); i++)
		names[i] = tests[i].name;
	return closest_word((struct str_list){ names, COUNT(tests) }, name);
}

static bool compare(struct renderer *r, enum operator_kind operator, struct value a, struct value b,
		    bool *out)
{
	int order;
	if (operator== OP_IN)
		return jinja_value_contains(r, b, a, out);
	if (operator== OP_EQUAL || operator== OP_UNEQUAL) {
		if (!jinja_value_equal(r, a, b, out))
			return false;
		*out = *out == (operator== OP_EQUAL);
		return true;
	}
	if (!jinja_value_compare(r, a, b, &order))
		return false;
	*out = operator== OP_LESS    ? order < 0 :
	       operator== OP_AT_MOST ? order <= 0
	       :
	       operator== OP_MORE ? order > 0
				  : order >= 0;
	return true;
}

bool jinja_test(struct renderer *r, struct str name, struct value value,
		const struct arguments *arguments, bool *out)
{
	const struct test_row *row = find(name);
	if (row == NULL)
		return jinja_fail(r, "unknown test \"" STR_FMT "\"",
				  STR_ARG(str_head(name, LIMIT_QUOTE_BYTES)));
	if (arguments->keywords > 0)
		return jinja_fail(r, "the test " STR_FMT " takes no arguments with names",
				  STR_ARG(name));
	if (arguments->count != row->arguments)
		return jinja_fail(r, "the test " STR_FMT " takes %zu argument%s, not %zu",
				  STR_ARG(name), row->arguments, row->arguments == 1 ? "" : "s",
				  arguments->count);
	struct value argument = arguments->count > 0 ? arguments->at[0] : jinja_value_none();
	if (row->function == NULL)
		return compare(r, row->operator, value, argument, out);
	return row->function(r, value, argument, out);
}
