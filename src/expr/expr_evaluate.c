/* expr/expr_evaluate.c -- evaluates a parsed expression.
 *
 * Every visited node and every compared item costs one step of a budget, so that no expression can
 * block the engine.
 */
#include <string.h>

#include "base/limits.h"
#include "expr/expr_tree.h"

struct evaluator {
	const struct expr_scope *scope;
	struct arena *arena;
	struct error *error;
	size_t steps;
	unsigned quiet; /* depth of places where a missing value is expected */
};

static const struct json null_value = { .kind = JSON_NULL };
/* The missing value; a path into it is not reported again. */
static const struct json missing_value = { .kind = JSON_NULL };

static const struct json *evaluate(struct evaluator *e, const struct expr_node *node);

static const struct json *fail_value(struct evaluator *e, const char *what)
{
	fail(e->error, ERROR_INVALID, "%s", what);
	return NULL;
}

static bool spend(struct evaluator *e)
{
	if (++e->steps <= LIMIT_EXPR_STEPS)
		return true;
	fail_value(e, "the expression takes too many steps");
	return false;
}

static const struct json *value_new(struct evaluator *e, struct json value)
{
	struct json *json = arena_new(e->arena, struct json);
	*json = value;
	return json;
}

static const struct json *bool_new(struct evaluator *e, bool value)
{
	return value_new(e, (struct json){ .kind = JSON_BOOL, .as.boolean = value });
}

static const struct json *real_new(struct evaluator *e, double value)
{
	if (value != value || value > 1.7976931348623157e308 || value < -1.7976931348623157e308)
		return fail_value(e, "the result is not a finite number");
	return value_new(e, (struct json){ .kind = JSON_REAL, .as.real = value });
}

/* ---- truth and equality ---------------------------------------------------------------- */

bool expr_is_true(const struct json *value)
{
	if (value == NULL)
		return false;
	switch (value->kind) {
	case JSON_NULL:
		return false;
	case JSON_BOOL:
		return value->as.boolean;
	case JSON_INT:
		return value->as.integer != 0;
	case JSON_REAL:
		return value->as.real != 0;
	case JSON_STRING:
		return value->as.string.size > 0;
	case JSON_LIST:
		return value->as.list.count > 0;
	case JSON_OBJECT:
		return value->as.object.count > 0;
	}
	return false;
}

bool expr_equal(const struct json *a, const struct json *b)
{
	return json_equal(a == NULL ? &null_value : a, b == NULL ? &null_value : b);
}

/* ---- operators ------------------------------------------------------------------------- */

static const struct json *ordered(struct evaluator *e, enum expr_kind kind, const struct json *a,
				  const struct json *b)
{
	int order;
	if (a->kind == JSON_INT && b->kind == JSON_INT)
		order = (a->as.integer > b->as.integer) - (a->as.integer < b->as.integer);
	else if (json_is_number(a) && json_is_number(b))
		order = (json_real(a) > json_real(b)) - (json_real(a) < json_real(b));
	else if (a->kind == JSON_STRING && b->kind == JSON_STRING)
		order = str_compare(a->as.string, b->as.string);
	else
		return fail_value(e, "only two numbers or two strings can be ordered");
	return bool_new(e, kind == EXPR_LESS      ? order < 0
			   : kind == EXPR_AT_MOST ? order <= 0
			   : kind == EXPR_MORE    ? order > 0
						  : order >= 0);
}

static const struct json *contained(struct evaluator *e, const struct json *what,
				    const struct json *in, bool turned)
{
	bool found = false;
	size_t at;
	if (in->kind == JSON_STRING && what->kind == JSON_STRING) {
		found = what->as.string.size == 0 || str_find(in->as.string, what->as.string, &at);
	} else if (in->kind == JSON_OBJECT && what->kind == JSON_STRING) {
		found = json_member(in, what->as.string) != NULL;
	} else if (in->kind == JSON_LIST) {
		for (size_t i = 0; i < in->as.list.count && !found; i++) {
			if (!spend(e))
				return NULL;
			found = expr_equal(what, &in->as.list.at[i]);
		}
	} else {
		return fail_value(e, "`in` needs a list, a mapping or a string on its right");
	}
	return bool_new(e, found != turned);
}

