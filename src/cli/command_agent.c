/* cli/command_agent.c -- baton agent: the agent registry. */
#include <stdio.h>
#include <string.h>

#include "cli/agent_run.h"
#include "cli/document_command.h"
#include "cli/output.h"

static int list(const struct json *page)
{
	const struct json *items = json_member(page, S("items"));
	struct str cursor = cli_text(page, "cursor");
	for (size_t i = 0; json_item(items, i) != NULL; i++) {
		const struct json *item = json_item(items, i);
		const struct json *model = json_member(item, S("llm_config"));
		struct str name = cli_text(item, "name");
		struct str driver = cli_text(item, "driver");
		struct str called = cli_text(model, "model");
		struct str role = cli_text(item, "role");
		cli_line(CLI_RESULT, STR_FMT "  " STR_FMT "  " STR_FMT "  " STR_FMT, STR_ARG(name),
			 STR_ARG(driver), STR_ARG(called), STR_ARG(role));
	}
	if (cursor.size > 0)
		cli_line(CLI_PROGRESS, "more agents follow: --cursor " STR_FMT, STR_ARG(cursor));
	return cli_flush();
}

static bool prepare(struct cli *cli, struct error *error)
{
	const char *word = cli->subcommand->name;
	struct document_call *call;
	if (strcmp(word, "run") == 0)
		return agent_run_prepare(cli, error);
	if (!document_command_prepare(cli, "/api/agents", "an agent's", &call, error))
		return false;
	if (strcmp(word, "list") == 0) {
		const char *limit = cli_value(cli, "--limit", 0);
		call->show = list;
		call->target = cli_query(cli, S("/api/agents?view=run"), "limit",
					 limit == NULL ? "100" : limit);
		call->target =
			cli_query(cli, call->target, "cursor", cli_value(cli, "--cursor", 0));
		return true;
	}
	if (strcmp(word, "show") == 0)
		call->target = cli_query(cli, call->target, "view", cli_value(cli, "--view", 0));
	if (strcmp(word, "update") == 0)
		call->method = "PUT";
	if (strcmp(word, "update") != 0 && strcmp(word, "create") != 0)
		return true;
	return cli_document(cli, "agent", cli_argument(cli, 0), NULL, &call->body, error);
}

static int run(struct cli *cli)
{
	return strcmp(cli->subcommand->name, "run") == 0 ? agent_run(cli)
							 : document_command_run(cli);
}

#define NAME                                                    \
	{                                                       \
		{                                               \
			.name = "NAME", .value_kind = CLI_AGENT \
		}                                               \
	}
static const struct cli_subcommand subcommands[] = {
	{ .name = "list",
	  .text = "List agents by name",
	  .options = { { .name = "--limit",
			 .value = "N",
			 .text = "List at most N agents (default 100)" },
		       { .name = "--cursor",
			 .value = "NAME",
			 .text = "Start after this agent" } } },
	{ .name = "show",
	  .text = "Show an agent",
	  .arguments = NAME,
	  .options = { { .name = "--view",
			 .value = "VIEW",
			 .value_kind = CLI_ONE_OF,
			 .choices = "run|runtime|graph",
			 .text = "Use this vocabulary: run, runtime or graph (default run)" } } },
	{ .name = "run",
	  .text = "Let an agent work on a task and show its work until it is done",
	  .arguments = NAME,
	  .options = { { .name = "--task",
			 .alias = "--goal",
			 .value = "TEXT",
			 .text = "What the agent shall do" },
		       { .name = "--detach",
			 .letter = 'd',
			 .text = "Print the id of the run and return; needs a running server" } } },
	{ .name = "create",
	  .text = "Create an agent",
	  .arguments = { { .name = "NAME" } },
	  .options = { { DOCUMENT_FILE("agent") }, { DOCUMENT_SET } } },
	{ .name = "update",
	  .text = "Replace an agent",
	  .arguments = NAME,
	  .options = { { DOCUMENT_FILE("agent") }, { DOCUMENT_SET } } },
	{ .name = "delete", .text = "Delete an agent", .arguments = NAME },
	{ .name = NULL },
};

const struct cli_command command_agent = {
	.name = "agent",
	.text = "Show and change the agent registry; let an agent work on a task",
	.group = CLI_SETTINGS,
	.kind = CLI_CLIENT,
	.read_only = true,
	.subcommands = subcommands,
	.examples = { { "baton agent create reviewer --file reviewer.yaml",
			"Create an agent from a file" },
		      { "baton agent create critic --set role=critic --set system_prompt='Be kind.' "
			"--set llm_config.model=gpt-5",
			"Create an agent from options" },
		      { "baton agent show reviewer --view graph",
			"Show an agent in graph vocabulary" },
		      { "baton agent run reviewer --task 'Review the last commit.'",
			"Let an agent work, and watch it" } },
	.exits = { { 1, "run: the run failed" }, CLI_EXIT_INTERRUPTED },
	.prepare = prepare,
	.run = run,
};
