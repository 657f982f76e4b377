/* effect/effect_tool.c -- tool calls.
 *
 * A call goes: take the effect's lock, load the inputs, start the tool, list the files that it changed;
 * its result is a command, which also carries these files and what the tool wrote to stdout and stderr.  A
 * call that is found open after a crash goes: take the lock (so the old process tree is known to be
 * dead), then by effect class: restore the workspace and repeat, repeat, ask the tool whether it
 * happened, or close the call as unknown.  A repetition is recorded first (tool.restarted), so
 * nothing is repeated in silence; then the call begins like the first one.
 */
#include "effect/tool_call.h"

#include <stdlib.h>

#include "active/effect_wait.h"
#include "active/error_masking.h"
#include "active/live_log.h"
#include "active/value_fetch.h"
#include "base/limits.h"
#include "base/log.h"
#include "contract/run_start_types.h"
#include "contract/run_graph_types.h"
#include "contract/run_start_types.h"
#include "contract/run_value_types.h"
#include "effect/call_secrets.h"
#include "engine/run.h"
#include "os/failpoint.h"
#include "tool/output_log.h"
#include "tool/tool.h"
#include "tool/tool_sample.h"

enum { RETRY_US = 20000 };

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
	call->branch = str_copy(&call->arena, run_folder_name(active->run, activation));
	call->read_only = node->read_only;
	call->repository = str_copy(&call->arena, active->run->start->repository);
	call->tracker = str_copy(&call->arena, active->run->start->tracker);
	call->plan_path_pattern = str_copy(&call->arena, active->run->start->plan_path_pattern);
	call->run_created_at = active->run->created_at;
	call->tool = str_copy(&call->arena, node->row->tool);
	call->class = node->row->class;
	call->attempt = activation->attempt;
	const struct run_graph *graph = active->run->graph->rows;
	call->workflow = str_copy(&call->arena, graph->name);
	call->sandbox = tool_call_sandbox(graph, node->row, &call->arena);
	if (has(graph, secrets))
		call->secret_names = tool_call_list_copy(&call->arena, graph->secrets);
	call->use_count = activation->secret_count;
	call->uses = arena_array(&call->arena, struct secret_use, call->use_count);
	for (size_t i = 0; i < call->use_count; i++)
		call->uses[i] = (struct secret_use){
			.pointer = str_copy(&call->arena, activation->secrets[i].pointer),
			.name = str_copy(&call->arena, activation->secrets[i].name),
			.offset = activation->secrets[i].offset
		};
	call->lock = -1;
	call->resuming = resuming;
	call->cancelling = activation->stopping;
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

/* Hands the log of the call over to the command that closes it.  The text stays in memory until the
 * command is committed. */
static void call_give_log(struct call *call, struct pending_command *pending)
{
	struct live_log *log = live_log_by_id(call->executor, call->log);
	if (log == NULL)
		return;
	output_log_close(log->text);
	log->closed = true;
	pending->command.log = output_log_json(log->text, &pending->arena);
	pending->live_log = log->id;
}

void tool_call_close(struct call *call, enum run_outcome outcome, const struct json *output,
		     const struct error *error)
{
	struct active_run *active = call_end(call);
	struct pending_command *pending =
		effect_close_command(call->step, &call->effect, outcome, output, error);
	pending->command.retry_after_us = call->retry_after_us;
	call_give_log(call, pending);
	if (call->figures != NULL)
		pending->command.figures =
			arena_copy(&pending->arena, call->figures, sizeof(*call->figures));
	tool_call_attach_files(call, pending);
	active_run_command(active, pending);
	call_free(call);
}

/* The disk is full and nothing was changed: the call is tried again until there is room or it is told
 * to stop, like a commit. */
static void call_await_room(struct call *call, platform_callback *again, const struct error *why)
{
	struct executor *executor = call->executor;
	const struct active_run *active = active_run_by_id(executor, call->active);
	char id[UUID_TEXT_SIZE];
	require(active != NULL);
	if (!call->no_room)
		log_run(LOG_WARNING, uuid_text(&active->run_id, id),
			"step " STR_FMT " waits until there is room on the disk: %s",
			STR_ARG(call->step), why->text);
	call->no_room = true;
	call->running = 0;
	platform_timer_start(executor_config(executor)->platform, LIMIT_STORE_FULL_RETRY_MS * 1000,
			     again, executor, call->id);
}

