/* cli/command_workflow.c -- baton workflow: list, show, check, draw, create, edit and delete
 * workflows.
 *
 * A workflow is given by its name, or as a file where a text is all that is needed (validate, dag).
 */
#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "cli/dag_drawing.h"
#include "cli/output.h"
#include "cli/problem_print.h"
#include "cli/prompts_folder.h"
#include "cli/server_request.h"
#include "cli/workflow_edit.h"
#include "contract/runtime_types.h"
#include "os/file.h"

struct workflow_state {
	const char *word, *name;
	struct str file; /* text of a file; "" = a workflow by name */
};

static bool is_word(const struct cli *cli, const char *word)
{
	return strcmp(cli->subcommand->name, word) == 0;
}

/* A path, as opposed to the name of a workflow. */
static bool is_path(const char *what)
{
	struct str text = str_from_c(what);
	return strchr(what, '/') != NULL || str_ends(text, S(".yaml")) ||
	       str_ends(text, S(".yml")) || str_ends(text, S(".json"));
}

static bool prepare(struct cli *cli, struct error *error)
{
	struct workflow_state *state = arena_new(&cli->arena, struct workflow_state);
	state->name = cli_argument(cli, 0);
	if (state->name != NULL && state->name[0] == '\0')
		return fail(error, ERROR_USAGE, "a workflow's name must not be empty");
	if (is_word(cli, "new") || is_word(cli, "edit"))
		return workflow_edit_prepare(cli, error);
	cli->state = state;
	bool reads_text = is_word(cli, "validate") || is_word(cli, "dag");
	if (reads_text && !problem_format_read(cli, error))
		return false;
	if (reads_text && is_path(state->name)) {
		cli->error_file = state->name;
		return file_read(state->name, LIMIT_YAML_BYTES, &cli->arena, &state->file, error);
	}
	return true;
}

/* ---- list ---------------------------------------------------------------------------- */

static void print_item(enum cli_output to, const struct json *item)
{
	const struct json *shadows = json_member(item, S("shadows")), *shadow;
	struct str problem = cli_text(item, "problem");
	AUTO(buf) source = { 0 };
	buf_add(&source, cli_text(item, "source"));
	if (cli_number(item, "version") > 0)
		buf_add_format(&source, " v%lld", cli_number(item, "version"));
	for (size_t i = 0; (shadow = json_item(shadows, i)) != NULL; i++)
		buf_add_format(&source, "%s" STR_FMT, i == 0 ? ", shadows " : " and ",
			       STR_ARG(json_text(shadow)));
	cli_line(to, "%-24.*s  %-12.*s  %s" STR_FMT, STR_ARG(cli_text(item, "name")),
		 STR_ARG(buf_str(&source)), problem.size > 0 ? "problem: " : "",
		 STR_ARG(problem.size > 0 ? problem : cli_text(item, "description")));
}

static int list(struct cli *cli)
{
	struct str cursor = S("");
	do {
		const struct json *page, *item;
		struct str target = cli_has(cli, "--experimental")
					    ? S("/api/workflows?experimental=true")
					    : S("/api/workflows?limit=100");
		if (cursor.size > 0)
			target = cli_query(cli, target, "cursor", str_c(&cli->arena, cursor));
		int status = cli_call(cli, "GET", target, S(""), &page);
		if (status != 0)
			return status;
		const struct json *items = json_member(page, S("items"));
		if (cli->json)
			cli_json_line(CLI_RESULT, json_print(&cli->arena, page));
		for (size_t i = 0; !cli->json && (item = json_item(items, i)) != NULL; i++)
			print_item(CLI_RESULT, item);
		cursor = cli_text(page, "cursor");
	} while (cursor.size > 0);
	return cli_flush();
}

/* ---- show ---------------------------------------------------------------------------- */

