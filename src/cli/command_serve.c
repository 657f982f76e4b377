/* cli/command_serve.c -- the arguments of the server; main.c runs it. */
#include "cli/cli.h"
#include "contract/config.h"

static bool prepare(struct cli *cli, struct error *error)
{
	struct str name = str_from_c(config_text(&cli->config, CONFIG_SERVE_HOST));
	if (cli->config.values[CONFIG_SERVER].source == CONFIG_FROM_FLAG)
		return fail(error, ERROR_USAGE, "serve is the server: --server is for its clients");
	if (!str_equal(name, S("127.0.0.1")) && !str_equal(name, S("localhost")) &&
	    !str_equal(name, S("::1")))
		return fail(
			error, ERROR_FORBIDDEN,
			"this version listens on loopback only (127.0.0.1, ::1 or localhost), not "
			"on " STR_FMT ": it has no authentication",
			STR_ARG(name));
	return true;
}

const struct cli_command command_serve = {
	.name = "serve",
	.text = "Serve the HTTP interface and the dashboard, and carry on every open run",
	.group = CLI_SERVERS,
	.kind = CLI_SERVER,
	.examples = { { "baton serve --port 0",
			"On a port of the system's choice, which is printed" },
		      { "BATON_LOG_FORMAT=json baton serve", "With a log of one object a line" } },
	.exits = { { 8, "another process owns the data folder" } },
	.prepare = prepare,
};
