/* tool/tool_check_files.c -- check_files: which files of the workspace are missing.
 *
 * A session calls it before it ends, when its agent must leave certain files behind.  A folder counts as
 * missing, and so does a path that leads out of the workspace.
 */
#include <stdlib.h>

#include "contract/run_tool_types.h"
#include "os/confined_path.h"
#include "tool/tool_context.h"

struct check {
	struct tool_running running; /* first */
	struct job job;
	struct arena arena;
	const char *root;
	const struct run_check_files_inputs *inputs;
	struct tool_result result;
};

static struct check *check_of(struct job *job)
{
	return (struct check *)(void *)((char *)job - offsetof(struct check, job));
}

static void check_free(struct check *check)
{
	arena_done(&check->arena);
	free(check);
}

static void work(struct job *job, unsigned thread)
{
	struct check *check = check_of(job);
	struct arena *arena = &check->arena;
	struct str_list paths = check->inputs->paths;
	struct str *missing = arena_array(arena, struct str, paths.count);
	size_t count = 0;
	(void)thread;
	for (size_t i = 0; i < paths.count; i++) {
		AUTO(arena) scratch = { 0 };
		struct str bytes;
		uint64_t size;
		struct error why;
		const char *path;
		if (!tool_context_path(paths.at[i], arena, &path, &why) ||
		    !confined_read(check->root, path, 0, 1, &scratch, &bytes, &size, &why))
			missing[count++] = paths.at[i];
	}
	struct run_check_files_outputs *outputs = run_check_files_outputs_new(arena);
	SET(outputs, missing, ((struct str_list){ missing, count }));
	check->result.output = TOOL_OUTPUT(run_check_files_outputs, outputs, arena);
}

static void ended(struct job *job)
{
	struct check *check = check_of(job);
	tool_context_done(&check->running, &check->result);
	check_free(check);
}

static bool start(const struct tool_host *host, const struct tool_call *call, uint64_t *out_running,
		  struct error *error)
{
	struct check *check = calloc(1, sizeof(*check));
	require(check != NULL);
	check->root = str_c(&check->arena, str_from_c(call->workspace));
	check->inputs =
		tool_context_inputs(run_check_files_inputs_type(),
				    json_copy(&check->arena, call->inputs), &check->arena, error);
	if (check->inputs == NULL) {
		check_free(check);
		return false;
	}
	tool_context_begin(&check->running, host, call);
	*out_running = check->running.id;
	check->job = (struct job){ .run = work, .done = ended, .name = "check_files" };
	platform_submit(loop_platform(host->loop), LANE_READER, &check->job);
	return true;
}

const struct tool tool_check_files = {
	.name = "check_files",
	.text = "Says which of the given files of the workspace do not exist.",
	.class = RUN_CLASS_IDEMPOTENT,
	.risk = RUN_RISK_LOW,
	.inputs = run_check_files_inputs_type,
	.outputs = run_check_files_outputs_type,
	.start = start,
	.stop = tool_context_stop,
};
