/* cli/command_review.c -- baton review: reviews changes of the repository around the current folder.
 *
 * It is `baton run review` for the profile of the repository.  With --local the changes are those that are not
 * committed: git prints them here, and the run applies them to its own work tree.
 */
#include "base/limits.h"
#include "cli/child_command.h"
#include "cli/document_command.h"
#include "cli/repository.h"
#include "cli/run_options.h"
#include "contract/runtime_types.h"
#include "os/process.h"

enum { INPUTS = 8 };

struct review_state {
	struct json inputs;
	struct json_member members[INPUTS];
	struct run_starting starting;
};

static void add(struct review_state *state, const char *name, struct json value)
{
	size_t count = state->inputs.as.object.count++;
	require(count < INPUTS);
	state->members[count] = (struct json_member){ .key = str_from_c(name), .value = value };
}

static void add_text(struct review_state *state, const char *name, const char *text)
{
	if (text != NULL)
		add(state, name,
		    (struct json){ .kind = JSON_STRING, .as.string = str_from_c(text) });
}

/* The uncommitted changes, new files included.  The index stays as it is: git compares with one of its own. */
static bool local_changes(struct cli *cli, struct str root, struct str *out_diff,
			  struct error *error)
{
	static const char script[] = "index=$(mktemp) && trap 'rm -f \"$index\"' EXIT && "
				     "cp \"$(git rev-parse --git-dir)/index\" \"$index\" && "
				     "GIT_INDEX_FILE=$index git add -A && "
				     "GIT_INDEX_FILE=$index git diff --cached --binary HEAD";
	const char *const argv[] = { "sh", "-c", script, NULL };
	const struct process_spec spec = { .argv = argv,
					   .environment = cli->environment,
					   .directory = str_c(&cli->arena, root),
					   .output_limit = LIMIT_VALUE_BYTES };
	struct child_command child = child_command_wait(&spec, &cli->arena);
	if (child.status != 0)
		return fail(error, ERROR_IO,
			    "git cannot compare the files of " STR_FMT ": " STR_FMT, STR_ARG(root),
			    STR_ARG(str_head(str_trim(child.errors), 300)));
	if (child.output.size >= LIMIT_VALUE_BYTES)
		return fail(
			error, ERROR_TOO_LARGE,
			"the uncommitted changes have more than %d bytes; commit them, and review "
			"the branch with --against",
			LIMIT_VALUE_BYTES);
	if (child.output.size == 0)
		return fail(error, ERROR_USAGE, "there are no uncommitted changes to review");
	*out_diff = child.output;
	return true;
}

static bool prepare(struct cli *cli, struct error *error)
{
	struct review_state *state = arena_new(&cli->arena, struct review_state);
	const char *against = cli_value(cli, "--against", 0);
	struct str root, diff;
	state->inputs = (struct json){ .kind = JSON_OBJECT, .as.object = { state->members, 0 } };
	cli->state = state;
	if (cli_has(cli, "--local") == (against != NULL))
		return fail(
			error, ERROR_USAGE,
			"name what to review: --local for uncommitted changes, or --against COMMIT "
			"for those of the current branch");
	if (!repository_find(&cli->arena, &root, error))
		return false;
	if (against == NULL && !local_changes(cli, root, &diff, error))
		return false;
	if (against == NULL)
		add(state, "diff", (struct json){ .kind = JSON_STRING, .as.string = diff });
	add_text(state, "against", against);
	add_text(state, "mode", cli_has(cli, "--fix") ? "review_fix" : "review_only");
	add_text(state, "task", cli_value(cli, "--task", 0));
	if (cli_has(cli, "--yes"))
		add(state, "auto_approve", (struct json){ .kind = JSON_BOOL, .as.boolean = true });
	return true;
}

static int run(struct cli *cli)
{
	struct review_state *state = cli->state;
	if (state->starting.request == NULL) {
		struct runtime_workflow_run_request *request =
			runtime_workflow_run_request_new(&cli->arena);
		struct str profile;
		int status = repository_profile_choose(cli, &profile);
		if (status != 0)
			return status;
		state->starting.id = uuid_from_random(cli->random);
		SET(request, workflow, S("review"));
		SET(request, inputs, &state->inputs);
		SET(request, profile, profile);
		SET(request, run_id, state->starting.id);
		state->starting.request = request;
	}
	return run_starting_run(cli, &state->starting);
}

const struct cli_command command_review = {
	.name = "review",
	.text = "Review changes of the repository, and repair what is accepted",
	.group = CLI_RUNS,
	.options = { { .name = "--local", .text = "Review the uncommitted changes" },
		     { .name = "--against",
		       .value = "COMMIT",
		       .text = "Review the changes of the current branch since this commit" },
		     { .name = "--fix",
		       .text = "Let a developer repair what the evaluator accepts, on a branch" },
		     { .name = "--task", .value = "TEXT", .text = "What the changes are for" },
		     { .name = "--yes",
		       .letter = 'y',
		       .text = "With --fix: repair without asking" },
		     { .name = "--detach",
		       .letter = 'd',
		       .text = "Print the id of the run and return; needs a running server" },
		     CLI_RUN_PROFILE },
	.examples = { { "baton review --local", "Review what is not committed yet" },
		      { "baton review --against main --fix",
			"Review and repair the current branch" } },
	.exits = { { 1, "the run failed" }, CLI_EXIT_INTERRUPTED },
	.kind = CLI_CLIENT,
	.prepare = prepare,
	.run = run,
};
