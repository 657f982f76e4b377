/* views/view_runtime.h -- a run in S2's words.
 *
 * A view is a fold over a run's stream, independent of the engine's own state: what it shows is
 * what was recorded.  Pure; values stored by hash are looked up through `look`.
 */
#ifndef VIEWS_VIEW_RUNTIME_H
#define VIEWS_VIEW_RUNTIME_H

#include "contract/event.h"
#include "contract/runtime.h"

struct view_source {
	struct uuid run;
	struct str state; /* Baton's own word */
	const struct run_graph *graph;
	const struct event *events; /* the whole stream */
	size_t event_count;
	/* The value with this hash; NULL when it is not there. */
	const struct json *(*look)(void *context, const struct hash *hash);
	void *context;
};

const struct runtime_workflow_result_model *view_runtime_result(const struct view_source *source,
								struct arena *arena);

/* Baton's word for a run as S2 says it: success, failed or running. */
struct str view_runtime_status(struct str state);

#endif
