/* expr/expr.h -- expressions: what `when`, `until`, criteria and `${…}` say.
 *
 *	or  and  not   == != < <= > >=  in  not in  is  is not   + - * / %   -x
 *	1  2.5  'text'  "text"  true false null  (True False None)  [a, b]
 *	name.key[index]…      coalesce(a, b, …)  len(x)  lower(x)  upper(x)  int(x)  str(x)
 *
 * A text may hold `${…}`: what is in the braces is an expression in parentheses, so that
 * `${steps.a.outputs.n} > 3 and not ${inputs.quick}` and `steps.a.outputs.n > 3` are both good.
 *
 * Names: `inputs.x`, `steps.NAME.outputs` (also `output`), `steps.NAME.status`, `steps.NAME.error`,
 * `ctx.x`, and the variables a scope has (`item`, `index`, `output`).  Paths are null-safe: what is
 * missing is null and the path goes on.  A key is looked up in a mapping and nowhere else: there
 * are no attributes, methods or types to reach.
 *
 * Numbers are exact in 64 bits where both sides are whole, doubles otherwise; an overflow or a
 * division by nothing cannot be evaluated.  `==` compares by value, whole numbers and doubles
 * alike; `<` takes two numbers or two texts; `in` looks into a list, a mapping's keys or a text;
 * `+` joins texts and lists too.  null, false, 0, "", [] and {} are false, the rest is true; `and`
 * and `or` give one of their sides, the second only when it is needed.
 *
 * Bounded: text, nodes, depth, evaluation steps and results have rows in limits.def.  Pure.
 */
#ifndef EXPR_EXPR_H
#define EXPR_EXPR_H

#include "base/json.h"

struct expr;

enum expr_field { EXPR_OUTPUTS, EXPR_STATUS, EXPR_ERROR };

/* What the names lead to; NULL stands for null. */
struct expr_scope {
	const struct json *(*step)(void *context, struct str name, enum expr_field field);
	const struct json *(*ctx)(void *context, struct str name);
	/* inputs, item, output … */
	const struct json *(*variable)(void *context, struct str name);
	void *context;
};

enum expr_name { EXPR_NAME_INPUT, EXPR_NAME_STEP, EXPR_NAME_CTX, EXPR_NAME_VARIABLE };

/* Called for each name an expression uses.  False after filling the error when it makes no sense.
 */
typedef bool expr_visit(void *context, enum expr_name kind, struct str name, struct error *error);

/* The error has the column within the text.  The expression lives in the arena and borrows the
 * text. */
MUST_CHECK bool expr_parse(struct str text, struct arena *arena, const struct expr **out_expr,
			   struct error *error);
MUST_CHECK bool expr_names(const struct expr *expr, expr_visit *visit, void *context,
			   struct error *error);

/* False when it cannot be evaluated; what the result refers to whole is shared, not copied. */
MUST_CHECK bool expr_evaluate(const struct expr *expr, const struct expr_scope *scope,
			      struct arena *arena, const struct json **out_value,
			      struct error *error);
/* As a condition.  One that cannot be evaluated holds when `!=` or `not in` stands in it (S2). */
bool expr_holds(const struct expr *expr, const struct expr_scope *scope, struct arena *arena);
bool expr_is_true(const struct json *value); /* NULL is null */
bool expr_equal(const struct json *a, const struct json *b);

#endif
