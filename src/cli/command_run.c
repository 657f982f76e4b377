/* cli/command_run.c -- baton run: start a run and follow it to its end.
 *
 * The command chooses the run's id and keeps it, so that repeating the request after a lost
 * connection cannot start a second run: a conflict on the second attempt means that the first one
 * arrived.
 */
#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "base/yaml.h"
#include "cli/document_command.h"
#include "cli/output.h"
#include "cli/plan_print.h"
#include "cli/prompts_folder.h"
#include "cli/run_options.h"
#include "cli/server_request.h"
#include "cli/upload.h"
#include "contract/runtime_types.h"
#include "os/file.h"

/* The name in the definition, else the path.  The server reports errors in the definition. */
static struct str definition_name(struct str yaml, const char *path, struct arena *arena)
{
	const struct json *tree;
	struct error error;
	struct str name = S("");
	if (yaml_read(yaml, arena, &tree, &error))
		name = json_text(json_member(tree, S("name")));
	return name.size > 0 ? name : str_head(str_from_c(path), LIMIT_NAME_BYTES);
}

static bool read_inputs(struct cli *cli, const struct json **out_inputs, struct error *error)
{
	const char *file = cli_value(cli, "--inputs", 0);
	struct json *inputs = arena_new(&cli->arena, struct json);
	struct str json;
	if (file == NULL && !cli_inputs(cli, "name=value", inputs, error))
		return false;
	if (file == NULL) {
		*out_inputs = inputs;
		return true;
	}
	cli->error_file = file;
	if (cli_has(cli, "--input"))
		return fail(error, ERROR_USAGE, "--inputs and --input cannot be combined");
	return file_read(file, LIMIT_VALUE_BYTES, &cli->arena, &json, error) &&
	       json_read(json, &cli->arena, out_inputs, error);
}

/* Sets profile, budget, and priority and concurrency key, which control admission. */
static bool add_admission(struct cli *cli, struct runtime_workflow_run_request *request,
			  struct error *error)
{
	const char *priority = cli_value(cli, "--priority", 0);
	const char *concurrency_key = cli_value(cli, "--concurrency-key", 0);
	const char *profile = cli_value(cli, "--profile", 0);
	int64_t number;
	if (priority != NULL) {
		if (!str_to_int(str_from_c(priority), &number) || number < -100 || number > 100)
			return fail(
				error, ERROR_USAGE,
				"--priority must be a whole number from -100 to 100, not \"%s\"",
				priority);
		SET(request, priority, number);
	}
	double budget;
	bool has_budget;
	if (!usage_text_budget(cli, &has_budget, &budget, error))
		return false;
	if (has_budget)
		SET(request, budget_usd, budget);
	if (profile != NULL && profile[0] == '\0')
		return fail(error, ERROR_USAGE, "--profile must not be empty");
	if (profile != NULL)
		SET(request, profile, str_from_c(profile));
	if (concurrency_key != NULL && concurrency_key[0] == '\0')
		return fail(error, ERROR_USAGE, "--concurrency-key must not be empty");
	if (concurrency_key != NULL)
		SET(request, alone, str_from_c(concurrency_key));
	return true;
}

/* Labels are text, whatever they look like; the server checks names and lengths. */
static bool add_labels(struct cli *cli, struct runtime_workflow_run_request *request,
		       struct error *error)
{
	size_t count = 0;
	while (cli_value(cli, "--label", count) != NULL)
		count++;
	struct str_entry *labels = arena_array(&cli->arena, struct str_entry, count);
	for (size_t i = 0; i < count; i++) {
		struct str text = str_from_c(cli_value(cli, "--label", i));
		size_t at;
		if (!str_find(text, S("="), &at) || at == 0)
			return fail(error, ERROR_USAGE,
				    "--label takes NAME=VALUE, not \"" STR_FMT "\"",
				    STR_ARG(str_head(text, LIMIT_QUOTE_BYTES)));
		labels[i] = (struct str_entry){ str_head(text, at), str_skip(text, at + 1) };
		for (size_t j = 0; j < i; j++)
			if (str_equal(labels[j].key, labels[i].key))
				return fail(error, ERROR_USAGE,
					    "--label " STR_FMT " is given twice",
					    STR_ARG(labels[i].key));
	}
	if (count > 0)
		SET(request, labels, ((struct str_map){ labels, count }));
	return true;
}

