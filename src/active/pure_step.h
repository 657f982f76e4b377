/* active/pure_step.h -- steps of pure tools: computed on the loop, without a request or an effect.
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
/* Fills in the command with the step's result, with memory of seen->arena.  False: seen->needs says
 * which values must be read first. */
bool pure_step_command(struct active_run *active, const struct activation *activation,
		       struct decision *seen, struct command *command);

#endif
