/* cli/command_plan.c -- baton plan and baton replan: the plan of a run while a person is asked about it.
 *
 * An edit sends the number of the revision that was edited, so that it never replaces a plan that the
 * person has not seen.  The text stays in its file until the server has taken it.
 */
#include <string.h>

#include "base/limits.h"
#include "cli/output.h"
#include "cli/run_lookup.h"
#include "cli/server_request.h"
#include "cli/text_editor.h"
#include "contract/run_plan_types.h"
#include "os/file.h"

struct plan_state {
	struct run_name run;
	struct str import; /* text of --import */
	const char *message;
	/* Of an edit, kept when the server was lost: */
	const char *path;
	struct str edited;
	long long revision;
};

static bool prepare_plan(struct cli *cli, struct error *error)
{
	struct plan_state *state = arena_new(&cli->arena, struct plan_state);
	const char *file = cli_value(cli, "--import", 0);
	cli->state = state;
	int kinds = cli_has(cli, "--edit") + (file != NULL) +
		    (cli_has(cli, "--revision") || cli_has(cli, "--diff"));
	if (kinds > 1)
		return fail(error, ERROR_USAGE,
			    "--edit, --import and --revision or --diff cannot be combined");
	if (file != NULL || cli_has(cli, "--edit"))
		cli_idempotency_key_set(cli);
	if (file != NULL && !file_read(strcmp(file, "-") == 0 ? "/dev/stdin" : file,
				       LIMIT_PLAN_BYTES, &cli->arena, &state->import, error))
		return false;
	return run_name_parse(cli_argument(cli, 0), "RUN", &state->run, error);
}

static int show(struct cli *cli, const struct plan_state *state)
{
	const struct json *plan, *issue;
	const char *revision = cli_value(cli, "--revision", 0);
	bool diff = cli_has(cli, "--diff");
	struct str target = cli_run_target(cli, &state->run.first, "/plan");
	target = cli_query(cli, target, "revision", revision);
	int status = cli_call(cli, "GET", cli_query(cli, target, "diff", diff ? "1" : NULL), S(""),
			      &plan);
	if (status != 0)
		return status;
	if (cli->json)
		return cli_print_json(cli, plan);
	cli_line(CLI_PROGRESS, "revision %lld of %lld, %lld task%s" STR_FMT STR_FMT,
		 cli_number(plan, "revision"), cli_number(plan, "revisions"),
		 cli_number(plan, "total_tasks"), cli_number(plan, "total_tasks") == 1 ? "" : "s",
		 STR_ARG(cli_text(plan, "path").size > 0 ? S(", ") : S("")),
		 STR_ARG(cli_text(plan, "path")));
	const struct json *issues = json_member(json_member(plan, S("validation")), S("issues"));
	for (size_t i = 0; (issue = json_item(issues, i)) != NULL; i++)
		cli_line(CLI_PROGRESS, "issue: " STR_FMT, STR_ARG(json_text(issue)));
	if (!diff)
		return cli_print(cli, cli_text(plan, "markdown"));
	if (cli_number(plan, "diff_from") == 0)
		cli_line(CLI_PROGRESS, "there is no revision before it");
	return cli_print(cli, cli_text(plan, "diff"));
}

static int import(struct cli *cli, const struct plan_state *state)
{
	const struct json *answer, *issue;
	struct run_plan_import *body = run_plan_import_new(&cli->arena);
	SET(body, plan_content, state->import);
	SET(body, force, true);
	int status = cli_call(cli, "POST", cli_run_target(cli, &state->run.first, "/plan"),
			      run_plan_import_text(body, &cli->arena), &answer);
	if (status != 0)
		return status;
	bool ready = str_equal(cli_text(answer, "status"), S("ready"));
	const struct json *issues = json_member(answer, S("validation_issues"));
	if (cli->json)
		status = cli_print_json(cli, answer);
	else if (ready)
		cli_line(CLI_RESULT, "imported: %lld task%s", cli_number(answer, "total_tasks"),
			 cli_number(answer, "total_tasks") == 1 ? "" : "s");
	for (size_t i = 0; !cli->json && (issue = json_item(issues, i)) != NULL; i++)
		cli_line(CLI_PROGRESS, "not imported: " STR_FMT, STR_ARG(json_text(issue)));
	return !ready ? error_row(ERROR_INVALID)->exit_status : status != 0 ? status : cli_flush();
}

/* ---- editing --------------------------------------------------------------------------- */

static int save(struct cli *cli, const struct plan_state *state)
{
	const struct json *answer;
	struct error error;
	struct run_plan_edit *body = run_plan_edit_new(&cli->arena);
	SET(body, plan_markdown, state->edited);
	SET(body, revision, state->revision);
	int status = cli_call(cli, "PUT", cli_run_target(cli, &state->run.first, "/plan"),
			      run_plan_edit_text(body, &cli->arena), &answer);
	if (status != 0) {
		cli_line(CLI_PROGRESS, "nothing is saved; your text is in %s", state->path);
		return status;
	}
	if (!file_remove(state->path, &error))
		return cli_fail(cli, &error);
	if (cli->json)
		return cli_print_json(cli, answer);
	cli_line(CLI_RESULT, "saved; the run checks the plan and asks for its approval again");
	return cli_flush();
}

