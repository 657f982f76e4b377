/* expr/expr.h -- expressions: the language of `when`, `until`, criteria and `${…}`.
 *
 *	or  and  not   == != < <= > >=  in  not in  is  is not   + - * / %   -x
 *	1  2.5  'text'  "text"  true false null  (True False None)  [a, b]
 *	name.key[index]…      coalesce(a, b, …)  len(x)  lower(x)  upper(x)  int(x)  str(x)
 *
 * An expression may contain `${…}`, which means the same as parentheses: `${steps.a.outputs.n} > 3
 * and not ${inputs.quick}` and `steps.a.outputs.n > 3` are both valid.
 *
 * Names: `inputs.x`, `steps.NAME.outputs` (or `output`), `steps.NAME.status`, `steps.NAME.error`,
 * `ctx.x`, and the variables of the scope (`item`, `index`, `output`).  Paths are null-safe: a
 * missing value is null, and so is every path into it.  A key is looked up in a mapping only; there
 * are no attributes or methods.
 *
 * Arithmetic on two whole numbers is exact in 64 bits, otherwise it uses doubles.  Overflow and
 * division by zero are errors.  `==` compares by value; a whole number equals the same double.  `<`
 * compares two numbers or two strings.  `in` searches a list, the keys of a mapping, or a string.
 * `+` also concatenates strings and lists.  null, false, 0, "", [] and {} are false; all other
 * values are true.  `and` and `or` return one of their operands and evaluate the second one only
 * when needed.
 *
 * limits.def bounds the text, the nodes, the depth, the evaluation steps and the result.  Pure.
 */
#ifndef EXPR_EXPR_H
#define EXPR_EXPR_H

#include "base/json.h"

struct expr;

enum expr_field { EXPR_OUTPUTS, EXPR_STATUS, EXPR_ERROR };

/* A lenient rule that an evaluation has used. */
enum expr_leniency {
	EXPR_READ_AS_NULL,    /* `what` is a reference to something that is missing */
	EXPR_FAILED_AS_NULL,  /* `what` is an expression of a template that failed */
	EXPR_CONDITION_FALSE, /* `what` is a condition that failed and counts as false */
	EXPR_CONDITION_TRUE,  /* the same with `!=` or `not in`, which counts as true */
};

/* Resolves names; NULL means null. */
struct expr_scope {
	const struct json *(*step)(void *context, struct str name, enum expr_field field);
	const struct json *(*ctx)(void *context, struct str name);
	/* inputs, item, output … */
	const struct json *(*variable)(void *context, struct str name);
	void *context;
	/* Called for every use of a lenient rule; `why` is the error of the failed part.  NULL = not
	 * called.  A null that the expression expects is no such use: within coalesce() except for
	 * its last argument, compared with null, an input that was not given, no error, a status. */
	void (*lenient)(void *context, enum expr_leniency rule, struct str what, const char *why);
};

/* EXPR_NAME_SECRET occurs in templates only (template.h). */
enum expr_name {
	EXPR_NAME_INPUT,
	EXPR_NAME_STEP,
	EXPR_NAME_CTX,
	EXPR_NAME_VARIABLE,
	EXPR_NAME_SECRET,
};

/* Called for each name in an expression; returns false and sets *error when the name is invalid.
 * `key` is the output that is read of a step, as in steps.NAME.outputs.KEY; "" = all, or another
 * field. */
typedef bool expr_visit(void *context, enum expr_name kind, struct str name, struct str key,
			struct error *error);

/* Parses an expression into the arena; the text must live as long as the expression.  The error has
 * the column within the text. */
MUST_CHECK bool expr_parse(struct str text, struct arena *arena, const struct expr **out_expr,
			   struct error *error);
MUST_CHECK bool expr_names(const struct expr *expr, expr_visit *visit, void *context,
			   struct error *error);

/* Evaluates an expression; false on an error.  The result shares values with the scope. */
MUST_CHECK bool expr_evaluate(const struct expr *expr, const struct expr_scope *scope,
			      struct arena *arena, const struct json **out_value,
			      struct error *error);
/* Evaluates an expression as a condition.  On an error the condition is true if it contains `!=` or
 * `not in`, else false, as in the runtime vocabulary. */
bool expr_holds(const struct expr *expr, const struct expr_scope *scope, struct arena *arena);
bool expr_is_true(const struct json *value); /* NULL is null */
bool expr_equal(const struct json *a, const struct json *b);

#endif
