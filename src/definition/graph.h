/* definition/graph.h -- a compiled definition in memory: nodes by number, edges both ways.
 *
 * Made from run.Graph, the canonical JSON that a run pins by hash (architecture R14): compiling
 * happens once, loading any number of times.  Immutable after graph_load(); many runs share one.
 */
#ifndef DEFINITION_GRAPH_H
#define DEFINITION_GRAPH_H

#include "base/error.h"
#include "base/sha256.h"
#include "contract/run.h"

struct graph_numbers {
	const uint32_t *at;
	size_t count;
};

struct graph_node {
	struct str name;
	enum run_node_kind kind;
	enum run_effect_class class;
	struct str tool, question;
	int64_t wait_us;
	const struct json *inputs; /* templates */
	struct graph_numbers depends_on, dependents;
	struct graph_numbers reads; /* nodes whose outputs its templates read */
	uint32_t reader_count;      /* nodes that read its output */
	bool read_by_outputs;       /* the workflow's outputs read it */
};

struct graph {
	struct hash hash; /* of the JSON it was loaded from */
	struct str name;
	const struct run_graph *rows;
	const struct graph_node *nodes;
	const uint32_t *by_name; /* numbers in the names' order */
	uint32_t node_count;
};

/* Reads the JSON text into the arena.  A text that is not a graph we wrote is ERROR_INVALID. */
MUST_CHECK bool graph_load(struct str text, struct arena *arena, const struct graph **out_graph,
			   struct error *error);
/* Number of the node, or -1. */
int64_t graph_find(const struct graph *graph, struct str name);

/* The run's inputs as they will be recorded: every declared one with its default filled in.
 * Problems (missing, unknown, wrong type, not among the choices) are all collected; NULL then. */
const struct json *graph_inputs(const struct graph *graph, const struct json *given,
				struct arena *arena, struct problems *problems);

/* Whether a value is of an input's type. */
bool graph_input_fits(enum run_input_type type, const struct json *value);

#endif
