/* tool/tool_git_files.c -- git_snapshot, git_restore and git_hooks: states of the files between two commits.
 *
 * A snapshot is a tree that no ref names: git_diff and git_restore take it like a commit.  Hooks are programs of
 * the repository.  They run here and nowhere else, in the sandbox, on the work tree of the run.
 */
#include "base/limits.h"
#include "contract/run_tool_types.h"
#include "tool/git_call.h"
#include "tool/git_output.h"

static const struct json *read_snapshot(struct git_call *git, const struct process_result *result,
					struct error *error)
{
	struct arena *arena = &git->arena;
	struct run_git_snapshot_outputs *outputs = run_git_snapshot_outputs_new(arena);
	return git_output_snapshot(result->output, arena, outputs, error)
		       ? TOOL_OUTPUT(run_git_snapshot_outputs, outputs, arena)
		       : NULL;
}

static bool snapshot_start(const struct tool_host *host, const struct tool_call *call,
			   uint64_t *out_running, struct error *error)
{
	AUTO(arena) arena = { 0 };
	const struct run_git_snapshot_inputs *inputs =
		TOOL_INPUTS(run_git_snapshot_inputs, call, &arena, error);
	if (inputs == NULL)
		return false;
	struct git_call *git = git_call_new(host, call, "snapshot");
	git->read = read_snapshot;
	git_call_take_place(git, inputs->repository, (struct str_list){ 0 });
	return git_call_begin(git, call, out_running, error);
}

static const struct json *read_restore(struct git_call *git, const struct process_result *result,
				       struct error *error)
{
	struct arena *arena = &git->arena;
	struct run_git_restore_outputs *outputs = run_git_restore_outputs_new(arena);
	return git_output_restore(result->output, arena, outputs, error)
		       ? TOOL_OUTPUT(run_git_restore_outputs, outputs, arena)
		       : NULL;
}

static bool restore_start(const struct tool_host *host, const struct tool_call *call,
			  uint64_t *out_running, struct error *error)
{
	AUTO(arena) arena = { 0 };
	const struct run_git_restore_inputs *inputs =
		TOOL_INPUTS(run_git_restore_inputs, call, &arena, error);
	if (inputs == NULL)
		return false;
	struct git_call *git = git_call_new(host, call, "restore");
	git->read = read_restore;
	git_call_take_place(git, inputs->repository, (struct str_list){ 0 });
	git_call_set(git, S("COMMIT"), inputs->commit);
	return git_call_begin(git, call, out_running, error);
}

static const struct json *read_hooks(struct git_call *git, const struct process_result *result,
				     struct error *error)
{
	struct arena *arena = &git->arena;
	struct run_git_hooks_outputs *outputs = run_git_hooks_outputs_new(arena);
	return git_output_hooks(result->output, arena, outputs, error)
		       ? TOOL_OUTPUT(run_git_hooks_outputs, outputs, arena)
		       : NULL;
}

static bool hooks_start(const struct tool_host *host, const struct tool_call *call,
			uint64_t *out_running, struct error *error)
{
	AUTO(arena) arena = { 0 };
	const struct run_git_hooks_inputs *inputs =
		TOOL_INPUTS(run_git_hooks_inputs, call, &arena, error);
	if (inputs == NULL)
		return false;
	struct git_call *git = git_call_new(host, call, "hooks");
	git->read = read_hooks;
	git->timeout_seconds = inputs->timeout_seconds;
	git_call_take_place(git, inputs->repository, (struct str_list){ 0 });
	git_call_set(git, S("MESSAGE"), has(inputs, message) ? inputs->message : S(""));
	git_call_set_number(git, S("HOOK_BYTES"), LIMIT_GIT_HOOK_BYTES);
	return git_call_begin(git, call, out_running, error);
}

const struct tool tool_git_snapshot = {
	.name = "git_snapshot",
	.text = "Names the present state of all files of a git repository in the run's workspace, so that "
		"git_diff can compare with it and git_restore can return to it. Nothing is committed.",
	.class = RUN_CLASS_IDEMPOTENT,
	.risk = RUN_RISK_LOW,
	.inputs = run_git_snapshot_inputs_type,
	.outputs = run_git_snapshot_outputs_type,
	.start = snapshot_start,
	.child = true,
	.stop = tool_context_stop,
};

const struct tool tool_git_restore = {
	.name = "git_restore",
	.text = "Puts the files of a git repository in the run's workspace back to a commit or snapshot. "
		"New files are removed, ignored ones stay; the branch does not move.",
	.class = RUN_CLASS_CONTAINED,
	.risk = RUN_RISK_MEDIUM,
	.inputs = run_git_restore_inputs_type,
	.outputs = run_git_restore_outputs_type,
	.start = restore_start,
	.child = true,
	.stop = tool_context_stop,
};

const struct tool tool_git_hooks = {
	.name = "git_hooks",
	.text = "Runs the pre-commit and commit-msg hooks of a git repository in the run's workspace, with "
		"everything staged. Use it before git_commit; a hook that changes files runs once more.",
	.class = RUN_CLASS_CONTAINED,
	.risk = RUN_RISK_MEDIUM,
	.inputs = run_git_hooks_inputs_type,
	.outputs = run_git_hooks_outputs_type,
	.start = hooks_start,
	.child = true,
	.stop = tool_context_stop,
};