static const struct json *joined(struct evaluator *e, const struct json *a, const struct json *b)
{
	if (a->kind == JSON_STRING && b->kind == JSON_STRING) {
		size_t size = a->as.string.size + b->as.string.size;
		if (size > LIMIT_VALUE_BYTES)
			return fail_value(e, "the text is over the limit of a value");
		return value_new(e,
				 (struct json){ .kind = JSON_STRING,
						.as.string = str_format(e->arena, STR_FMT STR_FMT,
									STR_ARG(a->as.string),
									STR_ARG(b->as.string)) });
	}
	if (a->kind != JSON_LIST || b->kind != JSON_LIST)
		return fail_value(e, "+ needs two numbers, two strings or two lists");
	size_t count = a->as.list.count + b->as.list.count;
	e->steps += count;
	if (!spend(e))
		return NULL;
	struct json *items = arena_array(e->arena, struct json, count);
	for (size_t i = 0; i < count; i++)
		items[i] = i < a->as.list.count ? a->as.list.at[i]
						: b->as.list.at[i - a->as.list.count];
	return value_new(e, (struct json){ .kind = JSON_LIST, .as.list = { items, count } });
}

static const struct json *whole(struct evaluator *e, enum expr_kind kind, int64_t a, int64_t b)
{
	int64_t result = 0;
	bool over = kind == EXPR_ADD        ? __builtin_add_overflow(a, b, &result)
		    : kind == EXPR_SUBTRACT ? __builtin_sub_overflow(a, b, &result)
		    : kind == EXPR_MULTIPLY ? __builtin_mul_overflow(a, b, &result)
					    : false;
	if (kind == EXPR_REST) {
		if (b == 0)
			return fail_value(e, "nothing can be divided by 0");
		/* The result has the sign of the divisor, as in Python. */
		result = b == -1 ? 0 : a % b;
		if (result != 0 && (result < 0) != (b < 0))
			result += b;
	}
	if (over)
		return fail_value(e, "the result does not fit into 64 bits");
	return value_new(e, (struct json){ .kind = JSON_INT, .as.integer = result });
}

static const struct json *calculated(struct evaluator *e, enum expr_kind kind, const struct json *a,
				     const struct json *b)
{
	if (kind == EXPR_ADD && !(json_is_number(a) && json_is_number(b)))
		return joined(e, a, b);
	if (!json_is_number(a) || !json_is_number(b))
		return fail_value(e, "- * / % need two numbers");
	if (a->kind == JSON_INT && b->kind == JSON_INT && kind != EXPR_DIVIDE)
		return whole(e, kind, a->as.integer, b->as.integer);
	double left = json_real(a), right = json_real(b);
	if ((kind == EXPR_DIVIDE || kind == EXPR_REST) && right == 0)
		return fail_value(e, "nothing can be divided by 0");
	if (kind == EXPR_REST)
		return fail_value(e, "% needs whole numbers");
	return real_new(e, kind == EXPR_ADD        ? left + right
			   : kind == EXPR_SUBTRACT ? left - right
			   : kind == EXPR_MULTIPLY ? left * right
						   : left / right);
}

static const struct json *negated(struct evaluator *e, const struct json *value)
{
	if (value->kind == JSON_INT)
		return whole(e, EXPR_SUBTRACT, 0, value->as.integer);
	if (value->kind == JSON_REAL)
		return real_new(e, -value->as.real);
	return fail_value(e, "- needs a number");
}

/* ---- missing values --------------------------------------------------------------------- */

