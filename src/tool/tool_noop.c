/* tool/tool_noop.c -- noop: does nothing; a step for others to depend on, or a placeholder. */
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
	.text = "Accepts any inputs, does nothing and returns an empty mapping.",
	.class = RUN_CLASS_PURE,
	.risk = RUN_RISK_LOW,
	.compute = compute,
};
