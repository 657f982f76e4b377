/* tool/tool_submit.c -- submit: hands in a result.
 *
 * An agent that has this tool ends its work with it; a step that calls it only passes the value on.
 */
#include "contract/run_tool_types.h"
#include "tool/tool_context.h"

static bool compute(const struct json *inputs, struct arena *arena, const struct json **out_output,
		    struct error *error)
{
	const struct run_submit_inputs *given =
		tool_context_inputs(run_submit_inputs_type(), inputs, arena, error);
	if (given == NULL)
		return false;
	struct run_submit_outputs *outputs = run_submit_outputs_new(arena);
	SET(outputs, result, given->result);
	*out_output = TOOL_OUTPUT(run_submit_outputs, outputs, arena);
	return true;
}

const struct tool tool_submit = {
	.name = "submit",
	.text = "Hands in the result of the work. Use it once, when everything that was asked for is "
		"done: it ends the work.",
	.class = RUN_CLASS_PURE,
	.risk = RUN_RISK_LOW,
	.inputs = run_submit_inputs_type,
	.outputs = run_submit_outputs_type,
	.compute = compute,
};
