/* active/workflow_list.h -- the definitions that a run can be started from by name.
 *
 * On a reader thread.  Nothing is started or stored, and the cache of graphs stays as it is.
 */
#ifndef ACTIVE_WORKFLOW_LIST_H
#define ACTIVE_WORKFLOW_LIST_H

#include "base/error.h"

struct executor;
struct problems;
struct store_reader;
struct runtime_workflow_item;

/* The names, in byte order; at most LIMIT_WORKFLOWS_LISTED. */
struct str_list executor_workflow_names(struct executor *executor, struct arena *arena);

/* The workflow `name` with its declared inputs.  A definition that a start would refuse is listed,
 * too: its `problem` is what the start would answer. */
struct runtime_workflow_item executor_workflow_item(struct executor *executor,
						    struct store_reader *reader, struct str name,
						    struct arena *arena);

/* Checks a definition as a start would; false with every problem when it cannot be started.  *out_name
 * is the name that the definition gives itself; "" = it cannot be read. */
MUST_CHECK bool executor_workflow_check(struct executor *executor, struct store_reader *reader,
					struct str yaml, struct arena *arena, struct str *out_name,
					struct problems *problems);

#endif
