/* tool/tool_git.c -- git_status, git_diff and git_commit in a repository of the run's workspace.
 *
 * git runs as a sandboxed child, by a script that keeps the repository's own configuration away from
 * it (git_prelude.sh): hooks, filters, drivers and monitors that a hostile repository names are never run.
 *
 * A commit cannot be taken back by restoring the workspace, whose trees leave .git alone (decision
 * 0038).  So git_commit has class probe: the effect's id is a trailer of the message, and after a crash
 * the probe looks for it in all branches.  The commit happens when its ref is moved, in one rename.  A
 * call that was stopped or timed out is looked up in the same way, so that it ends with what is true.
 */
#include "base/limits.h"
#include "contract/run_tool_types.h"
#include "os/failpoint.h"
#include "tool/git_call.h"
#include "tool/git_output.h"

enum { PROBE_SECONDS = 120 };

/* ---- outputs ------------------------------------------------------------------------- */

static const struct json *read_status(struct git_call *git, const struct process_result *result,
				      struct error *error)
{
	struct arena *arena = &git->arena;
	struct run_git_status_outputs *outputs = run_git_status_outputs_new(arena);
	return git_output_status(result->output, result->output_dropped == 0, arena, outputs, error)
		       ? TOOL_OUTPUT(run_git_status_outputs, outputs, arena)
		       : NULL;
}

static const struct json *read_diff(struct git_call *git, const struct process_result *result,
				    struct error *error)
{
	struct arena *arena = &git->arena;
	struct run_git_diff_outputs *outputs = run_git_diff_outputs_new(arena);
	return git_output_diff(result->output, git->diff_bytes, arena, outputs, error)
		       ? TOOL_OUTPUT(run_git_diff_outputs, outputs, arena)
		       : NULL;
}

static const struct json *read_commit(struct git_call *git, const struct process_result *result,
				      struct error *error)
{
	struct arena *arena = &git->arena;
	struct run_git_commit_outputs *outputs = run_git_commit_outputs_new(arena);
	return git_output_commit(result->output, arena, outputs, error)
		       ? TOOL_OUTPUT(run_git_commit_outputs, outputs, arena)
		       : NULL;
}

/* What a probe found.  Without a repository there is no commit, and none will come. */
static enum tool_answer answer_of(struct git_call *git, const struct process_result *result,
				  const struct json **out_output)
{
	struct error error;
	if (!git_call_succeeded(git, result, &error))
		return error.code == ERROR_NOT_FOUND ? TOOL_NOT_HAPPENED : TOOL_UNKNOWN;
	if (str_equal(str_trim(result->output), S("none")))
		return TOOL_NOT_HAPPENED;
	*out_output = read_commit(git, result, &error);
	return *out_output != NULL ? TOOL_HAPPENED : TOOL_UNKNOWN;
}

/* ---- a commit that was cut off --------------------------------------------------------- */

static void verified(struct tool_child *child, const struct process_result *result)
{
	struct git_call *git = git_call_of(child);
	struct tool_result answer = { .error = git->error };
	switch (answer_of(git, result, &answer.output)) {
	case TOOL_HAPPENED:
		answer.error = (struct error){ 0 };
		break;
	case TOOL_NOT_HAPPENED:
		break;
	case TOOL_UNKNOWN:
		tool_fail_unknown(&git->running, "it was started", &answer.error);
		break;
	}
	tool_child_close(child);
	git_call_finish(git, &answer);
}

static void verify(struct git_call *git)
{
	struct tool_result answer = { .error = git->error };
	struct error error;
	git->verifying = true;
	git->operation = "probe";
	git->paths_as_input = false;
	git->paths = (struct str_list){ 0 };
	git->child = (struct tool_child){ .ended = verified };
	if (git_call_spawn(git, LIMIT_GIT_VERIFY_MS / 1000.0, &error))
		return;
	tool_fail_unknown(&git->running, "it was started", &answer.error);
	git_call_finish(git, &answer);
}

/* ---- calls --------------------------------------------------------------------------- */

static void commit_ended(struct tool_child *child, const struct process_result *result)
{
	struct git_call *git = git_call_of(child);
	struct tool_result answer = { 0 };
	FAILPOINT("tool.git_ended");
	if (git_call_succeeded(git, result, &answer.error))
		answer.output = read_commit(git, result, &answer.error);
	bool uncertain = answer.output == NULL && tool_child_began(child) &&
			 (git->running.stop_error.code != ERROR_NONE ||
			  tool_child_was_cut_off(child, result) || result->exit_status == 0);
	tool_child_close(child);
	if (!uncertain) {
		git_call_finish(git, &answer);
		return;
	}
	git->error = answer.error;
	verify(git);
}

static bool status_start(const struct tool_host *host, const struct tool_call *call,
			 uint64_t *out_running, struct error *error)
{
	AUTO(arena) arena = { 0 };
	const struct run_git_status_inputs *inputs =
		TOOL_INPUTS(run_git_status_inputs, call, &arena, error);
	if (inputs == NULL)
		return false;
	struct git_call *git = git_call_new(host, call, "status");
	git->read = read_status;
	git->read_only = true;
	git_call_take_place(git, inputs->repository, inputs->paths);
	git_call_set(git, S("UNTRACKED"), inputs->untracked ? S("all") : S("no"));
	return git_call_begin(git, call, out_running, error);
}

