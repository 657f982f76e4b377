/* cli/workflow_edit.c -- baton workflow new and edit: a text, a person's editor, and a save.
 *
 * The text is in a file until the server has accepted it.  Whatever happens in between (an invalid
 * text, another person's save, a lost server), the file stays and its path is printed.  The server
 * validates: a refused text is shown with its problems, and the editor is opened again on request.
 */
#include "cli/workflow_edit.h"

#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "cli/output.h"
#include "cli/server_request.h"
#include "cli/text_editor.h"
#include "contract/runtime_types.h"
#include "os/file.h"

struct edit_state {
	bool is_new, read;
	const char *name, *from, *file; /* file: --file */
	struct str text;                /* as it was read, before the person's changes */
	struct str etag;                /* of the text that is replaced; "" = none */
	const char *path;               /* the file in the editor */
};

static const char minimal[] = "name: NAME\n"
			      "description: What it does, in one sentence.\n"
			      "inputs:\n"
			      "  who: {type: string, default: world}\n"
			      "steps:\n"
			      "  - name: greet\n"
			      "    tool: echo\n"
			      "    inputs: {text: \"Hello, ${inputs.who}!\"}\n"
			      "outputs:\n"
			      "  text: {from: \"${steps.greet.outputs.text}\"}\n";

bool workflow_edit_prepare(struct cli *cli, struct error *error)
{
	struct edit_state *state = arena_new(&cli->arena, struct edit_state);
	cli->state = state;
	state->is_new = strcmp(cli->subcommand->name, "new") == 0;
	state->name = cli_argument(cli, 0);
	state->from = state->is_new ? cli_value(cli, "--from", 0) : NULL;
	state->file = cli_value(cli, "--file", 0);
	if (state->from != NULL && state->file != NULL)
		return fail(error, ERROR_USAGE, "--from and --file cannot be combined");
	if (state->file == NULL)
		return true;
	cli->error_file = state->file;
	return file_read(strcmp(state->file, "-") == 0 ? "/dev/stdin" : state->file,
			 LIMIT_YAML_BYTES, &cli->arena, &state->text, error);
}

/* ---- texts --------------------------------------------------------------------------- */

/* The text with another name: its first line that begins with "name:". */
static struct str renamed(struct str text, const char *name, struct arena *arena)
{
	AUTO(buf) out = { 0 };
	struct str rest = text, line;
	bool done = false;
	while (rest.size > 0) {
		size_t at;
		line = str_find(rest, S("\n"), &at) ? str_head(rest, at + 1) : rest;
		rest = str_skip(rest, line.size);
		if (!done && str_starts(line, S("name:")))
			buf_add_format(&out, "name: %s\n", name);
		else
			buf_add(&out, line);
		done = done || str_starts(line, S("name:"));
	}
	return str_copy(arena, buf_str(&out));
}

/* Reads the text that the person begins with. */
static int read_text(struct cli *cli, struct edit_state *state)
{
	const struct json *answer;
	if (state->is_new && state->from == NULL) {
		if (state->file == NULL)
			state->text = renamed(str_from_c(minimal), state->name, &cli->arena);
		return 0;
	}
	const char *name = state->is_new ? state->from : state->name;
	int status = cli_call(cli, "GET", cli_target(cli, "/api/workflows/", name, "/editor"),
			      S(""), &answer);
	if (status != 0)
		return status;
	if (!state->is_new)
		state->etag = cli_text(answer, "etag");
	if (state->file == NULL)
		state->text = cli_text(answer, "yaml_content");
	if (state->is_new)
		state->text = renamed(state->text, state->name, &cli->arena);
	return 0;
}

/* ---- saving -------------------------------------------------------------------------- */

static struct str body_of(struct cli *cli, const struct edit_state *state, struct str text)
{
	struct runtime_workflow_editor_request *request =
		runtime_workflow_editor_request_new(&cli->arena);
	SET(request, name, str_from_c(state->name));
	SET(request, yaml_content, text);
	return runtime_workflow_editor_request_text(request, &cli->arena);
}