static void add_reference(struct buf *out, const struct expr_node *node)
{
	static const char *const fields[] = { "outputs", "status", "error" };
	struct json_writer writer = { .out = out };
	switch (node->kind) {
	case EXPR_STEP:
		buf_add_format(out, "steps." STR_FMT ".%s", STR_ARG(node->name),
			       fields[node->field]);
		return;
	case EXPR_CTX:
		buf_add_format(out, "ctx." STR_FMT, STR_ARG(node->name));
		return;
	case EXPR_VARIABLE:
		buf_add(out, node->name);
		return;
	case EXPR_KEY:
		add_reference(out, node->left);
		buf_add_format(out, "." STR_FMT, STR_ARG(node->name));
		return;
	case EXPR_INDEX:
		add_reference(out, node->left);
		buf_add_char(out, '[');
		if (node->right->kind == EXPR_LITERAL)
			json_put_tree(&writer, &node->right->value);
		else
			add_reference(out, node->right);
		buf_add_char(out, ']');
		return;
	case EXPR_LITERAL:
	case EXPR_LIST:
	case EXPR_NOT:
	case EXPR_NEGATE:
	case EXPR_AND:
	case EXPR_OR:
	case EXPR_EQUAL:
	case EXPR_UNEQUAL:
	case EXPR_LESS:
	case EXPR_AT_MOST:
	case EXPR_MORE:
	case EXPR_AT_LEAST:
	case EXPR_IN:
	case EXPR_NOT_IN:
	case EXPR_ADD:
	case EXPR_SUBTRACT:
	case EXPR_MULTIPLY:
	case EXPR_DIVIDE:
	case EXPR_REST:
	case EXPR_CALL:
		break;
	}
	buf_add(out, S("(…)"));
}

static const struct json *missing(const struct evaluator *e, const struct expr_node *node)
{
	const struct expr_scope *scope = e->scope;
	if (e->quiet > 0 || scope->lenient == NULL)
		return &missing_value;
	AUTO(buf) what = buf_limited(LIMIT_WARNING_BYTES);
	add_reference(&what, node);
	scope->lenient(scope->context, EXPR_READ_AS_NULL, buf_str(&what), "");
	return &missing_value;
}

/* Nothing can be missing in these: an expected null, or what was told before. */
static bool is_known_null(const struct json *value)
{
	return value == &null_value || value == &missing_value;
}

/* ---- paths and calls ------------------------------------------------------------------- */

/* Null-safe: a missing value is null, and so is every path into it. */
static const struct json *indexed(const struct evaluator *e, const struct expr_node *node,
				  const struct json *in, const struct json *index)
{
	const struct json *found = NULL;
	if (is_known_null(in))
		return in;
	if (in->kind == JSON_OBJECT && index->kind == JSON_STRING)
		found = json_member(in, index->as.string);
	else if (in->kind == JSON_LIST && index->kind == JSON_INT) {
		int64_t count = (int64_t)in->as.list.count;
		int64_t at = index->as.integer < 0 ? index->as.integer + count : index->as.integer;
		found = at >= 0 && at < count ? json_item(in, (size_t)at) : NULL;
	}
	return found == NULL ? missing(e, node) : found;
}

static const struct json *member_of(const struct evaluator *e, const struct expr_node *node,
				    const struct json *in)
{
	const struct json *found = in->kind == JSON_OBJECT ? json_member(in, node->name) : NULL;
	if (found != NULL)
		return found;
	if (is_known_null(in))
		return in;
	/* The names of inputs are checked when the definition is compiled. */
	bool input = node->left->kind == EXPR_VARIABLE && str_equal(node->left->name, S("inputs"));
	return input ? &null_value : missing(e, node);
}

static const struct json *length(struct evaluator *e, const struct json *value)
{
	size_t count = value->kind == JSON_LIST     ? value->as.list.count
		       : value->kind == JSON_OBJECT ? value->as.object.count
		       : value->kind == JSON_STRING ? value->as.string.size
						    : 0;
	if (value->kind == JSON_STRING) {
		/* Counts characters, not bytes. */
		count = 0;
		for (size_t i = 0; i < value->as.string.size; i++)
			count += ((unsigned char)value->as.string.at[i] & 0xC0) != 0x80;
	} else if (value->kind != JSON_LIST && value->kind != JSON_OBJECT &&
		   value->kind != JSON_NULL) {
		return fail_value(e, "len() needs a list, a mapping or a string");
	}
	return value_new(e, (struct json){ .kind = JSON_INT, .as.integer = (int64_t)count });
}

static const struct json *folded(struct evaluator *e, const struct json *value, bool up)
{
	if (value->kind != JSON_STRING)
		return fail_value(e, "lower() and upper() need a string");
	struct str from = value->as.string;
	char *to = arena_take_text(e->arena, from.size + 1);
	for (size_t i = 0; i < from.size; i++) {
		char c = from.at[i];
		bool turn = up ? c >= 'a' && c <= 'z' : c >= 'A' && c <= 'Z';
		to[i] = (char)(turn ? c ^ 0x20 : c);
	}
	return value_new(e, (struct json){ .kind = JSON_STRING, .as.string = { to, from.size } });
}

