/* api/api_workflows.c -- the workflows that can be started by name.
 *
 * Every definition of a page is compiled on a reader thread, as a start would compile it: a broken
 * file is listed with its problem.
 */
#include <stdlib.h>

#include "active/workflow_list.h"
#include "api/read_job.h"
#include "contract/runtime_types.h"

struct workflows_read {
	struct api_read_job answer; /* first */
	struct str after;           /* name of the last workflow before the page */
	size_t limit;
};

static void list_work(struct executor_read *read, struct store_reader *reader)
{
	struct workflows_read *w = (struct workflows_read *)read;
	struct arena *arena = &read->arena;
	struct str_list all = executor_workflow_names(read->executor, arena);
	size_t first = 0;
	while (first < all.count && str_compare(all.at[first], w->after) <= 0)
		first++;
	size_t count = all.count - first < w->limit ? all.count - first : w->limit;
	struct runtime_workflow_item *items =
		arena_array(arena, struct runtime_workflow_item, count);
	for (size_t i = 0; i < count; i++)
		items[i] = executor_workflow_item(read->executor, reader, all.at[first + i], arena);
	struct runtime_list_workflows_response *page = runtime_list_workflows_response_new(arena);
	SET(page, workflows, ((struct str_list){ all.at + first, count }));
	SET(page, items, ((struct runtime_workflow_item_list){ items, count }));
	if (first + count < all.count)
		SET(page, cursor, all.at[first + count - 1]);
	w->answer.text = runtime_list_workflows_response_text(page, arena);
}

void api_workflow_list(struct api_call *call)
{
	int64_t limit;
	struct error error;
	if (!api_query_int(call, S("limit"), 1, LIMIT_WORKFLOW_PAGE, 100, &limit, &error)) {
		api_reply_error(call->api, call->exchange, &error, NULL);
		return;
	}
	struct workflows_read *w = api_read_job_new(call->api, call->exchange, sizeof(*w));
	w->after = str_copy(&w->answer.read.arena, api_query(call, S("cursor")));
	w->limit = (size_t)limit;
	api_read_job_begin(&w->answer, list_work);
}

/* ---- checking a definition --------------------------------------------------------- */

struct check_read {
	struct api_read_job answer; /* first */
	struct str name, yaml;
};

static int place_order(const void *left, const void *right)
{
	const struct problem *a = left, *b = right;
	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	return (a->column > b->column) - (a->column < b->column);
}

static void add_problems(const struct problems *problems,
			 struct runtime_workflow_validation_response *out, struct arena *arena)
{
	size_t count = problems->count;
	struct runtime_workflow_problem *places =
		arena_array(arena, struct runtime_workflow_problem, count);
	struct str *texts = arena_array(arena, struct str, count);
	if (count > 0)
		qsort(problems->at, count, sizeof(*problems->at), place_order);
	for (size_t i = 0; i < count; i++) {
		const struct problem *from = &problems->at[i];
		places[i] = *runtime_workflow_problem_new(arena);
		SET(&places[i], pointer, from->pointer);
		SET(&places[i], text, from->text);
		texts[i] = str_format(arena, STR_FMT ": " STR_FMT, STR_ARG(from->pointer),
				      STR_ARG(from->text));
		if (from->line == 0)
			continue;
		SET(&places[i], line, from->line);
		SET(&places[i], column, from->column);
		texts[i] = str_format(arena, "%u:%u: " STR_FMT, from->line, from->column,
				      STR_ARG(texts[i]));
	}
	SET(out, errors, ((struct str_list){ texts, count }));
	if (count > 0)
		SET(out, problems, ((struct runtime_workflow_problem_list){ places, count }));
}

static void check_work(struct executor_read *read, struct store_reader *reader)
{
	struct check_read *r = (struct check_read *)read;
	struct problems problems = { .arena = &read->arena };
	struct runtime_workflow_validation_response *response =
		runtime_workflow_validation_response_new(&read->arena);
	struct str name, *warning = arena_array(&read->arena, struct str, 1);
	bool good = executor_workflow_check(read->executor, reader, r->yaml, &read->arena, &name,
					    &problems);
	SET(response, is_valid, good);
	add_problems(&problems, response, &read->arena);
	bool misnamed = name.size > 0 && !str_equal(name, r->name);
	if (misnamed)
		*warning = str_format(&read->arena,
				      "the definition calls itself " STR_FMT ", not " STR_FMT
				      ": it cannot be started by that name",
				      STR_ARG(name), STR_ARG(r->name));
	SET(response, warnings, ((struct str_list){ warning, misnamed ? 1 : 0 }));
	r->answer.text = runtime_workflow_validation_response_text(response, &read->arena);
}

void api_workflow_validate(struct api_call *call,
			   const struct runtime_workflow_editor_request *body)
{
	struct check_read *r = api_read_job_new(call->api, call->exchange, sizeof(*r));
	r->name = str_copy(&r->answer.read.arena, body->name);
	r->yaml = str_copy(&r->answer.read.arena, body->yaml_content);
	api_read_job_begin(&r->answer, check_work);
}
