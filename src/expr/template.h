/* expr/template.h -- `${…}` references in the values of a definition.
 *
 * A template is any JSON value.  In its strings, `${path}` is replaced by what the path leads to:
 *
 *	inputs.<name>…            an input of the run
 *	steps.<name>.outputs…     what a step gave (also spelt `output`)
 *
 * followed by any number of `.key` and `[index]`.  Paths are null-safe: a missing key, a step
 * without outputs, an index out of range give null.  A string that is nothing but one reference
 * keeps the value's type; inside other text a string stands as it is, null as nothing and
 * everything else as JSON.  `$${` is a literal `${`.  Keys of mappings are not templates.
 *
 * Nothing that is rendered is ever read as a template again.  Pure: memory only.
 */
#ifndef EXPR_TEMPLATE_H
#define EXPR_TEMPLATE_H

#include "base/json.h"

/* What a template may see. */
struct template_scope {
	const struct json *inputs; /* an object, or NULL */
	/* Outputs of the step `name`, NULL when it has none. */
	const struct json *(*outputs)(void *context, struct str name);
	void *context;
};

/* Called for each reference found by template_check(); `step` is "" for inputs.  Returns false
 * after filling the error when the reference makes no sense. */
typedef bool template_visit(void *context, const struct json *at, struct str step, struct str input,
			    struct error *error);

/* Reads every reference of the template; the first one that is malformed fails with the place
 * of the string that holds it. */
MUST_CHECK bool template_check(const struct json *template, template_visit *visit, void *context,
			       struct error *error);

/* The template must have passed template_check().  NULL when the texts it makes come to more than
 * LIMIT_VALUE_BYTES; what it refers to whole is shared, not copied. */
const struct json *template_render(const struct json *template, const struct template_scope *scope,
				   struct arena *arena);

#endif
