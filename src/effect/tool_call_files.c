/* effect/tool_call_files.c -- the files that a tool call changed (decision 0059).
 *
 * The list is made before the result becomes a command, so it is recorded in the same event. */
#include "effect/tool_call.h"

#include "base/log.h"
#include "base/secret_mask.h"
#include "contract/run_log_types.h"
#include "os/failpoint.h"
#include "workspace/file_changes.h"
#include "workspace/workspace.h"

static void call_close_ended(struct call *call)
{
	tool_call_close(call, call->outcome, call->output,
			call->error.code == ERROR_NONE ? NULL : &call->error);
}

/* A list that cannot be made is no reason to lose the result. */
static void files_listed(void *context, uint64_t argument, struct str text,
			 const struct error *error)
{
	struct executor *executor = context;
	struct call *call = slots_get(&effect_room(executor)->under_way, argument);
	if (call == NULL)
		return;
	FAILPOINT("tool.files_listed");
	const struct active_run *active = active_run_by_id(executor, call->active);
	char id[UUID_TEXT_SIZE];
	require(active != NULL);
	call->listing = 0;
	struct error why = *error;
	if (call->mask != NULL)
		secret_mask_error(call->mask, &why);
	if (error->code == ERROR_NONE)
		call->files = file_changes_read(text, &call->arena);
	else
		log_run(LOG_WARNING, uuid_text(&active->run_id, id),
			"the files that step " STR_FMT " changed are not recorded: %s",
			STR_ARG(call->step), why.text);
	call_close_ended(call);
}

/* A call that writes has recorded the tree before it: what is different now is its doing, because no
 * other call writes to the folder while it is open. */
static bool call_lists_files(const struct call *call)
{
	return call->class == RUN_CLASS_CONTAINED && !call->read_only && call->tree.size > 0 &&
	       call->started_us > 0 && !str_equal(call->tree, WORKSPACE_NO_TREE);
}

void tool_call_list_files(struct call *call)
{
	struct workspace *workspace = executor_config(call->executor)->workspace;
	const struct active_run *active = active_run_by_id(call->executor, call->active);
	require(active != NULL);
	if (!call_lists_files(call)) {
		call_close_ended(call);
		return;
	}
	if (call->output != NULL)
		call->output = json_copy(&call->arena, call->output);
	call->listing =
		workspace->ops->changes(workspace, &active->run_id, call->branch, call->tree,
					call->started_us, files_listed, call->executor, call->id);
}

void tool_call_stop_listing(struct call *call)
{
	struct workspace *workspace = executor_config(call->executor)->workspace;
	if (call->listing != 0)
		workspace->ops->cancel(workspace, call->listing);
}

/* A name of a file may contain a secret. */
void tool_call_attach_files(const struct call *call, struct pending_command *pending)
{
	if (call->files == NULL)
		return;
	const struct json *files = run_file_changes_tree(call->files, &pending->arena);
	pending->command.files =
		call->mask == NULL ? files : secret_mask_json(call->mask, files, &pending->arena);
}
