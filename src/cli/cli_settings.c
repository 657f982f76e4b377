/* cli/cli_settings.c -- loads the settings from flags, environment and config.yaml.
 *
 * config.yaml lives in the data folder, and the data folder is itself a setting (home).  So the
 * environment and the flags are applied twice: first to find the data folder, then again on top of
 * the file.
 */
#include <stdlib.h>

#include "base/limits.h"
#include "cli/arguments.h"
#include "config/secret.h"
#include "os/file.h"

static bool apply_flags(struct cli *cli, struct error *error)
{
	for (size_t i = 0; i < cli->option_count; i++) {
		const struct cli_parsed_option *given = &cli->options[i];
		if (given->row == NULL || config_take(&cli->config, config_key_of(given->row),
						      CONFIG_FROM_FLAG, given->value, error))
			continue;
		error->code = ERROR_USAGE;
		error_prefix(error, "the flag %s: ", given->row->flag);
		return false;
	}
	return true;
}

static const char *variable(const char *const *environment, struct str name)
{
	for (; *environment != NULL; environment++) {
		struct str one = str_from_c(*environment);
		if (str_starts(one, name) && str_starts(str_skip(one, name.size), S("=")))
			return *environment + name.size + 1;
	}
	return NULL;
}

static bool apply_environment_and_flags(struct cli *cli, struct error *error)
{
	return config_take_environment(&cli->config, cli->environment, &cli->unknown_variables,
				       error) &&
	       apply_flags(cli, error);
}

static bool find_home(struct cli *cli, struct error *error)
{
	const struct config_row *row = config_row(CONFIG_HOME);
	char name[CONFIG_ENVIRONMENT_SIZE];
	const char *home = config_text(&cli->config, CONFIG_HOME);
	if (cli->config.user_home == NULL &&
	    cli->config.values[CONFIG_HOME].source == CONFIG_FROM_DEFAULT)
		return fail(error, ERROR_USAGE, "no data folder: set %s, %s or HOME", row->flag,
			    config_environment(row, name));
	if (home[0] != '/') {
		char *here = realpath(".", NULL);
		if (here == NULL)
			return fail(
				error, ERROR_IO,
				"the current directory no longer exists; cannot resolve the data folder");
		home = str_format(&cli->arena, "%s/%s", here, home).at;
		free(here);
	}
	cli->data_folder = home;
	cli->config_file = str_format(&cli->arena, "%s/config.yaml", home).at;
	return true;
}

static void read_file(struct cli *cli)
{
	struct error error;
	struct str text;
	cli->config_problems.arena = &cli->arena;
	if (file_read(cli->config_file, LIMIT_CONFIG_BYTES, &cli->arena, &text, &error)) {
		(void)!config_take_file(&cli->config, text, &cli->config_problems);
		return;
	}
	if (error.code != ERROR_NOT_FOUND)
		problems_add(&cli->config_problems, S(""), 0, 0, "%s", error.text);
}

/* Accepts http://host:port without a path. */
static bool check_server(const char *server, struct error *error)
{
	struct str rest = str_from_c(server);
	size_t at;
	if (str_starts(rest, S("https://")))
		return fail(
			error, ERROR_USAGE,
			"server is %s, but https is not supported; use http:// through a tunnel to the "
			"server's port",
			server);
	bool good = str_starts(rest, S("http://"));
	rest = good ? str_skip(rest, 7) : rest;
	if (str_ends(rest, S("/")))
		rest.size--;
	if (!good || rest.size == 0 || str_find(rest, S("/"), &at) || str_find(rest, S("@"), &at) ||
	    str_find(rest, S(" "), &at) || str_find(rest, S("?"), &at))
		return fail(error, ERROR_USAGE,
			    "server must be a URL like http://127.0.0.1:8420, not \"%s\"", server);
	return true;
}

static bool find_server(struct cli *cli, struct error *error)
{
	const char *server = config_text(&cli->config, CONFIG_SERVER);
	struct str key = str_from_c(config_text(&cli->config, CONFIG_API_KEY));
	if (server[0] == '\0') {
		cli->address = str_format(&cli->arena, "%s/baton.sock", cli->data_folder).at;
		return true;
	}
	if (!check_server(server, error))
		return false;
	cli->address = server;
	if (key.size == 0)
		return true;
	const struct secret_places places = { .data_folder = cli->data_folder,
					      .environment = cli->environment,
					      .allowed = config_list(&cli->config,
								     CONFIG_SECRETS_ALLOW) };
	bool reference = str_starts(key, S("env:")) || str_starts(key, S("file:"));
	if (reference &&
	    !secret_resolve(&places, (struct secret){ key }, &cli->arena, &key, error)) {
		error_prefix(error, "api_key: ");
		return false;
	}
	cli->api_key = str_c(&cli->arena, key);
	return true;
}

bool cli_settings_load(struct cli *cli, const char *const *environment, struct error *error)
{
	cli->environment = environment;
	const char *user_home = variable(environment, S("HOME"));
	config_defaults(&cli->config, &cli->arena, user_home);
	if (!apply_environment_and_flags(cli, error) || !find_home(cli, error))
		return false;
	config_defaults(&cli->config, &cli->arena, user_home);
	read_file(cli);
	return apply_environment_and_flags(cli, error) && find_server(cli, error);
}
