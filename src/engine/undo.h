/* engine/undo.h -- undo steps: what was done and can be undone, and the undoing; private to this room.
 *
 * When a step with undo steps succeeds, the closing event records what these will read
 * (`next.undo`), because outputs and bodies may be gone later; the state keeps the records, newest
 * first.  When the run has failed or was cancelled, and nothing of it is open any more, run.unwinding
 * starts the finally steps that are left.  After these, the newest record becomes an activation of
 * the undo (a try among the nodes of the root), and when that is final, the next one.  A failed undo
 * does not fail anything.  A second cancel ends them; the records that are left stay as they are.
 */
#ifndef ENGINE_UNDO_H
#define ENGINE_UNDO_H

#include "engine/run.h"

struct eval_context;
struct step_continuation;

/* A step that succeeded and was not undone. */
struct undo_record {
	struct undo_record *before; /* the one that succeeded before it */
	struct str path;
	uint32_t node; /* the undo */
	struct value inputs;
};

/* Renders what the undo steps of a step that succeeds will read, into the continuation; fails the step
 * when that is too large.  False: values are missing. */
bool undo_render(struct eval_context *eval_context, const struct activation *activation,
		 const struct json *output, struct step_continuation *out);
/* Adds a record; the activation has succeeded. */
void undo_record_add(struct run *run, struct str path, uint32_t node,
		     const struct run_value *inputs);
/* Whether a run that unwinds would have something to undo. */
static inline bool undo_is_left(const struct run *run)
{
	return run->undos != NULL && !run->abandoned;
}
/* Whether some undo has begun. */
bool undo_has_begun(const struct run *run);
/* After each event: begins with the next undo when it is time. */
void undo_advance(struct run *run);

/* The values that the undo steps around the scope were given; NULL = it is not in undo steps, or the
 * value is not loaded. */
const struct json *undo_given(struct eval_context *eval_context, const struct scope *scope);
/* Whether the scope is the body of undo steps, which cannot see the bodies around it. */
static inline bool undo_is_body(const struct run *run, const struct scope *scope)
{
	return scope->owner != NULL && run_node(run, scope->owner)->section == RUN_SECTION_UNDO;
}

#endif
