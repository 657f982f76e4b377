/* api/import_variables.c -- environment variables in an imported file: ${NAME} and ${NAME:-default}.
 *
 * A file that someone else has written must not read what it likes from the environment of the server, so only the
 * variables of the setting models.variables are read.  They are read once, at the import: what is stored has values.
 */
#include "api/import.h"
#include "base/buf.h"

static bool is_allowed(const struct import *import, struct str name)
{
	struct str_list allowed = import->api->settings.variables;
	for (size_t i = 0; i < allowed.count; i++)
		if (str_equal(allowed.at[i], name))
			return true;
	return false;
}

struct str import_variable(const struct import *import, struct str name)
{
	const char *const *one = import->api->settings.environment;
	if (!is_allowed(import, name))
		return S("");
	for (; one != NULL && *one != NULL; one++) {
		struct str variable = str_from_c(*one);
		if (str_starts(variable, name) && str_starts(str_skip(variable, name.size), S("=")))
			return str_skip(variable, name.size + 1);
	}
	return S("");
}

static void add_variable(struct import *import, struct str file, const struct json *place,
			 struct str inner, struct buf *out)
{
	size_t at = inner.size;
	bool has_default = str_find(inner, S(":-"), &at);
	struct str name = str_head(inner, has_default ? at : inner.size);
	struct str fallback = has_default ? str_skip(inner, at + 2) : S("");
	struct str value = import_variable(import, name);
	buf_add(out, value.size > 0 ? value : fallback);
	if (!is_allowed(import, name) && has_default)
		import_warn(import, file, place,
			    "variable " STR_FMT
			    " is not among models.variables, so its default is used",
			    STR_ARG(name));
	else if (!is_allowed(import, name))
		import_problem(import, file, place,
			       "variable " STR_FMT
			       " may not be read: add it to models.variables, or give a default: "
			       "${" STR_FMT ":-value}",
			       STR_ARG(name), STR_ARG(name));
	else if (value.size == 0 && !has_default)
		import_problem(import, file, place,
			       "variable " STR_FMT
			       " is not set in the environment of the server, and has no default",
			       STR_ARG(name));
}

static struct str expand_text(struct import *import, struct str file, const struct json *place)
{
	struct str rest = place->as.string;
	AUTO(buf) out = { 0 };
	size_t begin, end;
	if (!str_find(rest, S("${"), &begin))
		return rest;
	while (str_find(rest, S("${"), &begin)) {
		struct str behind = str_skip(rest, begin + 2);
		if (!str_find(behind, S("}"), &end)) {
			import_problem(import, file, place, "${ without a closing brace");
			return S("");
		}
		buf_add(&out, str_head(rest, begin));
		add_variable(import, file, place, str_head(behind, end), &out);
		rest = str_skip(behind, end + 1);
	}
	buf_add(&out, rest);
	return str_copy(import->arena, buf_str(&out));
}

static struct json expanded(struct import *import, struct str file, const struct json *from)
{
	struct json out = *from;
	if (from->kind == JSON_STRING)
		out.as.string = expand_text(import, file, from);
	if (from->kind == JSON_LIST) {
		struct json *items = arena_array(import->arena, struct json, from->as.list.count);
		for (size_t i = 0; i < from->as.list.count; i++)
			items[i] = expanded(import, file, &from->as.list.at[i]);
		out.as.list.at = items;
	}
	if (from->kind == JSON_OBJECT) {
		struct json_member *members =
			arena_array(import->arena, struct json_member, from->as.object.count);
		for (size_t i = 0; i < from->as.object.count; i++) {
			members[i] = from->as.object.at[i];
			members[i].value = expanded(import, file, &from->as.object.at[i].value);
		}
		out.as.object.at = members;
	}
	return out;
}

const struct json *import_expand(struct import *import, struct str file, const struct json *tree)
{
	struct json *out = arena_new(import->arena, struct json);
	*out = expanded(import, file, tree);
	return out;
}
