/* expr/template.h -- `${…}` in the values of a definition.
 *
 * A template is any JSON value.  In its strings, `${…}` is replaced by what the expression in it
 * (expr.h) comes to.  A string that is nothing but one `${…}` keeps the value's type; inside other
 * text a string stands as it is, null as nothing and everything else as JSON.  What cannot be
 * evaluated is null.  `$${` is a literal `${`.  Keys of mappings are not templates.
 *
 * Nothing that is rendered is ever read as a template again.  Pure: memory only.
 */
#ifndef EXPR_TEMPLATE_H
#define EXPR_TEMPLATE_H

#include "expr/expr.h"

/* Reads every expression of the template and visits its names; the first one that is malformed, or
 * that `visit` refuses, fails with the place of the string that holds it. */
MUST_CHECK bool template_check(const struct json *template, struct arena *arena, expr_visit *visit,
			       void *context, struct error *error);

/* The template must have passed template_check().  NULL when the texts it makes come to more than
 * LIMIT_VALUE_BYTES; what it refers to whole is shared, not copied. */
const struct json *template_render(const struct json *template, const struct expr_scope *scope,
				   struct arena *arena);

#endif
