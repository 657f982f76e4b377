/* definition/compile_internal.h -- what the compiler's passes share; private to this room.
 *
 *	compile.c   the file, its inputs and outputs, other workflows
 *	order.c     a body: names, dependencies, edges, order
 *	names.c     what templates and expressions read
 *	nodes.c     a step to its node
 *	agents.c    who takes a turn
 */
#ifndef DEFINITION_INSIDE_H
#define DEFINITION_INSIDE_H

#include "base/map.h"
#include "definition/definition_compile.h"
#include "expr/expr.h"

struct compiling {
	const struct definition_tools *tools;
	struct arena *arena;
	struct problems *problems;
	const struct run_definition *file;
	struct map variables; /* names that some step sets, to itself */
	size_t steps;         /* of all bodies so far */
	size_t depth;         /* of workflows in workflows */
};

/* A list of steps: the file's own, or a container's. */
struct body {
	struct compiling *compiling;
	const struct body *outer; /* NULL: the file's own */
	size_t owner;             /* step of the outer body that has this one */
	struct run_definition_step_list steps;
	const struct json *tree; /* the list in the file, for places */
	struct str pointer;      /* of the list */
	struct str item;         /* a map's: what an item is called; "" */
	size_t nesting;
	struct map names;       /* step name -> number + 1 */
	uint32_t *order;        /* numbers, dependencies first */
	uint64_t *ancestors;    /* bit rows: what is certainly final before a step */
	size_t words;           /* 64-bit words of a row */
	struct str_list *reads; /* one a step: steps of this body it reads */
	bool edges;             /* steps start each other: any may be final before any */
};

void body_done(struct body *body);
size_t definition_body_step(const struct body *body, struct str name); /* number + 1, 0 = unknown */

/* A problem of a step, at the place of its member `key` when it has one. */
void definition_step_problem(const struct body *body, size_t number, struct str key,
			     const char *format, ...) PRINTF_LIKE(4, 5);

/* Names, dependencies, edges, order: false when what follows would stumble. */
MUST_CHECK bool definition_body_order(struct body *body);

/* What a name may lead to where it stands. */
struct reader {
	struct body *body;
	int64_t step;    /* -1: the workflow's outputs */
	bool own;        /* the step itself has a result: until, edges */
	bool inside;     /* a loop's until: the steps of this body are all final */
	bool has_output; /* `output` is there */
};

void definition_read_template(const struct reader *reader, const struct json *template,
			      struct str key);
void definition_read_expression(const struct reader *reader, struct str text, struct str key);
void definition_collect_variables(struct compiling *compiling,
				  struct run_definition_step_list steps);

/* Compiles the steps of a body into nodes. */
struct run_graph_node_list definition_compile_body(struct body *body);
/* The agent that a step names: the file's own, or the registry's as it is now; NULL with a problem.
 */
const struct run_graph_agent *definition_find_agent(const struct body *body, size_t number);
/* What is wrong with the file's own agents. */
void definition_check_agents(const struct compiling *compiling, const struct json *tree);
/* Another workflow, compiled as it is now. */
const struct run_graph *definition_compile_other(const struct body *body, size_t number,
						 struct str name);

#endif
