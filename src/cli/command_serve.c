/* cli/command_serve.c -- the arguments of the server; main.c runs it. */
#include "cli/cli.h"
#include "contract/config.h"

static bool prepare(struct cli *cli, struct error *error)
{
	const struct config_row *host_row = config_row(CONFIG_SERVE_HOST);
	const struct config_row *port_row = config_row(CONFIG_SERVE_PORT);
	const char *host, *port;
	if (!cli_option(cli, host_row->flag, host_row->letter, &host, error) ||
	    !cli_option(cli, port_row->flag, port_row->letter, &port, error))
		return false;
	int64_t number = cli->port;
	if (port != NULL &&
	    (!str_to_int(str_from_c(port), &number) || number < 0 || number > 65535))
		return fail(error, ERROR_USAGE, "%s takes a number from 0 (any) to 65535, not %s",
			    port_row->flag, port);
	cli->port = (int)number;
	if (host != NULL)
		cli->host = host;
	const struct config_row *hosts_row = config_row(CONFIG_SERVE_HOSTS);
	const char *hosts;
	if (!cli_option(cli, hosts_row->flag, hosts_row->letter, &hosts, error))
		return false;
	if (hosts != NULL)
		cli->hosts = hosts;
	cli->require_key =
		cli_flag(cli, config_row(CONFIG_SERVE_REQUIRE_KEY)->flag) || cli->require_key;
	return cli_no_argument(cli, error);
}

const struct cli_command command_serve = {
	.name = "serve",
	.usage = "serve",
	.text = "Serve the HTTP interface and the dashboard, and carry on every open run",
	.kind = CLI_SERVER,
	.prepare = prepare,
};
