/* template/jinja.h -- prompt templates: a subset of Jinja2 over JSON data.
 *
 *	{{ expression | filter }}   {% if %} {% for %} {% set %} {% macro %} {% call %} {% filter %}
 *	{% with %} {% include %} {% raw %}   {# comment #}   {%- and -%} trim white space
 *
 * docs/templates.md is the manual of the language.  The meaning is that of Jinja2 with its default
 * settings; the differences are listed there, and tests/template compares both.
 *
 * A template reads nothing but `data` and the files that the caller's `load` returns.  Data is never
 * parsed as a template.  The same template and data give the same text or the same error: limits.def
 * bounds the source, the nesting, the steps, the memory and the output, and none of them is a time.
 *
 * An error's text begins with the place, as in `prompts/review.md:12:7: unknown filter "uper"; did
 * you mean "upper"?`; its line and column repeat the place.  Pure; any thread.
 */
#ifndef TEMPLATE_JINJA_H
#define TEMPLATE_JINJA_H

#include "base/json.h"

struct jinja_template;

/* Gives the source of an included template; ERROR_NOT_FOUND = there is none of this name. */
typedef bool jinja_load(void *context, struct str name, struct arena *arena, struct str *out_source,
			struct error *error);

/* A zeroed struct has the defaults of Jinja2. */
struct jinja_options {
	bool trim_blocks;   /* remove the line end behind a block or comment */
	bool lstrip_blocks; /* remove blanks before a block or comment that begins its line */
	bool strict;        /* an undefined value is an error wherever it is used */
	jinja_load *load;   /* NULL = nothing can be included */
	void *context;
};

/* Parses a template.  Name and source must live as long as the template. */
MUST_CHECK bool jinja_parse(struct str name, struct str source, const struct jinja_options *options,
			    struct arena *arena, const struct jinja_template **out_template,
			    struct error *error);

/* Renders a template; the members of the mapping `data` are its variables. */
MUST_CHECK bool jinja_render(const struct jinja_template *template, const struct json *data,
			     const struct jinja_options *options, struct arena *arena,
			     struct str *out_text, struct error *error);

/* A name that a template reads and does not bind itself. */
struct jinja_name {
	struct str name;
	struct str_list
		path;    /* the literal keys behind it: of `steps.a.status`, "a" and "status" */
	bool bound;      /* it is set on some way to this place, but not on every one */
	struct str file; /* where it is read */
	uint32_t line, column;
};

/* Called for each name; returns false and sets *error, whose text then gets the place. */
typedef bool jinja_visit(void *context, const struct jinja_name *name, struct error *error);

/* Visits the names that the template and the templates it includes read.  With `visit` NULL it only
 * checks that every include has a literal name and can be parsed.  Fails if an include has no literal
 * name. */
MUST_CHECK bool jinja_names(const struct jinja_template *template,
			    const struct jinja_options *options, jinja_visit *visit, void *context,
			    struct arena *arena, struct error *error);

/* The names of filters and tests, sorted, for documents and their test. */
struct str_list jinja_filter_names(struct arena *arena);
struct str_list jinja_test_names(struct arena *arena);

#endif