static void print_names(const char *label, const struct json *names)
{
	AUTO(buf) text = { 0 };
	const struct json *name;
	for (size_t i = 0; (name = json_item(names, i)) != NULL; i++)
		buf_add_format(&text, "%s" STR_FMT, i == 0 ? "" : ", ", STR_ARG(json_text(name)));
	if (text.size > 0)
		cli_line(CLI_PROGRESS, "%s" STR_FMT, label, STR_ARG(buf_str(&text)));
}

/* One line, and what the author declares: what the workflow is for and how its results are judged. */
static void print_head(struct cli *cli, const struct json *answer)
{
	const struct json *capabilities = json_member(answer, S("capabilities"));
	const struct json *evaluation = json_member(answer, S("evaluation")), *criterion;
	print_item(CLI_PROGRESS, answer);
	print_names("  takes: ", json_member(capabilities, S("inputs")));
	print_names("  gives: ", json_member(capabilities, S("outputs")));
	if (evaluation == NULL)
		return;
	cli_line(CLI_PROGRESS, "  evaluation: " STR_FMT,
		 STR_ARG(cli_text(evaluation, "rubric_id")));
	const struct json *criteria = json_member(evaluation, S("criteria"));
	for (size_t i = 0; (criterion = json_item(criteria, i)) != NULL; i++) {
		const struct json *weight = json_member(criterion, S("weight"));
		cli_line(CLI_PROGRESS, "    " STR_FMT "%s" STR_FMT ": " STR_FMT,
			 STR_ARG(cli_text(criterion, "name")), weight == NULL ? "" : ", weight ",
			 STR_ARG(weight == NULL ? S("") : json_print(&cli->arena, weight)),
			 STR_ARG(cli_text(criterion, "definition")));
	}
}

static int show(struct cli *cli, const struct workflow_state *state)
{
	const char *version = cli_value(cli, "--version", 0);
	const struct json *answer;
	struct str target = cli_target(cli, "/api/workflows/", state->name, "");
	if (version != NULL)
		target = cli_target(
			cli, str_format(&cli->arena, STR_FMT "/versions/", STR_ARG(target)).at,
			version, "");
	int status = cli_call(cli, "GET", target, S(""), &answer);
	if (status != 0)
		return status;
	if (cli->json)
		return cli_print_json(cli, answer);
	if (version == NULL) /* to stderr: what is printed to stdout is the text alone */
		print_head(cli, answer);
	return cli_print(cli, cli_text(answer, "yaml_content"));
}

/* ---- validate and dag ---------------------------------------------------------------- */

/* The file name without folder and extension. */
static struct str stem_of(const char *path)
{
	const char *slash = strrchr(path, '/');
	struct str name = str_from_c(slash == NULL ? path : slash + 1), rest = name, first;
	return str_cut(&rest, '.', &first) && first.size > 0 ? first : name;
}

/* Checks the file, or the text of the workflow. */
static int check(struct cli *cli, struct workflow_state *state, bool dag,
		 const struct json **out_answer)
{
	struct runtime_workflow_editor_request *request =
		runtime_workflow_editor_request_new(&cli->arena);
	const struct json *editor;
	SET(request, name, stem_of(state->name));
	if (is_path(state->name)) {
		struct str prompts = prompts_folder_of(state->name, &cli->arena);
		if (prompts.size > 0)
			SET(request, prompts_folder, prompts);
	}
	if (state->file.size == 0 && !is_path(state->name)) {
		int status = cli_call(cli, "GET",
				      cli_target(cli, "/api/workflows/", state->name, "/editor"),
				      S(""), &editor);
		if (status != 0)
			return status;
		SET(request, name, str_from_c(state->name));
		state->file = cli_text(editor, "yaml_content");
	}
	SET(request, yaml_content, state->file);
	return cli_call(cli, "POST",
			dag ? S("/api/workflows/validate?dag=true") : S("/api/workflows/validate"),
			runtime_workflow_editor_request_text(request, &cli->arena), out_answer);
}

