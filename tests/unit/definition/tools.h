/* The tools that the definitions of these tests may name. */
#ifndef UNIT_DEFINITION_TOOLS_H
#define UNIT_DEFINITION_TOOLS_H

#include "definition/definition_compile.h"

static const struct definition_tool test_tools[] = {
	{ .name = { "echo", 4 }, .class = RUN_CLASS_PURE },
	{ .name = { "shell", 5 }, .class = RUN_CLASS_CONTAINED },
	{ .name = { "send", 4 }, .class = RUN_CLASS_ONCE },
};
static const struct definition_tools tools = { .at = test_tools, .count = COUNT(test_tools) };

#endif
