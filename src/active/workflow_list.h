/* active/workflow_list.h -- the definitions that a run can be started from by name.
 *
 * On a reader thread.  Nothing is started or stored, and the cache of graphs stays as it is.
 */
#ifndef ACTIVE_WORKFLOW_LIST_H
#define ACTIVE_WORKFLOW_LIST_H

#include "base/error.h"

struct executor;
struct problems;
struct store_reader;
struct runtime_workflow_item;

/* The names, in byte order; at most LIMIT_WORKFLOWS_LISTED. */
struct str_list executor_workflow_names(struct executor *executor, struct store_reader *reader,
					struct arena *arena);

/* The workflow `name`, whose text is `yaml`, with its declared inputs.  A definition that a start
 * would refuse is described, too: its `problem` is what the start would answer. */
struct runtime_workflow_item executor_workflow_item(struct executor *executor,
						    struct store_reader *reader, struct str name,
						    struct str yaml, struct arena *arena);

struct workflow_text {
	struct str yaml;
	struct str prompts_folder;             /* searched first for prompt files; "" = none */
	const struct run_agent *const *agents; /* found before those of the registry */
	size_t agent_count;
	bool mcp; /* there will be MCP servers */
	bool draws; /* what cannot be started yet, such as a team file, is a warning: it is only looked at */
};

/* Checks a definition as a start would; false with every problem when it cannot be started.  `name` is
 * the name that it would be started by, "" if it is not known: another one in the text is a warning.  *out_name is the name that the definition gives itself; "" = it cannot be read.  *out_graph is its compiled
 * graph. */
MUST_CHECK bool executor_workflow_check(struct executor *executor, struct store_reader *reader,
					struct str name, const struct workflow_text *text,
					struct arena *arena, struct str *out_name,
					struct str *out_graph, struct problems *problems,
					struct problems *warnings);

/* Whether an agent may name the tool: it is built in, a custom one, a workflow, or one of the tools that only agents
 * have. */
bool executor_knows_tool(struct executor *executor, struct store_reader *reader, struct str name);

/* The inputs of a run as they would be recorded, with defaults; NULL with every problem.  `graph` is
 * a compiled graph. */
const struct json *executor_workflow_inputs(struct str graph, const struct json *given,
					    struct arena *arena, struct problems *problems,
					    struct error *error);

#endif
