/* effect/effect_tool.c -- tool calls.
 *
 * A call goes: take the effect's lock, load the inputs, start the tool; its result is a command.  A
 * call that is found open after a crash goes: take the lock (so the old process tree is known to be
 * dead), then by effect class: restore the workspace and repeat, repeat, ask the tool whether it
 * happened, or close the call as unknown.  A repetition is recorded first (tool.restarted), so
 * nothing is repeated in silence; then the call begins like the first one.
 */
#include "effect/effect.h"

#include <stdlib.h>

#include "active/effect_wait.h"
#include "active/value_fetch.h"
#include "base/log.h"
#include "contract/run_graph_types.h"
#include "engine/run.h"
#include "os/failpoint.h"
#include "sandbox/sandbox.h"
#include "tool/tool.h"

enum { RETRY_US = 20000 };

/* A call under way, found by its slot. */
struct call {
	struct arena arena; /* first: effects_free() frees it */
	struct executor *executor;
	uint64_t id, active;
	struct str step, tree;
	struct uuid effect;
	struct str tool;
	struct value inputs; /* a copy: the run's state may be missing for a while */
	enum run_effect_class class;
	int64_t attempt;
	int lock;         /* -1 = not taken */
	uint64_t running; /* the tool's own id; 0 = not started */
	bool resuming;
	bool asking;     /* the tool is asked whether the call happened */
	bool cancelling; /* the run is being cancelled: the call is not repeated */
};

/* ---- calls --------------------------------------------------------------------------- */

static struct call *call_new(struct active_run *active, const struct activation *activation,
			     bool resuming)
{
	struct call *call = calloc(1, sizeof(*call));
	require(call != NULL);
	call->executor = active->executor;
	call->active = active->id;
	call->step = str_copy(&call->arena, activation->path);
	call->tree = str_copy(&call->arena, activation->tree);
	call->effect = activation->effect;
	call->inputs = activation->inputs;
	call->inputs.text = str_copy(&call->arena, activation->inputs.text);
	const struct graph_node *node = run_node(active->run, activation);
	call->tool = str_copy(&call->arena, node->row->tool);
	call->class = node->row->class;
	call->attempt = activation->attempt;
	call->lock = -1;
	call->resuming = resuming;
	call->cancelling = active->run->cancelling;
	call->id = slots_add(&effect_room(active->executor)->under_way, call);
	map_put(&effect_room(active->executor)->calls, uuid_str(&call->effect), call);
	active_run_pin(active);
	effect_room(active->executor)->base.open_tools++;
	return call;
}

/* Takes the call off the books.  The caller sends what follows to the run. */
static struct active_run *call_end(struct call *call)
{
	struct executor *executor = call->executor;
	struct active_run *active = active_run_by_id(executor, call->active);
	require(active != NULL);
	if (call->lock >= 0)
		executor_config(executor)->workspace->ops->unlock(
			executor_config(executor)->workspace, &call->effect, call->lock);
	slots_remove(&effect_room(executor)->under_way, call->id);
	if (map_get(&effect_room(executor)->calls, uuid_str(&call->effect)) == call)
		map_remove(&effect_room(executor)->calls, uuid_str(&call->effect));
	effect_room(executor)->base.open_tools--;
	active_run_unpin(active);
	return active;
}

static void call_free(struct call *call)
{
	executor_discard(call->executor, &call->arena);
	free(call);
}

static void call_close(struct call *call, enum run_outcome outcome, const struct json *output,
		       const struct error *error)
{
	struct active_run *active = call_end(call);
	effect_finish(active, call->step, &call->effect, outcome, output, error);
	call_free(call);
}

static void call_ended(void *context, uint64_t argument, const struct tool_result *result)
{
	struct executor *executor = context;
	struct call *call = slots_get(&effect_room(executor)->under_way, argument);
	if (call == NULL)
		return;
	FAILPOINT("tool.ended");
	if (result->error.code == ERROR_NONE)
		call_close(call, RUN_OUTCOME_OK, result->output, NULL);
	else
		call_close(call,
			   result->error.code == ERROR_CANCELLED         ? RUN_OUTCOME_CANCELLED
			   : result->error.code == ERROR_OUTCOME_UNKNOWN ? RUN_OUTCOME_UNKNOWN
									 : RUN_OUTCOME_FAILED,
			   NULL, &result->error);
}

static void call_answered(void *context, uint64_t argument, enum tool_answer answer,
			  const struct json *output);

