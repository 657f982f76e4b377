/* cli/command_run.c -- starts a run and follows it to its end.
 *
 * The id is chosen here and kept, so that asking again after a lost connection cannot start a
 * second run: a conflict on our own id means that the first request had arrived.
 */
#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "base/yaml.h"
#include "cli/cli.h"
#include "contract/runtime.h"
#include "os/file.h"

struct run_state {
	struct uuid id;
	struct str body;
	int64_t seen;
	bool asked, started;
};

/* The name a definition gives itself; whether it is well-formed is for the server to say. */
static struct str name_in(struct str yaml, const char *path, struct arena *arena)
{
	const struct json *tree;
	struct error error;
	struct str name = S("");
	if (yaml_read(yaml, arena, &tree, &error))
		name = json_text(json_member(tree, S("name")));
	return name.size > 0 ? name : str_head(str_from_c(path), LIMIT_NAME_BYTES);
}

/* --input name=value: JSON when it reads as JSON, else text. */
static bool add_input(struct cli *cli, struct json_member *member, const char *text,
		      struct error *error)
{
	struct str value = str_from_c(text), key;
	size_t at;
	if (!str_find(value, S("="), &at) || at == 0)
		return fail(error, ERROR_USAGE, "--input takes name=value, not %s", text);
	key = str_head(value, at);
	value = str_skip(value, at + 1);
	const struct json *json;
	struct error ignored;
	member->key = key;
	if (value.size > 0 && json_read(value, &cli->arena, &json, &ignored))
		member->value = *json;
	else
		member->value = (struct json){ .kind = JSON_STRING, .as.string = value };
	return true;
}

static bool read_inputs(struct cli *cli, const struct json **out_inputs, struct error *error)
{
	const char *file, *text;
	size_t room = (size_t)cli->argument_count;
	struct json_member *members = arena_array(&cli->arena, struct json_member, room);
	struct json *inputs = arena_new(&cli->arena, struct json);
	inputs->kind = JSON_OBJECT;
	if (!cli_option(cli, "--inputs", 'i', &file, error))
		return false;
	if (file != NULL) {
		struct str json;
		return file_read(file, LIMIT_VALUE_BYTES, &cli->arena, &json, error) &&
		       json_read(json, &cli->arena, out_inputs, error);
	}
	for (size_t count = 0;; count++) {
		if (!cli_option(cli, "--input", 0, &text, error))
			return false;
		if (text == NULL) {
			inputs->as.object.at = members;
			inputs->as.object.count = count;
			*out_inputs = inputs;
			return true;
		}
		if (!add_input(cli, &members[count], text, error))
			return false;
	}
}

static bool prepare(struct cli *cli, struct error *error)
{
	struct run_state *state = arena_new(&cli->arena, struct run_state);
	const struct json *inputs;
	const char *id, *what;
	if (!cli_option(cli, "--id", 0, &id, error) || !read_inputs(cli, &inputs, error) ||
	    !cli_one_argument(cli, "the workflow's file or name", &what, error))
		return false;
	state->id = uuid_from_random(cli->dice);
	if (id != NULL && !uuid_parse(str_from_c(id), &state->id))
		return fail(error, ERROR_USAGE, "--id takes a UUID, not %s", id);
	struct runtime_workflow_run_request *request =
		runtime_workflow_run_request_new(&cli->arena);
	SET(request, workflow, str_from_c(what));
	SET(request, inputs, inputs);
	SET(request, run_id, state->id);
	if (file_exists(what)) {
		struct str yaml;
		if (!file_read(what, LIMIT_YAML_BYTES, &cli->arena, &yaml, error))
			return false;
		SET(request, yaml_content, yaml);
		SET(request, workflow, name_in(yaml, what, &cli->arena));
	}
	state->body = runtime_workflow_run_request_text(request, &cli->arena);
	cli->state = state;
	return true;
}

static int run(struct cli *cli)
{
	struct run_state *state = cli->state;
	char id[UUID_TEXT_SIZE];
	if (!state->started) {
		const struct json *answer;
		struct error error;
		bool lost, again = state->asked;
		state->asked = true;
		if (!cli_request(cli, "POST", S("/api/run"), state->body, &answer, &lost, &error)) {
			if (lost)
				return CLI_SERVER_LOST;
			if (!again || error.code != ERROR_CONFLICT)
				return cli_fail(&error);
		}
		state->started = true;
		fprintf(stderr, "run " STR_FMT "\n", STR_ARG(uuid_text(&state->id, id)));
	}
	return cli_follow(cli, &state->id, &state->seen);
}

const struct cli_command command_run = {
	.name = "run",
	.usage = "run FILE|NAME [--input name=value]... [-i inputs.json] [--id UUID]",
	.text = "Start a run and follow it to its end",
	.kind = CLI_CLIENT,
	.prepare = prepare,
	.run = run,
};
