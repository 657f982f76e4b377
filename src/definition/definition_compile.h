/* definition/definition_compile.h -- from a YAML definition to the compiled graph, or to every
 * problem in it.
 *
 * The file is S2's workflow YAML, with Baton's further kinds of steps (run.Definition in
 * contracts/run.def).  Checked here, beyond the contract: each step does one thing, tools and
 * workflows exist, names are unique in their body, dependencies exist and have no cycle (the path
 * is named), edges lead to steps that may be started by them and make no circle without a
 * condition, expressions can be read, every name leads to a declared input, a variable somebody
 * sets, or a step that is certainly final before.
 *
 * The result is run.Graph as canonical JSON: the same definition and tools give the same bytes.
 * Pure: what tools, workflows and agents there are comes in through the library.
 */
#ifndef DEFINITION_COMPILE_H
#define DEFINITION_COMPILE_H

#include "base/error.h"
#include "contract/run_types.h"

struct definition_tool {
	struct str name;
	enum run_effect_class class;
};

struct definition_tools {
	const struct definition_tool *at;
	size_t count;
	/* The YAML of another workflow; NULL where there are none. */
	bool (*workflow)(void *context, struct str name, struct arena *arena, struct str *out_yaml,
			 struct error *error);
	/* An agent of the registry; NULL where there is none. */
	bool (*agent)(void *context, struct str name, struct arena *arena,
		      struct run_graph_agent *out_agent, struct error *error);
	/* What is wrong with an agent, its driver and options included; pointers are from the
	 * agent, places may be left to the caller.  NULL: nobody looks. */
	void (*check_agent)(void *context, const struct run_graph_agent *agent, struct arena *arena,
			    struct problems *problems);
	void *context;
};

/* Problems of the document are collected with line and column; false when there are any. */
MUST_CHECK bool definition_compile(struct str yaml, const struct definition_tools *tools,
				   struct arena *arena, struct str *out_graph,
				   struct problems *problems);

#endif
