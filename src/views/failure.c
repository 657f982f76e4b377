/* views/failure.c -- a step's failure as an object: class and attributes of the runtime vocabulary.
 *
 * A fault in a timeline is "code: text".  The code's row in the error table names the class; which
 * attributes there are depends on the kind of step.
 */
#include "base/error.h"
#include "contract/run_graph_types.h"
#include "contract/run_outline_types.h"
#include "views/timeline.h"
#include "views/view_tree.h"

static void split(struct str fault, struct str *out_code, struct str *out_message)
{
	size_t at;
	enum error_code code;
	bool coded =
		str_find(fault, S(": "), &at) && error_code_from_name(str_head(fault, at), &code);
	*out_code = coded ? str_head(fault, at) : error_row(ERROR_INTERNAL)->name;
	*out_message = coded ? str_skip(fault, at + 2) : fault;
}

const struct run_failure *timeline_failure(const struct timeline *timeline,
					   const struct timeline_step *step)
{
	struct run_failure *failure = run_failure_new(timeline->arena);
	struct str code, message;
	enum error_code number = ERROR_INTERNAL;
	split(step->fault, &code, &message);
	SET(failure, code, code);
	SET(failure, message, message);
	if (error_code_from_name(code, &number))
		SET(failure, class, error_row(number)->class);
	SET(failure, step_id, step->path);
	if (step->node->kind == RUN_NODE_AGENT)
		SET(failure, agent, timeline_agent(step));
	if (step->node->kind == RUN_NODE_TOOL) {
		SET(failure, tool_name, step->node->tool);
		SET(failure, operation, S("call"));
	}
	if (step->call != NULL && step->call->model.size > 0)
		SET(failure, model_name, step->call->model);
	if (step->attempts > 0)
		SET(failure, context,
		    TREE(timeline->arena, { S("attempt"), view_tree_int(step->attempts) }));
	return failure;
}
