/* runtime/effect_tool.c -- tools: pure ones computed, the others called behind their request.
 *
 * A call goes: inputs loaded -> the effect's lock taken -> started -> its result is a command.
 * Found open after a crash it goes: lock taken (so the old child tree is known dead) -> by class
 * restored and repeated, repeated, asked whether it happened, or closed as unknown.  Repeating is
 * recorded first (tool.restarted), so nothing happens twice in silence; the call itself then leaves
 * by the same door as the first one.
 */
#include <stdlib.h>

#include "base/log.h"
#include "os/point.h"
#include "runtime/inside.h"
#include "sandbox/sandbox.h"

enum { RETRY_US = 20000 };

/* A call under way, found by its id. */
struct call {
	struct arena arena; /* first, as in every effect under way */
	struct runtime *runtime;
	uint64_t id, live;
	struct str step, tree;
	struct uuid effect;
	struct str tool;
	struct value inputs; /* its own: the run's state may be gone for a while */
	enum run_effect_class class;
	int64_t attempt;
	int lock;         /* -1 = not taken */
	uint64_t running; /* the tool's own name for it; 0 = it has not begun */
	bool resuming;
	bool asking;     /* whether it happened, before anything else */
	bool cancelling; /* found open by a run that is called off: it is not made again */
};

/* ---- pure steps ---------------------------------------------------------------------- */

/* A pure step whose inputs are being read. */
struct computation {
	struct arena arena; /* first, as in every effect under way */
	uint64_t live;
	struct str step;
	uint64_t next; /* in live->computations */
};

static void compute(struct live *live, struct str step);

/* The state may be gone: a commit found no room, and it is read again.  The step was started by one
 * that is stored, so it will be there. */
static void compute_again(void *context, uint64_t argument)
{
	struct runtime *runtime = context;
	struct computation *computation = slots_get(&runtime->effects, argument);
	if (computation == NULL)
		return;
	struct live *live = slots_get(&runtime->lives, computation->live);
	require(live != NULL);
	if (live->run == NULL) {
		system_timer_start(runtime->settings.system, RETRY_US, compute_again, runtime,
				   argument);
		return;
	}
	slots_remove(&runtime->effects, argument);
	live->holds--;
	compute(live, computation->step);
	arena_done(&computation->arena);
	free(computation);
}

static void compute_fetched(struct runtime *runtime, uint64_t id, uint64_t argument,
			    const struct error *error)
{
	struct live *live = slots_get(&runtime->lives, id);
	require(live != NULL);
	uint64_t waiting = live->computations;
	live->computations = 0;
	live->reading = false;
	if (error != NULL) {
		runtime_fail(runtime, error);
		return;
	}
	live->holds++; /* the first may be the last that holds it */
	compute_again(runtime, argument);
	while (waiting != 0) {
		const struct computation *computation = slots_get(&runtime->effects, waiting);
		uint64_t number = waiting;
		require(computation != NULL);
		waiting = computation->next;
		compute_again(runtime, number);
	}
	live->holds--;
	live_settle(live);
}

bool compute_command(struct live *live, const struct activation *activation, struct decision *seen,
		     struct command *command)
{
	const struct graph_node *node = run_node(live->run, activation);
	struct engine_values values = live_values(live);
	const struct json *inputs;
	if (engine_inputs(live->run, activation, &values, seen, &inputs) == ENGINE_NEED)
		return false;
	const struct tool *tool = tool_find(live->runtime->settings.tools, node->row->tool);
	struct error error = { 0 };
	command->step = str_copy(seen->arena, activation->path);
	if (tool == NULL || tool->compute == NULL)
		fail(&error, ERROR_NOT_FOUND, "this program has no pure tool " STR_FMT,
		     STR_ARG(node->row->tool));
	else if (inputs == NULL)
		fail(&error, ERROR_TOO_LARGE, "the inputs are over the limit of a value");
	else if (tool->compute(inputs, seen->arena, &command->output, &error))
		error.code = ERROR_NONE;
	/* It may share text with values that go before the command is decided. */
	if (command->output != NULL)
		command->output = json_copy(seen->arena, command->output);
	if (error.code != ERROR_NONE)
		command->fault = (struct fault){ error_row(error.code)->name,
						 str_copy(seen->arena, str_from_c(error.text)) };
	return true;
}

static void compute(struct live *live, struct str step)
{
	struct activation *activation = run_activation(live->run, step);
	/* Called off in the meantime: nobody waits for it. */
	if (activation == NULL || activation->state != STEP_RUNNING)
		return;
	struct item *item = item_new(COMMAND_COMPUTED);
	struct decision seen = { .arena = &item->arena };
	if (compute_command(live, activation, &seen, &item->command)) {
		live_command(live, item);
		return;
	}
	struct computation *computation = calloc(1, sizeof(*computation));
	require(computation != NULL);
	computation->live = live->id;
	computation->step = str_copy(&computation->arena, step);
	live->holds++;
	uint64_t number = slots_add(&live->runtime->effects, computation);
	/* A thousand steps that read one value read it once: the others wait for the first. */
	if (live->reading) {
		computation->next = live->computations;
		live->computations = number;
	} else {
		live->reading = true;
		fetch(live, &seen, compute_fetched, number);
	}
	item_free(item);
}

