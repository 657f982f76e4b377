/* template/jinja_render.h -- the state of a rendering; private to template.
 *
 * The functions return false after jinja_fail() has filled the error.  jinja_work() counts steps and
 * jinja_charge() bytes, so that the limits do not depend on time or memory of the machine.
 */
#ifndef TEMPLATE_JINJA_RENDER_H
#define TEMPLATE_JINJA_RENDER_H

#include "template/jinja_tree.h"

struct binding {
	struct str name;
	struct value value;
	struct binding *next;
};

struct scope {
	struct scope *outer;
	struct binding *first;
};

struct macro {
	const struct node *node;
	struct scope *scope; /* where it was defined */
};

struct loop {
	const struct node *node;
	struct scope *scope; /* around the loop */
	struct sequence *items;
	size_t index, depth;
	struct value changed; /* the arguments of the last changed() */
	bool has_changed;
};

struct loaded_template {
	struct str name;
	const struct jinja_template *template;
	struct loaded_template *next;
};

struct renderer {
	const struct jinja_options *options;
	struct arena *arena;
	const struct json *data;
	struct scope *scope;
	struct buf *out;
	const struct node *place; /* of the operation under way, for errors */
	struct loaded_template *loaded;
	size_t steps, memory, depth;
	struct error *error;
};

/* Arguments of a call. */
struct arguments {
	struct value *at;
	size_t count;
	struct str *names; /* of the keyword arguments, which are behind the others */
	size_t keywords;
};

bool jinja_fail(struct renderer *r, const char *format, ...) PRINTF_LIKE(2, 3);
/* Counts steps or bytes and fails at a limit. */
MUST_CHECK bool jinja_work(struct renderer *r, size_t steps);
MUST_CHECK bool jinja_charge(struct renderer *r, size_t bytes);
/* Enters a level of nesting; the caller leaves it by r->depth--. */
MUST_CHECK bool jinja_enter(struct renderer *r);
MUST_CHECK bool jinja_copy(struct renderer *r, const struct buf *text, struct value *out);
MUST_CHECK bool jinja_sequence(struct renderer *r, enum sequence_flavor flavor, size_t count,
			       struct value *out);
MUST_CHECK bool jinja_mapping(struct renderer *r, size_t room, struct value *out);
void jinja_mapping_put(struct mapping *mapping, struct value key, struct value value);

/* jinja_evaluate.c */
MUST_CHECK bool jinja_evaluate(struct renderer *r, const struct node *node, struct value *out);
MUST_CHECK bool jinja_arguments(struct renderer *r, const struct node *items,
				struct arguments *out);
bool jinja_lookup(struct renderer *r, struct str name, struct value *out);
MUST_CHECK bool jinja_attribute(struct renderer *r, struct value of, struct str name,
				struct value *out);
MUST_CHECK bool jinja_item(struct renderer *r, struct value of, struct value key,
			   struct value *out);
/* The value behind "a.b.0". */
MUST_CHECK bool jinja_path(struct renderer *r, struct value of, struct value path,
			   struct value *out);

/* jinja_render.c */
MUST_CHECK bool jinja_body(struct renderer *r, const struct node *body);
MUST_CHECK bool jinja_macro_call(struct renderer *r, const struct macro *macro,
				 const struct arguments *arguments, struct value *out);
MUST_CHECK bool jinja_loop_call(struct renderer *r, struct loop *loop,
				const struct arguments *arguments, struct value *out);
MUST_CHECK bool jinja_bind(struct renderer *r, struct str name, struct value value);
MUST_CHECK bool jinja_scope(struct renderer *r, struct scope *outer);

/* jinja_operator.c */
MUST_CHECK bool jinja_binary(struct renderer *r, enum operator_kind operator, struct value a,
			     struct value b, struct value *out);
MUST_CHECK bool jinja_negate(struct renderer *r, struct value a, struct value *out);
void jinja_real_text(double real, struct buf *out); /* as Python prints it */
/* As Python's `format % arguments`. */
MUST_CHECK bool jinja_format(struct renderer *r, struct str format,
			     const struct arguments *arguments, struct value *out);

/* Filters, tests and methods by name. */
typedef bool filter_function(struct renderer *r, struct value value, struct value *arguments,
			     struct value *out);
typedef bool variadic_filter(struct renderer *r, struct value value,
			     const struct arguments *arguments, struct value *out);

bool jinja_filter_exists(struct str name);
bool jinja_test_exists(struct str name);
struct str jinja_filter_closest(struct str name);
struct str jinja_test_closest(struct str name);
MUST_CHECK bool jinja_filter(struct renderer *r, struct str name, struct value value,
			     const struct arguments *arguments, struct value *out);
MUST_CHECK bool jinja_test(struct renderer *r, struct str name, struct value value,
			   const struct arguments *arguments, bool *out);
bool jinja_has_method(struct value of, struct str name);
MUST_CHECK bool jinja_method(struct renderer *r, struct value of, struct str name,
			     const struct arguments *arguments, struct value *out);
/* Puts arguments in the order of `parameters`, which are names with blanks between them; those that
 * are absent are undefined with the text NULL. */
MUST_CHECK bool jinja_order(struct renderer *r, struct str what, const char *parameters,
			    size_t required, const struct arguments *arguments, struct value *out);
static inline bool jinja_given(struct value argument)
{
	return argument.kind != VALUE_UNDEFINED || argument.as.string.at != NULL;
}
/* Arguments that must have a type; `name` is that of the parameter. */
MUST_CHECK bool jinja_int_argument(struct renderer *r, struct value argument, const char *name,
				   int64_t fallback, int64_t *out);
MUST_CHECK bool jinja_bool_argument(struct renderer *r, struct value argument, bool fallback,
				    bool *out);
MUST_CHECK bool jinja_text_argument(struct renderer *r, struct value argument, const char *name,
				    struct str fallback, struct str *out);

enum { JINJA_ARGUMENTS = 8 }; /* the most parameters of a filter or method */

#endif
