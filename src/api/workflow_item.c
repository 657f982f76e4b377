/* api/workflow_item.c -- a workflow as lists and pages show it. */
#include "api/workflow_item.h"

#include "active/workflow_list.h"
#include "api/api_internal.h"
#include "base/limits.h"
#include "views/view_runtime.h"

struct runtime_workflow_run_list workflow_runs(struct store_reader *reader, struct str name,
					       struct arena *arena)
{
	const struct store_run_filter only = { .name = name };
	struct store_run_page page;
	struct error error;
	if (!reader->ops->list_runs(reader, &only, NULL, LIMIT_RECENT_RUNS, arena, &page, &error))
		return (struct runtime_workflow_run_list){ 0 };
	struct runtime_workflow_run *runs =
		arena_array(arena, struct runtime_workflow_run, page.count);
	for (size_t i = 0; i < page.count; i++) {
		const struct store_run *run = &page.at[i];
		SET(&runs[i], run_id, run->id);
		SET(&runs[i], status, view_runtime_status(run->state));
		SET(&runs[i], state, run->state);
		SET(&runs[i], started_at, run->created_at);
		if (run->ended_at != 0)
			SET(&runs[i], completed_at, run->ended_at);
	}
	return (struct runtime_workflow_run_list){ runs, page.count };
}

struct str_list workflow_shadows(const struct definition_found *found, struct arena *arena)
{
	struct str *names = arena_array(arena, struct str, DEFINITION_SOURCES);
	size_t count = 0;
	for (int source = 0; source < DEFINITION_SOURCES; source++)
		if (found->shadows[source])
			names[count++] = definition_source_name((enum definition_source)source);
	return (struct str_list){ names, count };
}

struct runtime_workflow_item workflow_item(struct api *api, struct store_reader *reader,
					   struct str name, struct arena *arena)
{
	AUTO(arena) scratch = { 0 }; /* texts may be large, and a page has many */
	struct definition_found found;
	struct error error;
	if (!definition_registry_find(api->settings.definitions, reader, name, &scratch, &found,
				      &error)) {
		struct runtime_workflow_item *broken = runtime_workflow_item_new(arena);
		SET(broken, name, name);
		SET(broken, problem, str_copy(arena, str_from_c(error.text)));
		return *broken;
	}
	struct runtime_workflow_item item =
		executor_workflow_item(api->settings.executor, reader, name, found.yaml, arena);
	struct str_list shadows = workflow_shadows(&found, arena);
	struct runtime_workflow_run_list runs = workflow_runs(reader, name, arena);
	SET(&item, source, definition_source_name(found.source));
	if (shadows.count > 0)
		SET(&item, shadows, shadows);
	if (found.version > 0)
		SET(&item, version, found.version);
	if (runs.count > 0)
		SET(&item, recent_runs, runs);
	return item;
}
