/* views/oracle_consultation.h -- consultations of the oracle, as records of the pipeline vocabulary.
 *
 * A run of a definition with `pipeline: oracle` is a consultation.  An agent that has the tool
 * `workflow:oracle` consults it in sub-runs; their events are read through view_source.read_run, without
 * which model, tokens and cost of a sub-run are unknown.
 *
 * Pure; results live in the timeline's arena.
 */
#ifndef VIEWS_ORACLE_CONSULTATION_H
#define VIEWS_ORACLE_CONSULTATION_H

#include "contract/pipeline_types.h"
#include "views/timeline.h"

/* Whether the run is a consultation. */
bool oracle_consultation_is(const struct timeline *timeline);
/* The consultation that a run is. */
const struct pipeline_oracle_consultation *oracle_consultation(const struct timeline *timeline);
/* The ended consultations of a run, oldest first: itself if it is one, and those of its agents. */
struct pipeline_oracle_consultation_list oracle_consultations(const struct timeline *timeline);

#endif
