/* engine/milestone.h -- milestones: what a step means to those who follow the work.
 *
 * A node with a milestone has templates of its data, and a condition that says whether it is passed.
 * Both are evaluated once, when the step starts and when it has succeeded, and the event that starts
 * or ends the step records the results, so that views need nothing but events.  The rounds of a step
 * are one milestone: it begins with the first and ends with the last.
 */
#ifndef ENGINE_MILESTONE_H
#define ENGINE_MILESTONE_H

#include "base/str.h"

struct activation;
struct arena;
struct decision;
struct engine_values;
struct eval_context;
struct event;
struct failure;
struct json;
struct run;
struct run_milestone;
struct run_snapshot_step;

/* Of an activation, in the state. */
struct milestone {
	struct str data; /* JSON text of an object */
	bool starts;     /* it began with this activation, not with an earlier round */
	bool ended, passed;
};

/* What was evaluated for the next event of a step; private to milestone.c. */
struct decision_milestone {
	struct str step;         /* its path; "" = nothing was */
	const struct json *data; /* NULL = it does not start */
	bool decided, passed;
};

/* Renders the data of a step that is about to start.  False: values are missing.  A fault (code "" = none)
 * is a reason why the step cannot start. */
bool milestone_render(struct run *run, const struct activation *activation,
		      const struct engine_values *values, struct decision *d,
		      struct failure *out_fault);
/* Evaluates whether a step that has succeeded with this output is passed. */
void milestone_judge(struct eval_context *eval_context, const struct activation *activation,
		     const struct json *output);
/* Makes the event record the milestone that begins or ends with it. */
void milestone_attach(const struct run *run, struct decision *d, struct event *event);
/* Applies what an event records, before the event itself is applied. */
void milestone_apply(struct run *run, const struct event *event);
/* Lets the next round of a step continue the milestone of the last one. */
void milestone_continue(struct run *run, const struct activation *from, struct activation *round);
/* A milestone in a snapshot, and back. */
void milestone_print(const struct run *run, const struct activation *activation,
		     struct run_snapshot_step *out, struct arena *arena);
void milestone_restore(struct run *run, struct activation *activation,
		       const struct run_milestone *from);

#endif