static int validate(struct cli *cli, struct workflow_state *state)
{
	const struct json *answer;
	int status = check(cli, state, false, &answer);
	if (status != 0)
		return status;
	bool good = cli_is_true(answer, "is_valid");
	if (cli->json)
		cli_json_line(CLI_RESULT, json_print(&cli->arena, answer));
	else
		problem_print_all(cli, state->name, state->file, answer);
	if (good && !cli->json)
		cli_line(CLI_RESULT, "%s: ok", state->name);
	status = cli_flush();
	return status != 0 ? status : good ? 0 : error_row(ERROR_INVALID)->exit_status;
}

static int draw(struct cli *cli, struct workflow_state *state)
{
	const char *svg = cli_value(cli, "--svg", 0);
	const struct json *answer;
	struct error error;
	AUTO(buf) out = { 0 };
	int status = check(cli, state, true, &answer);
	if (status != 0)
		return status;
	const struct json *dag = json_member(answer, S("dag"));
	if (dag == NULL) {
		problem_print_all(cli, state->name, state->file, answer);
		cli_flush();
		return error_row(ERROR_INVALID)->exit_status;
	}
	if (cli->json)
		return cli_print_json(cli, dag);
	if (svg == NULL) {
		dag_text(dag, &out);
		return cli_print_styled(cli, buf_str(&out));
	}
	dag_svg(dag, stem_of(state->name), &out);
	if (strcmp(svg, "-") == 0)
		return cli_print(cli, buf_str(&out));
	if (!file_replace(svg, buf_str(&out), &error))
		return cli_fail(cli, &error);
	cli_line(CLI_PROGRESS, "wrote %s", svg);
	return 0;
}

/* ---- versions ------------------------------------------------------------------------ */

static int print_diff(struct cli *cli, const struct workflow_state *state, const char *from,
		      const char *to)
{
	const struct json *answer;
	struct str versions = cli_target(cli, "/api/workflows/", state->name, "/versions");
	if (to == NULL) {
		int status = cli_call(cli, "GET", cli_query(cli, versions, "limit", "1"), S(""),
				      &answer);
		if (status != 0)
			return status;
		to = str_format(&cli->arena, "%lld",
				cli_number(json_item(json_member(answer, S("versions")), 0),
					   "version"))
			     .at;
	}
	struct str target =
		cli_target(cli, str_format(&cli->arena, STR_FMT "/", STR_ARG(versions)).at, to, "");
	int status = cli_call(cli, "GET", cli_query(cli, target, "diff", from), S(""), &answer);
	if (status != 0)
		return status;
	return cli->json ? cli_print_json(cli, answer) : cli_print(cli, cli_text(answer, "diff"));
}

static int versions(struct cli *cli, const struct workflow_state *state)
{
	const char *from = cli_value(cli, "--diff", 0), *to = cli_value(cli, "--to", 0);
	const struct json *answer, *item;
	if (from != NULL)
		return print_diff(cli, state, from, to);
	int status = cli_call(
		cli, "GET", cli_target(cli, "/api/workflows/", state->name, "/versions?limit=100"),
		S(""), &answer);
	if (status != 0)
		return status;
	if (cli->json)
		return cli_print_json(cli, answer);
	const struct json *items = json_member(answer, S("versions"));
	for (size_t i = 0; (item = json_item(items, i)) != NULL; i++)
		cli_line(CLI_RESULT, "%5lld  " STR_FMT "  %-16.*s  %s%s",
			 cli_number(item, "version"), STR_ARG(cli_text(item, "saved_at")),
			 STR_ARG(cli_text(item, "saved_by")),
			 cli_is_true(item, "deleted") ? "deleted" : "",
			 cli_is_true(item, "current") ? "current" : "");
	if (json_item(items, 0) == NULL)
		cli_line(CLI_PROGRESS, "%s has no versions: it was never saved, only its %s exists",
			 state->name, "file or example");
	return cli_flush();
}

