/* active/pure_step.c -- steps of pure tools.
 *
 * Computing takes no effect and no thread of its own.  Only a step whose inputs are stored by hash
 * waits until they are read.
 */
#include "active/pure_step.h"

#include <stdlib.h>

#include "active/executor_state.h"
#include "active/large_value.h"
#include "active/value_fetch.h"
#include "contract/run_graph_types.h"
#include "engine/run.h"
#include "tool/tool.h"

enum { RETRY_US = 20000 };

/* A pure step whose inputs are being read. */
struct computation {
	struct arena arena; /* first: executor_free() frees it */
	uint64_t active;
	struct str step;
	uint64_t next; /* in active->computations */
};

static void compute(struct active_run *active, struct str step);

/* The state may be missing because it is being read again.  The step's start is committed, so the
 * step is in the new state too. */
static void compute_again(void *context, uint64_t argument)
{
	struct executor *executor = context;
	struct computation *computation = slots_get(&executor->computations, argument);
	if (computation == NULL)
		return;
	struct active_run *active = active_run_by_id(executor, computation->active);
	require(active != NULL);
	if (active->run == NULL) {
		platform_timer_start(executor->settings.platform, RETRY_US, compute_again, executor,
				     argument);
		return;
	}
	slots_remove(&executor->computations, argument);
	active_run_unpin(active);
	compute(active, computation->step);
	arena_done(&computation->arena);
	free(computation);
}

static void compute_fetched(struct executor *executor, uint64_t id, uint64_t argument,
			    const struct error *error)
{
	struct active_run *active = active_run_by_id(executor, id);
	require(active != NULL);
	uint64_t waiting = active->computations;
	active->computations = 0;
	active->reading = false;
	if (error != NULL) {
		executor_fail(executor, error);
		return;
	}
	active_run_pin(active); /* the first step may be the last that pins the run */
	compute_again(executor, argument);
	while (waiting != 0) {
		const struct computation *computation = slots_get(&executor->computations, waiting);
		uint64_t number = waiting;
		require(computation != NULL);
		waiting = computation->next;
		compute_again(executor, number);
	}
	active_run_unpin(active);
	active_run_settle(active);
}

enum pure_step_answer pure_step_compute(struct active_run *active, struct pure_step *step,
					struct decision *seen, struct command *command)
{
	const struct graph_node *node = run_node(active->run, step->activation);
	struct engine_values values = active_run_values(active);
	struct failure fault;
	if (engine_render_inputs(active->run, step->activation, &values, seen, &step->inputs,
				 &fault) == ENGINE_NEED)
		return PURE_STEP_NEEDS_VALUES;
	step->tool = tool_find(active->executor->settings.tools, node->row->tool);
	struct error error = { 0 };
	command->step = str_copy(seen->arena, step->activation->path);
	command->warnings = arena_copy(seen->arena, &seen->warnings, sizeof(seen->warnings));
	command->fault = fault;
	if (fault.code.size > 0)
		return PURE_STEP_DONE;
	if (step->tool == NULL || step->tool->compute == NULL)
		fail(&error, ERROR_NOT_FOUND, "this program has no pure tool " STR_FMT,
		     STR_ARG(node->row->tool));
	else if (step->inputs == NULL)
		fail(&error, ERROR_TOO_LARGE, PURE_STEP_TOO_LARGE);
	else if (!json_text_within(step->inputs, executor_value_on_loop(active->executor)))
		return PURE_STEP_LARGE;
	else if (step->tool->compute(step->inputs, seen->arena, &command->output, &error))
		error.code = ERROR_NONE;
	/* The output may share text with values that are freed before the command is decided. */
	if (command->output != NULL)
		command->output = json_copy(seen->arena, command->output);
	if (error.code != ERROR_NONE)
		command->fault = (struct failure){ error_row(error.code)->name,
						   str_copy(seen->arena, str_from_c(error.text)) };
	return PURE_STEP_DONE;
}

static void compute(struct active_run *active, struct str step)
{
	struct activation *activation = run_activation(active->run, step);
	/* The step was cancelled meanwhile. */
	if (activation == NULL || activation->state != STEP_RUNNING)
		return;
	struct pending_command *pending = pending_command_new(COMMAND_COMPUTED);
	struct decision seen = { .arena = &pending->arena };
	struct pure_step pure = { .activation = activation };
	switch (pure_step_compute(active, &pure, &seen, &pending->command)) {
	case PURE_STEP_DONE:
		active_run_command(active, pending);
		return;
	case PURE_STEP_LARGE:
		pure_step_compute_elsewhere(active, pending, &pure);
		return;
	case PURE_STEP_NEEDS_VALUES:
		break;
	}
	struct computation *computation = calloc(1, sizeof(*computation));
	require(computation != NULL);
	computation->active = active->id;
	computation->step = str_copy(&computation->arena, step);
	active_run_pin(active);
	uint64_t number = slots_add(&active->executor->computations, computation);
	/* Steps that need a value while another step reads values wait for that read. */
	if (active->reading) {
		computation->next = active->computations;
		active->computations = number;
	} else {
		active->reading = true;
		value_fetch(active, &seen, compute_fetched, number);
	}
	pending_command_free(pending);
}

void pure_step_begin(struct active_run *active, struct str step)
{
	/* While the program stops nothing begins: the next recovery finds the step in the state. */
	if (!active->executor->draining)
		compute(active, step);
}
