/* tool/tool.c -- the table of built-in tools from tools.def. */
#include "tool/tool.h"

#define TOOL(name) extern const struct tool tool_##name;
#include "tool/tools.def"
#undef TOOL

static const struct tool *const rows[] = {
#define TOOL(name) &tool_##name,
#include "tool/tools.def"
#undef TOOL
};

extern const struct tool tool_custom;
const struct tool_table tool_table = { rows, COUNT(rows), &tool_custom };

const struct tool *tool_find(const struct tool_table *table, struct str name)
{
	for (size_t i = 0; i < table->count; i++)
		if (str_equal(str_from_c(table->at[i]->name), name))
			return table->at[i];
	return table->other;
}
