/* expr/template.h -- templates: `${…}` in the values of a definition.
 *
 * A template is any JSON value.  In its strings, each `${…}` is replaced by the value of the
 * expression (expr.h).  A string that consists of a single `${…}` becomes the value with its type.
 * Inside other text, a string is inserted as it is, null as nothing, and any other value as JSON.
 * An expression that fails is null.  `$${` is a literal `${`.  Keys of mappings are not templates.
 *
 * The rendered text is never rendered again.  Pure.
 */
#ifndef EXPR_TEMPLATE_H
#define EXPR_TEMPLATE_H

#include "expr/expr.h"

/* Parses every expression of the template and visits its names.  The error has the position of the
 * string with the first invalid expression or name. */
MUST_CHECK bool template_check(const struct json *template, struct arena *arena, expr_visit *visit,
			       void *context, struct error *error);

/* Renders a template that has passed template_check().  Returns NULL when the rendered strings take
 * more than LIMIT_VALUE_BYTES.  The result shares values with the scope. */
const struct json *template_render(const struct json *template, const struct expr_scope *scope,
				   struct arena *arena);

#endif
