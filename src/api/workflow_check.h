/* api/workflow_check.h -- what is wrong with a definition, in the forms that responses have; private
 * to src/api.
 *
 * Every response about the validity of a definition is made from one struct workflow_check, so that
 * POST /validate, GET /editor and PUT report the same errors and warnings.
 *
 * On a reader thread; everything lives in the arena.
 */
#ifndef API_WORKFLOW_CHECK_H
#define API_WORKFLOW_CHECK_H

#include "contract/problem.h"
#include "contract/runtime_types.h"

struct executor;
struct hash;
struct store_reader;

struct workflow_check {
	bool is_valid;
	struct str own_name;      /* that the definition gives itself; "" = it cannot be read */
	struct str graph;         /* compiled, as JSON; only when valid */
	struct problems problems; /* by their places */
	struct str_list errors;   /* the same as texts */
	struct str_list warnings;
	struct runtime_workflow_problem_list places, warning_places;
};

/* Checks a definition.  What is correct and cannot be started yet is a warning.  `name` is the name that it would be started by,
 * `prompts_folder` is searched first for its prompt files; "" = none. */
void workflow_check(struct workflow_check *check, struct executor *executor,
		    struct store_reader *reader, struct str name, struct str yaml,
		    struct str prompts_folder, struct arena *arena);

/* The same as a start would: what cannot be started is a problem. */
void workflow_check_start(struct workflow_check *check, struct executor *executor,
			  struct store_reader *reader, struct str name, struct str yaml,
			  struct str prompts_folder, struct arena *arena);

struct definition_found;
/* runtime.WorkflowEditorResponse as JSON. */
struct str workflow_editor_text(struct str name, const struct definition_found *found,
				const struct workflow_check *check, struct arena *arena);

/* The ETag of a definition's text, with its quotes. */
struct str workflow_etag(const struct hash *text, struct arena *arena);

#endif
