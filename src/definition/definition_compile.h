/* definition/definition_compile.h -- compiles a YAML definition into a graph.
 *
 * A definition is the workflow YAML of the runtime vocabulary with additional kinds of steps
 * (run.Definition in contracts/run_definition.def).  Beyond the contract, the compiler checks that
 *
 *    - each step has exactly one kind, and its tool, agent or workflow exists;
 *    - names are unique within their body;
 *    - dependencies exist and have no cycle;
 *    - edges lead to steps with join: any and have no cycle without a condition;
 *    - literal inputs of a tool fit its contract, and every output that is read is one of the tool's;
 *    - expressions and prompt templates can be parsed;
 *    - every name refers to a declared input, to a variable that some step sets, or to a step that
 *      has certainly ended before.
 *
 * Agents, retry policies and sandboxes come from the definition, the profile, the registry and defaults
 * (definition/agent_resolve.h).  A problem that lies in the profile or in the registry names the agent
 * and the field, not a place in the definition, and is a problem of the configuration.
 *
 * The result is run.Graph as canonical JSON: the same definition and tools give the same bytes.
 * The compiler is pure: tools, workflows and agents come from struct definition_tools.
 */
#ifndef DEFINITION_COMPILE_H
#define DEFINITION_COMPILE_H

#include "base/error.h"
#include "contract/run_class_types.h"

struct json;
struct pipeline_profile;
struct run_agent;
struct run_definition;
struct run_graph_agent;
struct run_graph_sandbox;
struct run_graph_tool_list;
struct run_tier;
struct type;

struct definition_tool {
	struct str name;
	struct str text; /* what it does, for a model */
	enum run_effect_class class;
	enum run_risk risk;
	double timeout_seconds;        /* of a call, unless its inputs say something else */
	const struct json *parameters; /* JSON Schema of its inputs, complete in itself; never NULL
					* in the program, NULL in tests: any mapping */
	bool child; /* it starts processes, which reach the hosts of the sandbox */
	const struct type *inputs, *outputs; /* their contracts; NULL = any mapping */
	struct str_list secrets;             /* top-level inputs that may contain ${secrets.NAME} */
};

/* A named prompt in its current version. */
struct definition_prompt {
	struct str text;
	int64_t version; /* 0 = the default of the program */
};

struct definition_tools {
	const struct definition_tool *at;
	size_t count;
	/* Finds the YAML of another workflow; NULL = there are no other workflows. */
	bool (*workflow)(void *context, struct str name, struct arena *arena, struct str *out_yaml,
			 struct error *error);
	/* The profile of the run; NULL = none. */
	const struct pipeline_profile *profile;
	/* Cassette that the replies to agents with the driver api are kept in, and the one that
	 * answers in place of their models; "" = none. */
	struct str record, replay;
	/* Whether the server isolates tools. */
	bool isolates;
	/* Finds an agent in the registry; NULL = there is no registry. */
	bool (*agent)(void *context, struct str name, struct arena *arena,
		      const struct run_agent **out_agent, struct error *error);
	/* Finds the tier of an agent called tierN_ROLE; *out_tier NULL = it has none.  NULL = there are no tiers. */
	bool (*tier)(void *context, struct str name, struct arena *arena,
		     const struct run_tier **out_tier, struct error *error);
	/* Whether a tool that is not known may be one of an MCP server.  NULL = it may not. */
	bool (*mcp)(void *context);
	/* Reads a file of the folder of prompts; NULL = there is no such folder. */
	bool (*prompt)(void *context, struct str name, struct arena *arena, struct str *out_text,
		       struct error *error);
	/* Finds a named prompt; NULL = there are none. */
	bool (*named_prompt)(void *context, struct str id, struct arena *arena,
			     struct definition_prompt *out_prompt, struct error *error);
	/* Checks an agent, including its driver and options.  Pointers in the problems are relative
	 * to the agent; line and column may be 0.  NULL = no check. */
	void (*check_agent)(void *context, const struct run_graph_agent *agent, struct arena *arena,
			    struct problems *problems);
	/* Checks mounts and hosts of a sandbox.  NULL = no check. */
	bool (*check_sandbox)(void *context, const struct run_graph_sandbox *sandbox,
			      struct arena *arena, struct error *error);
	void *context;
	/* Whether the graph is only looked at: a definition that cannot be started yet compiles with a warning. */
	bool draws;
	/* Gets what does not stop a definition but should be known; NULL = dropped. */
	struct problems *warnings;
};

/* The tools of an agent by name; the compiler adds the descriptions that a model gets. */
struct run_graph_tool_list definition_named_tools(struct str_list names, struct arena *arena);

/* The file in the form of steps, whatever its dialect, without compiling it; NULL when it cannot be read. */
const struct run_definition *definition_read(struct str yaml, struct arena *arena);

/* Collects all problems with line and column; returns false when there are any. */
MUST_CHECK bool definition_compile(struct str yaml, const struct definition_tools *tools,
				   struct arena *arena, struct str *out_graph,
				   struct problems *problems);

#endif
