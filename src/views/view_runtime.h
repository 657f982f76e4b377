/* views/view_runtime.h -- typed access to a run in the runtime vocabulary. */
#ifndef VIEWS_VIEW_RUNTIME_H
#define VIEWS_VIEW_RUNTIME_H

#include "contract/runtime_types.h"
#include "views/timeline.h"

const struct runtime_workflow_result_model *view_runtime_result(const struct view_source *source,
								struct arena *arena);

/* The runtime word for a run state of Baton: pending, running, success or failed. */
struct str view_runtime_status(struct str state);

#endif