/* Starts the tool, or asks it whether the call happened. */
static bool call_start(struct call *call, const struct json *inputs, struct error *error)
{
	struct executor *executor = call->executor;
	struct workspace *workspace = executor_config(executor)->workspace;
	struct active_run *active = active_run_by_id(executor, call->active);
	require(active != NULL);
	const struct tool *tool = tool_find(executor_config(executor)->tools, call->tool);
	if (tool == NULL || (call->asking ? tool->probe == NULL : tool->start == NULL))
		return fail(error, ERROR_NOT_FOUND, "this program has no tool " STR_FMT "%s",
			    STR_ARG(call->tool), call->asking ? " that can be asked" : "");
	struct tool_call spec = { .tool = tool,
				  .name = call->tool,
				  .class = call->class,
				  .run = active->run_id,
				  .effect = call->effect,
				  .attempt = call->attempt,
				  .inputs = inputs,
				  .lock = call->lock,
				  .done = call_ended,
				  .asked = call_answered,
				  .context = executor,
				  .argument = call->id };
	if (!workspace->ops->folder(workspace, &active->run_id, &call->arena, &spec.workspace,
				    error))
		return false;
	/* A call that was recorded as contained runs contained, whatever the setting is now. */
	struct tool_host host = executor_config(executor)->host;
	if (call->class == RUN_CLASS_CONTAINED && host.sandbox != NULL)
		host.sandbox = sandbox_find(S("native"));
	if (call->asking)
		return tool->probe(&host, &spec, error);
	FAILPOINT("tool.before_start");
	return tool->start(&host, &spec, &call->running, error);
}

static void call_again(void *context, uint64_t argument);

static void call_unknown(struct call *call, const char *why);

/* When all places for children are taken, the call is tried again later. */
static void call_with_inputs(struct call *call, const struct json *inputs)
{
	struct error error;
	if (call_start(call, inputs, &error))
		return;
	if (error.code == ERROR_UNAVAILABLE)
		platform_timer_start(executor_config(call->executor)->platform, RETRY_US,
				     call_again, call->executor, call->id);
	else if (call->asking)
		call_unknown(call, "nobody can be asked what became of it");
	else
		call_close(call, RUN_OUTCOME_FAILED, NULL, &error);
}

static void inputs_fetched(struct executor *executor, uint64_t id, uint64_t argument,
			   const struct error *error)
{
	struct active_run *active = active_run_by_id(executor, id);
	struct call *call = slots_get(&effect_room(executor)->under_way, argument);
	require(active != NULL);
	if (call == NULL)
		return; /* stopped before it began */
	if (error != NULL) {
		executor_fail(executor, error);
		return;
	}
	struct engine_values values = active_run_values(active);
	call_with_inputs(call, values.look(values.context, &call->inputs.hash));
}

/* The program stops and the call has not begun: its request stays open for the next start. */
static void call_leave(struct call *call)
{
	struct active_run *active = call_end(call);
	call_free(call);
	active_run_settle(active);
}

static void call_begin(struct call *call)
{
	if (effect_kind_can_wait(call->executor, call->class)) {
		call_leave(call);
		return;
	}
	struct active_run *active = active_run_by_id(call->executor, call->active);
	require(active != NULL);
	const struct json *inputs =
		value_fetch_given(active, &call->inputs, &call->arena, inputs_fetched, call->id);
	if (inputs != NULL)
		call_with_inputs(call, inputs);
}

static void call_again(void *context, uint64_t argument)
{
	struct executor *executor = context;
	struct call *call = slots_get(&effect_room(executor)->under_way, argument);
	if (call != NULL)
		call_begin(call);
}

/* ---- after a crash ------------------------------------------------------------------- */

static void call_restart(struct call *call)
{
	struct active_run *active = call_end(call);
	effect_restart(active, call->step, &call->effect);
	call_free(call);
}

static void call_unknown(struct call *call, const char *why)
{
	struct error error;
	fail(&error, ERROR_OUTCOME_UNKNOWN,
	     "the program ended while this call was under way and %s: look whether it happened",
	     why);
	call_close(call, RUN_OUTCOME_UNKNOWN, NULL, &error);
}

static void call_cancel(struct call *call)
{
	struct error error;
	fail(&error, ERROR_CANCELLED, "it was told to stop");
	call_close(call, RUN_OUTCOME_CANCELLED, NULL, &error);
}

static void restored(void *context, uint64_t argument, struct str tree, const struct error *error)
{
	struct executor *executor = context;
	struct call *call = slots_get(&effect_room(executor)->under_way, argument);
	(void)tree;
	if (call == NULL)
		return;
	FAILPOINT("workspace.restored");
	if (call->cancelling) {
		call_cancel(call);
		return;
	}
	if (error->code == ERROR_NONE) {
		call_restart(call);
		return;
	}
	char id[UUID_TEXT_SIZE];
	const struct active_run *active = active_run_by_id(executor, call->active);
	require(active != NULL);
	log_run(LOG_WARNING, uuid_text(&active->run_id, id),
		"the workspace could not be restored: %s", error->text);
	call_unknown(call, "its workspace could not be restored");
}