/* A path, as opposed to the name of a workflow: those have neither slashes nor extensions. */
static bool is_path(struct str what)
{
	size_t at;
	return str_find(what, S("/"), &at) || str_ends(what, S(".yaml")) ||
	       str_ends(what, S(".yml")) || str_ends(what, S(".json"));
}

bool run_options_prepare(struct cli *cli, const struct run_cassettes *cassettes,
			 struct error *error)
{
	struct run_starting *state = arena_new(&cli->arena, struct run_starting);
	const struct json *inputs;
	const char *id = cli_value(cli, "--id", 0), *what = cli_argument(cli, 0);
	state->id = uuid_from_random(cli->random);
	if (!read_inputs(cli, &inputs, error) ||
	    (id != NULL && !cli_uuid(id, "--id", &state->id, error)))
		return false;
	struct runtime_workflow_run_request *request =
		runtime_workflow_run_request_new(&cli->arena);
	SET(request, workflow, str_from_c(what));
	SET(request, inputs, inputs);
	SET(request, run_id, state->id);
	if (!add_admission(cli, request, error) || !add_labels(cli, request, error))
		return false;
	if (cassettes->record != NULL)
		SET(request, record, str_from_c(cassettes->record));
	if (cassettes->append)
		SET(request, record_append, true);
	if (cassettes->replay != NULL)
		SET(request, replay, str_from_c(cassettes->replay));
	if (cassettes->adapter != NULL)
		SET(request, adapter, str_from_c(cassettes->adapter));
	if (file_exists(what) || is_path(str_from_c(what))) {
		struct str yaml;
		if (!file_read(what, LIMIT_YAML_BYTES, &cli->arena, &yaml, error))
			return false;
		cli->error_file = what;
		SET(request, yaml_content, yaml);
		struct str prompts = prompts_folder_of(what, &cli->arena);
		if (prompts.size > 0)
			SET(request, prompts_folder, prompts);
		SET(request, workflow, definition_name(yaml, what, &cli->arena));
	}
	state->request = request;
	cli->state = state;
	return upload_read(cli, "--input-file", true, &state->uploads, error);
}

/* The inputs, with the artifact that each file has become. */
static const struct json *inputs_with_files(const struct json *inputs,
					    const struct uploads *uploads, struct arena *arena)
{
	size_t count = inputs->kind == JSON_OBJECT ? inputs->as.object.count : 0, given = count;
	struct json_member *members =
		arena_array(arena, struct json_member, count + uploads->count);
	struct json *all = arena_new(arena, struct json);
	if (uploads->count == 0 || inputs->kind != JSON_OBJECT)
		return inputs;
	for (size_t i = 0; i < given; i++)
		members[i] = inputs->as.object.at[i];
	for (size_t i = 0; i < uploads->count; i++)
		members[count++] = (struct json_member){ .key = uploads->at[i].input,
							 .value = *uploads->at[i].artifact };
	*all = (struct json){ .kind = JSON_OBJECT, .as.object = { members, count } };
	return all;
}

static struct str body_of(struct cli *cli, struct run_starting *state)
{
	SET(state->request, inputs,
	    inputs_with_files(state->request->inputs, &state->uploads, &cli->arena));
	state->uploads.count = 0;
	return runtime_workflow_run_request_text(state->request, &cli->arena);
}

/* The id alone, so that a script can use it; with --json as the server's receipt has it. */
static int print_receipt(struct cli *cli, const struct uuid *run)
{
	char id[UUID_TEXT_SIZE];
	struct runtime_workflow_run_response *receipt =
		runtime_workflow_run_response_new(&cli->arena);
	SET(receipt, run_id, *run);
	SET(receipt, status, S("queued"));
	return cli_print(cli, cli->json ? runtime_workflow_run_response_text(receipt, &cli->arena)
					: uuid_text(run, id));
}

