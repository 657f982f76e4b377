/* views/view_runtime.h -- a run in S2's words, for those who want it typed. */
#ifndef VIEWS_VIEW_RUNTIME_H
#define VIEWS_VIEW_RUNTIME_H

#include "contract/runtime_types.h"
#include "views/timeline.h"

const struct runtime_workflow_result_model *view_runtime_result(const struct view_source *source,
								struct arena *arena);

/* Baton's word for a run as S2 says it: pending, running, success or failed. */
struct str view_runtime_status(struct str state);

#endif
