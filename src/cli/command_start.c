/* cli/command_start.c -- baton start: from an issue to reviewed commits.
 *
 * It is `baton run implementation` for the repository around the current folder: the options become inputs
 * of that workflow, and the profile is the one of the repository.
 */
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "cli/document_command.h"
#include "cli/output.h"
#include "cli/repository.h"
#include "cli/run_options.h"
#include "contract/runtime_types.h"
#include "os/file.h"

enum { INPUTS = 16 };

struct start_state {
	struct json inputs;
	struct json_member members[INPUTS];
	struct run_starting starting;
};

static void add(struct start_state *state, const char *name, struct json value)
{
	size_t count = state->inputs.as.object.count++;
	require(count < INPUTS);
	state->members[count] = (struct json_member){ .key = str_from_c(name), .value = value };
}

static void add_text(struct start_state *state, const char *name, struct str text)
{
	add(state, name, (struct json){ .kind = JSON_STRING, .as.string = text });
}

static void add_true(struct start_state *state, const char *name)
{
	add(state, name, (struct json){ .kind = JSON_BOOL, .as.boolean = true });
}

/* A design is Markdown, or a JSON or YAML document of either shape. */
static bool add_design(struct cli *cli, struct start_state *state, const char *path,
		       struct error *error)
{
	struct str text;
	const struct json *tree;
	cli->error_file = path;
	if (!file_read(path, LIMIT_VALUE_BYTES, &cli->arena, &text, error))
		return false;
	if (str_ends(str_from_c(path), S(".json"))) {
		if (!json_read(text, &cli->arena, &tree, error))
			return false;
		add(state, "design", *tree);
		return true;
	}
	struct json_member *members = arena_array(&cli->arena, struct json_member, 2);
	members[0] = (struct json_member){ .key = S("content"),
					   .value = { .kind = JSON_STRING, .as.string = text } };
	members[1] =
		(struct json_member){ .key = S("source"),
				      .value = { .kind = JSON_STRING, .as.string = S("file") } };
	add(state, "design", (struct json){ .kind = JSON_OBJECT, .as.object = { members, 2 } });
	return true;
}

static void add_personas(struct cli *cli, struct start_state *state)
{
	size_t count = 0;
	while (cli_value(cli, "--reviewer", count) != NULL)
		count++;
	struct json *items = arena_array(&cli->arena, struct json, count);
	for (size_t i = 0; i < count; i++)
		items[i] =
			(struct json){ .kind = JSON_STRING,
				       .as.string = str_from_c(cli_value(cli, "--reviewer", i)) };
	if (count > 0)
		add(state, "personas",
		    (struct json){ .kind = JSON_LIST, .as.list = { items, count } });
}

static bool prepare(struct cli *cli, struct error *error)
{
	static const struct {
		const char *option, *input;
	} texts[] = { { "--title", "title" },
		      { "--description", "description" },
		      { "--branch", "branch" },
		      { "--base", "base" } };
	struct start_state *state = arena_new(&cli->arena, struct start_state);
	const char *issue = cli_argument(cli, 0), *plan = cli_value(cli, "--plan", 0);
	state->inputs = (struct json){ .kind = JSON_OBJECT, .as.object = { state->members, 0 } };
	if (issue == NULL && cli_value(cli, "--title", 0) == NULL)
		return fail(
			error, ERROR_USAGE,
			"name an issue, or give --title: baton start 123, or baton start --title "
			"\"…\"");
	if (cli_value(cli, "--description", 0) != NULL && cli_value(cli, "--title", 0) == NULL)
		return fail(error, ERROR_USAGE, "--description needs --title");
	if (issue != NULL)
		add_text(state, "issue", str_from_c(issue));
	for (size_t i = 0; i < COUNT(texts); i++)
		if (cli_value(cli, texts[i].option, 0) != NULL)
			add_text(state, texts[i].input,
				 str_from_c(cli_value(cli, texts[i].option, 0)));
	if (plan != NULL) {
		struct str text;
		cli->error_file = plan;
		if (!file_read(plan, LIMIT_VALUE_BYTES, &cli->arena, &text, error))
			return false;
		if (str_trim(text).size == 0)
			return fail(error, ERROR_INVALID, "the plan is empty");
		add_text(state, "plan", text);
	}
	const char *design = cli_value(cli, "--design", 0);
	if (design != NULL && !add_design(cli, state, design, error))
		return false;
	cli->error_file = NULL;
	if (cli_has(cli, "--dirty"))
		add_true(state, "allow_dirty");
	if (cli_has(cli, "--yes"))
		add_true(state, "auto_approve");
	if (cli_has(cli, "--plan-only"))
		add_true(state, "plan_only");
	add_personas(cli, state);
	cli->state = state;
	return true;
}

