/* template/jinja_filters.c -- filters by name, their arguments, and the filters that take other filters. */
#include "template/jinja_filters.h"

#include "contract/closest.h"

struct filter_row {
	struct str name;
	filter_function *function;
	variadic_filter *variadic;
	const char *parameters;
	size_t required;
};

static const struct filter_row filters[] = {
#define FILTER(name, function, parameters, required) \
	{ { #name, sizeof(#name) - 1 }, jinja_filter_##function, NULL, parameters, required },
#define VARIADIC(name, function) \
	{ { #name, sizeof(#name) - 1 }, NULL, jinja_filter_##function, "", 0 },
#include "template/filters.def"
#undef FILTER
#undef VARIADIC
};

static const struct filter_row *find(struct str name)
{
	for (size_t i = 0; i < COUNT(filters); i++)
		if (str_equal(filters[i].name, name))
			return &filters[i];
	return NULL;
}

bool jinja_filter_exists(struct str name)
{
	return find(name) != NULL;
}

struct str jinja_filter_closest(struct str name)
{
	struct str names[COUNT(filters)];
	for (size_t i = 0; i < COUNT(filters); i++)
		names[i] = filters[i].name;
	return closest_word((struct str_list){ names, COUNT(filters) }, name);
}

struct str_list jinja_filter_names(struct arena *arena)
{
	struct str *names = arena_array(arena, struct str, COUNT(filters));
	for (size_t i = 0; i < COUNT(filters); i++)
		names[i] = filters[i].name;
	return (struct str_list){ names, COUNT(filters) };
}

/* ---- arguments -------------------------------------------------------------------------------------- */

static size_t place_of(const char *parameters, struct str name)
{
	struct str rest = str_from_c(parameters), word;
	size_t place = 0;
	for (; str_cut(&rest, ' ', &word); place++)
		if (str_equal(word, name))
			return place;
	return SIZE_MAX;
}

static size_t count_words(const char *parameters)
{
	struct str rest = str_from_c(parameters), word;
	size_t count = 0;
	while (rest.size > 0 && str_cut(&rest, ' ', &word))
		count++;
	return count;
}

bool jinja_order(struct renderer *r, struct str what, const char *parameters, size_t required,
		 const struct arguments *arguments, struct value *out)
{
	size_t most = count_words(parameters);
	for (size_t i = 0; i < JINJA_ARGUMENTS; i++)
		out[i] = (struct value){ .kind = VALUE_UNDEFINED };
	if (arguments->count > most)
		return jinja_fail(r, STR_FMT " takes at most %zu arguments, not %zu", STR_ARG(what),
				  most, arguments->count);
	for (size_t i = 0; i < arguments->count; i++)
		out[i] = arguments->at[i];
	for (size_t i = 0; i < arguments->keywords; i++) {
		size_t place = place_of(parameters, arguments->names[i]);
		if (place == SIZE_MAX)
			return jinja_fail(r, STR_FMT " has no argument \"" STR_FMT "\"%s%s",
					  STR_ARG(what),
					  STR_ARG(str_head(arguments->names[i], LIMIT_QUOTE_BYTES)),
					  most > 0 ? "; it has " : "", parameters);
		if (place < arguments->count)
			return jinja_fail(r, STR_FMT " gets two values for \"" STR_FMT "\"",
					  STR_ARG(what), STR_ARG(arguments->names[i]));
		out[place] = arguments->at[arguments->count + i];
	}
	for (size_t i = 0; i < required; i++)
		if (!jinja_given(out[i]))
			return jinja_fail(r, STR_FMT " needs %zu argument%s: %s", STR_ARG(what),
					  required, required == 1 ? "" : "s", parameters);
	return true;
}

bool jinja_int_argument(struct renderer *r, struct value argument, const char *name,
			int64_t fallback, int64_t *out)
{
	*out = fallback;
	if (!jinja_given(argument))
		return true;
	if (!jinja_value_is_whole(argument))
		return jinja_fail(r, "%s must be a whole number, not %s", name,
				  jinja_value_kind_name(argument));
	*out = jinja_value_whole(argument);
	return true;
}

bool jinja_bool_argument(struct renderer *r, struct value argument, bool fallback, bool *out)
{
	*out = fallback;
	return !jinja_given(argument) || jinja_value_true(r, argument, out);
}

bool jinja_text_argument(struct renderer *r, struct value argument, const char *name,
			 struct str fallback, struct str *out)
{
	*out = fallback;
	if (!jinja_given(argument))
		return true;
	if (argument.kind != VALUE_STRING)
		return jinja_fail(r, "%s must be a string, not %s", name,
				  jinja_value_kind_name(argument));
	*out = argument.as.string;
	return true;
}

bool jinja_filter(struct renderer *r, struct str name, struct value value,
		  const struct arguments *arguments, struct value *out)
{
	const struct filter_row *row = find(name);
	struct value ordered[JINJA_ARGUMENTS];
	if (row == NULL)
		return jinja_fail(r, "unknown filter \"" STR_FMT "\"",
				  STR_ARG(str_head(name, LIMIT_QUOTE_BYTES)));
	if (row->variadic != NULL)
		return row->variadic(r, value, arguments, out);
	return jinja_order(r, name, row->parameters, row->required, arguments, ordered) &&
	       row->function(r, value, ordered, out);
}

/* ---- filters of each item ------------------------------------------------------------------------------ */

/* The arguments behind the first `count`. */
static struct arguments rest_of(const struct arguments *arguments, size_t count)
{
	struct arguments rest = *arguments;
	rest.at += count;
	rest.count -= count;
	return rest;
}

static bool map_attribute(struct renderer *r, const struct sequence *items,
			  const struct arguments *arguments, struct sequence *mapped)
{
	struct value ordered[JINJA_ARGUMENTS];
	if (!jinja_order(r, S("map"), "attribute default", 1, arguments, ordered))
		return false;
	for (size_t i = 0; i < items->count; i++) {
		struct value *item = &mapped->at[i];
		if (!jinja_work(r, 1) ||
		    !jinja_path(r, jinja_value_item(r, items, i), ordered[0], item))
			return false;
		if (item->kind == VALUE_UNDEFINED && jinja_given(ordered[1]) &&
		    ordered[1].kind != VALUE_NONE)
			*item = ordered[1];
	}
	return true;
}

bool jinja_filter_map(struct renderer *r, struct value value, const struct arguments *arguments,
		      struct value *out)
{
	struct sequence *items;
	bool truth;
	if (arguments->count == 0 && arguments->keywords == 0)
		return jinja_fail(r, "map needs the name of a filter, or attribute=");
	/* An undefined or empty value gives no items. */
	if (!jinja_value_true(r, value, &truth))
		return false;
	if (!truth)
		return jinja_sequence(r, SEQUENCE_GENERATOR, 0, out);
	if (!jinja_value_iterate(r, value, &items) ||
	    !jinja_sequence(r, SEQUENCE_GENERATOR, items->count, out))
		return false;
	if (arguments->count == 0)
		return map_attribute(r, items, arguments, out->as.sequence);
	if (arguments->at[0].kind != VALUE_STRING)
		return jinja_fail(r, "map needs the name of a filter, not %s",
				  jinja_value_kind_name(arguments->at[0]));
	struct arguments rest = rest_of(arguments, 1);
	for (size_t i = 0; i < items->count; i++)
		if (!jinja_work(r, 1) ||
		    !jinja_filter(r, arguments->at[0].as.string, jinja_value_item(r, items, i),
				  &rest, &out->as.sequence->at[i]))
			return false;
	return true;
}

/* Keeps the items for which the test gives `wanted`; `path` NULL = the test is of the item itself. */
static bool select_items(struct renderer *r, struct value value, const struct value *path,
			 const struct arguments *test, bool wanted, struct value *out)
{
	struct sequence *items;
	size_t count = 0;
	bool truth;
	if (!jinja_value_true(r, value, &truth))
		return false;
	if (!truth)
		return jinja_sequence(r, SEQUENCE_GENERATOR, 0, out);
	if (test->count > 0 && test->at[0].kind != VALUE_STRING)
		return jinja_fail(r, "expected the name of a test, not %s",
				  jinja_value_kind_name(test->at[0]));
	if (!jinja_value_iterate(r, value, &items) ||
	    !jinja_sequence(r, SEQUENCE_GENERATOR, items->count, out))
		return false;
	struct arguments rest = test->count > 0 ? rest_of(test, 1) : *test;
	for (size_t i = 0; i < items->count; i++) {
		struct value item = jinja_value_item(r, items, i), tested = item;
		bool holds;
		if (!jinja_work(r, 1) || (path != NULL && !jinja_path(r, item, *path, &tested)))
			return false;
		bool good = test->count > 0
				    ? jinja_test(r, test->at[0].as.string, tested, &rest, &holds)
				    : jinja_value_true(r, tested, &holds);
		if (!good)
			return false;
		if (holds == wanted)
			out->as.sequence->at[count++] = item;
	}
	out->as.sequence->count = count;
	return true;
}

bool jinja_filter_select(struct renderer *r, struct value value, const struct arguments *arguments,
			 struct value *out)
{
	return select_items(r, value, NULL, arguments, true, out);
}

bool jinja_filter_reject(struct renderer *r, struct value value, const struct arguments *arguments,
			 struct value *out)
{
	return select_items(r, value, NULL, arguments, false, out);
}

static bool select_attribute(struct renderer *r, struct value value,
			     const struct arguments *arguments, bool wanted, struct value *out)
{
	if (arguments->count == 0)
		return jinja_fail(r, "selectattr and rejectattr need the name of an attribute");
	struct arguments rest = rest_of(arguments, 1);
	return select_items(r, value, &arguments->at[0], &rest, wanted, out);
}

bool jinja_filter_selectattr(struct renderer *r, struct value value,
			     const struct arguments *arguments, struct value *out)
{
	return select_attribute(r, value, arguments, true, out);
}

bool jinja_filter_rejectattr(struct renderer *r, struct value value,
			     const struct arguments *arguments, struct value *out)
{
	return select_attribute(r, value, arguments, false, out);
}

bool jinja_filter_format(struct renderer *r, struct value value, const struct arguments *arguments,
			 struct value *out)
{
	struct str format;
	if (arguments->count > 0 && arguments->keywords > 0)
		return jinja_fail(r, "format takes arguments with names or without, not both");
	return jinja_value_text(r, value, &format) && jinja_format(r, format, arguments, out);
}