static const struct json *as_whole(struct evaluator *e, const struct json *value)
{
	int64_t number;
	if (value->kind == JSON_INT)
		return value;
	if (value->kind == JSON_BOOL)
		return value_new(
			e, (struct json){ .kind = JSON_INT, .as.integer = value->as.boolean });
	if (value->kind == JSON_REAL && value->as.real > -9.2e18 && value->as.real < 9.2e18)
		return value_new(e, (struct json){ .kind = JSON_INT,
						   .as.integer = (int64_t)value->as.real });
	if (value->kind == JSON_STRING && str_to_int(str_trim(value->as.string), &number))
		return value_new(e, (struct json){ .kind = JSON_INT, .as.integer = number });
	return fail_value(e, "int() needs a number, or a string with a number");
}

static const struct json *as_text(struct evaluator *e, const struct json *value)
{
	if (value->kind == JSON_STRING)
		return value;
	AUTO(buf) text = buf_limited(LIMIT_VALUE_BYTES);
	struct json_writer writer = { .out = &text };
	json_put_tree(&writer, value);
	if (text.full)
		return fail_value(e, "the text is over the limit of a value");
	return value_new(e, (struct json){ .kind = JSON_STRING,
					   .as.string = str_copy(e->arena, buf_str(&text)) });
}

static const struct json *called(struct evaluator *e, const struct expr_node *node)
{
	const struct json *value = &null_value;
	if (node->function == EXPR_COALESCE) {
		for (size_t i = 0; i < node->count && value != NULL && value->kind == JSON_NULL;
		     i++) {
			bool last = i + 1 == node->count;
			e->quiet += !last;
			value = evaluate(e, node->items[i]);
			e->quiet -= !last;
		}
		return value;
	}
	value = evaluate(e, node->items[0]);
	if (value == NULL)
		return NULL;
	switch (node->function) {
	case EXPR_LEN:
		return length(e, value);
	case EXPR_LOWER:
	case EXPR_UPPER:
		return folded(e, value, node->function == EXPR_UPPER);
	case EXPR_INT:
		return as_whole(e, value);
	case EXPR_STR:
		return as_text(e, value);
	case EXPR_COALESCE:
		break;
	}
	return value;
}

static const struct json *listed(struct evaluator *e, const struct expr_node *node)
{
	struct json *items = arena_array(e->arena, struct json, node->count);
	for (size_t i = 0; i < node->count; i++) {
		const struct json *item = evaluate(e, node->items[i]);
		if (item == NULL)
			return NULL;
		items[i] = *item;
	}
	return value_new(e, (struct json){ .kind = JSON_LIST, .as.list = { items, node->count } });
}

static const struct json *named(struct evaluator *e, const struct expr_node *node)
{
	const struct expr_scope *scope = e->scope;
	const struct json *found = NULL;
	if (node->kind == EXPR_STEP)
		found = scope->step(scope->context, node->name, node->field);
	else if (node->kind == EXPR_CTX)
		found = scope->ctx(scope->context, node->name);
	else
		found = scope->variable(scope->context, node->name);
	bool expected = node->kind == EXPR_VARIABLE ||
			(node->kind == EXPR_STEP && node->field != EXPR_OUTPUTS);
	return found != NULL ? found : expected ? &null_value : missing(e, node);
}