static void call_again(void *context, uint64_t argument);

static const struct json *masked_output(struct call *call, const struct json *output)
{
	if (call->mask != NULL && output != NULL)
		output = secret_mask_json(call->mask, output, &call->arena);
	return output;
}

static void call_ended(void *context, uint64_t argument, const struct tool_result *result)
{
	struct executor *executor = context;
	struct call *call = slots_get(&effect_room(executor)->under_way, argument);
	if (call == NULL)
		return;
	FAILPOINT("tool.ended");
	const struct json *output = masked_output(call, result->output);
	struct error error = result->error;
	if (result->figures != NULL)
		call->figures = arena_copy(&call->arena, result->figures, sizeof(*result->figures));
	if (call->mask != NULL && error.code != ERROR_NONE)
		secret_mask_error(call->mask, &error);
	if (result->error.code == ERROR_STORAGE_FULL) {
		call_await_room(call, call_again, &error);
		return;
	}
	bool good = error.code == ERROR_NONE;
	call->ended = true;
	call->outcome = good                                  ? RUN_OUTCOME_OK
			: error.code == ERROR_CANCELLED       ? RUN_OUTCOME_CANCELLED
			: error.code == ERROR_OUTCOME_UNKNOWN ? RUN_OUTCOME_UNKNOWN
							      : RUN_OUTCOME_FAILED;
	call->error = error;
	call->retry_after_us = good ? 0 : result->retry_after_us;
	call->output = good ? output : NULL;
	tool_call_list_files(call);
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
				  .step = call->step,
				  .effect = call->effect,
				  .attempt = call->attempt,
				  .run_created_at = call->run_created_at,
				  .plan_path_pattern = call->plan_path_pattern,
				  .inputs = inputs,
				  .repository = call->repository,
				  .tracker = call->tracker,
				  .lock = call->lock,
				  .done = call_ended,
				  .asked = call_answered,
				  .context = executor,
				  .argument = call->id };
	spec.read_only = call->read_only;
	if (!workspace->ops->folder(workspace, &active->run_id, call->branch, &call->arena,
				    &spec.workspace, error))
		return false;
	if (!tool_call_choose_host(call, tool, error))
		return false;
	if (call->asking)
		return tool->probe(call->host, &spec, error);
	FAILPOINT("tool.before_start");
	if (tool->child && call->log == 0)
		call->log = live_log_open(executor, &active->run_id, call->step, call->attempt)->id;
	struct live_log *log = live_log_by_id(executor, call->log);
	spec.log = log == NULL ? NULL : log->text;
	spec.mask = call->mask;
	if (log != NULL)
		output_log_set_mask(log->text, call->mask);
	if (call->use_count > 0 &&
	    !call_secrets_fill(call->secrets, inputs, &call->arena, &spec.inputs, error))
		return false;
	call->started_us = platform_wall_us(executor_config(executor)->platform);
	return tool->start(call->host, &spec, &call->running, error);
}

static void call_begin(struct call *call);

static void call_unknown(struct call *call, const char *why);

static bool starts_child(const struct call *call)
{
	const struct tool *tool = tool_find(executor_config(call->executor)->tools, call->tool);
	return tool == NULL || tool->child;
}

static bool locks_itself(const struct call *call)
{
	const struct tool *tool = tool_find(executor_config(call->executor)->tools, call->tool);
	return tool != NULL && tool->locks_itself;
}

/* All places are taken.  A child's place is granted in the order of asking; a tool without a child
 * is tried again later.  The inputs stay with the call, so they are read once. */
static void call_wait(struct call *call, const struct json *inputs)
{
	struct platform *platform = executor_config(call->executor)->platform;
	if (call->waiting_inputs == NULL)
		call->waiting_inputs = json_copy(&call->arena, inputs);
	if (starts_child(call))
		platform_child_await(platform, call_again, call->executor, call->id);
	else
		platform_timer_start(platform, RETRY_US, call_again, call->executor, call->id);
}

