/* cli/command_agent.c -- the registry of agents: documents of the server, one request a
 * sub-command.
 */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"

struct agent_state {
	const char *method;
	struct str target, body;
};

static bool prepare_list(struct cli *cli, struct agent_state *state)
{
	const char *limit = cli_value(cli, "--limit", 0), *cursor = cli_value(cli, "--cursor", 0);
	state->target =
		cli_target(cli, "/api/agents?view=run&limit=", limit == NULL ? "100" : limit, "");
	if (cursor != NULL)
		state->target = cli_target(
			cli,
			str_c(&cli->arena,
			      str_format(&cli->arena, STR_FMT "&cursor=", STR_ARG(state->target))),
			cursor, "");
	return true;
}

static bool prepare(struct cli *cli, struct error *error)
{
	struct agent_state *state = arena_new(&cli->arena, struct agent_state);
	const char *word = cli->word->name, *name = cli_argument(cli, 0);
	cli->state = state;
	state->method = "GET";
	if (strcmp(word, "list") == 0)
		return prepare_list(cli, state);
	if (name[0] == '\0')
		return fail(error, ERROR_USAGE, "an agent's name is not empty");
	state->target = cli_target(cli, "/api/agents/", name, "");
	if (strcmp(word, "show") == 0 && cli_has(cli, "--view"))
		state->target = cli_target(
			cli,
			str_c(&cli->arena,
			      str_format(&cli->arena, STR_FMT "?view=", STR_ARG(state->target))),
			cli_value(cli, "--view", 0), "");
	if (strcmp(word, "delete") == 0)
		state->method = "DELETE";
	if (strcmp(word, "create") == 0) {
		state->method = "POST";
		state->target = S("/api/agents");
		return cli_document(cli, "agent", name, NULL, &state->body, error);
	}
	if (strcmp(word, "update") == 0) {
		state->method = "PUT";
		return cli_document(cli, "agent", name, NULL, &state->body, error);
	}
	return true;
}

static int list(const struct json *page)
{
	const struct json *items = json_member(page, S("items"));
	struct str cursor = json_text(json_member(page, S("cursor")));
	for (size_t i = 0; json_item(items, i) != NULL; i++) {
		const struct json *item = json_item(items, i);
		const struct json *model = json_member(item, S("llm_config"));
		struct str name = json_text(json_member(item, S("name")));
		struct str driver = json_text(json_member(item, S("driver")));
		struct str called = json_text(json_member(model, S("model")));
		struct str role = json_text(json_member(item, S("role")));
		printf(STR_FMT "  " STR_FMT "  " STR_FMT "  " STR_FMT "\n", STR_ARG(name),
		       STR_ARG(driver), STR_ARG(called), STR_ARG(role));
	}
	if (cursor.size > 0)
		fprintf(stderr, "there are more: --cursor " STR_FMT "\n", STR_ARG(cursor));
	return fflush(stdout) == 0 ? 0 : error_row(ERROR_IO)->exit_status;
}

static int run(struct cli *cli)
{
	const struct agent_state *state = cli->state;
	const struct json *answer;
	struct error error;
	bool lost;
	if (!cli_request(cli, state->method, state->target, state->body, &answer, &lost, &error))
		return lost ? CLI_SERVER_LOST : cli_fail(cli, &error);
	if (strcmp(cli->word->name, "list") == 0 && !cli->json)
		return list(answer);
	return cli_print_json(cli, answer);
}

#define NAME                                                \
	{                                                   \
		{                                           \
			.name = "NAME", .values = CLI_AGENT \
		}                                           \
	}
#define DOCUMENT                                                                        \
	{                                                                               \
		{ .name = "--file",                                                     \
		  .letter = 'f',                                                        \
		  .value = "FILE",                                                      \
		  .values = CLI_FILE,                                                   \
		  .text = "The whole agent, YAML or JSON; - is standard input" },       \
		{                                                                       \
			.name = "--set", .value = "MEMBER=VALUE", .repeats = true,      \
			.text = "One member; a.b is b of a, JSON when it reads as JSON" \
		}                                                                       \
	}

static const struct cli_word words[] = {
	{ .name = "list",
	  .text = "Agents by name",
	  .options = { { .name = "--limit", .value = "N", .text = "Most agents; 100 unless said" },
		       { .name = "--cursor", .value = "NAME", .text = "Those behind this one" } } },
	{ .name = "show",
	  .text = "One agent",
	  .arguments = NAME,
	  .options = { { .name = "--view",
			 .value = "VIEW",
			 .values = CLI_ONE_OF,
			 .words = "run|runtime|graph",
			 .text = "In these words; run unless said" } } },
	{ .name = "create",
	  .text = "A new agent",
	  .arguments = { { .name = "NAME" } },
	  .options = DOCUMENT },
	{ .name = "update",
	  .text = "The agent as it shall be, whole",
	  .arguments = NAME,
	  .options = DOCUMENT },
	{ .name = "delete", .text = "Take an agent away", .arguments = NAME },
	{ .name = NULL },
};

const struct cli_command command_agent = {
	.name = "agent",
	.text = "Show and change the agents of the registry",
	.group = CLI_SETTINGS,
	.kind = CLI_CLIENT,
	.only_looks = true,
	.words = words,
	.examples = { { "baton agent create reviewer --file reviewer.yaml",
			"An agent from a file" },
		      { "baton agent create critic --set role=critic --set system_prompt='Be kind.' "
			"--set llm_config.model=gpt-5",
			"The same from its members" },
		      { "baton agent show reviewer --view graph", "As S4's documents have it" } },
	.prepare = prepare,
	.run = run,
};