/* Operators that evaluate both operands. */
static const struct json *combined(struct evaluator *e, enum expr_kind kind, const struct json *a,
				   const struct json *b)
{
	switch (kind) {
	case EXPR_EQUAL:
	case EXPR_UNEQUAL:
		return bool_new(e, expr_equal(a, b) == (kind == EXPR_EQUAL));
	case EXPR_IN:
	case EXPR_NOT_IN:
		return contained(e, a, b, kind == EXPR_NOT_IN);
	case EXPR_LESS:
	case EXPR_AT_MOST:
	case EXPR_MORE:
	case EXPR_AT_LEAST:
		return ordered(e, kind, a, b);
	case EXPR_ADD:
	case EXPR_SUBTRACT:
	case EXPR_MULTIPLY:
	case EXPR_DIVIDE:
	case EXPR_REST:
		return calculated(e, kind, a, b);
	case EXPR_LITERAL:
	case EXPR_LIST:
	case EXPR_STEP:
	case EXPR_CTX:
	case EXPR_VARIABLE:
	case EXPR_KEY:
	case EXPR_INDEX:
	case EXPR_NOT:
	case EXPR_NEGATE:
	case EXPR_AND:
	case EXPR_OR:
	case EXPR_CALL:
		break;
	}
	require(false);
	return NULL;
}

static bool is_null_literal(const struct expr_node *node)
{
	return node->kind == EXPR_LITERAL && node->value.kind == JSON_NULL;
}

/* Whether the operator asks for null. */
static bool expects_null(const struct expr_node *node)
{
	return (node->kind == EXPR_EQUAL || node->kind == EXPR_UNEQUAL) &&
	       (is_null_literal(node->left) || is_null_literal(node->right));
}

static const struct json *operated(struct evaluator *e, const struct expr_node *node)
{
	bool expected = expects_null(node);
	e->quiet += expected;
	const struct json *left = evaluate(e, node->left);
	const struct json *right = NULL;
	bool both = node->kind != EXPR_KEY && node->kind != EXPR_NOT && node->kind != EXPR_NEGATE &&
		    node->kind != EXPR_AND && node->kind != EXPR_OR;
	if (left != NULL && both)
		right = evaluate(e, node->right);
	e->quiet -= expected;
	if (left == NULL || (both && right == NULL))
		return NULL;
	if (node->kind == EXPR_KEY)
		return member_of(e, node, left);
	if (node->kind == EXPR_INDEX)
		return indexed(e, node, left, right);
	if (node->kind == EXPR_NOT)
		return bool_new(e, !expr_is_true(left));
	if (node->kind == EXPR_NEGATE)
		return negated(e, left);
	if (!both)
		return expr_is_true(left) == (node->kind == EXPR_AND) ? evaluate(e, node->right)
								      : left;
	return combined(e, node->kind, left, right);
}

static const struct json *evaluate(struct evaluator *e, const struct expr_node *node)
{
	if (!spend(e))
		return NULL;
	switch (node->kind) {
	case EXPR_LITERAL:
		return &node->value;
	case EXPR_LIST:
		return listed(e, node);
	case EXPR_STEP:
	case EXPR_CTX:
	case EXPR_VARIABLE:
		return named(e, node);
	case EXPR_CALL:
		return called(e, node);
	case EXPR_KEY:
	case EXPR_NOT:
	case EXPR_NEGATE:
	case EXPR_AND:
	case EXPR_OR:
	case EXPR_INDEX:
	case EXPR_EQUAL:
	case EXPR_UNEQUAL:
	case EXPR_LESS:
	case EXPR_AT_MOST:
	case EXPR_MORE:
	case EXPR_AT_LEAST:
	case EXPR_IN:
	case EXPR_NOT_IN:
	case EXPR_ADD:
	case EXPR_SUBTRACT:
	case EXPR_MULTIPLY:
	case EXPR_DIVIDE:
	case EXPR_REST:
		break;
	}
	return operated(e, node);
}

bool expr_evaluate(const struct expr *expr, const struct expr_scope *scope, struct arena *arena,
		   const struct json **out_value, struct error *error)
{
	struct evaluator evaluating = { .scope = scope, .arena = arena, .error = error };
	const struct json *value = evaluate(&evaluating, expr->root);
	if (value == NULL)
		return false;
	*out_value = value;
	return true;
}

bool expr_holds(const struct expr *expr, const struct expr_scope *scope, struct arena *arena)
{
	const struct json *value;
	struct error error;
	if (expr_evaluate(expr, scope, arena, &value, &error))
		return expr_is_true(value);
	if (scope->lenient != NULL)
		scope->lenient(scope->context,
			       expr->negative ? EXPR_CONDITION_TRUE : EXPR_CONDITION_FALSE,
			       expr->text, error.text);
	return expr->negative;
}
