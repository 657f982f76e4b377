/* views/plan_revisions.h -- the plans of a run, and the question whether to approve the newest.
 *
 * Every plan that a step of the run has checked (the tool plan_check) is a revision.  The question that
 * asks a person to approve it is a human step whose inputs have plan_markdown; a pipeline may ask it
 * several times.
 *
 * Of a compacted run only the steps of the last rounds are known.  Pure; results live in the timeline's
 * arena.
 */
#ifndef VIEWS_PLAN_REVISIONS_H
#define VIEWS_PLAN_REVISIONS_H

#include "views/timeline.h"

struct plan_revisions {
	const struct timeline_step **steps; /* oldest first; each has an output */
	size_t count;
	bool checks_plans;                 /* the workflow has such a step */
	const struct timeline_step *asked; /* the newest question; NULL = none yet */
	bool open;                         /* it is not answered */
	bool approved;                     /* it was answered with approve */
	struct str approved_by;            /* "" = not yet */
	struct uuid question;              /* id of the newest question; zero = none yet */
	struct hash question_revision;
	struct str workflow; /* name of the run's definition */
};

void plan_revisions_read(const struct timeline *timeline, struct plan_revisions *out_revisions);
/* The path of the plan's file, from the revision, the question or the step that named it; "" = unknown. */
struct str plan_revisions_path(const struct timeline *timeline,
			       const struct plan_revisions *revisions, size_t index);

#endif
