/* cli/command_oracle.c -- baton oracle: advice about a problem in the repository around the current folder.
 *
 * It is a run of the workflow `oracle` for the profile of the repository.  The advice goes to stdout, what the
 * oracle does meanwhile to stderr.
 */
#include "cli/document_command.h"
#include "cli/output.h"
#include "cli/repository.h"
#include "cli/run_options.h"
#include "cli/talk_print.h"
#include "contract/runtime_types.h"

enum { INPUTS = 3 };

struct oracle_state {
	struct json inputs;
	struct json_member members[INPUTS];
	struct run_starting starting;
	struct talk_printer *printer;
	bool ended;
};

static void add(struct oracle_state *state, const char *name, struct json value)
{
	size_t count = state->inputs.as.object.count++;
	require(count < INPUTS);
	state->members[count] = (struct json_member){ .key = str_from_c(name), .value = value };
}

static bool prepare(struct cli *cli, struct error *error)
{
	struct oracle_state *state = arena_new(&cli->arena, struct oracle_state);
	struct str problem = str_from_c(cli_argument(cli, 0));
	const char *base = cli_value(cli, "--base", 0);
	size_t count = 0;
	state->inputs = (struct json){ .kind = JSON_OBJECT, .as.object = { state->members, 0 } };
	cli->state = state;
	if (str_trim(problem).size == 0)
		return fail(error, ERROR_USAGE,
			    "describe the problem: baton oracle \"Why does the cache grow?\"");
	while (cli_value(cli, "--file", count) != NULL)
		count++;
	struct json *items = arena_array(&cli->arena, struct json, count);
	for (size_t i = 0; i < count; i++)
		items[i] = (struct json){ .kind = JSON_STRING,
					  .as.string = str_from_c(cli_value(cli, "--file", i)) };
	add(state, "problem", (struct json){ .kind = JSON_STRING, .as.string = problem });
	if (count > 0)
		add(state, "files",
		    (struct json){ .kind = JSON_LIST, .as.list = { items, count } });
	if (base != NULL)
		add(state, "base",
		    (struct json){ .kind = JSON_STRING, .as.string = str_from_c(base) });
	return true;
}

static int make_request(struct cli *cli, struct oracle_state *state)
{
	struct runtime_workflow_run_request *request =
		runtime_workflow_run_request_new(&cli->arena);
	const char *model = cli_value(cli, "--model", 0);
	struct str profile;
	int status = repository_profile_choose(cli, &profile);
	if (status != 0)
		return status;
	state->starting.id = uuid_from_random(cli->random);
	SET(request, workflow, S("oracle"));
	SET(request, inputs, &state->inputs);
	SET(request, profile, profile);
	SET(request, run_id, state->starting.id);
	if (model != NULL) {
		struct str_entry *entry = arena_new(&cli->arena, struct str_entry);
		*entry = (struct str_entry){ S("oracle"), str_from_c(model) };
		SET(request, models, ((struct str_map){ entry, 1 }));
	}
	state->starting.request = request;
	return 0;
}

static int run(struct cli *cli)
{
	struct oracle_state *state = cli->state;
	int status = state->starting.request == NULL ? make_request(cli, state) : 0;
	if (status != 0)
		return status;
	if (cli->json || cli_has(cli, "--detach"))
		return run_starting_run(cli, &state->starting);
	status = run_starting_send(cli, &state->starting);
	if (status != 0)
		return status;
	if (state->printer == NULL)
		state->printer = talk_printer_new(cli, &state->starting.id, false);
	if (!state->ended)
		status = talk_printer_follow(state->printer, &state->ended);
	return status != 0 || !state->ended ? status : talk_printer_end(state->printer);
}

const struct cli_command command_oracle = {
	.name = "oracle",
	.text = "Ask for advice about a problem; the oracle reads the repository and changes nothing",
	.group = CLI_RUNS,
	.arguments = { { .name = "PROBLEM" } },
	.options = { { .name = "--file",
		       .value = "PATTERN",
		       .repeats = true,
		       .text = "Hand over the files that match, such as 'src/*.c'; git must track them" },
		     { .name = "--base",
		       .value = "COMMIT",
		       .text = "Read this commit or branch (default: the current branch)" },
		     { .name = "--model",
		       .value = "NAME",
		       .text = "Ask this model instead of the one of the profile's agent oracle" },
		     { .name = "--detach",
		       .letter = 'd',
		       .text = "Print the id of the run and return; needs a running server" },
		     CLI_RUN_PROFILE },
	.examples = { { "baton oracle \"Why does the cache grow?\" --file 'src/cache*'",
			"Ask about a problem, and hand over files" } },
	.exits = { { 1, "the run failed" }, CLI_EXIT_INTERRUPTED },
	.kind = CLI_CLIENT,
	.prepare = prepare,
	.run = run,
};
