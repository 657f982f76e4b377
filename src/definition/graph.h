/* definition/graph.h -- a compiled definition in memory: nodes by number, edges both ways.
 *
 * Made from run.Graph, the canonical JSON that a run pins by hash (architecture R14): compiling
 * happens once, loading any number of times.  Immutable after graph_load(); many runs share one.
 *
 * Nodes of all bodies are in one array.  A body is a list of numbers; the root's is graph->body.
 * `slot` is a node's place in its body, so that what is kept for each node of an entered body is an
 * array.  docs/engine.md says what everything means.
 */
#ifndef DEFINITION_GRAPH_H
#define DEFINITION_GRAPH_H

#include "base/error.h"
#include "base/sha256.h"
#include "contract/run_types.h"
#include "expr/expr.h"

#define GRAPH_ROOT UINT32_MAX /* no enum: ISO C has those within int */

struct graph_numbers {
	const uint32_t *at;
	size_t count;
};

struct graph_edge {
	uint32_t to;
	const struct expr *when; /* NULL = always */
};

struct graph_edges {
	const struct graph_edge *at;
	size_t count;
};

struct graph_criterion {
	struct str name;
	const struct expr *check;
	bool critical;
};

struct graph_node {
	const struct run_graph_node *row; /* whatever has no member of its own here */
	struct str name;
	enum run_node_kind kind;
	enum run_effect_class class;
	uint32_t parent; /* the node that owns its body; GRAPH_ROOT */
	uint32_t slot;   /* its place in that body */
	struct graph_numbers body;
	struct graph_numbers depends_on, dependents; /* of the same body */
	struct graph_edges edges;
	bool any, entry;                         /* join: any; it starts with its body */
	const struct expr *when, *until, *value; /* NULL where there is none */
	const struct graph_criterion *criteria;
	size_t criterion_count;
	struct graph_numbers reads; /* nodes of the same body whose outputs it or its body reads */
	uint32_t reader_count;      /* nodes that read its output */
	bool keeps; /* its output stays: the workflow's outputs, a container or a cycle reads it */
};

struct graph {
	struct hash hash; /* of the JSON it was loaded from */
	struct str name;
	const struct run_graph *rows;
	const struct graph_node *nodes;
	const uint32_t *by_name; /* numbers, ordered by parent and name */
	uint32_t node_count;
	struct graph_numbers body;
	uint32_t concurrency;
	int64_t max_iterations; /* activations of join any nodes, in all */
};

/* Reads the JSON text into the arena.  A text that is not a graph we wrote is ERROR_INVALID. */
MUST_CHECK bool graph_load(struct str text, struct arena *arena, const struct graph **out_graph,
			   struct error *error);
/* The same from rows that stand in another graph (a sub-run's). */
MUST_CHECK bool graph_load_rows(const struct run_graph *rows, struct arena *arena,
				const struct graph **out_graph, struct error *error);
/* The body of a node, or the root's. */
struct graph_numbers graph_body(const struct graph *graph, uint32_t parent);
/* Number of the node with this name in the body of `parent`, or -1. */
int64_t graph_find(const struct graph *graph, uint32_t parent, struct str name);

/* The run's inputs as they will be recorded: every declared one with its default filled in.
 * Problems (missing, unknown, wrong type, not among the choices) are all collected; NULL then. */
const struct json *graph_inputs(const struct graph *graph, const struct json *given,
				struct arena *arena, struct problems *problems);

/* Whether a value is of an input's type. */
bool graph_input_fits(enum run_input_type type, const struct json *value);

#endif
