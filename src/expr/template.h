/* expr/template.h -- templates: `${…}` in the values of a definition.
 *
 * A template is any JSON value.  In its strings, each `${…}` is replaced by the value of the
 * expression (expr.h).  A string that consists of a single `${…}` becomes the value with its type.
 * Inside other text, a string is inserted as it is, null as nothing, and any other value as JSON.
 * An expression that fails is null.  `$${` is a literal `${`.  Keys of mappings are not templates.
 *
 * `${secrets.NAME}` is not an expression but a place: it renders as nothing, and
 * template_render_secrets() reports where.  A secret has no other form and no value here.
 *
 * The rendered text is never rendered again.  Pure.
 */
#ifndef EXPR_TEMPLATE_H
#define EXPR_TEMPLATE_H

#include "expr/expr.h"

/* Parses every expression of the template and visits its names.  The error has the position of the
 * string with the first invalid expression or name, and the offset in it. */
MUST_CHECK bool template_check(const struct json *template, struct arena *arena, expr_visit *visit,
			       void *context, struct error *error);

/* Renders a template that has passed template_check().  Returns NULL when the rendered strings take
 * more than LIMIT_VALUE_BYTES.  The result shares values with the scope. */
const struct json *template_render(const struct json *template, const struct expr_scope *scope,
				   struct arena *arena);

/* A place of a secret in a rendered value. */
struct template_secret {
	struct str pointer; /* JSON pointer of the string */
	size_t offset;      /* in its bytes */
	struct str name;
};

struct template_secrets {
	struct template_secret *at;
	size_t count, room;
};

/* As template_render(), and adds the places of secrets in the order in which they occur. */
const struct json *template_render_secrets(const struct json *template,
					   const struct expr_scope *scope, struct arena *arena,
					   struct template_secrets *secrets);

#endif
