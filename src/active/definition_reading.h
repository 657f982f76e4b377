/* active/definition_reading.h -- definitions by name, and what they are compiled with.
 *
 * A start and the list of workflows compile a definition with the same tools, agents and other
 * workflows, so that the list reports the problems that a start would.  On a reader thread.
 *
 *	struct definition_reading reading = { .executor = executor, .reader = reader,
 *					      .arena = arena };
 *	struct definition_tools tools = definition_reading_tools(&reading, &sha);
 *	if (!definition_compile(yaml, &tools, arena, &graph, &problems))
 *		...
 */
#ifndef ACTIVE_DEFINITION_READING_H
#define ACTIVE_DEFINITION_READING_H

#include "base/sha256.h"
#include "base/error.h"

struct definition_tools;
struct executor;
struct pipeline_profile;
struct problems;
struct run_agent;
struct run_graph_sandbox;
struct store_reader;
struct tool_host;

struct definition_reading {
	struct executor *executor;
	struct store_reader *reader;
	struct arena *arena;                    /* of the tools */
	const struct pipeline_profile *profile; /* of the run; NULL = none */
	struct problems *warnings; /* of definition_reading_compile(); NULL = not wanted */
	struct str record, replay; /* cassettes of the run; "" = none */
	bool draws;                /* the graph is only looked at */
	const struct run_agent *const *agents; /* found before those of the registry */
	size_t agent_count;
	bool mcp;                  /* there will be MCP servers */
	bool others;               /* set when other workflows, agents or files were compiled in */
	struct str prompts_folder; /* searched first for prompt files; "" = none */
};

/* What the steps of a definition may name.  The hashes of custom tools are added to `source`: when a
 * tool changes, the same text compiles to another graph.  NULL = not wanted. */
struct definition_tools definition_reading_tools(struct definition_reading *reading,
						 struct sha256 *source);

/* The host of a call with the sandbox of its node or graph; NULL = the server's.  CONFIGURATION when this
 * server does not have it.  Any thread; the host points into the arena. */
MUST_CHECK bool executor_choose_sandbox(const struct executor *executor,
					const struct run_graph_sandbox *sandbox,
					struct arena *arena, struct tool_host *host,
					struct error *error);

/* The text of the definition `name`. */
MUST_CHECK bool definition_reading_text(const struct definition_reading *reading, struct str name,
					struct arena *arena, struct str *out_yaml,
					struct error *error);

/* Compiles a definition to a graph, which lives in the reading's arena; false with every problem. */
MUST_CHECK bool definition_reading_compile(struct definition_reading *reading, struct str yaml,
					   struct str *out_graph, struct problems *problems);
/* Fills the error and returns false: a definition that is found by `name` must have that name. */
bool definition_reading_misnamed(struct str own_name, struct str name, struct error *error);

#endif
