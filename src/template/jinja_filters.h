/* template/jinja_filters.h -- the functions of filters.def; private to template. */
#ifndef TEMPLATE_JINJA_FILTERS_H
#define TEMPLATE_JINJA_FILTERS_H

#include "template/jinja_render.h"

#define FILTER(name, function, parameters, required) filter_function jinja_filter_##function;
#define VARIADIC(name, function)                     variadic_filter jinja_filter_##function;
#include "template/filters.def"
#undef FILTER
#undef VARIADIC

/* The items of the value sorted by `key_path`; a path may be several with commas. */
MUST_CHECK bool jinja_filter_sorted(struct renderer *r, struct value value, struct value key_path,
				    bool case_sensitive, bool reverse, struct value *out);

#endif