static bool diff_start(const struct tool_host *host, const struct tool_call *call,
		       uint64_t *out_running, struct error *error)
{
	AUTO(arena) arena = { 0 };
	const struct run_git_diff_inputs *inputs =
		TOOL_INPUTS(run_git_diff_inputs, call, &arena, error);
	if (inputs == NULL)
		return false;
	struct git_call *git = git_call_new(host, call, "diff");
	git->read = read_diff;
	git->read_only = true;
	git_call_take_place(git, inputs->repository, inputs->paths);
	git->diff_bytes = (size_t)inputs->max_bytes;
	git_call_set(git, S("BASE"), has(inputs, base) ? inputs->base : S(""));
	git_call_set(git, S("UNTRACKED"), inputs->untracked ? S("1") : S("0"));
	git_call_set(git, S("STAGED"), inputs->staged ? S("1") : S("0"));
	git_call_set_number(git, S("CONTEXT"), inputs->context);
	git_call_set_number(git, S("DIFF_BYTES"), inputs->max_bytes + 1);
	return git_call_begin(git, call, out_running, error);
}

/* The variables of a commit are those of its probe, too. */
static struct git_call *commit_new(const struct tool_host *host, const struct tool_call *call,
				   const char *operation, struct error *error)
{
	AUTO(arena) arena = { 0 };
	char id[UUID_TEXT_SIZE];
	const struct run_git_commit_inputs *inputs =
		TOOL_INPUTS(run_git_commit_inputs, call, &arena, error);
	if (inputs == NULL)
		return NULL;
	struct git_call *git = git_call_new(host, call, operation);
	git_call_take_place(git, inputs->repository, inputs->paths);
	git_call_set(git, S("EFFECT"), uuid_text(&call->effect, id));
	git_call_set(git, S("MESSAGE"), inputs->message);
	git_call_set(git, S("PATHS"), inputs->paths.count > 0 ? S("1") : S("0"));
	git_call_set(git, S("ALLOW_EMPTY"), inputs->allow_empty ? S("1") : S("0"));
	git_call_set(git, S("NAME"), has(inputs, author_name) ? inputs->author_name : S(""));
	git_call_set(git, S("EMAIL"), has(inputs, author_email) ? inputs->author_email : S(""));
	return git;
}

static bool commit_start(const struct tool_host *host, const struct tool_call *call,
			 uint64_t *out_running, struct error *error)
{
	struct git_call *git = commit_new(host, call, "commit", error);
	if (git == NULL)
		return false;
	git->child.ended = commit_ended;
	git->paths_as_input = true;
	return git_call_begin(git, call, out_running, error);
}

static void probe_ended(struct tool_child *child, const struct process_result *result)
{
	struct git_call *git = git_call_of(child);
	const struct json *output = NULL;
	enum tool_answer answer = answer_of(git, result, &output);
	tool_child_close(child);
	git->asked(git->context, git->argument, answer, output);
	git_call_free(git);
}

static bool commit_probe(const struct tool_host *host, const struct tool_call *call,
			 struct error *error)
{
	struct git_call *git = commit_new(host, call, "probe", error);
	if (git == NULL)
		return false;
	git->paths = (struct str_list){ 0 };
	git->asked = call->asked;
	git->context = call->context;
	git->argument = call->argument;
	git->child.log = NULL;
	git->child.ended = probe_ended;
	if (git_call_spawn(git, PROBE_SECONDS, error))
		return true;
	git_call_free(git);
	return false;
}

const struct tool tool_git_status = {
	.name = "git_status",
	.text = "Lists the files of a git repository in the run's workspace that differ from its last "
		"commit. Use it before git_commit, and to see what has been done.",
	.class = RUN_CLASS_IDEMPOTENT,
	.risk = RUN_RISK_LOW,
	.inputs = run_git_status_inputs_type,
	.outputs = run_git_status_outputs_type,
	.start = status_start,
	.child = true,
	.stop = tool_context_stop,
};

const struct tool tool_git_diff = {
	.name = "git_diff",
	.text = "Shows what has changed in a git repository in the run's workspace, as a unified diff. "
		"Use it to check the work; with untracked, new files are part of it.",
	.class = RUN_CLASS_IDEMPOTENT,
	.risk = RUN_RISK_LOW,
	.inputs = run_git_diff_inputs_type,
	.outputs = run_git_diff_outputs_type,
	.start = diff_start,
	.child = true,
	.stop = tool_context_stop,
};

const struct tool tool_git_commit = {
	.name = "git_commit",
	.text = "Commits changes in a git repository in the run's workspace. Use it when a piece of "
		"work is complete and checked.",
	.class = RUN_CLASS_PROBE,
	.risk = RUN_RISK_MEDIUM,
	.inputs = run_git_commit_inputs_type,
	.outputs = run_git_commit_outputs_type,
	.start = commit_start,
	.child = true,
	.stop = tool_context_stop,
	.probe = commit_probe,
};
