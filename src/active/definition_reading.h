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
struct problems;
struct store_reader;

struct definition_reading {
	struct executor *executor;
	struct store_reader *reader;
	struct arena *arena; /* of the tools */
	bool others;         /* set when other workflows or agents were compiled in */
};

/* What the steps of a definition may name.  The hashes of custom tools are added to `source`: when a
 * tool changes, the same text compiles to another graph.  NULL = not wanted. */
struct definition_tools definition_reading_tools(struct definition_reading *reading,
						 struct sha256 *source);

/* The text of the definition `name`. */
MUST_CHECK bool definition_reading_text(const struct definition_reading *reading, struct str name,
					struct arena *arena, struct str *out_yaml,
					struct error *error);

/* Compiles a definition and forgets the graph; false with every problem. */
MUST_CHECK bool definition_reading_compile(struct definition_reading *reading, struct str yaml,
					   struct problems *problems);
/* Fills the error and returns false: a definition that is found by `name` must have that name. */
bool definition_reading_misnamed(struct str own_name, struct str name, struct error *error);

#endif