static int edit(struct cli *cli, struct plan_state *state)
{
	const struct json *plan;
	struct error error;
	if (state->edited.size > 0)
		return save(cli, state);
	int status =
		cli_call(cli, "GET", cli_run_target(cli, &state->run.first, "/plan"), S(""), &plan);
	if (status != 0)
		return status;
	struct str markdown = cli_text(plan, "markdown");
	if (cli_text(plan, "question").size == 0) {
		fail(&error, ERROR_CONFLICT,
		     "the run does not ask about its plan now, so it cannot be edited");
		return cli_fail(cli, &error);
	}
	if (!text_editor_write(cli, markdown, "plan.md", &state->path, &error) ||
	    !text_editor_open(cli, state->path, &error) ||
	    !file_read(state->path, LIMIT_PLAN_BYTES, &cli->arena, &state->edited, &error))
		return cli_fail(cli, &error);
	state->revision = cli_number(plan, "revision");
	if (!str_equal(state->edited, markdown))
		return save(cli, state);
	if (!file_remove(state->path, &error))
		return cli_fail(cli, &error);
	cli_line(CLI_RESULT, "the plan is unchanged");
	return cli_flush();
}

static int run_plan_command(struct cli *cli)
{
	struct plan_state *state = cli->state;
	int status = run_name_find(cli, &state->run);
	if (status != 0)
		return status;
	if (cli_has(cli, "--edit"))
		return edit(cli, state);
	return cli_has(cli, "--import") ? import(cli, state) : show(cli, state);
}

#define RUN                                                   \
	{                                                     \
		{                                             \
			.name = "RUN", .value_kind = CLI_RUN, \
		}                                             \
	}
const struct cli_command command_plan = {
	.name = "plan",
	.text = "Show the plan of a run, edit it, or import another",
	.group = CLI_RUNS,
	.kind = CLI_CLIENT,
	.read_only = false,
	.arguments = RUN,
	.options = { { .name = "--revision",
		       .value = "N",
		       .text = "Show this revision (default the newest)" },
		     { .name = "--diff", .text = "Show what changed since the revision before" },
		     { .name = "--edit",
		       .text = "Edit it in $VISUAL or $EDITOR; saving makes a new revision" },
		     { .name = "--import",
		       .value = "FILE",
		       .value_kind = CLI_FILE,
		       .text = "Use the plan in this file instead; - is standard input" } },
	.examples = { { "baton plan 1f0c", "Print the plan" },
		      { "baton plan 1f0c --diff", "Print what changed in the newest revision" },
		      { "baton plan 1f0c --edit", "Edit it before approving it" } },
	.exits = { { 2, "--import: the plan is not valid" },
		   { 5, "the run is still planning, or its plan was approved" } },
	.prepare = prepare_plan,
	.run = run_plan_command,
};

/* ---- planning again -------------------------------------------------------------------- */

static bool prepare_replan(struct cli *cli, struct error *error)
{
	struct plan_state *state = arena_new(&cli->arena, struct plan_state);
	cli->state = state;
	state->message = cli_value(cli, "--message", 0);
	cli_idempotency_key_set(cli);
	return run_name_parse(cli_argument(cli, 0), "RUN", &state->run, error);
}

static int run_replan_command(struct cli *cli)
{
	struct plan_state *state = cli->state;
	const struct json *answer;
	int status = run_name_find(cli, &state->run);
	if (status != 0)
		return status;
	struct run_replan *body = run_replan_new(&cli->arena);
	if (state->message != NULL)
		SET(body, comment, str_from_c(state->message));
	status = cli_call(cli, "POST", cli_run_target(cli, &state->run.first, "/replan"),
			  run_replan_text(body, &cli->arena), &answer);
	if (status != 0)
		return status;
	if (cli->json)
		return cli_print_json(cli, answer);
	cli_line(CLI_RESULT, "the plan is rejected; the run plans again");
	return cli_flush();
}

const struct cli_command command_replan = {
	.name = "replan",
	.text = "Reject the plan of a run, so that it plans again",
	.group = CLI_RUNS,
	.kind = CLI_CLIENT,
	.arguments = RUN,
	.options = { { .name = "--message",
		       .letter = 'm',
		       .value = "COMMENT",
		       .text = "Tell the architect what to do differently" } },
	.examples = { { "baton replan 1f0c -m 'smaller tasks'", "Let the architect plan again" } },
	.exits = { { 5, "the run is still planning, or its plan was approved" } },
	.prepare = prepare_replan,
	.run = run_replan_command,
};
