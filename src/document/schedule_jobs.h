/* document/schedule_jobs.h -- between schedules that come due and people who change them; for this
 * room alone. */
#ifndef DOCUMENT_SCHEDULE_JOBS_H
#define DOCUMENT_SCHEDULE_JOBS_H

#include "base/str.h"

struct documents;

/* Is a run of this schedule being started right now? */
bool schedules_are_starting(const struct documents *documents, struct str name);
int64_t schedules_opened_at(const struct documents *documents); /* 0 = they are not open */
void schedules_discard(struct documents *documents);

/* No run of the schedule is being started any more: changes that waited for that are answered. */
void schedule_jobs_reply(struct documents *documents, struct str name);
void schedule_jobs_discard(struct documents *documents);

#endif
