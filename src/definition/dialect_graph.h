/* definition/dialect_graph.h -- a graph workflow while it is translated; private to definition.
 *
 *	dialect_graph.c        the file: names, edges, reachability, state
 *	dialect_graph_node.c   nodes to steps: what they do, and what they get
 */
#ifndef DEFINITION_DIALECT_GRAPH_H
#define DEFINITION_DIALECT_GRAPH_H

#include "contract/run_graph_file_types.h"
#include "definition/dialect.h"
#include "definition/tree_build.h"

struct graph_file_link {
	struct graph_file_link *next;
	size_t to;
};

struct graph_file_node {
	const struct json *tree;      /* its mapping in the file */
	const struct json *key_place; /* of its name; only line and column */
	bool before, after;           /* a person is asked before or behind it */
	bool checkpoint;
	bool is_task; /* a parallel node has it as a task */
	bool reached; /* from the entry point */
	struct graph_file_link *links, **last_link;
	struct tree_list edges;  /* the `next` of its step */
	struct tree_list routes; /* its routing keys */
};

struct graph_file {
	struct compiler *compiler;
	struct arena *arena;
	const struct run_graph_file *file;
	const struct json *tree;
	struct map names; /* node name -> number + 1 */
	struct str_list node_names;
	struct str_list fields; /* the declared fields of the state */
	struct graph_file_node *nodes;
};

struct problem *dialect_graph_problem(const struct graph_file *g, const struct json *place,
				      const char *format, ...) PRINTF_LIKE(3, 4);
/* The number of a node; -1 = there is none with this name. */
int64_t dialect_graph_node(const struct graph_file *g, struct str name);
/* Checks the tasks of parallel nodes, and marks the nodes that are tasks. */
void dialect_graph_tasks(struct graph_file *g);
/* Appends the steps of a node. */
void dialect_graph_steps(const struct graph_file *g, size_t node, bool is_entry,
			 struct tree_list *steps);

#endif
