/* tool/tool_echo.c -- echo: returns its inputs. */
#include "tool/tool.h"

static bool compute(const struct json *inputs, struct arena *arena, const struct json **out_output,
		    struct error *error)
{
	(void)arena;
	(void)error;
	*out_output = inputs;
	return true;
}

const struct tool tool_echo = {
	.name = "echo",
	.text = "Returns its inputs as its outputs.",
	.class = RUN_CLASS_PURE,
	.risk = RUN_RISK_LOW,
	.compute = compute,
};
