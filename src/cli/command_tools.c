/* cli/command_tools.c -- baton tools: the tools that steps can call. */
#include <stdio.h>

#include "cli/server_request.h"

static int run(struct cli *cli)
{
	const struct json *answer;
	int status = cli_call(cli, "GET", S("/api/tools"), S(""), &answer);
	if (status != 0)
		return status;
	if (cli->json)
		return cli_print_json(cli, answer);
	const struct json *items = json_member(answer, S("items"));
	for (size_t i = 0; json_item(items, i) != NULL; i++) {
		const struct json *tool = json_item(items, i);
		struct str text = cli_text(tool, cli_is_true(tool, "trusted") ? "text" : "reason");
		printf("%-16.*s  %-10.*s  %-8s  " STR_FMT "\n", STR_ARG(cli_text(tool, "name")),
		       STR_ARG(cli_text(tool, "class")),
		       !cli_is_true(tool, "custom")   ? "built in"
		       : cli_is_true(tool, "trusted") ? "trusted"
						      : "inert",
		       STR_ARG(text));
	}
	return 0;
}

const struct cli_command command_tools = {
	.name = "tools",
	.text = "List the tools that steps can call, with their effect classes",
	.group = CLI_REFERENCE,
	.kind = CLI_CLIENT,
	.read_only = true,
	.examples = { { "baton tools", "List built-in tools and the tools of the data folder" },
		      { "baton tools --json", "Include the JSON Schema of each tool" } },
	.prepare = cli_prepare_nothing,
	.run = run,
};
