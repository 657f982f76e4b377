/* cli/command_serve.c -- the arguments of the server; main.c runs it. */
#include "cli/cli.h"
#include "contract/config_rows.h"

/* Whether it is one of this machine's is for listening to find out. */
static bool is_host(struct str host)
{
	for (size_t i = 0; i < host.size; i++) {
		char c = host.at[i];
		if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
		      c == '.' || c == '-' || c == '_' || c == ':' || c == '%'))
			return false;
	}
	return host.size > 0 && host.size < 254;
}

static bool prepare(struct cli *cli, struct error *error)
{
	struct str name = str_from_c(config_text(&cli->config, CONFIG_SERVE_HOST));
	if (cli->config.values[CONFIG_SERVER].source == CONFIG_FROM_FLAG)
		return fail(error, ERROR_USAGE, "serve is the server: --server is for its clients");
	return is_host(name) ||
	       fail(error, ERROR_USAGE, "serve.host is an address or a name, not " STR_FMT,
		    STR_ARG(name));
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