static int run(struct cli *cli)
{
	struct workflow_state *state = cli->state;
	const struct json *answer;
	if (is_word(cli, "list"))
		return list(cli);
	if (is_word(cli, "new") || is_word(cli, "edit"))
		return workflow_edit_run(cli);
	if (is_word(cli, "show"))
		return show(cli, state);
	if (is_word(cli, "validate"))
		return validate(cli, state);
	if (is_word(cli, "dag"))
		return draw(cli, state);
	if (is_word(cli, "versions"))
		return versions(cli, state);
	int status = cli_call(cli, "DELETE", cli_target(cli, "/api/workflows/", state->name, ""),
			      S(""), &answer);
	if (status == 0 && !cli->json)
		cli_line(CLI_PROGRESS, "deleted %s; its versions are kept", state->name);
	return status;
}

#define NAME                                                       \
	{                                                          \
		{                                                  \
			.name = "NAME", .value_kind = CLI_WORKFLOW \
		}                                                  \
	}
#define FILE_OR_NAME                                                    \
	{                                                               \
		{                                                       \
			.name = "FILE|NAME", .value_kind = CLI_WORKFLOW \
		}                                                       \
	}
#define TEXT_FILE                                                                 \
	.name = "--file", .letter = 'f', .value = "FILE", .value_kind = CLI_FILE, \
	.text = "Save the text of this file, without an editor; - is standard input"

static const struct cli_subcommand subcommands[] = {
	{ .name = "list",
	  .text = "List workflows by name with their sources",
	  .options = { { .name = "--experimental",
			 .text = "Also list workflows that are marked as experimental" } } },
	{ .name = "show",
	  .text = "Print the text of a workflow",
	  .arguments = NAME,
	  .options = { { .name = "--version",
			 .value = "N",
			 .text = "Of this version (default the one that a run would use)" } } },
	{ .name = "validate",
	  .text = "Report every problem of a workflow or a file",
	  .arguments = FILE_OR_NAME,
	  .options = { PROBLEM_FORMAT_OPTION } },
	{ .name = "dag",
	  .text = "Draw the steps of a workflow or a file and their order",
	  .arguments = FILE_OR_NAME,
	  .options = { { .name = "--svg",
			 .value = "FILE",
			 .value_kind = CLI_FILE,
			 .text = "Write the drawing to this file as SVG; - is standard output" },
		       PROBLEM_FORMAT_OPTION } },
	{ .name = "new",
	  .text = "Create a workflow",
	  .arguments = { { .name = "NAME" } },
	  .options = { { .name = "--from",
			 .value = "WORKFLOW",
			 .value_kind = CLI_WORKFLOW,
			 .text = "Begin with a copy of this workflow (default a small example)" },
		       { TEXT_FILE },
		       { .name = "--edit", .text = "Open it in $VISUAL or $EDITOR first" } } },
	{ .name = "edit",
	  .text = "Edit a workflow in $VISUAL or $EDITOR and save it as a new version",
	  .arguments = NAME,
	  .options = { { TEXT_FILE } } },
	{ .name = "versions",
	  .text = "List the versions of a workflow, or show what changed between two",
	  .arguments = NAME,
	  .options = { { .name = "--diff",
			 .value = "N",
			 .text = "Show the changes since version N" },
		       { .name = "--to",
			 .value = "N",
			 .text = "With --diff: up to this version (default the newest)" } } },
	{ .name = "delete",
	  .text = "Delete a stored workflow; its versions are kept and its runs continue",
	  .arguments = NAME },
	{ .name = NULL },
};

const struct cli_command command_workflow = {
	.name = "workflow",
	.text = "List, show, check, draw, create, edit and delete workflows",
	.group = CLI_RUNS,
	.kind = CLI_CLIENT,
	.read_only = true,
	.subcommands = subcommands,
	.examples = { { "baton workflow new greet", "Create a workflow from a small example" },
		      { "baton workflow edit greet", "Edit it and save it as a new version" },
		      { "baton workflow versions greet --diff 1", "Show what changed since" },
		      { "baton workflow dag greet --svg greet.svg",
			"Write the graph as an image" } },
	.exits = { { 2, "validate, dag: the workflow has a problem" } },
	.prepare = prepare,
	.run = run,
};
