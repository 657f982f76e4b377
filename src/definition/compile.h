/* definition/compile.h -- from a YAML definition to the compiled graph, or to every problem in it.
 *
 * The file is S2's workflow YAML (`steps` with name, tool | human | wait, depends_on, inputs;
 * `inputs` and `outputs` of the workflow).  Checked here, beyond the contract: each step does one
 * thing, tools exist, names are unique, dependencies exist and have no cycle (the path is named),
 * every reference leads to a declared input or to a step that is certainly final before.
 *
 * The result is run.Graph as canonical JSON: the same definition and tools give the same bytes.
 * Pure: what tools there are comes in as a table.
 */
#ifndef DEFINITION_COMPILE_H
#define DEFINITION_COMPILE_H

#include "base/error.h"
#include "contract/run.h"

struct definition_tool {
	struct str name;
	enum run_effect_class class;
};

struct definition_tools {
	const struct definition_tool *at;
	size_t count;
};

/* Problems of the document are collected with line and column; false when there are any. */
MUST_CHECK bool definition_compile(struct str yaml, const struct definition_tools *tools,
				   struct arena *arena, struct str *out_graph,
				   struct problems *problems);

#endif
