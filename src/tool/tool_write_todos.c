/* tool/tool_write_todos.c -- write_todos: an agent's plan as a recorded value.
 *
 * The plan is the output of the call, so it is in the run's history with everything else, and whoever
 * looks at the run sees what the agent is about to do.  The list is always given as a whole: nothing
 * is kept between two calls.
 */
#include "contract/run_tool_types.h"
#include "tool/tool_context.h"

static bool compute(const struct json *inputs, struct arena *arena, const struct json **out_output,
		    struct error *error)
{
	const struct run_write_todos_inputs *given =
		tool_context_inputs(run_write_todos_inputs_type(), inputs, arena, error);
	if (given == NULL)
		return false;
	int64_t done = 0;
	for (size_t i = 0; i < given->items.count; i++)
		done += given->items.at[i].state == RUN_TODO_DONE;
	struct run_write_todos_outputs *outputs = run_write_todos_outputs_new(arena);
	SET(outputs, items, given->items);
	SET(outputs, done, done);
	SET(outputs, open, (int64_t)given->items.count - done);
	*out_output = TOOL_OUTPUT(run_write_todos_outputs, outputs, arena);
	return true;
}

const struct tool tool_write_todos = {
	.name = "write_todos",
	.text = "Records the plan of the work as a list of tasks. Use it at the beginning of work with "
		"several parts and after each of them, always with the complete list.",
	.class = RUN_CLASS_PURE,
	.risk = RUN_RISK_LOW,
	.inputs = run_write_todos_inputs_type,
	.outputs = run_write_todos_outputs_type,
	.compute = compute,
};
