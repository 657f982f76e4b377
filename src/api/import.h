/* api/import.h -- an import of a folder while it is composed; private to src/api.
 *
 *	api_import.c        the request, what is collected, the response
 *	import_graph.c      agents/, workflows/ and config/ of the graph vocabulary
 *	import_runtime.c    agents.yaml and models.yaml of the runtime vocabulary
 *	import_models.c     ids of models become drivers, options and fallbacks
 *	import_variables.c  ${NAME:-default} in a tree
 *
 * An import is composed on a reader thread while no document changes: every file is read, and everything that
 * would change is collected.  One problem, and nothing is changed.
 */
#ifndef API_IMPORT_H
#define API_IMPORT_H

#include "api/api_internal.h"
#include "base/json.h"
#include "base/limits.h"
#include "contract/contract.h"
#include "contract/document_kind.h"
#include "contract/run_workflow_types.h"
#include "document/documents.h"

struct run_agent;
struct run_models_file;

struct import {
	struct arena own; /* for the length of the request */
	struct api *api;
	uint64_t exchange;
	struct str_map files; /* path -> text */
	bool dry_run;
	struct str by;
	int64_t now;
	void (*layout)(struct import *import);
	struct str text; /* the response */
	/* Of the last attempt, in its arena: */
	struct store_reader *reader;
	struct arena *arena;
	struct documents_change *changes;
	size_t change_count;
	struct run_import_item *items;
	size_t item_count;
	struct run_import_problem *problems, *warnings;
	size_t problem_count, warning_count;
	const struct run_agent **agents; /* of this import */
	size_t agent_count;
	struct error error; /* of the store; code NONE = none */
};

/* `place` NULL = the whole file. */
void import_problem(struct import *import, struct str file, const struct json *place,
		    const char *format, ...) PRINTF_LIKE(4, 5);
void import_warn(struct import *import, struct str file, const struct json *place,
		 const char *format, ...) PRINTF_LIKE(4, 5);
/* Those of a contract or a definition, with their own lines and columns. */
void import_problems(struct import *import, struct str file, const struct problems *problems);

/* The tree of a file; NULL after adding a problem. */
const struct json *import_tree(struct import *import, struct str file, struct str text);
/* Adds a document, unless it is stored already as it is. */
void import_document(struct import *import, enum document_kind kind, struct str name,
		     struct str body, struct str file);
void import_workflow(struct import *import, struct str name, struct str yaml, struct str file);
/* Adds an agent; of its tools, those that this server does not have become unresolved ones.  `tools` is the
 * list in the file. */
void import_agent(struct import *import, const struct run_agent *agent, const struct json *tools,
		  struct str file);

/* The same tree with the environment variables that models.variables allows. */
const struct json *import_expand(struct import *import, struct str file, const struct json *tree);
/* The value of one of them; "" = it is not set, or not allowed. */
struct str import_variable(const struct import *import, struct str name);

/* Models in the order in which they are asked, as an agent has them. */
struct import_chain {
	struct str driver, model;   /* "" = no model of the chain can be reached */
	const struct json *options; /* NULL = none */
};
/* `ids` are those of `place` in the file; ids that cannot be reached are left out with a warning. */
struct import_chain import_chain(struct import *import, const struct run_models_file *models,
				 struct str_list ids, struct str file, const struct json *place);

void import_graph(struct import *import);
void import_runtime(struct import *import);

#endif
