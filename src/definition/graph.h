/* definition/graph.h -- a compiled definition in memory: nodes by number, edges in both directions.
 *
 * A graph is loaded from run.Graph, the canonical JSON that a run refers to by hash (architecture
 * R14): a definition is compiled once and loaded many times.  A graph is immutable after
 * graph_load() and shared by many runs; its arena owns it.
 *
 * The nodes of all bodies are in one array.  A body is a list of node numbers; graph->body is the
 * root's.  `slot` is a node's index in its body, so that per-node state of an entered body is an
 * array.  docs/engine.md defines the meaning of nodes and edges.
 */
#ifndef DEFINITION_GRAPH_H
#define DEFINITION_GRAPH_H

#include "base/error.h"
#include "base/sha256.h"
#include "contract/contract.h"
#include "contract/run_node_types.h"
#include "contract/run_graph_enum_types.h"
#include "expr/expr.h"

struct run_graph;
struct run_graph_node;

/* Rules that the compiler writes into new graphs; older graphs keep the rules they have. */
enum {
	GRAPH_RULES_ERROR_OBJECT = 2, /* the error of a step is {code, message}, not the message */
	GRAPH_RULES_REPLY_MEMBERS =
		3, /* the members of a reply that is a JSON object are outputs */
	GRAPH_RULES = GRAPH_RULES_REPLY_MEMBERS,
};

#define GRAPH_ROOT UINT32_MAX /* not an enum: ISO C limits enumerators to int */

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
	const struct expr *check, *reason; /* reason NULL = none */
	bool critical;
};

struct graph_node {
	const struct run_graph_node *row; /* all other members */
	struct str name;
	enum run_node_kind kind;
	uint32_t parent; /* the node that contains this one, or GRAPH_ROOT */
	uint32_t undo;   /* what undoes it; 0 = nothing, for node 0 undoes no step */
	uint32_t slot;   /* index in the parent's body */
	struct graph_numbers body;
	struct graph_numbers depends_on, dependents; /* of the same body */
	struct graph_edges edges;
	bool any, entry; /* join: any; starts with its body */
	bool writes;     /* a contained tool that is not read_only, or a container with one */
	bool read_only;  /* a contained tool that only reads its workspace */
	bool own_trees;  /* its branches have workspaces of their own */
	uint32_t branch; /* in a parallel body: slot of the first node that it is connected with */
	enum run_section section;    /* part of the try that contains it */
	bool has_catch, has_finally; /* of a try */
	bool continues; /* continue_on_error: a failure counts as done and does not fail the body */
	const struct expr *when, *until, *value, *passed; /* NULL = none */
	const struct graph_criterion *criteria;
	size_t criterion_count;
	struct graph_numbers reads; /* nodes of the same body that this node or its body reads */
	uint32_t reader_count;      /* number of nodes that read its output */
	bool keeps; /* its output is kept: an output of the workflow, a container or a cycle reads
		       it */
};

struct graph {
	struct hash hash; /* of the JSON it was loaded from */
	struct str name;
	const struct run_graph *rows;
	const struct graph_node *nodes;
	const uint32_t *by_name; /* node numbers, sorted by parent and name */
	uint32_t node_count;
	struct graph_numbers body; /* the steps, then the undos */
	uint32_t step_count;       /* nodes of the root without the undos */
	uint32_t concurrency;
	bool own_trees;         /* some node has them */
	bool has_finally;       /* some try has finally steps */
	int64_t rules;          /* version of the engine's rules it was compiled for, from 1 */
	int64_t kept_steps;     /* 0: the bodies of failed containers are dropped */
	int64_t max_iterations; /* total activations of nodes with join: any */
};

/* Loads a graph from JSON text into the arena.  Fails with INVALID if the text is not a graph. */
MUST_CHECK bool graph_load(struct str text, struct arena *arena, const struct graph **out_graph,
			   struct error *error);
/* Loads the graph of a sub-run, which is part of another graph. */
MUST_CHECK bool graph_load_rows(const struct run_graph *rows, struct arena *arena,
				const struct graph **out_graph, struct error *error);
/* The body of a node, or of GRAPH_ROOT. */
struct graph_numbers graph_body(const struct graph *graph, uint32_t parent);
/* The number of the node with this name in the body of `parent`, or -1. */
int64_t graph_find(const struct graph *graph, uint32_t parent, struct str name);

/* The run's inputs as they are recorded, with defaults filled in.  Collects all problems (missing,
 * unknown, wrong type, not a choice) and returns NULL if there are any. */
const struct json *graph_inputs(const struct graph *graph, const struct json *given,
				struct arena *arena, struct problems *problems);

/* Does the value have the input's type? */
bool graph_input_fits(enum run_input_type type, const struct json *value);

#endif
