/* definition/compile_internal.h -- state shared by the compiler's passes; private to definition.
 *
 *	definition_compile.c   the file, its inputs and outputs, other workflows
 *	dialect.h              how the file is written: steps, or nodes and edges
 *	definition_repair.c    what is left of a file that does not fit its contract
 *	dependency_order.c     names, dependencies, edges and order of a body
 *	name_scope.c           names in templates and expressions; undo steps
 *	node_compile.c         a step to its node
 *	agent_check.c          the agents of steps
 *	session_compile.c      agents with tools
 *	prompt_compile.c       templates of prompts
 *	verify_compile.c       verifications and their criteria
 *	tool_check.c           inputs and outputs of tools against their contracts, and their types
 *	name_report.c          problems of templates and expressions at their places
 */
#ifndef DEFINITION_INSIDE_H
#define DEFINITION_INSIDE_H

#include "base/map.h"
#include "contract/run_definition_types.h"
#include "contract/run_graph_types.h"
#include "definition/definition_compile.h"
#include "expr/expr.h"

struct compiler {
	const struct definition_tools *tools;
	struct arena *arena;
	struct problems *problems;
	const struct run_definition *file;
	struct map variables;    /* the names that some step sets; the values are not used */
	struct str_list secrets; /* the names that some step uses */
	size_t steps;            /* in all bodies so far */
	size_t depth;            /* of nested workflows */
	const struct run_graph_sandbox *sandbox; /* that the profile sets; NULL = none */
	struct str_list delegates; /* the agents whose delegation is compiled, outermost first */
	/* What was taken out of a file that does not fit its contract: nothing is reported because
	 * it is missing. */
	size_t repairs;
	bool names_unknown, order_unknown, kinds_unknown;
	bool translated;                  /* the file is of another dialect than that of steps */
	struct run_graph_node_list undos; /* compiled so far */
};

/* Adds a warning: something that the author should know, and that stops nothing. */
struct problem *definition_warn(const struct compiler *compiler, const struct json *place,
				const char *format, ...) PRINTF_LIKE(3, 4);

/* Adds the reason why the definition cannot be started: a problem, or a warning where it is only drawn. */
void definition_refuse_start(const struct compiler *compiler, const struct json *place,
			     const char *format, ...) PRINTF_LIKE(3, 4);

/* What undo steps read of the bodies around them: steps, variables, and other names. */
struct undo_reads {
	struct str_list steps, ctx, names;
};

/* A list of steps: of the file, or of a container. */
struct body {
	struct compiler *compiler;
	const struct body *outer; /* NULL = the file's body */
	size_t owner;             /* the step of the outer body that contains this body */
	struct run_definition_step_list steps;
	const struct json *tree; /* the list in the file, for line and column */
	struct str pointer;      /* JSON pointer of the list */
	/* Of a try, whose body is made of several lists: one per step; otherwise NULL. */
	const struct str *pointers;       /* JSON pointers of the steps */
	const enum run_section *sections; /* the parts they belong to */
	struct str item;                  /* of a map: name of the item variable; else "" */
	struct undo_reads *undo;          /* of undo steps: what they read; otherwise NULL */
	size_t nesting;
	struct map names;       /* step name -> number + 1 */
	uint32_t *order;        /* numbers, dependencies first */
	uint64_t *ancestors;    /* one bit set per step: the steps that have ended before it */
	size_t words;           /* 64-bit words per bit set */
	struct str_list *reads; /* one list per step: the steps of this body that it reads */
	bool edges;             /* the body has edges, so any step may end before any other */
	bool unordered;         /* names or dependencies are wrong: there is no order */
};

void body_done(struct body *body);
size_t definition_body_step(const struct body *body, struct str name); /* number + 1; 0 = unknown */

struct str definition_step_pointer(const struct body *body, size_t number);
/* The part of a try that the step belongs to. */
enum run_section definition_section(const struct body *body, size_t number);
/* Adds a problem of a step, at the position of its member `key` if it has that member. */
struct problem *definition_step_problem(const struct body *body, size_t number, struct str key,
					const char *format, ...) PRINTF_LIKE(4, 5);
/* The same, at the item of a list that the step's member is. */
struct problem *definition_item_problem(const struct body *body, size_t number, struct str key,
					size_t item, const char *format, ...) PRINTF_LIKE(5, 6);

/* Checks names, dependencies and edges, and computes the order.  If they are wrong the order is that
 * of the file, and the body is `unordered`. */
void definition_body_order(struct body *body);
/* Parses what fits of a file that does not fit its contract; *tree becomes that part.  NULL when
 * nothing is left that could be checked. */
const struct run_definition *definition_repair(struct compiler *compiler, struct str yaml,
					       const struct json **tree);
/* Drops the problems behind the first `unfit` ones, which do not fit the contract, that are about
 * what contains one of these. */
void definition_drop_consequences(struct problems *problems, size_t unfit);

struct name_advice; /* definition/name_scope.h */
struct reader;
/* Sets what a verification has besides its body.  The criteria of one that repeats a step are read in
 * the body, by the second function. */
