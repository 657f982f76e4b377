/* api/api_run_changes.c -- the files that the commits of a run have changed, and the diff.
 *
 * The run is looked up on a reader thread; git reads its clone, or its branch in the repository, in a child
 * process (active/run_changes.h).
 */
#include <stdlib.h>

#include "active/run_changes.h"
#include "api/api_timeline.h"
#include "api/read_job.h"
#include "contract/run_start_types.h"
#include "contract/run_tool_types.h"

struct changes_read {
	struct executor_read read; /* first */
	struct api *api;
	uint64_t exchange;
	struct run_changes_request request;
	struct error error;
};

static void changes_free(struct changes_read *r)
{
	arena_done(&r->read.arena);
	free(r);
}

static void changes_work(struct executor_read *read, struct store_reader *reader)
{
	struct changes_read *r = (struct changes_read *)read;
	AUTO(api_timeline) timeline = { 0 };
	if (!api_timeline_require(&timeline, read->executor, reader, &r->request.run, &read->arena,
				  &r->error))
		return;
	const struct run_start *start = timeline.timeline.start;
	r->request.workspace_removed = timeline.timeline.workspace_removed;
	if (has(start, repository))
		r->request.repository = str_copy(&read->arena, start->repository);
}

static void changes_ended(void *context, uint64_t argument, const struct json *changes,
			  const struct error *error)
{
	struct changes_read *r = context;
	(void)argument;
	if (changes == NULL)
		api_reply_error(r->api, r->exchange, error, NULL);
	else
		api_reply_json(r->api, r->exchange, 200, json_print(&r->read.arena, changes));
	changes_free(r);
}

static void changes_found(struct executor_read *read)
{
	struct changes_read *r = (struct changes_read *)read;
	if (r->error.code == ERROR_NONE &&
	    executor_read_changes(read->executor, &r->request, changes_ended, r, 0, &r->error))
		return;
	api_reply_error(r->api, r->exchange, &r->error, NULL);
	changes_free(r);
}

static void changes_send(struct api_call *call, bool diff)
{
	struct changes_read *r = calloc(1, sizeof(*r));
	require(r != NULL);
	struct arena *arena = &r->read.arena;
	struct run_changes_query *query = run_changes_query_new(arena);
	struct str path = api_query(call, S("path")), base = api_query(call, S("base")),
		   commit = api_query(call, S("commit"));
	SET(query, diff, diff);
	if (path.size > 0)
		SET(query, path, str_copy(arena, path));
	if (base.size > 0)
		SET(query, base, str_copy(arena, base));
	if (commit.size > 0)
		SET(query, commit, str_copy(arena, commit));
	r->api = call->api;
	r->exchange = call->exchange;
	r->request.run = call->id;
	r->request.query = query;
	r->read.work = changes_work;
	r->read.done = changes_found;
	executor_read(call->api->settings.executor, &r->read);
}

void api_run_files(struct api_call *call)
{
	changes_send(call, false);
}

void api_run_diff(struct api_call *call)
{
	changes_send(call, true);
}
