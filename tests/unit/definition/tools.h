/* The tools that the definitions of these tests may name. */
#ifndef UNIT_DEFINITION_TOOLS_H
#define UNIT_DEFINITION_TOOLS_H

#include "definition/definition_compile.h"

static const struct definition_tool test_tools[] = {
	{ { "echo", 4 }, RUN_CLASS_PURE },
	{ { "shell", 5 }, RUN_CLASS_CONTAINED },
	{ { "send", 4 }, RUN_CLASS_ONCE },
};
static const struct definition_tools tools = { .at = test_tools, .count = COUNT(test_tools) };

#endif
