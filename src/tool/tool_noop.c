/* tool/tool_noop.c -- does nothing: a step to join at, or to try a definition with. */
#include "tool/tool.h"

static bool compute(const struct json *inputs, struct arena *arena, const struct json **out_output,
		    struct error *error)
{
	static const struct json nothing = { .kind = JSON_OBJECT };
	(void)inputs;
	(void)arena;
	(void)error;
	*out_output = &nothing;
	return true;
}

const struct tool tool_noop = {
	.name = "noop",
	.text = "Takes anything, does nothing and gives an empty mapping.",
	.class = RUN_CLASS_PURE,
	.compute = compute,
};