/* ---- secrets -------------------------------------------------------------------------- */

static void secrets_read(struct executor_read *read)
{
	struct call_secrets_read *r = (struct call_secrets_read *)read;
	struct call *call = slots_get(&effect_room(read->executor)->under_way, r->call);
	if (call == NULL || r->error.code != ERROR_NONE) {
		struct error error = r->error;
		arena_done(&read->arena);
		free(r);
		if (call != NULL)
			tool_call_close(call, RUN_OUTCOME_FAILED, NULL, &error);
		return;
	}
	arena_join(&call->arena, &read->arena);
	call->secrets = arena_copy(&call->arena, r, sizeof(*r));
	call->mask = call_secrets_mask(r, &call->arena);
	free(r);
	call_begin(call);
}

/* Returns true when the secrets of the call must be read first; the call then begins again. */
static bool call_read_secrets(struct call *call)
{
	if (call->secrets != NULL || call->secret_names.count == 0)
		return false;
	struct call_secrets_read *r = calloc(1, sizeof(*r));
	require(r != NULL);
	struct arena *arena = &r->read.arena;
	struct secret_use *uses = arena_array(arena, struct secret_use, call->use_count);
	for (size_t i = 0; i < call->use_count; i++)
		uses[i] = (struct secret_use){ .pointer = str_copy(arena, call->uses[i].pointer),
					       .name = str_copy(arena, call->uses[i].name),
					       .offset = call->uses[i].offset };
	r->call = call->id;
	r->settings = executor_config(call->executor);
	r->tool = str_copy(arena, call->tool);
	r->workflow = str_copy(arena, call->workflow);
	r->names = tool_call_list_copy(arena, call->secret_names);
	r->uses = uses;
	r->use_count = call->use_count;
	r->read.work = call_secrets_work;
	r->read.done = secrets_read;
	executor_read(call->executor, &r->read);
	return true;
}

static void call_with_inputs(struct call *call, const struct json *inputs)
{
	struct error error;
	if (call_read_secrets(call) || call_start(call, inputs, &error))
		return;
	if (call->mask != NULL)
		secret_mask_error(call->mask, &error);
	if (error.code == ERROR_UNAVAILABLE)
		call_wait(call, inputs);
	else if (error.code == ERROR_STORAGE_FULL)
		call_await_room(call, call_again, &error);
	else if (call->asking)
		call_unknown(call, "nobody can be asked what became of it");
	else
		tool_call_close(call, RUN_OUTCOME_FAILED, NULL, &error);
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
	const struct json *inputs = call->waiting_inputs;
	if (inputs == NULL)
		inputs = value_fetch_given(active, &call->inputs, &call->arena, inputs_fetched,
					   call->id);
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
	tool_call_close(call, RUN_OUTCOME_UNKNOWN, NULL, &error);
}

static void call_cancel(struct call *call)
{
	struct error error;
	fail(&error, ERROR_CANCELLED, "it was told to stop");
	tool_call_close(call, RUN_OUTCOME_CANCELLED, NULL, &error);
}

static void not_restored(struct executor *executor, uint64_t argument, const struct error *error)
{
	struct call *call = slots_get(&effect_room(executor)->under_way, argument);
	char id[UUID_TEXT_SIZE];
	if (call == NULL)
		return;
	if (call->cancelling) {
		call_cancel(call);
		return;
	}
	const struct active_run *active = active_run_by_id(executor, call->active);
	require(active != NULL);
	log_run(LOG_WARNING, uuid_text(&active->run_id, id),
		"the workspace could not be restored: %s", error->text);
	call_unknown(call, "its workspace could not be restored");
}