void compute_begin(struct live *live, struct str step)
{
	/* Recovery finds the step in its run's state. */
	if (!live->runtime->draining)
		compute(live, step);
}

/* ---- calls --------------------------------------------------------------------------- */

static struct call *call_new(struct live *live, const struct activation *activation, bool resuming)
{
	struct call *call = calloc(1, sizeof(*call));
	require(call != NULL);
	call->runtime = live->runtime;
	call->live = live->id;
	call->step = str_copy(&call->arena, activation->path);
	call->tree = str_copy(&call->arena, activation->tree);
	call->effect = activation->effect;
	call->inputs = activation->inputs;
	call->inputs.text = str_copy(&call->arena, activation->inputs.text);
	const struct graph_node *node = run_node(live->run, activation);
	call->tool = str_copy(&call->arena, node->row->tool);
	call->class = node->class;
	call->attempt = activation->attempt;
	call->lock = -1;
	call->resuming = resuming;
	call->cancelling = live->run->cancelling;
	call->id = slots_add(&live->runtime->effects, call);
	map_put(&live->runtime->calls, uuid_str(&call->effect), call);
	live->holds++;
	live->runtime->open_tools++;
	return call;
}

/* The call is over, one way or another; what follows is the caller's. */
static struct live *call_end(struct call *call)
{
	struct runtime *runtime = call->runtime;
	struct live *live = slots_get(&runtime->lives, call->live);
	require(live != NULL);
	if (call->lock >= 0)
		runtime->settings.workspace->ops->unlock(runtime->settings.workspace, &call->effect,
							 call->lock);
	slots_remove(&runtime->effects, call->id);
	if (map_get(&runtime->calls, uuid_str(&call->effect)) == call)
		map_remove(&runtime->calls, uuid_str(&call->effect));
	runtime->open_tools--;
	live->holds--;
	return live;
}

static void call_free(struct call *call)
{
	arena_done(&call->arena);
	free(call);
}

static void call_close(struct call *call, enum run_outcome outcome, const struct json *output,
		       const struct error *error)
{
	struct live *live = call_end(call);
	effect_finish(live, call->step, &call->effect, outcome, output, error);
	call_free(call);
}

