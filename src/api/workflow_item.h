/* api/workflow_item.h -- a workflow as lists and pages show it; private to src/api.
 *
 * On a reader thread, unless noted; results live in the arena.
 */
#ifndef API_WORKFLOW_ITEM_H
#define API_WORKFLOW_ITEM_H

#include "contract/runtime_types.h"
#include "document/definition_registry.h"

struct api;
struct store_reader;

/* With source, version and newest runs; a definition that cannot be read has its problem. */
struct runtime_workflow_item workflow_item(struct api *api, struct store_reader *reader,
					   struct str name, struct arena *arena);
/* The newest runs of a workflow; none when they cannot be read. */
struct runtime_workflow_run_list workflow_runs(struct store_reader *reader, struct str name,
					       struct arena *arena);
/* The names of the sources that are shadowed. */
struct str_list workflow_shadows(const struct definition_found *found, struct arena *arena);

struct workflow_saving {
	struct str name, yaml, by;
	int64_t now;
};
struct documents_changes;
/* The changes that save a workflow as its next version. */
MUST_CHECK bool workflow_version_changes(const struct workflow_saving *saving,
					 struct store_reader *reader, struct arena *arena,
					 struct documents_changes *out_changes,
					 struct error *error);

/* Responds with the workflow for an editor, as it is now; on the loop's thread. */
void workflow_editor_send(struct api *api, uint64_t exchange, struct str name);

#endif
