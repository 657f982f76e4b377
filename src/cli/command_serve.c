/* cli/command_serve.c -- baton serve: checks the arguments; main.c runs the server. */
#include "cli/cli.h"
#include "contract/config_rows.h"

/* Checks the syntax only: listening fails later if this machine does not have the address. */
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
		return fail(error, ERROR_USAGE,
			    "serve does not accept --server: it starts the server");
	return is_host(name) ||
	       fail(error, ERROR_USAGE,
		    "serve.host must be an address or a host name, not \"" STR_FMT "\"",
		    STR_ARG(name));
}

const struct cli_command command_serve = {
	.name = "serve",
	.text = "Start the server: HTTP interface, dashboard and all open runs",
	.group = CLI_SERVERS,
	.kind = CLI_SERVER,
	.examples = { { "baton serve --port 0", "Listen on a free port and print it" },
		      { "BATON_LOG_FORMAT=json baton serve", "Log one JSON object per line" } },
	.exits = { { 8, "another process owns the data folder" } },
	.prepare = prepare,
};