static void call_ended(void *context, uint64_t argument, const struct tool_result *result)
{
	struct runtime *runtime = context;
	struct call *call = slots_get(&runtime->effects, argument);
	if (call == NULL)
		return;
	POINT("tool.ended");
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

/* Starts the tool, or asks it what became of the call. */
static bool call_start(struct call *call, const struct json *inputs, struct error *error)
{
	struct runtime *runtime = call->runtime;
	struct workspace *workspace = runtime->settings.workspace;
	struct live *live = slots_get(&runtime->lives, call->live);
	require(live != NULL);
	const struct tool *tool = tool_find(runtime->settings.tools, call->tool);
	if (tool == NULL || (call->asking ? tool->probe == NULL : tool->start == NULL))
		return fail(error, ERROR_NOT_FOUND, "this program has no tool " STR_FMT "%s",
			    STR_ARG(call->tool), call->asking ? " that can be asked" : "");
	struct tool_call spec = { .tool = tool,
				  .name = call->tool,
				  .class = call->class,
				  .run = live->run_id,
				  .effect = call->effect,
				  .attempt = call->attempt,
				  .inputs = inputs,
				  .lock = call->lock,
				  .done = call_ended,
				  .asked = call_answered,
				  .context = runtime,
				  .argument = call->id };
	if (!workspace->ops->folder(workspace, &live->run_id, &call->arena, &spec.workspace, error))
		return false;
	/* What was recorded as contained runs contained, whatever the setting says today. */
	struct tool_host host = runtime->settings.host;
	if (call->class == RUN_CLASS_CONTAINED && host.sandbox != NULL)
		host.sandbox = sandbox_find(S("native"));
	if (call->asking)
		return tool->probe(&host, &spec, error);
	POINT("tool.before_start");
	return tool->start(&host, &spec, &call->running, error);
}

static void call_again(void *context, uint64_t argument);

static void call_unknown(struct call *call, const char *why);

/* With every child's place taken the call waits its turn. */
static void call_with_inputs(struct call *call, const struct json *inputs)
{
	struct error error;
	if (call_start(call, inputs, &error))
		return;
	if (error.code == ERROR_UNAVAILABLE)
		system_timer_start(call->runtime->settings.system, RETRY_US, call_again,
				   call->runtime, call->id);
	else if (call->asking)
		call_unknown(call, "nobody can be asked what became of it");
	else
		call_close(call, RUN_OUTCOME_FAILED, NULL, &error);
}

static void inputs_fetched(struct runtime *runtime, uint64_t id, uint64_t argument,
			   const struct error *error)
{
	struct live *live = slots_get(&runtime->lives, id);
	struct call *call = slots_get(&runtime->effects, argument);
	require(live != NULL);
	if (call == NULL)
		return; /* told to stop before it began */
	if (error != NULL) {
		runtime_fail(runtime, error);
		return;
	}
	struct engine_values values = live_values(live);
	call_with_inputs(call, values.look(values.context, &call->inputs.hash));
}

/* It has not begun and the program leaves: its request stays open. */
static void call_leave(struct call *call)
{
	struct live *live = call_end(call);
	call_free(call);
	live_settle(live);
}

static void call_begin(struct call *call)
{
	if (effect_can_wait(call->runtime, call->class)) {
		call_leave(call);
		return;
	}
	struct live *live = slots_get(&call->runtime->lives, call->live);
	require(live != NULL);
	const struct json *inputs =
		fetch_given(live, &call->inputs, &call->arena, inputs_fetched, call->id);
	if (inputs != NULL)
		call_with_inputs(call, inputs);
}

static void call_again(void *context, uint64_t argument)
{
	struct runtime *runtime = context;
	struct call *call = slots_get(&runtime->effects, argument);
	if (call != NULL)
		call_begin(call);
}

/* ---- after a crash ------------------------------------------------------------------- */

static void call_restart(struct call *call)
{
	struct live *live = call_end(call);
	effect_restart(live, call->step, &call->effect);
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
	struct runtime *runtime = context;
	struct call *call = slots_get(&runtime->effects, argument);
	(void)tree;
	if (call == NULL)
		return;
	POINT("workspace.restored");
	if (call->cancelling) {
		call_cancel(call);
		return;
	}
	if (error->code == ERROR_NONE) {
		call_restart(call);
		return;
	}
	char id[UUID_TEXT_SIZE];
	const struct live *live = slots_get(&runtime->lives, call->live);
	require(live != NULL);
	log_run(LOG_WARNING, uuid_text(&live->run_id, id),
		"the workspace could not be restored: %s", error->text);
	call_unknown(call, "its workspace could not be restored");
}

/* Class probe: the tool has looked. */
static void call_answered(void *context, uint64_t argument, enum tool_answer answer,
			  const struct json *output)
{
	struct runtime *runtime = context;
	struct call *call = slots_get(&runtime->effects, argument);
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

/* Of a run that is called off nothing is made again. */
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
	struct workspace *workspace = call->runtime->settings.workspace;
	struct live *live = slots_get(&call->runtime->lives, call->live);
	require(live != NULL);
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
		workspace->ops->restore(workspace, &live->run_id, call->tree, restored,
					call->runtime, call->id);
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

/* ---- the lock: nobody else is doing this --------------------------------------------- */

/* Work of our own threads ends with us; a process of a server that was killed may still be at it.
 */
static bool may_outlive_us(const struct call *call)
{
	const struct tool *tool = tool_find(call->runtime->settings.tools, call->tool);
	return tool == NULL || tool->child;
}

static void call_lock(void *context, uint64_t argument)
{
	struct runtime *runtime = context;
	struct call *call = slots_get(&runtime->effects, argument);
	if (call == NULL)
		return;
	if (effect_can_wait(runtime, call->class)) {
		call_leave(call);
		return;
	}
	struct workspace *workspace = runtime->settings.workspace;
	struct error error;
	if (!may_outlive_us(call) ||
	    workspace->ops->lock(workspace, &call->effect, &call->lock, &error)) {
		POINT("tool.locked");
		if (call->resuming)
			call_resume(call);
		else
			call_begin(call);
		return;
	}
	call->lock = -1;
	if (error.code == ERROR_LOCKED)
		system_timer_start(runtime->settings.system, RETRY_US, call_lock, runtime,
				   argument);
	else
		call_close(call, RUN_OUTCOME_FAILED, NULL, &error);
}

static void begin(struct live *live, struct activation *activation)
{
	struct call *call = call_new(live, activation, false);
	if (live_take_missed_stop(live, &call->effect))
		call_cancel(call);
	else
		call_lock(live->runtime, call->id);
}

static void resume(struct live *live, struct activation *activation)
{
	call_lock(live->runtime, call_new(live, activation, true)->id);
}

/* What is about to begin is told so when it does; what has not begun is over at once; what a crash
 * left behind is only not made again. */
static void stop(struct live *live, const struct uuid *effect)
{
	struct call *call = map_get(&live->runtime->calls, uuid_str(effect));
	if (call == NULL) {
		live_miss_stop(live, effect);
		return;
	}
	const struct tool *tool = tool_find(live->runtime->settings.tools, call->tool);
	struct error why;
	fail(&why, ERROR_CANCELLED, "it was told to stop");
	if (call->running != 0 && tool != NULL)
		tool->stop(&live->runtime->settings.host, call->running, &why);
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
