/* engine/undo.c -- undo steps (engine/undo.h). */
#include "engine/undo.h"

#include "base/limits.h"
#include "contract/run_graph_types.h"
#include "contract/run_value_types.h"
#include "engine/activation.h"
#include "engine/engine_internal.h"

static struct failure check_room(const struct run *run, struct arena *arena)
{
	if (run->undo_count < LIMIT_UNDOS)
		return (struct failure){ S(""), S("") };
	return failure_make(
		ERROR_LIMIT_REACHED,
		str_format(arena,
			   "the run has %d steps that can be undone, which is the limit; "
			   "divide the work among sub-workflows",
			   LIMIT_UNDOS));
}

/* Names that are missing are read as null, as anywhere else, when an undo step reads them. */
static bool render(struct eval_context *eval_context, const struct activation *activation,
		   const struct json *output, uint32_t undo, struct run_value **out)
{
	struct eval_context here = *eval_context;
	here.scope = activation->scope;
	here.closing = activation;
	here.output = output;
	here.quiet = true;
	const struct json *inputs =
		eval_render(&here, eval_context->run->graph->nodes[undo].row->inputs);
	*out = NULL;
	eval_context->missing |= here.missing;
	if (here.missing)
		return false;
	return inputs == NULL || decision_value(eval_context->d, inputs, out);
}

bool undo_render(struct eval_context *eval_context, const struct activation *activation,
		 const struct json *output, struct step_continuation *out)
{
	uint32_t undo = run_node(eval_context->run, activation)->undo;
	struct run_value *inputs;
	if (undo == 0 || out->fault.code.size > 0)
		return true;
	struct failure fault = check_room(eval_context->run, eval_context->d->arena);
	if (fault.code.size == 0) {
		if (!render(eval_context, activation, output, undo, &inputs))
			return false;
		if (inputs == NULL)
			fault = failure_make(
				ERROR_TOO_LARGE,
				S("what the undo steps read is larger than the limit of "
				  "a value; let them read less"));
	}
	if (fault.code.size > 0) {
		*out = NO_CONTINUATION;
		out->fault = fault;
		return true;
	}
	if (out->next == NULL)
		out->next = run_next_new(eval_context->d->arena);
	SET(out->next, undo, inputs);
	return true;
}

void undo_record_add(struct run *run, struct str path, uint32_t node,
		     const struct run_value *inputs)
{
	struct undo_record *record = arena_new(run->arena, struct undo_record);
	*record = (struct undo_record){ .before = run->undos,
					.path = str_copy(run->arena, path),
					.node = node,
					.inputs = run_value_copy(run, inputs) };
	run->undos = record;
	run->undo_count++;
}

bool undo_has_begun(const struct run *run)
{
	for (size_t i = run->graph->step_count; run->root != NULL && i < run->graph->body.count;
	     i++)
		if (run->root->places[i].count > 0)
			return true;
	return false;
}

void undo_advance(struct run *run)
{
	if (!run->unwinding || run_ended(run) || run->live > 0 || !undo_is_left(run))
		return;
	struct undo_record *newest = run->undos;
	run->undos = newest->before;
	run->undo_count--;
	struct activation *undo = activation_new(run, run->root, newest->node);
	undo->undoes = newest->path;
	undo->inputs = newest->inputs;
	activation_ready(run, undo);
}

const struct json *undo_given(struct eval_context *eval_context, const struct scope *scope)
{
	while (scope != NULL && !undo_is_body(eval_context->run, scope))
		scope = scope->owner == NULL ? NULL : scope->owner->scope;
	return scope == NULL ? NULL : eval_value(eval_context, &scope->owner->inputs);
}
