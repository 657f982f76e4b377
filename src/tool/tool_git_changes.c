/* tool/tool_git_changes.c -- what the commits of a run have changed, for those who show it.
 *
 * Not in tools.def: no step calls it.  It reads the run's clone or, when that is gone, the branch of the user's
 * repository; nothing is written.
 */
#include "tool/git_changes.h"

#include "base/limits.h"
#include "contract/run_tool_types.h"
#include "tool/git_call.h"
#include "tool/git_output.h"

enum { SECTION_BYTES = 2 * LIMIT_GIT_NUMBER_BYTES + 4096 };

static const struct json *read_changes(struct git_call *git, const struct process_result *result,
				       struct error *error)
{
	struct arena *arena = &git->arena;
	struct run_changes *changes = run_changes_new(arena);
	(void)result;
	return git_output_changes(buf_str(&git->bytes), git->diff_bytes, arena, changes, error)
		       ? TOOL_OUTPUT(run_changes, changes, arena)
		       : NULL;
}

static bool changes_start(const struct tool_host *host, const struct tool_call *call,
			  uint64_t *out_running, struct error *error)
{
	AUTO(arena) arena = { 0 };
	char id[UUID_TEXT_SIZE];
	const struct run_changes_query *query = TOOL_INPUTS(run_changes_query, call, &arena, error);
	if (query == NULL)
		return false;
	struct git_call *git = git_call_new(host, call, "changes");
	git->script = "git_repository";
	git->read = read_changes;
	git->read_only = true;
	git->keeps_owners = true;
	git->diff_bytes = query->diff ? LIMIT_GIT_SHOWN_BYTES : 0;
	git->bytes_limit = SECTION_BYTES + LIMIT_GIT_SHOWN_BYTES + 1;
	git->in_repository = call->workspace == NULL;
	git_call_set(git, S("RUN"), uuid_text(&call->run, id));
	git_call_set(git, S("SHOWN"), has(query, path) ? query->path : S(""));
	git_call_set(git, S("BASE"), has(query, base) ? query->base : S(""));
	git_call_set(git, S("COMMIT"), has(query, commit) ? query->commit : S(""));
	git_call_set_number(git, S("DIFF_BYTES"), query->diff ? LIMIT_GIT_SHOWN_BYTES + 1 : 0);
	return git->in_repository ? git_call_begin_in(git, call, true, out_running, error)
				  : git_call_begin(git, call, out_running, error);
}

const struct tool git_changes = {
	.name = "git_changes",
	.text = "Shows what the commits of a run have changed.",
	.class = RUN_CLASS_IDEMPOTENT,
	.risk = RUN_RISK_LOW,
	.timeout_seconds = LIMIT_GIT_SHOWN_SECONDS,
	.inputs = run_changes_query_type,
	.outputs = run_changes_type,
	.start = changes_start,
	.child = true,
	.stop = tool_context_stop,
};
