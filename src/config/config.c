/* config/config.c -- defaults, environment, and access to the effective settings. */
#include "config/config.h"

#include <string.h>

#include "base/limits.h"

void config_defaults(struct config *config, struct arena *arena, const char *user_home)
{
	*config = (struct config){ .arena = arena, .user_home = user_home };
	const struct config_row *row;
	for (size_t i = 0; (row = config_at(i)) != NULL; i++) {
		struct error error;
		/* Without a home directory `~` stays in the path, which then fails when it is used.
		 */
		const char *home = user_home == NULL ? "~" : user_home;
		bool good = config_value_of_text(row, home, row->fallback, arena,
						 &config->values[i], &error);
		require(good);
	}
}

bool config_take(struct config *config, enum config_key key, enum config_source source,
		 const char *text, struct error *error)
{
	struct config_value value;
	if (!config_value_of_text(config_row(key), config->user_home, text, config->arena, &value,
				  error))
		return false;
	value.source = source;
	config->values[key] = value;
	return true;
}

static const struct config_row *row_of_variable(struct str name)
{
	const struct config_row *row;
	char environment[CONFIG_ENVIRONMENT_SIZE];
	for (size_t i = 0; (row = config_at(i)) != NULL; i++)
		if (str_equal(str_from_c(config_environment(row, environment)), name))
			return row;
	return NULL;
}

bool config_take_environment(struct config *config, const char *const *environment,
			     struct str_list *out_unknown, struct error *error)
{
	size_t count = 0, unknown = 0;
	while (environment[count] != NULL)
		count++;
	struct str *names = arena_array(config->arena, struct str, count);
	for (size_t i = 0; i < count; i++) {
		struct str variable = str_from_c(environment[i]);
		size_t at;
		if (!str_find(variable, S("="), &at))
			continue;
		struct str name = str_head(variable, at);
		const struct config_row *row = row_of_variable(name);
		if (row == NULL) {
			/* These two variables are not settings. */
			if (str_starts(name, S("BATON_")) && !str_equal(name, S("BATON_POINTS")) &&
			    !str_equal(name, S("BATON_POINTS_TRACE")))
				names[unknown++] = name;
			continue;
		}
		if (!config_take(config, config_key_of(row), CONFIG_FROM_ENVIRONMENT,
				 environment[i] + at + 1, error)) {
			error_prefix(error, "the environment variable " STR_FMT ": ",
				     STR_ARG(name));
			return false;
		}
	}
	*out_unknown = (struct str_list){ names, unknown };
	return true;
}

const char *config_text(const struct config *config, enum config_key key)
{
	return config->values[key].text;
}

int64_t config_number(const struct config *config, enum config_key key)
{
	return config->values[key].number;
}

bool config_bool(const struct config *config, enum config_key key)
{
	return config->values[key].number != 0;
}

struct str_list config_list(const struct config *config, enum config_key key)
{
	return config->values[key].list;
}

struct str config_source_text(const struct config *config, enum config_key key, const char *file,
			      struct arena *arena)
{
	const struct config_value *value = &config->values[key];
	char environment[CONFIG_ENVIRONMENT_SIZE];
	switch (value->source) {
	case CONFIG_FROM_DEFAULT:
		return S("default");
	case CONFIG_FROM_FILE:
		return str_format(arena, "%s:%u", file, value->line);
	case CONFIG_FROM_ENVIRONMENT:
		return str_format(arena, "environment %s",
				  config_environment(config_row(key), environment));
	case CONFIG_FROM_FLAG:
		return str_format(arena, "flag %s", config_row(key)->flag);
	}
	return S("");
}
