/* cli/command_check.c -- baton check: report every problem of definitions without starting them.
 *
 * The server checks, because tools, agents and other workflows are those of its data folder.  Problems are
 * printed as compilers print them (problem_print.h).
 */
#include <string.h>

#include "base/limits.h"
#include "cli/output.h"
#include "cli/problem_print.h"
#include "cli/prompts_folder.h"
#include "cli/server_request.h"
#include "contract/runtime_types.h"
#include "os/file.h"

struct check_state {
	int count;
	struct str *texts;  /* of the files */
	struct str *bodies; /* one request per file */
	int next;           /* the file that is checked next */
	bool bad;
};

/* The file name without folder and extension: the name that a start would use. */
static struct str stem_of(const char *path)
{
	const char *slash = strrchr(path, '/');
	struct str name = str_from_c(slash == NULL ? path : slash + 1);
	struct str rest = name, first;
	return str_cut(&rest, '.', &first) && first.size > 0 ? first : name;
}

static bool prepare(struct cli *cli, struct error *error)
{
	struct check_state *state = arena_new(&cli->arena, struct check_state);
	if (!problem_format_read(cli, error))
		return false;
	while (cli_argument(cli, state->count) != NULL)
		state->count++;
	state->texts = arena_array(&cli->arena, struct str, (size_t)state->count);
	state->bodies = arena_array(&cli->arena, struct str, (size_t)state->count);
	for (int i = 0; i < state->count; i++) {
		const char *path = cli_argument(cli, i), *name = cli_value(cli, "--name", 0);
		bool is_input = strcmp(path, "-") == 0;
		if (!file_read(is_input ? "/dev/stdin" : path, LIMIT_YAML_BYTES, &cli->arena,
			       &state->texts[i], error))
			return false;
		struct runtime_workflow_editor_request *request =
			runtime_workflow_editor_request_new(&cli->arena);
		SET(request, name,
		    name != NULL ? str_from_c(name)
		    : is_input   ? S("")
				 : stem_of(path));
		SET(request, yaml_content, state->texts[i]);
		struct str prompts = prompts_folder_of(path, &cli->arena);
		if (prompts.size > 0)
			SET(request, prompts_folder, prompts);
		state->bodies[i] = runtime_workflow_editor_request_text(request, &cli->arena);
	}
	cli->state = state;
	return true;
}

static void print_result(struct cli *cli, int number, const struct json *result)
{
	const char *path = cli_argument(cli, number);
	const struct check_state *state = cli->state;
	problem_print_all(cli, path, state->texts[number], result);
	if (cli_is_true(result, "is_valid"))
		cli_line(CLI_RESULT, "%s: ok", path);
}

static int run(struct cli *cli)
{
	struct check_state *state = cli->state;
	for (; state->next < state->count; state->next++) {
		const struct json *result;
		int status = cli_call(cli, "POST", S("/api/workflows/validate"),
				      state->bodies[state->next], &result);
		if (status != 0)
			return status;
		state->bad |= !cli_is_true(result, "is_valid");
		if (cli->json)
			cli_json_line(CLI_RESULT, json_print(&cli->arena, result));
		else
			print_result(cli, state->next, result);
	}
	int flushed = cli_flush();
	return flushed != 0 ? flushed : state->bad ? error_row(ERROR_INVALID)->exit_status : 0;
}

const struct cli_command command_check = {
	.name = "check",
	.text = "Check workflow files and report every problem, without starting anything",
	.group = CLI_RUNS,
	.kind = CLI_CLIENT,
	.read_only = true,
	.arguments = { { .name = "FILE", .value_kind = CLI_FILE, .repeats = true } },
	.options = { { .name = "--name",
		       .value = "NAME",
		       .text = "Name that the definition shall be started by (default: the file name without extension)" },
		     PROBLEM_FORMAT_OPTION },
	.examples = { { "baton check flow.yaml", "Show every problem with its line and its fix" },
		      { "baton check --format short flow.yaml",
			"Print only flow.yaml:LINE:COLUMN: TEXT" },
		      { "baton check definitions/*.yaml", "Check all definitions of a folder" } },
	.exits = { { 2, "a file has a problem" } },
	.prepare = prepare,
	.run = run,
};