static void restored(void *context, uint64_t argument, struct str tree, const struct error *error)
{
	struct executor *executor = context;
	struct call *call = slots_get(&effect_room(executor)->under_way, argument);
	(void)tree;
	if (call == NULL)
		return;
	FAILPOINT("workspace.restored");
	call->restoring = 0;
	struct active_run *active = active_run_by_id(executor, call->active);
	require(active != NULL);
	if (call->cancelling)
		call_cancel(call);
	else if (error->code == ERROR_NONE)
		call_restart(call);
	else if (!error_masking_begin(active, error, not_restored, argument))
		not_restored(executor, argument, error);
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
		tool_call_close(call, RUN_OUTCOME_OK, masked_output(call, output), NULL);
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
		if (call->read_only) {
			call_restart(call);
			return;
		}
		if (call->tree.size == 0 || str_equal(call->tree, WORKSPACE_NO_TREE))
			break;
		call->restoring =
			workspace->ops->restore(workspace, &active->run_id, call->branch,
						call->tree, restored, call->executor, call->id);
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

static void call_lock(void *context, uint64_t argument);

/* The process that holds the lock usually ends by itself, since its server has ended.  It may have
 * been stopped, and then only this server can end it. */
static void call_await_lock(struct call *call)
{
	struct executor *executor = call->executor;
	struct workspace *workspace = executor_config(executor)->workspace;
	int64_t patience_us =
		FAILPOINT_LIMIT("tool.leftover_ms", (int64_t)LIMIT_LEFTOVER_MS) * 1000;
	if (call->locked_us >= patience_us) {
		char id[UUID_TEXT_SIZE];
		size_t killed = workspace->ops->kill_holders(workspace, &call->effect);
		log_line(LOG_WARNING,
			 "killed %zu processes that an earlier server left behind (effect=" STR_FMT
			 ")",
			 killed, STR_ARG(uuid_text(&call->effect, id)));
		call->locked_us = 0;
	}
	call->locked_us += RETRY_US;
	platform_timer_start(executor_config(executor)->platform, RETRY_US, call_lock, executor,
			     call->id);
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
	/* Work on threads of this process ends with it.  A child of a server that was killed may
	 * still run. */
	if (!starts_child(call) || (!call->resuming && locks_itself(call)) ||
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
		call_await_lock(call);
	else if (error.code == ERROR_STORAGE_FULL)
		call_await_room(call, call_lock, &error);
	else
		tool_call_close(call, RUN_OUTCOME_FAILED, NULL, &error);
}

/* A simulated call has no effect, so it can be answered at once and as often as a crash asks for it. */
static void answer_simulated(struct active_run *active, const struct activation *activation)
{
	AUTO(arena) arena = { 0 };
	const struct tool_table *tools = executor_config(active->executor)->tools;
	const struct tool *tool = tool_find(tools, run_node(active->run, activation)->row->tool);
	struct error stopped;
	if (activation->stopping || active_run_take_early_stop(active, &activation->effect)) {
		fail(&stopped, ERROR_CANCELLED, "it was told to stop");
		effect_finish(active, activation->path, &activation->effect, RUN_OUTCOME_CANCELLED,
			      NULL, &stopped);
		return;
	}
	effect_finish(active, activation->path, &activation->effect, RUN_OUTCOME_OK,
		      tool_sample(tool, &arena), NULL);
}

static void begin(struct active_run *active, struct activation *activation)
{
	if (effect_is_simulated(active)) {
		answer_simulated(active, activation);
		return;
	}
	struct call *call = call_new(active, activation, false);
	if (active_run_take_early_stop(active, &call->effect))
		call_cancel(call);
	else
		call_lock(active->executor, call->id);
}

static void resume(struct active_run *active, struct activation *activation)
{
	if (effect_is_simulated(active))
		answer_simulated(active, activation);
	else
		call_lock(active->executor, call_new(active, activation, true)->id);
}

/* A restore that takes long does not delay the stop. */
static void stop_resuming(struct call *call)
{
	struct workspace *workspace = executor_config(call->executor)->workspace;
	call->cancelling = true;
	if (call->restoring != 0)
		workspace->ops->cancel(workspace, call->restoring);
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
	if (call->ended) { /* its result is on the way */
		tool_call_stop_listing(call);
		return;
	}
	if (call->running != 0 && tool != NULL)
		tool->stop(&executor_config(active->executor)->host, call->running, &why);
	else if (call->resuming)
		stop_resuming(call);
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
