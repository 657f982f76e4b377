/* cli/command_import.c -- baton import: a folder of another program becomes agents, workflows and settings.
 *
 * The command reads the folder and sends its files; the server checks all of them before it changes anything.
 */
#include <string.h>

#include "base/limits.h"
#include "cli/output.h"
#include "cli/server_request.h"
#include "contract/run_workflow_types.h"
#include "os/file.h"

struct import_state {
	bool runtime;
	struct str body;
};

struct gathered {
	struct cli *cli;
	const char *root;
	struct str_entry *at;
	size_t count, bytes;
};

static bool has_ending(struct str name, const char *endings)
{
	struct str rest = str_from_c(endings), ending;
	while (str_cut(&rest, ' ', &ending))
		if (str_ends(name, ending))
			return true;
	return false;
}

static bool add_file(struct gathered *g, struct str path, struct error *error)
{
	struct arena *arena = &g->cli->arena;
	struct str text;
	if (g->count == LIMIT_IMPORT_FILES)
		return fail(error, ERROR_TOO_LARGE, "%s has more than %d files to import", g->root,
			    LIMIT_IMPORT_FILES);
	if (!file_read(str_format(arena, "%s/" STR_FMT, g->root, STR_ARG(path)).at,
		       LIMIT_YAML_BYTES, arena, &text, error))
		return false;
	g->bytes += text.size;
	if (g->bytes > LIMIT_IMPORT_BYTES)
		return fail(
			error, ERROR_TOO_LARGE,
			"the files of %s have more than %d bytes together; import the folder in "
			"parts",
			g->root, LIMIT_IMPORT_BYTES);
	g->at[g->count++] = (struct str_entry){ .key = path, .value = text };
	return true;
}

/* The files of a folder below the root whose names end so; a folder that is not there has none. */
static bool add_folder(struct gathered *g, const char *folder, const char *endings,
		       struct error *error)
{
	struct arena *arena = &g->cli->arena;
	const char *path = str_format(arena, "%s/%s", g->root, folder).at;
	struct str_list names;
	if (!folder_exists(path))
		return true;
	if (!folder_list(path, arena, &names, error))
		return false;
	for (size_t i = 0; i < names.count; i++) {
		struct str below = folder[0] == '\0' ? names.at[i]
						     : str_format(arena, "%s/" STR_FMT, folder,
								  STR_ARG(names.at[i]));
		if (has_ending(names.at[i], endings) && !add_file(g, below, error))
			return false;
	}
	return true;
}

static bool add_named(struct gathered *g, const char *path, struct error *error)
{
	struct str full = str_format(&g->cli->arena, "%s/%s", g->root, path);
	return !file_exists(full.at) || add_file(g, str_from_c(path), error);
}

static bool gather_graph(struct gathered *g, struct error *error)
{
	return add_folder(g, "agents", ".yaml .yml .json", error) &&
	       add_folder(g, "workflows", ".yaml .yml .json", error) &&
	       add_named(g, "config/mcp_servers.yaml", error) &&
	       add_named(g, "config/mcp_servers.yml", error) &&
	       add_named(g, "config/retention_policy.yaml", error) &&
	       add_named(g, "config/retention_policy.yml", error);
}

static bool gather_runtime(struct gathered *g, struct error *error)
{
	static const char *const files[] = { "agents.yaml", "agents.yml", "agents.json",
					     "models.yaml", "models.yml", "models.json" };
	for (size_t i = 0; i < COUNT(files); i++)
		if (!add_named(g, files[i], error))
			return false;
	return add_folder(g, "prompts", ".md .txt", error);
}

