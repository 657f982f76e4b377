/* cli/command_lsp.c -- baton lsp: the language server for workflow files, over standard input and output.
 *
 * The server asks through children (child_command.h), so that an editor that stays open all day does not own the
 * data folder: `baton serve` and `baton run` work as without it.  What can be chosen (tools, agents, workflows) is
 * read again when a file was checked.
 */
#include "base/limits.h"
#include "cli/child_command.h"
#include "cli/output.h"
#include "cli/server_request.h"
#include "lsp/language_server.h"
#include "os/file.h"
#include "os/standard_input.h"

/* ---- baton language-catalog: what a definition can name ---------------------------------------- */

struct catalog_row {
	struct str name;           /* of the list in the answer */
	struct str target, member; /* where it comes from */
};

static const struct catalog_row catalogs[] = {
	[LSP_TOOLS] = { { "tools", 5 }, { "/api/tools", 10 }, { "items", 5 } },
	[LSP_AGENTS] = { { "agents", 6 }, { "/api/agents?limit=1000", 22 }, { "agents", 6 } },
	[LSP_WORKFLOWS] = { { "workflows", 9 },
			    { "/api/workflows?limit=200", 24 },
			    { "items", 5 } },
};

static int catalog_run(struct cli *cli)
{
	struct json_builder *builder = json_builder_new(&cli->arena);
	struct json_writer writer = { .builder = builder };
	int status = 0;
	json_open(&writer, '{');
	for (size_t i = 0; status == 0 && i < COUNT(catalogs); i++) {
		const struct json *answer;
		status = cli_call(cli, "GET", catalogs[i].target, S(""), &answer);
		const struct json *items =
			status == 0 ? json_member(answer, catalogs[i].member) : NULL;
		json_key(&writer, catalogs[i].name);
		if (items != NULL)
			json_put_tree(&writer, items);
		else
			json_put_null(&writer);
	}
	json_close(&writer, '}');
	const struct json *all = json_builder_end(builder);
	return status == 0 ? cli_print_json_text(cli, json_print(&cli->arena, all)) : status;
}

const struct cli_command command_language_catalog = {
	.name = "language-catalog",
	.text = "Print the tools, agents and workflows that definitions can name, for baton lsp",
	.group = CLI_HIDDEN,
	.kind = CLI_CLIENT,
	.read_only = true,
	.prepare = cli_prepare_nothing,
	.run = catalog_run,
};

/* ---- the host of the language server ----------------------------------------------------------- */

struct lsp_state {
	struct cli *cli;
	struct arena catalog_arena;
	const struct json *catalog; /* NULL = not read since the last check */
	bool catalog_read;
};

static const struct json *ask(struct lsp_state *state, const char *const *words, struct str input,
			      struct arena *arena)
{
	struct child_command child = child_command_baton(state->cli, false, words, input, arena);
	const struct json *json;
	struct error error;
	if (child.output.size == 0 || !json_read(child.output, arena, &json, &error)) {
		cli_line(CLI_PROGRESS, "baton %s: " STR_FMT, words[0], STR_ARG(child.errors));
		return NULL;
	}
	return json;
}

static const struct json *host_check(void *context, struct str name, struct str text,
				     struct arena *arena)
{
	struct lsp_state *state = context;
	const char *const words[] = { "check", "--name", str_c(arena, name), "-", NULL };
	arena_reset(&state->catalog_arena);
	state->catalog_read = false;
	return ask(state, words, text.size == 0 ? S("\n") : text, arena);
}

static const struct json *host_catalog(void *context, enum lsp_catalog which, struct arena *arena)
{
	struct lsp_state *state = context;
	static const char *const words[] = { "language-catalog", NULL };
	(void)arena;
	if (!state->catalog_read)
		state->catalog = ask(state, words, S(""), &state->catalog_arena);
	state->catalog_read = true;
	return json_member(state->catalog, catalogs[which].name);
}

static bool host_exists(void *context, struct str path)
{
	struct lsp_state *state = context;
	struct error error;
	struct str ignored;
	return file_read(str_c(&state->cli->arena, path), LIMIT_YAML_BYTES, &state->cli->arena,
			 &ignored, &error);
}

/* ---- the conversation -------------------------------------------------------------------------- */

static bool send(struct cli *cli, struct buf *out)
{
	bool good = out->size == 0 || (cli_bytes(cli, buf_str(out)) && cli_flush() == 0);
	buf_clear(out);
	return good;
}

static int converse(struct cli *cli, struct language_server *server)
{
	AUTO(buf) out = { 0 };
	static char bytes[LIMIT_LSP_READ_BYTES];
	struct error error;
	int status;
	while (!language_server_has_ended(server, &status)) {
		size_t size = standard_input_read(bytes, sizeof(bytes));
		if (size == 0)
			return 1; /* the client is gone without `exit` */
		if (!language_server_feed(server, (struct str){ bytes, size }, &out, &error))
			return cli_fail(cli, &error);
		if (!send(cli, &out))
			return 1;
		if (!language_server_has_ended(server, &status) && !standard_input_waits())
			(void)language_server_settle(server, &out);
		if (!send(cli, &out))
			return 1;
	}
	return status;
}

static int run(struct cli *cli)
{
	struct lsp_state state = { .cli = cli };
	const struct lsp_host host = { host_check, host_catalog, host_exists, &state };
	struct language_server *server = language_server_new(&host);
	int status = converse(cli, server);
	language_server_free(server);
	arena_done(&state.catalog_arena);
	return status;
}

const struct cli_command command_lsp = {
	.name = "lsp",
	.text = "Serve an editor: problems, completion, hover and definitions in workflow files (Language Server Protocol)",
	.group = CLI_RUNS,
	.kind = CLI_PLAIN,
	.examples = { { "baton lsp",
			"An editor starts it and talks to it over standard input and output" } },
	.exits = { { 1, "the editor ended without shutdown and exit" } },
	.prepare = cli_prepare_nothing,
	.run = run,
};