/* The request, for the profile of the repository. */
static int make_request(struct cli *cli, struct start_state *state)
{
	struct runtime_workflow_run_request *request =
		runtime_workflow_run_request_new(&cli->arena);
	struct str profile;
	int status = repository_profile_choose(cli, &profile);
	if (status != 0)
		return status;
	state->starting.id = uuid_from_random(cli->random);
	SET(request, workflow, S("implementation"));
	SET(request, inputs, &state->inputs);
	SET(request, profile, profile);
	SET(request, run_id, state->starting.id);
	if (cli_argument(cli, 0) != NULL) {
		struct str_entry *label = arena_new(&cli->arena, struct str_entry);
		*label = (struct str_entry){ S("issue"), str_from_c(cli_argument(cli, 0)) };
		SET(request, labels, ((struct str_map){ label, 1 }));
	}
	state->starting.request = request;
	return 0;
}

static int run(struct cli *cli)
{
	struct start_state *state = cli->state;
	int status = state->starting.request == NULL ? make_request(cli, state) : 0;
	return status != 0 ? status : run_starting_run(cli, &state->starting);
}

const struct cli_command command_start = {
	.name = "start",
	.text = "Take an issue to reviewed commits: plan, approval, work, review",
	.group = CLI_RUNS,
	.arguments = { { .name = "ISSUE", .optional = true } },
	.options = { { .name = "--title",
		       .value = "TEXT",
		       .text = "Work on a task that no tracker has; this is its title" },
		     { .name = "--description",
		       .value = "TEXT",
		       .text = "Description of such a task" },
		     { .name = "--plan",
		       .value = "FILE",
		       .value_kind = CLI_FILE,
		       .text = "Use this plan instead of an architect's" },
		     { .name = "--design",
		       .value = "FILE",
		       .value_kind = CLI_FILE,
		       .text = "Start from this design: Markdown, or a JSON document" },
		     { .name = "--branch",
		       .value = "NAME",
		       .text = "Branch for the commits (default baton/ISSUE)" },
		     { .name = "--base",
		       .value = "COMMIT",
		       .text = "Start from this commit or branch (default: the current branch)" },
		     { .name = "--dirty",
		       .text = "Start from the last commit although there are uncommitted changes" },
		     { .name = "--reviewer",
		       .value = "PERSONA",
		       .repeats = true,
		       .text = "Review with this persona, such as security; all must approve" },
		     { .name = "--yes", .letter = 'y', .text = "Approve the plan without asking" },
		     { .name = "--plan-only", .text = "End when the plan is approved" },
		     { .name = "--detach",
		       .letter = 'd',
		       .text = "Print the id of the run and return; needs a running server" },
		     CLI_RUN_PROFILE },
	.examples = { { "baton start 123", "Work on issue 123 of the profile's tracker" },
		      { "baton start --title \"add() subtracts\" --yes",
			"Work on a task without a tracker, and approve its plan" } },
	.exits = { { 1, "the run failed" }, CLI_EXIT_INTERRUPTED },
	.kind = CLI_CLIENT,
	.prepare = prepare,
	.run = run,
};
