/* cli/command_trust.c -- baton trust: trust custom tools, list them, revoke trust.
 *
 * `baton trust NAME` reads the hashes of the tool's files and sends them with the request, so that
 * the server refuses a file that changed in between.
 */
#include <stdio.h>
#include <string.h>

#include "cli/output.h"
#include "cli/server_request.h"

struct trust_state {
	enum { TRUST_ADD, TRUST_LIST, TRUST_REVOKE } what;
	struct str name;
};

/* The tool's name: NAME, or any path that ends in NAME.yaml. */
static struct str name_of(struct str argument)
{
	struct str rest = argument, part = argument;
	while (str_cut(&rest, '/', &part))
		;
	return str_ends(part, S(".yaml")) ? str_head(part, part.size - 5) : part;
}

static bool prepare(struct cli *cli, struct error *error)
{
	struct trust_state *state = arena_new(&cli->arena, struct trust_state);
	const char *first = cli_argument(cli, 0), *second = cli_argument(cli, 1);
	cli->state = state;
	if (strcmp(first, "list") == 0)
		state->what = TRUST_LIST;
	else if (strcmp(first, "revoke") == 0)
		state->what = TRUST_REVOKE;
	if ((state->what == TRUST_REVOKE) != (second != NULL))
		return fail(error, ERROR_USAGE, "%s",
			    second == NULL ? "baton trust revoke needs the name of a tool"
					   : "baton trust takes one tool name");
	state->name = name_of(str_from_c(state->what == TRUST_REVOKE ? second : first));
	return state->name.size > 0 || fail(error, ERROR_USAGE, "a tool's name must not be empty");
}

static int list(const struct json *items)
{
	for (size_t i = 0; json_item(items, i) != NULL; i++) {
		const struct json *tool = json_item(items, i);
		if (!cli_is_true(tool, "custom"))
			continue;
		struct str reason = cli_text(tool, "reason");
		cli_line(CLI_RESULT, "%-16.*s  %-8s  " STR_FMT, STR_ARG(cli_text(tool, "name")),
			 reason.size == 0 ? "trusted" : "inert",
			 STR_ARG(reason.size == 0 ? cli_text(tool, "text") : reason));
	}
	return 0;
}

static struct str request_of(struct cli *cli, const struct json *tool, struct str name)
{
	AUTO(buf) body = { 0 };
	struct json_writer writer = { .out = &body };
	json_open(&writer, '{');
	json_key(&writer, S("name"));
	json_put_str(&writer, name);
	if (cli_text(tool, "program").size > 0) {
		json_key(&writer, S("definition"));
		json_put_str(&writer, cli_text(tool, "definition"));
		json_key(&writer, S("program"));
		json_put_str(&writer, cli_text(tool, "program"));
	}
	json_close(&writer, '}');
	return str_copy(&cli->arena, buf_str(&body));
}

static const struct json *find(const struct json *items, struct str name)
{
	for (size_t i = 0; json_item(items, i) != NULL; i++)
		if (str_equal(cli_text(json_item(items, i), "name"), name))
			return json_item(items, i);
	return NULL;
}

static int run(struct cli *cli)
{
	struct trust_state *state = cli->state;
	const struct json *answer;
	int status;
	if (state->what == TRUST_REVOKE) {
		struct str target =
			str_format(&cli->arena, "/api/trust/" STR_FMT, STR_ARG(state->name));
		return cli_call(cli, "DELETE", target, S(""), &answer);
	}
	status = cli_call(cli, "GET", S("/api/tools"), S(""), &answer);
	if (status != 0)
		return status;
	const struct json *items = json_member(answer, S("items"));
	if (state->what == TRUST_LIST)
		return cli->json ? cli_print_json(cli, answer) : list(items);
	struct str body = request_of(cli, find(items, state->name), state->name);
	status = cli_call(cli, "POST", S("/api/trust"), body, &answer);
	if (status != 0)
		return status;
	if (cli->json)
		return cli_print_json(cli, answer);
	cli_line(CLI_RESULT, "trusted " STR_FMT ": definition " STR_FMT ", program " STR_FMT,
		 STR_ARG(state->name), STR_ARG(cli_text(answer, "definition")),
		 STR_ARG(cli_text(answer, "program")));
	return 0;
}

const struct cli_command command_trust = {
	.name = "trust",
	.text = "Trust a custom tool in its current version, list custom tools, or revoke trust",
	.group = CLI_SETTINGS,
	.kind = CLI_CLIENT,
	.read_only = true,
	.arguments = { { .name = "FILE|NAME|list|revoke", .value_kind = CLI_FILE },
		       { .name = "NAME", .optional = true } },
	.examples = { { "baton trust greet", "Trust tools/greet.yaml and its program" },
		      { "baton trust list", "List custom tools and whether they are trusted" },
		      { "baton trust revoke greet", "Revoke trust in greet" } },
	.prepare = prepare,
	.run = run,
};
