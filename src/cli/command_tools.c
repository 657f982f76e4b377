/* cli/command_tools.c -- which tools steps can call. */
#include <stdio.h>

#include "cli/cli.h"

static struct str member(const struct json *object, const char *name)
{
	return json_text(json_member(object, str_from_c(name)));
}

static bool is_true(const struct json *object, const char *name)
{
	const struct json *value = json_member(object, str_from_c(name));
	return value != NULL && value->kind == JSON_BOOL && value->as.boolean;
}

static int run(struct cli *cli)
{
	const struct json *answer;
	struct error error;
	bool lost;
	if (!cli_request(cli, "GET", S("/api/tools"), S(""), &answer, &lost, &error))
		return lost ? CLI_SERVER_LOST : cli_fail(cli, &error);
	if (cli->json)
		return cli_print_json(cli, answer);
	const struct json *items = json_member(answer, S("items"));
	for (size_t i = 0; json_item(items, i) != NULL; i++) {
		const struct json *tool = json_item(items, i);
		struct str text = member(tool, is_true(tool, "trusted") ? "text" : "reason");
		printf("%-16.*s  %-10.*s  %-8s  " STR_FMT "\n", STR_ARG(member(tool, "name")),
		       STR_ARG(member(tool, "class")),
		       !is_true(tool, "custom")   ? "built in"
		       : is_true(tool, "trusted") ? "trusted"
						  : "inert",
		       STR_ARG(text));
	}
	return 0;
}

const struct cli_command command_tools = {
	.name = "tools",
	.text = "List the tools that steps can call, with their effect class",
	.group = CLI_REFERENCE,
	.kind = CLI_CLIENT,
	.only_looks = true,
	.examples = { { "baton tools", "What is built in, and the data folder's own" },
		      { "baton tools --json", "With the JSON Schema of each" } },
	.prepare = cli_nothing,
	.run = run,
};
