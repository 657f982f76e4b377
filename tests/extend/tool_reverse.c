/* tool/tool_reverse.c -- turns a text around: a tool for the test that adds one. */
#include "contract/run_tool_types.h"
#include "tool/tool_context.h"

static bool compute(const struct json *inputs, struct arena *arena, const struct json **out_output,
		    struct error *error)
{
	const struct run_reverse_inputs *parsed =
		tool_context_inputs(run_reverse_inputs_type(), inputs, arena, error);
	if (parsed == NULL)
		return false;
	struct run_reverse_inputs *output = run_reverse_inputs_new(arena);
	size_t size = parsed->text.size;
	char *text = arena_take_text(arena, size);
	for (size_t i = 0; i < size; i++)
		text[i] = parsed->text.at[size - 1 - i];
	SET(output, text, (struct str){ text, size });
	*out_output = TOOL_OUTPUT(run_reverse_inputs, output, arena);
	return true;
}

const struct tool tool_reverse = {
	.name = "reverse",
	.text = "Turns a text around.",
	.class = RUN_CLASS_PURE,
	.inputs = run_reverse_inputs_type,
	.outputs = run_reverse_inputs_type,
	.compute = compute,
};