void definition_make_verify(const struct reader *reader, struct run_graph_node *node);
void definition_read_criteria(const struct reader *reader,
			      const struct run_definition_verify *verify, struct str key);
/* Compiles the template of a step's prompt, if it has one. */
void definition_make_prompt(const struct reader *reader, struct run_graph_node *node);
/* The agent of the step with the template of its system prompt; or the agent itself, if it has none. */
const struct run_graph_agent *definition_make_system(const struct reader *reader,
						     const struct run_graph_agent *agent);
void definition_collect_variables(struct compiler *compiler, struct run_definition_step_list steps);

/* NULL = there is no such tool. */
const struct definition_tool *definition_find_tool(const struct compiler *compiler,
						   struct str name);
/* Adds the problem that there is no such tool, with the closest one. */
void definition_report_tool(const struct body *body, size_t number, struct str tool);
/* Checks the inputs of a tool step, as far as they are literal. */
void definition_check_inputs(const struct body *body, size_t number,
			     const struct definition_tool *tool);
/* Reports inputs of an agent that are probably misspelled. */
void definition_check_agent_inputs(const struct body *body, size_t number);
/* Fails when the step calls a tool that has no such output; warns when it is an agent's and is probably
 * misspelled. */
MUST_CHECK bool definition_check_output(const struct body *body, size_t number, struct str key,
					struct name_advice *advice, struct error *error);
/* Reports inputs of a tool that get a value of another type from a step or from the workflow's inputs. */
void definition_check_types(const struct body *body, size_t number,
			    const struct definition_tool *tool);
/* The undo steps that the reader is one of, or in; NULL = it is in none. */
struct undo_reads *definition_undo_around(const struct reader *reader);
/* Adds a name that undo steps read. */
void definition_undo_read(const struct compiler *compiler, struct str_list *names, struct str name);
/* Compiles the undo steps of a step, and names them in its node. */
void definition_compile_undo(struct body *outer, size_t number, struct run_graph_node *node);
/* Compiles the steps of a body into nodes. */
struct run_graph_node_list definition_compile_body(struct body *body);
/* The agent of the file with this name; NULL = it has none. */
const struct run_definition_agent *definition_own_agent(const struct compiler *compiler,
							struct str name);
/* Compiles a workflow that lets an agent of the file or the registry work on a task; NULL after adding a
 * problem. */
const struct run_graph *definition_compile_sub_agent(const struct body *body, size_t number,
						     struct str name,
						     const struct run_definition_sub_agent *limits);
/* Compiles the YAML that was written for a sub-agent, with the agents of this file. */
const struct run_graph *definition_compile_for_agent(const struct body *body, size_t number,
						     struct str name, struct str yaml,
						     struct str_list delegates);
/* A retry policy of a definition; problems are those of the step. */
const struct run_graph_retry *definition_retry(const struct body *body, size_t number,
					       const struct run_definition_retry *from);
/* What is special about the calls of an agent (call_policy.c): timeouts, retries, fallbacks. */
void definition_add_policies(const struct body *body, size_t number,
			     const struct run_graph_agent *agent, struct run_graph_node *nodes,
			     size_t count);
/* The agent of a step, with the values of all sources, and the retry policy of its turns (NULL = none).
 * NULL after adding a problem. */
const struct run_graph_agent *definition_find_agent(const struct body *body, size_t number,
						    const struct run_graph_retry **out_retry);
/* The sandbox that is set on the profile; adds a problem if it is not available. */
void definition_find_sandbox(struct compiler *compiler);
/* The effect class of a call in this sandbox; NULL = that of the run. */
enum run_effect_class definition_call_class(const struct compiler *compiler,
					    const struct definition_tool *tool,
					    const struct run_graph_sandbox *sandbox);
/* Only agents have a model and tools: adds a problem for another step with them. */
void definition_check_agent_members(const struct body *body, size_t number);
/* The agent as a step uses it: its model, its tools, the outputs it must give. */
const struct run_graph_agent *definition_adapt_agent(const struct body *body, size_t number,
						     const struct run_graph_agent *agent);
/* Makes the node of a step a session: turns of the agent, and calls of its tools. */
void definition_make_session(const struct body *body, size_t number, struct run_graph_node *node,
			     const struct run_graph_agent *agent);
/* The node in a session that asks the model. */
struct run_graph_node *definition_session_turn(const struct run_graph_node *session);
/* Checks the agents of the file. */
void definition_check_agents(const struct compiler *compiler, const struct json *tree);
/* Compiles another workflow in its current version; NULL after adding a problem. */
const struct run_graph *definition_compile_other(const struct body *body, size_t number,
						 struct str name);

/* Whether a step with `join: any` starts with its body. */
bool definition_is_entry(const struct body *body, const struct run_definition_step *step);
/* A body, or a part of a try, in which every step waits for an edge would never start. */
void definition_check_start(const struct body *body, enum run_section section);

#endif