/* Effect class probe: the tool has found out whether the call happened. */
static void call_answered(void *context, uint64_t argument, enum tool_answer answer,
			  const struct json *output)
{
	struct executor *executor = context;
	struct call *call = slots_get(&effect_room(executor)->under_way, argument);
	if (call == NULL)
		return;
	switch (answer) {
	case TOOL_HAPPENED:
		call_close(call, RUN_OUTCOME_OK, output, NULL);
		return;
	case TOOL_NOT_HAPPENED:
		if (call->cancelling)
			call_cancel(call);
		else
			call_restart(call);
		return;
	case TOOL_UNKNOWN:
		break;
	}
	call_unknown(call, "it cannot be seen whether it happened");
}

/* The run is being cancelled: nothing is repeated. */
static void call_resume_cancelled(struct call *call)
{
	switch (call->class) {
	case RUN_CLASS_PURE:
	case RUN_CLASS_IDEMPOTENT:
	case RUN_CLASS_CONTAINED:
		call_cancel(call);
		return;
	case RUN_CLASS_PROBE:
		call->asking = true;
		call_begin(call);
		return;
	case RUN_CLASS_KEYED:
	case RUN_CLASS_ONCE:
		break;
	}
	call_unknown(call, "it was told to stop");
}

static void call_resume(struct call *call)
{
	struct workspace *workspace = executor_config(call->executor)->workspace;
	struct active_run *active = active_run_by_id(call->executor, call->active);
	require(active != NULL);
	if (call->cancelling) {
		call_resume_cancelled(call);
		return;
	}
	switch (call->class) {
	case RUN_CLASS_PURE:
	case RUN_CLASS_IDEMPOTENT:
	case RUN_CLASS_KEYED:
		call_restart(call);
		return;
	case RUN_CLASS_CONTAINED:
		if (call->tree.size == 0 || str_equal(call->tree, WORKSPACE_NO_TREE))
			break;
		workspace->ops->restore(workspace, &active->run_id, call->tree, restored,
					call->executor, call->id);
		return;
	case RUN_CLASS_PROBE:
		call->asking = true;
		call_begin(call);
		return;
	case RUN_CLASS_ONCE:
		break;
	}
	call_unknown(call, "it cannot be repeated safely");
}

/* ---- the lock: no process of an earlier server still does this ------------------------ */

/* Work on threads of this process ends with it.  A child of a server that was killed may still run. */
static bool may_outlive_us(const struct call *call)
{
	const struct tool *tool = tool_find(executor_config(call->executor)->tools, call->tool);
	return tool == NULL || tool->child;
}

static void call_lock(void *context, uint64_t argument)
{
	struct executor *executor = context;
	struct call *call = slots_get(&effect_room(executor)->under_way, argument);
	if (call == NULL)
		return;
	if (effect_kind_can_wait(executor, call->class)) {
		call_leave(call);
		return;
	}
	struct workspace *workspace = executor_config(executor)->workspace;
	struct error error;
	if (!may_outlive_us(call) ||
	    workspace->ops->lock(workspace, &call->effect, &call->lock, &error)) {
		FAILPOINT("tool.locked");
		if (call->resuming)
			call_resume(call);
		else
			call_begin(call);
		return;
	}
	call->lock = -1;
	if (error.code == ERROR_LOCKED)
		platform_timer_start(executor_config(executor)->platform, RETRY_US, call_lock,
				     executor, argument);
	else
		call_close(call, RUN_OUTCOME_FAILED, NULL, &error);
}

static void begin(struct active_run *active, struct activation *activation)
{
	struct call *call = call_new(active, activation, false);
	if (active_run_take_early_stop(active, &call->effect))
		call_cancel(call);
	else
		call_lock(active->executor, call->id);
}

static void resume(struct active_run *active, struct activation *activation)
{
	call_lock(active->executor, call_new(active, activation, true)->id);
}

/* A call that is about to begin gets an early stop; one that waits ends at once; one that a crash
 * left open is only not repeated. */
static void stop(struct active_run *active, const struct uuid *effect)
{
	struct call *call = map_get(&effect_room(active->executor)->calls, uuid_str(effect));
	if (call == NULL) {
		active_run_note_early_stop(active, effect);
		return;
	}
	const struct tool *tool = tool_find(executor_config(active->executor)->tools, call->tool);
	struct error why;
	fail(&why, ERROR_CANCELLED, "it was told to stop");
	if (call->running != 0 && tool != NULL)
		tool->stop(&executor_config(active->executor)->host, call->running, &why);
	else if (call->resuming)
		call->cancelling = true;
	else
		call_cancel(call);
}

const struct effect_kind effect_tool = {
	.name = "tool",
	.node = RUN_NODE_TOOL,
	.begin = begin,
	.resume = resume,
	.stop = stop,
};
