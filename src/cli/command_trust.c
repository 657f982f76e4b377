/* cli/command_trust.c -- baton trust: trust custom tools, list them, revoke trust.
 *
 * `baton trust NAME` reads the hashes of the tool's files and sends them with the request, so that
 * the server refuses a file that changed in between.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/output.h"
#include "cli/server_request.h"
#include "contract/run_workflow_types.h"

struct trust_state {
	enum { TRUST_ADD, TRUST_LIST, TRUST_REVOKE } what;
	struct str name;
	struct str project; /* absolute path; "" = a tool */
};

/* The tool's name: NAME, or any path that ends in NAME.yaml. */
static struct str name_of(struct str argument)
{
	struct str rest = argument, part = argument;
	while (str_cut(&rest, '/', &part))
		;
	return str_ends(part, S(".yaml")) ? str_head(part, part.size - 5) : part;
}

/* baton trust --project FOLDER, and baton trust revoke --project FOLDER. */
static bool prepare_project(struct cli *cli, struct trust_state *state, const char *folder,
			    struct error *error)
{
	const char *word = cli_argument(cli, 0);
	state->what = word == NULL ? TRUST_ADD : TRUST_REVOKE;
	if (word != NULL && (strcmp(word, "revoke") != 0 || cli_argument(cli, 1) != NULL))
		return fail(error, ERROR_USAGE,
			    "--project stands alone, or behind revoke: baton trust --project .");
	/* The folder of a project that is revoked may be gone. */
	char *path = realpath(folder, NULL);
	if (path == NULL && (word == NULL || folder[0] != '/'))
		return fail(error, ERROR_NOT_FOUND, "there is no folder %s", folder);
	state->project = str_copy(&cli->arena, str_from_c(path == NULL ? folder : path));
	free(path);
	return true;
}

static bool prepare(struct cli *cli, struct error *error)
{
	struct trust_state *state = arena_new(&cli->arena, struct trust_state);
	const char *first = cli_argument(cli, 0), *second = cli_argument(cli, 1);
	const char *project = cli_value(cli, "--project", 0);
	cli->state = state;
	if (project != NULL)
		return prepare_project(cli, state, project, error);
	if (first == NULL)
		return fail(error, ERROR_USAGE,
			    "give the name of a tool, list, revoke, or --project FOLDER");
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

static int revoke_project(struct cli *cli, const struct trust_state *state)
{
	const struct json *answer, *item;
	struct error error;
	int status = cli_call(cli, "GET", S("/api/projects"), S(""), &answer);
	if (status != 0)
		return status;
	const struct json *items = json_member(answer, S("items"));
	for (size_t i = 0; (item = json_item(items, i)) != NULL; i++)
		if (str_equal(cli_text(item, "path"), state->project))
			return cli_call(cli, "DELETE",
					cli_target(cli, "/api/projects/",
						   str_c(&cli->arena, cli_text(item, "id")), ""),
					S(""), &answer);
	fail(&error, ERROR_NOT_FOUND, "the project " STR_FMT " is not trusted",
	     STR_ARG(state->project));
	return cli_fail(cli, &error);
}

static int trust_project(struct cli *cli, const struct trust_state *state)
{
	struct run_project_request *request = run_project_request_new(&cli->arena);
	const struct json *answer;
	SET(request, path, state->project);
	int status = cli_call(cli, "POST", S("/api/projects"),
			      run_project_request_text(request, &cli->arena), &answer);
	if (status != 0 || cli->json)
		return status != 0 ? status : cli_print_json(cli, answer);
	const struct json *workflows = json_member(answer, S("workflows"));
	for (size_t i = 0; i < workflows->as.object.count; i++)
		cli_line(CLI_RESULT, "trusted workflow " STR_FMT ": " STR_FMT,
			 STR_ARG(workflows->as.object.at[i].key),
			 STR_ARG(json_text(&workflows->as.object.at[i].value)));
	return cli_flush();
}

static int list_projects(struct cli *cli)
{
	const struct json *answer, *item;
	int status = cli_call(cli, "GET", S("/api/projects"), S(""), &answer);
	if (status != 0)
		return status;
	const struct json *items = json_member(answer, S("items"));
	for (size_t i = 0; (item = json_item(items, i)) != NULL; i++)
		cli_line(CLI_RESULT, "%-16s  %-8s  " STR_FMT " (%zu workflows)", "project",
			 "trusted", STR_ARG(cli_text(item, "path")),
			 json_member(item, S("workflows"))->as.object.count);
	return cli_flush();
}

static int run(struct cli *cli)
{
	struct trust_state *state = cli->state;
	const struct json *answer;
	int status;
	if (state->project.size > 0)
		return state->what == TRUST_ADD ? trust_project(cli, state)
						: revoke_project(cli, state);
	if (state->what == TRUST_REVOKE) {
		struct str target =
			str_format(&cli->arena, "/api/trust/" STR_FMT, STR_ARG(state->name));
		return cli_call(cli, "DELETE", target, S(""), &answer);
	}
	status = cli_call(cli, "GET", S("/api/tools"), S(""), &answer);
	if (status != 0)
		return status;
	const struct json *items = json_member(answer, S("items"));
	if (state->what == TRUST_LIST) {
		if (cli->json)
			return cli_print_json(cli, answer);
		list(items);
		return list_projects(cli);
	}
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
	.text = "Trust a custom tool or the workflows of a project as they are now, list, or revoke",
	.group = CLI_SETTINGS,
	.kind = CLI_CLIENT,
	.read_only = true,
	.arguments = { { .name = "FILE|NAME|list|revoke",
			 .value_kind = CLI_FILE,
			 .optional = true },
		       { .name = "NAME", .optional = true } },
	.options = { { .name = "--project",
		       .value = "FOLDER",
		       .value_kind = CLI_FILE,
		       .text = "Trust the workflows of a project, FOLDER/.baton/workflows/*.yaml" } },
	.examples = { { "baton trust greet", "Trust tools/greet.yaml and its program" },
		      { "baton trust list", "List custom tools and whether they are trusted" },
		      { "baton trust revoke greet", "Revoke trust in greet" },
		      { "baton trust --project .", "Trust the workflows of this project" } },
	.prepare = prepare,
	.run = run,
};
