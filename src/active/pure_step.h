/* active/pure_step.h -- steps of pure tools: computed in process, without a request or an effect.
 *
 * A pure step starts inside a decision.  Once that decision is committed its result is computed,
 * and the result is a command like any other (decision 0008).
 */
#ifndef ACTIVE_PURE_STEP_H
#define ACTIVE_PURE_STEP_H

#include "active/active_run.h"
#include "engine/decide.h"

/* The step's start is committed: compute it. */
void pure_step_begin(struct active_run *active, struct str step);

struct pure_step {
	const struct activation *activation; /* given; the rest is found by pure_step_compute() */
	const struct tool *tool;
	const struct json *inputs;
};

enum pure_step_answer {
	PURE_STEP_DONE,         /* the command has the step's result, with memory of seen->arena */
	PURE_STEP_NEEDS_VALUES, /* seen->needs says which must be read first */
	PURE_STEP_LARGE,        /* the inputs are too large for the loop */
};

enum pure_step_answer pure_step_compute(struct active_run *active, struct pure_step *step,
					struct decision *seen, struct command *command);
/* Computes a large step on a reader thread.  Takes the command over, and sends it with the result. */
void pure_step_compute_elsewhere(struct active_run *active, struct pending_command *pending,
				 const struct pure_step *step);
#define PURE_STEP_TOO_LARGE "the inputs are larger than the limit of a value"

#endif