/* Sends the text; 0 when it is saved. */
static int save(struct cli *cli, const struct edit_state *state, struct str text,
		struct error *error)
{
	const struct json *answer;
	bool lost;
	cli->condition = state->is_new          ? S("If-None-Match: *")
			 : state->etag.size > 0 ? str_format(&cli->arena, "If-Match: " STR_FMT,
							     STR_ARG(state->etag))
						: S("");
	bool good = cli_request(cli, "PUT", cli_target(cli, "/api/workflows/", state->name, ""),
				body_of(cli, state, text), &answer, &lost, error);
	cli->condition = S("");
	if (!good)
		return lost ? CLI_SERVER_LOST : error_row(error->code)->exit_status;
	if (cli->json)
		return cli_print_json(cli, answer);
	if (cli_number(answer, "version") > 0)
		cli_line(CLI_RESULT, "saved %s, version %lld", state->name,
			 cli_number(answer, "version"));
	else
		cli_line(CLI_RESULT, "%s is unchanged", state->name);
	return cli_flush();
}

/* The first letter of the answer; 0 at the end of the input. */
static int ask(const char *question)
{
	int c, first = 0;
	(void)!cli_piece(CLI_PROGRESS, str_from_c(question));
	while ((c = getc(stdin)) != EOF && c != '\n')
		if (first == 0 && c != ' ')
			first = c;
	return c == EOF && first == 0 ? 0 : first == 0 ? 'y' : first;
}

/* What to do with a text that the server refused; false = give up. */
static bool ask_again(struct cli *cli, struct edit_state *state, const struct error *error,
		      bool *out_edit)
{
	struct str diff = cli_text(cli->problem, "diff");
	*out_edit = true;
	cli_fail(cli, error);
	if (error->code == ERROR_INVALID || error->code == ERROR_SYNTAX)
		return ask("edit again? [Y/n] ") == 'y';
	if (error->code != ERROR_PRECONDITION_FAILED || diff.size == 0)
		return false;
	AUTO(buf) text = { 0 };
	cli_block_add("  ", diff, &text);
	cli_lines(CLI_PROGRESS, buf_str(&text));
	int answer = ask("(e)dit again, (o)verwrite, or (q)uit? [q] ");
	if (answer != 'e' && answer != 'o')
		return false;
	*out_edit = answer == 'e';
	state->etag = str_copy(&cli->arena, cli_text(cli->problem, "etag"));
	return true;
}

/* One file, without an editor. */
static int save_file(struct cli *cli, const struct edit_state *state)
{
	struct error error;
	int status = save(cli, state, state->text, &error);
	return status == 0 || status == CLI_SERVER_LOST ? status : cli_fail(cli, &error);
}

static int give_up(const struct edit_state *state, int status)
{
	cli_line(CLI_PROGRESS, "nothing is saved; your text is in %s", state->path);
	return status;
}

static int edit(struct cli *cli, struct edit_state *state)
{
	bool opens = true;
	struct error error;
	struct str text;
	const char *ending = str_format(&cli->arena, "%s.yaml", state->name).at;
	if (!text_editor_write(cli, state->text, ending, &state->path, &error))
		return cli_fail(cli, &error);
	for (;;) {
		if (opens && !text_editor_open(cli, state->path, &error))
			return cli_fail(cli, &error);
		if (!file_read(state->path, LIMIT_YAML_BYTES, &cli->arena, &text, &error))
			return give_up(state, cli_fail(cli, &error));
		if (!state->is_new && str_equal(text, state->text)) {
			cli_line(CLI_RESULT, "%s is unchanged", state->name);
			return file_remove(state->path, &error) ? cli_flush()
								: cli_fail(cli, &error);
		}
		int status = save(cli, state, text, &error);
		if (status == 0)
			return file_remove(state->path, &error) ? 0 : cli_fail(cli, &error);
		if (status == CLI_SERVER_LOST || !ask_again(cli, state, &error, &opens))
			return give_up(state, status == CLI_SERVER_LOST
						      ? error_row(ERROR_UNAVAILABLE)->exit_status
						      : status);
	}
}

int workflow_edit_run(struct cli *cli)
{
	struct edit_state *state = cli->state;
	if (!state->read) {
		int status = read_text(cli, state);
		if (status != 0)
			return status;
		state->read = true;
	}
	bool opens = state->file == NULL && (!state->is_new || cli_has(cli, "--edit"));
	return opens ? edit(cli, state) : save_file(cli, state);
}
