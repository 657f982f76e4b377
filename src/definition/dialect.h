/* definition/dialect.h -- the dialects in which a workflow can be written; private to definition.
 *
 * A dialect is recognised by the keys of its file and has one translator, which turns the tree of the
 * file into the tree of a run.Definition.  The values keep their places, so everything behind it, from
 * the contract to the compiler's passes, reports problems at the place in the author's file.
 */
#ifndef DEFINITION_DIALECT_H
#define DEFINITION_DIALECT_H

#include "definition/compile_internal.h"

enum dialect {
	DIALECT_RUNTIME, /* steps */
	DIALECT_GRAPH,   /* nodes and edges */
	DIALECT_TEAM,    /* agents that hand work to each other */
};

/* By its keys; a file without a telling key is of the runtime dialect. */
enum dialect dialect_of(const struct json *tree);
/* "workflow", "graph workflow", "team file". */
const char *dialect_name(enum dialect dialect);

/* The tree of a run.Definition; NULL after adding problems. */
const struct json *dialect_translate(struct compiler *compiler, enum dialect dialect,
				     const struct json *tree, struct str text);
/* Names the dialect in the problems from `first` on, and the place in the file that they are about. */
void dialect_name_problems(const struct compiler *compiler, enum dialect dialect,
			   const struct json *tree, struct problems *problems, size_t first);

/* The translators. */
const struct json *dialect_graph_translate(struct compiler *compiler, const struct json *tree,
					   struct str text);
/* The file with the nodes of its patterns (pattern_expand.c); NULL after adding problems. */
const struct json *dialect_graph_expand(struct compiler *compiler, const struct json *tree);
const struct json *dialect_runtime_translate(const struct compiler *compiler,
					     const struct json *tree);
const struct json *dialect_team_translate(struct compiler *compiler, const struct json *tree,
					  struct str text);

#endif