int run_starting_send(struct cli *cli, struct run_starting *state)
{
	char id[UUID_TEXT_SIZE];
	const struct json *answer;
	struct error error;
	bool lost, again = state->requested;
	if (state->started)
		return 0;
	int status = upload_send(cli, &state->id, &state->uploads);
	if (status != 0)
		return status;
	state->requested = true;
	if (!cli_request(cli, "POST", S("/api/run"), body_of(cli, state), &answer, &lost, &error)) {
		if (lost)
			return CLI_SERVER_LOST;
		if (!again || error.code != ERROR_CONFLICT)
			return cli_fail(cli, &error);
	}
	state->started = true;
	if (!cli_has(cli, "--detach"))
		cli_line(CLI_PROGRESS, "run " STR_FMT, STR_ARG(uuid_text(&state->id, id)));
	return 0;
}

int run_starting_run(struct cli *cli, struct run_starting *state)
{
	bool detach = cli_has(cli, "--detach");
	if (detach && cli->own_server) {
		struct error error;
		fail(&error, ERROR_UNAVAILABLE,
		     "--detach needs a server that carries the run on; start one with baton serve");
		return cli_fail(cli, &error);
	}
	int status = run_starting_send(cli, state);
	if (status != 0)
		return status;
	if (detach)
		return print_receipt(cli, &state->id);
	return cli_run_follow(cli, &state->id, &state->last_seq);
}

int run_options_start(struct cli *cli)
{
	return run_starting_run(cli, cli->state);
}

static bool prepare(struct cli *cli, struct error *error)
{
	const struct run_cassettes cassettes = { .replay = cli_value(cli, "--replay", 0),
						 .adapter = cli_value(cli, "--adapter", 0) };
	return run_options_prepare(cli, &cassettes, error);
}

static int print_plan(struct cli *cli, const struct run_starting *state)
{
	const struct json *plan;
	struct error error;
	if (state->uploads.count > 0) {
		fail(&error, ERROR_USAGE,
		     "--dry-run stores nothing, so it cannot be combined with --input-file");
		return cli_fail(cli, &error);
	}
	int status =
		cli_call(cli, "POST", S("/api/run/plan"),
			 runtime_workflow_run_request_text(state->request, &cli->arena), &plan);
	if (status != 0)
		return status;
	return cli->json ? cli_print_json(cli, plan) : plan_print(plan);
}

static int run(struct cli *cli)
{
	return cli_has(cli, "--dry-run") ? print_plan(cli, cli->state) : run_options_start(cli);
}

const struct cli_command command_run = {
	.name = "run",
	.text = "Start a run and follow it to its end",
	.group = CLI_RUNS,
	.arguments = { { .name = "FILE|NAME", .value_kind = CLI_WORKFLOW } },
	.options = { CLI_RUN_OPTIONS,
		     { .name = "--replay",
		       .value = "CASSETTE",
		       .text = "Answer agents of the driver api from recorded replies, without key and network" },
		     { .name = "--adapter",
		       .value = "NAME",
		       .text = "native, sim (no tools, models and people; nothing leaves the program) or replay (default native)" },
		     { .name = "--dry-run",
		       .text = "Start nothing; show the steps in order and an estimate of the cost" } },
	.examples = { { "baton run two-steps --input who=you", "Run a built-in example by name" },
		      { "baton run flow.yaml -i inputs.json --json",
			"Run a file and print the whole result as JSON" },
		      { "baton run flow.yaml --replay demo",
			"Run again with the replies that `baton record` has kept" },
		      { "baton watch $(baton run --detach two-steps)",
			"Start a run now, follow it later" } },
	.exits = { { 1, "the run failed" }, CLI_EXIT_WITH_ISSUES, CLI_EXIT_INTERRUPTED },
	.kind = CLI_CLIENT,
	.prepare = prepare,
	.run = run,
};
