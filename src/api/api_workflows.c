/* api/api_workflows.c -- the list of workflows, and the check of a definition.
 *
 * Every definition of a page is compiled on a reader thread, as a start would compile it: a broken
 * one is listed with its problem.
 */
#include "active/workflow_list.h"
#include "api/read_job.h"
#include "api/workflow_check.h"
#include "api/workflow_item.h"
#include "contract/runtime_types.h"
#include "document/definition_registry.h"
#include "views/view_dag.h"

struct workflows_read {
	struct api_read_job answer; /* first */
	struct str after;           /* name of the last workflow before the page */
	size_t limit;
	bool experimental; /* list those, too */
};

static void list_work(struct executor_read *read, struct store_reader *reader)
{
	struct workflows_read *w = (struct workflows_read *)read;
	struct arena *arena = &read->arena;
	struct str_list all = executor_workflow_names(read->executor, reader, arena);
	size_t next = 0, count = 0;
	while (next < all.count && str_compare(all.at[next], w->after) <= 0)
		next++;
	struct runtime_workflow_item *items =
		arena_array(arena, struct runtime_workflow_item, w->limit);
	struct str *names = arena_array(arena, struct str, w->limit);
	for (; next < all.count && count < w->limit; next++) {
		items[count] = workflow_item(w->answer.api, reader, all.at[next], arena);
		names[count] = all.at[next];
		count += w->experimental || !has(&items[count], experimental);
	}
	struct runtime_list_workflows_response *page = runtime_list_workflows_response_new(arena);
	SET(page, workflows, ((struct str_list){ names, count }));
	SET(page, items, ((struct runtime_workflow_item_list){ items, count }));
	if (next < all.count)
		SET(page, cursor, all.at[next - 1]);
	w->answer.text = runtime_list_workflows_response_text(page, arena);
}

void api_workflow_list(struct api_call *call)
{
	int64_t limit;
	bool experimental;
	struct error error;
	if (!api_query_int(call, S("limit"), 1, LIMIT_WORKFLOW_PAGE, 100, &limit, &error) ||
	    !api_query_flag(call, S("experimental"), false, &experimental, &error)) {
		api_reply_error(call->api, call->exchange, &error, NULL);
		return;
	}
	struct workflows_read *w = api_read_job_new(call->api, call->exchange, sizeof(*w));
	w->after = str_copy(&w->answer.read.arena, api_query(call, S("cursor")));
	w->limit = (size_t)limit;
	w->experimental = experimental;
	api_read_job_begin(&w->answer, list_work);
}

/* ---- checking a definition --------------------------------------------------------- */

struct check_read {
	struct api_read_job answer; /* first */
	struct str name, yaml, prompts_folder;
	bool dag;
};

static void check_work(struct executor_read *read, struct store_reader *reader)
{
	struct check_read *r = (struct check_read *)read;
	struct arena *arena = &read->arena;
	struct workflow_check check;
	struct runtime_workflow_validation_response *response =
		runtime_workflow_validation_response_new(arena);
	workflow_check(&check, read->executor, reader, r->name, r->yaml, r->prompts_folder, arena);
	SET(response, is_valid, check.is_valid);
	SET(response, errors, check.errors);
	SET(response, warnings, check.warnings);
	if (check.places.count > 0)
		SET(response, problems, check.places);
	if (check.warning_places.count > 0)
		SET(response, warning_problems, check.warning_places);
	if (r->dag && check.is_valid) {
		const struct runtime_dag_response *dag =
			view_dag(check.graph, arena, &r->answer.error);
		if (dag == NULL)
			return;
		SET(response, dag, dag);
	}
	r->answer.text = runtime_workflow_validation_response_text(response, arena);
}

void api_workflow_validate(struct api_call *call,
			   const struct runtime_workflow_editor_request *body)
{
	struct error error;
	bool dag;
	if (!api_query_flag(call, S("dag"), false, &dag, &error)) {
		api_reply_error(call->api, call->exchange, &error, NULL);
		return;
	}
	struct check_read *r = api_read_job_new(call->api, call->exchange, sizeof(*r));
	r->name = str_copy(&r->answer.read.arena, body->name);
	r->yaml = str_copy(&r->answer.read.arena, body->yaml_content);
	r->dag = dag;
	/* Over the network only the data folder's own prompts are read. */
	if (has(body, prompts_folder) && call->request->local)
		r->prompts_folder = str_copy(&r->answer.read.arena, body->prompts_folder);
	api_read_job_begin(&r->answer, check_work);
}
