/* cli/command_version.c -- baton version. */
#include "cli/cli.h"
#include "cli/output.h"
#include "store/store.h"

static int run(struct cli *cli)
{
	AUTO(buf) out = { 0 };
	struct json_writer writer = { .out = &out };
	if (!cli->json) {
		buf_add_format(&out, "baton %s\n", BATON_VERSION);
		return cli_print(cli, buf_str(&out));
	}
	json_open(&writer, '{');
	json_key(&writer, S("version"));
	json_put_str(&writer, S(BATON_VERSION));
	json_key(&writer, S("sqlite"));
	json_put_str(&writer, str_from_c(store_sqlite_version()));
	json_key(&writer, S("compiler"));
	json_put_str(&writer, S(__VERSION__));
	json_close(&writer, '}');
	return cli_print(cli, buf_str(&out));
}

const struct cli_command command_version = {
	.name = "version",
	.text = "Print the version",
	.group = CLI_REFERENCE,
	.kind = CLI_PLAIN,
	.prepare = cli_prepare_nothing,
	.run = run,
};
