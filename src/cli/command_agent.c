/* cli/command_agent.c -- baton agent: the agent registry. */
#include <stdio.h>
#include <string.h>

#include "cli/agent_run.h"
#include "cli/document_command.h"
#include "cli/output.h"
#include "cli/profile_option.h"

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

/* One value per line: name, origin, value; then what would refuse the start. */
static int show_resolved(const struct json *answer)
{
	enum { VALUE_BYTES = 200 };
	AUTO(arena) arena = { 0 };
	const struct json *values = json_member(answer, S("values"));
	const struct json *problems = json_member(answer, S("problems"));
	struct str profile = cli_text(answer, "profile");
	for (size_t i = 0; json_item(values, i) != NULL; i++) {
		const struct json *value = json_member(json_item(values, i), S("value"));
		struct str name = cli_text(json_item(values, i), "name");
		struct str origin = cli_text(json_item(values, i), "origin");
		struct str text =
			value->kind == JSON_STRING ? value->as.string : json_print(&arena, value);
		if (str_equal(origin, S("profile")))
			origin = str_format(&arena, "profile " STR_FMT, STR_ARG(profile));
		cli_line(CLI_RESULT, "%-18.*s  %-14.*s  " STR_FMT "%s", (int)name.size, name.at,
			 (int)origin.size, origin.at, STR_ARG(str_head(text, VALUE_BYTES)),
			 text.size > VALUE_BYTES ? "…" : "");
	}
	for (size_t i = 0; json_item(problems, i) != NULL; i++)
		cli_line(CLI_PROGRESS, "a run would be refused: " STR_FMT,
			 STR_ARG(json_text(json_item(problems, i))));
	return cli_flush();
}

static bool prepare_show(struct cli *cli, struct document_call *call, struct error *error)
{
	if (cli_has(cli, "--resolved") && cli_has(cli, "--view"))
		return fail(error, ERROR_USAGE, "--resolved and --view cannot be combined");
	if (!cli_has(cli, "--resolved") && cli_has(cli, "--profile"))
		return fail(error, ERROR_USAGE, "--profile needs --resolved");
	if (cli_has(cli, "--resolved")) {
		call->show = show_resolved;
		call->target = cli_query(
			cli, cli_target(cli, "/api/agents/", cli_argument(cli, 0), "/resolved"),
			"profile", cli_value(cli, "--profile", 0));
	} else {
		call->target = cli_query(cli, call->target, "view", cli_value(cli, "--view", 0));
	}
	return true;
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
		return prepare_show(cli, call, error);
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
			 .text = "Use this vocabulary: run, runtime or graph (default run)" },
		       { .name = "--resolved",
			 .text = "Show the configuration of a run started now: each value and its origin" },
		       { .name = "--profile",
			 .value = "NAME",
			 .value_kind = CLI_PROFILE,
			 .text = "With --resolved: use this profile (default: the active one, if any)" } } },
	{ .name = "run",
	  .text = "Let an agent work on a task and show its work until it is done",
	  .arguments = NAME,
	  .options = { { .name = "--task",
			 .alias = "--goal",
			 .value = "TEXT",
			 .text = "What the agent shall do" },
		       { .name = "--attach",
			 .alias = "--image",
			 .value = "FILE",
			 .value_kind = CLI_FILE,
			 .repeats = true,
			 .text = "Show the agent a picture or recording with its task" },
		       CLI_RUN_PROFILE,
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
		      { "baton agent show reviewer --resolved --profile work",
			"Show where each value comes from" },
		      { "baton agent run reviewer --task 'Review the last commit.'",
			"Let an agent work, and watch it" } },
	.exits = { { 1, "run: the run failed" }, CLI_EXIT_WITH_ISSUES, CLI_EXIT_INTERRUPTED },
	.prepare = prepare,
	.run = run,
};
