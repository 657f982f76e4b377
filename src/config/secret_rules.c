/* config/secret_rules.c -- finds the rule of a secret and applies it. */
#include "config/secret_rules.h"

#include "base/limits.h"
#include "base/utf8.h"
#include "base/yaml.h"
#include "contract/run_secret_types.h"
#include "os/file.h"

#define FILE_NAME "secrets.yaml"

static bool read_rules(const char *folder, struct arena *arena,
		       const struct run_secret_rules **out_rules, struct error *error)
{
	struct str text;
	const struct json *tree;
	struct problems problems = { .arena = arena };
	if (!file_read_confined(folder, FILE_NAME, LIMIT_CONFIG_BYTES, arena, &text, error)) {
		if (error->code != ERROR_NOT_FOUND) {
			error_prefix(error, FILE_NAME ": ");
			return false;
		}
		return fail(error, ERROR_NOT_FOUND, "there is no " FILE_NAME " in the data folder");
	}
	if (!yaml_read(text, arena, &tree, error)) {
		error_prefix(error, FILE_NAME ":%u:%u: ", error->line, error->column);
		return false;
	}
	struct contract_source source = { .json = tree, .text = text };
	*out_rules = run_secret_rules_parse(&source, arena, &problems);
	if (*out_rules != NULL)
		return true;
	problems_fail(&problems, error);
	error_prefix(error, FILE_NAME ":%u:%u: ", error->line, error->column);
	return false;
}

static bool lists(struct str_list names, struct str name)
{
	for (size_t i = 0; i < names.count; i++)
		if (str_equal(names.at[i], name) || str_equal(names.at[i], S("*")))
			return true;
	return false;
}

static bool check_rule(const struct run_secret_rule *rule, const struct secret_request *request,
		       struct error *error)
{
	if (!request->uses)
		return true;
	if (!lists(rule->tools, request->tool))
		return fail(error, ERROR_FORBIDDEN,
			    "tool " STR_FMT
			    " may not use it: add the tool to its list tools in " FILE_NAME,
			    STR_ARG(request->tool));
	if (!lists(rule->workflows, request->workflow))
		return fail(error, ERROR_FORBIDDEN,
			    "workflow " STR_FMT
			    " may not use it: add the workflow to its list workflows in " FILE_NAME,
			    STR_ARG(request->workflow));
	return true;
}

static bool resolve(const struct secret_places *places, const struct secret_request *request,
		    struct arena *arena, struct str *out_value, struct error *error)
{
	const struct run_secret_rules *rules;
	const struct run_secret_rule *rule = NULL;
	size_t bad;
	if (!read_rules(places->data_folder, arena, &rules, error))
		return false;
	for (size_t i = 0; i < rules->secrets.count; i++)
		if (str_equal(rules->secrets.at[i].key, request->name))
			rule = &rules->secrets.at[i].value;
	if (rule == NULL)
		return fail(error, ERROR_NOT_FOUND, FILE_NAME " has no secret of this name");
	if (!check_rule(rule, request, error))
		return false;
	struct str variable = str_skip(rule->from.reference, 4);
	struct secret_places own = *places;
	if (str_starts(rule->from.reference, S("env:")))
		own.allowed = (struct str_list){ &variable, 1 };
	if (!secret_resolve(&own, rule->from, arena, out_value, error))
		return false;
	if (out_value->size < LIMIT_SECRET_LEAST_BYTES)
		return fail(error, ERROR_INVALID,
			    "its value has fewer than %d bytes, which cannot be masked safely",
			    LIMIT_SECRET_LEAST_BYTES);
	return utf8_valid(*out_value, &bad) || fail(error, ERROR_INVALID, "its value is not UTF-8");
}

bool secret_rules_resolve(const struct secret_places *places, const struct secret_request *request,
			  struct arena *arena, struct str *out_value, struct error *error)
{
	if (resolve(places, request, arena, out_value, error))
		return true;
	error_prefix(error, "secret " STR_FMT ": ", STR_ARG(request->name));
	error->code = ERROR_SECRET_UNAVAILABLE;
	error->line = error->column = 0;
	return false;
}