static bool prepare(struct cli *cli, struct error *error)
{
	struct import_state *state = arena_new(&cli->arena, struct import_state);
	struct gathered g = { .cli = cli, .root = cli_argument(cli, 0) };
	state->runtime = strcmp(cli->subcommand->name, "runtime") == 0;
	g.at = arena_array(&cli->arena, struct str_entry, LIMIT_IMPORT_FILES);
	if (!folder_exists(g.root))
		return fail(error, ERROR_NOT_FOUND, "there is no folder %s", g.root);
	if (!(state->runtime ? gather_runtime(&g, error) : gather_graph(&g, error)))
		return false;
	if (g.count == 0)
		return fail(error, ERROR_NOT_FOUND, "%s has nothing to import: expected %s", g.root,
			    state->runtime ? "agents.yaml, models.yaml"
					   : "agents/, workflows/, config/mcp_servers.yaml, "
					     "config/retention_policy.yaml");
	struct run_import_request *request = run_import_request_new(&cli->arena);
	SET(request, files, ((struct str_map){ g.at, g.count }));
	SET(request, dry_run, cli_has(cli, "--dry-run"));
	state->body = run_import_request_text(request, &cli->arena);
	cli->state = state;
	return true;
}

static void print_notes(const char *folder, const struct json *list, const char *word)
{
	const struct json *one;
	for (size_t i = 0; (one = json_item(list, i)) != NULL; i++) {
		struct str file = cli_text(one, "file"), text = cli_text(one, "text");
		if (json_member(one, S("line")) == NULL)
			cli_line(CLI_RESULT, "%s/" STR_FMT ": %s" STR_FMT, folder, STR_ARG(file),
				 word, STR_ARG(text));
		else
			cli_line(CLI_RESULT, "%s/" STR_FMT ":%lld:%lld: %s" STR_FMT, folder,
				 STR_ARG(file), cli_number(one, "line"), cli_number(one, "column"),
				 word, STR_ARG(text));
	}
}

static int run(struct cli *cli)
{
	const struct import_state *state = cli->state;
	const struct json *answer, *item;
	int status = cli_call(cli, "POST",
			      state->runtime ? S("/api/import/runtime") : S("/api/import/graph"),
			      state->body, &answer);
	if (status != 0)
		return status;
	bool good = cli_is_true(answer, "is_valid");
	const struct json *items = json_member(answer, S("items"));
	const char *folder = cli_argument(cli, 0);
	if (cli->json) {
		cli_json_line(CLI_RESULT, json_print(&cli->arena, answer));
	} else {
		print_notes(folder, json_member(answer, S("problems")), "");
		print_notes(folder, json_member(answer, S("warnings")), "warning: ");
		for (size_t i = 0; good && (item = json_item(items, i)) != NULL; i++)
			cli_line(CLI_RESULT, "%-10.*s  %-10.*s  " STR_FMT,
				 STR_ARG(cli_text(item, "action")), STR_ARG(cli_text(item, "kind")),
				 STR_ARG(cli_text(item, "name")));
		if (!good || cli_is_true(answer, "dry_run"))
			cli_line(CLI_PROGRESS, "nothing was changed");
	}
	status = cli_flush();
	return status != 0 ? status : good ? 0 : error_row(ERROR_INVALID)->exit_status;
}

#define FOLDER                        \
	{                             \
		{                     \
			.name = "DIR" \
		}                     \
	}
#define DRY_RUN                                                                          \
	{                                                                                \
		{                                                                        \
			.name = "--dry-run",                                             \
			.text = "Change nothing; show what would be created and changed" \
		}                                                                        \
	}
static const struct cli_subcommand subcommands[] = {
	{ .name = "graph",
	  .text = "Import agents/, workflows/, config/mcp_servers.yaml and config/retention_policy.yaml",
	  .arguments = FOLDER,
	  .options = DRY_RUN },
	{ .name = "runtime",
	  .text = "Import agents.yaml, models.yaml and prompts/: agents, their models, and tiers",
	  .arguments = FOLDER,
	  .options = DRY_RUN },
	{ .name = NULL },
};

const struct cli_command command_import = {
	.name = "import",
	.text = "Import a folder of agents, workflows and models: all of it or nothing",
	.group = CLI_SETTINGS,
	.subcommands = subcommands,
	.examples = { { "baton import graph ~/.multi-agent --dry-run",
			"Check a folder and show what would change" },
		      { "baton import runtime config", "Import agents.yaml and models.yaml" } },
	.exits = { { 2, "a file has a problem; nothing was changed" } },
	.kind = CLI_CLIENT,
	.prepare = prepare,
	.run = run,
};
