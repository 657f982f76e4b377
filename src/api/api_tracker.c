/* api/api_tracker.c -- issues of the tracker of a profile.
 *
 * The profile is read on a reader thread, then the tracker is asked (tracker/trackers.h); neither holds
 * up the loop.  A comment that is sent through here is not part of a run: it has a marker of its own, and
 * a client that gets no answer looks at the issue.
 */
#include <stdlib.h>

#include "active/executor_jobs.h"
#include "api/api_internal.h"
#include "contract/run_tracker_types.h"
#include "document/agent_registry.h"
#include "os/loop.h"
#include "tracker/trackers.h"

struct tracker_read {
	struct executor_read read; /* first */
	struct api *api;
	uint64_t exchange;
	struct str profile;
	struct tracker_request request;
	int status; /* of a good answer */
	struct error error;
};

static void profile_work(struct executor_read *read, struct store_reader *reader)
{
	struct tracker_read *r = (struct tracker_read *)read;
	const struct pipeline_profile *profile;
	if (!agent_registry_profile(reader, r->profile, &read->arena, &profile, &r->error))
		return;
	if (profile == NULL) {
		fail(&r->error, ERROR_CONFIGURATION,
		     "no profile is active; name one with ?profile=, or create it with baton "
		     "profile create");
		return;
	}
	r->request.tracker = profile->tracker;
	r->request.repository = profile->repo_root;
}

static void read_free(struct tracker_read *r)
{
	executor_discard(r->api->settings.executor, &r->read.arena);
	free(r);
}

static void tracker_answered(void *context, uint64_t argument, const struct tracker_result *result)
{
	struct tracker_read *r = context;
	(void)argument;
	struct api_call *call = api_call_of(r->api, r->exchange);
	if (call != NULL && result->retry_after_us > 0)
		call->retry_after = (int)((result->retry_after_us + 999999) / 1000000);
	if (result->error.code != ERROR_NONE)
		api_reply_error(r->api, r->exchange, &result->error, NULL);
	else
		api_reply_json(r->api, r->exchange, r->status,
			       json_print(&r->read.arena, result->output));
	read_free(r);
}

static void profile_done(struct executor_read *read)
{
	struct tracker_read *r = (struct tracker_read *)read;
	if (r->error.code != ERROR_NONE) {
		api_reply_error(r->api, r->exchange, &r->error, NULL);
		read_free(r);
		return;
	}
	tracker_start(r->api->settings.trackers, &r->request, tracker_answered, r, 0);
}

static struct tracker_read *read_new(struct api_call *call, enum tracker_operation operation)
{
	struct tracker_read *r = calloc(1, sizeof(*r));
	require(r != NULL);
	r->api = call->api;
	r->exchange = call->exchange;
	r->status = 200;
	r->read.work = profile_work;
	r->read.done = profile_done;
	r->profile = str_copy(&r->read.arena, api_query(call, S("profile")));
	r->request.operation = operation;
	r->request.id = str_copy(&r->read.arena, api_name(call, S("issue")));
	return r;
}

void api_issue_list(struct api_call *call)
{
	struct tracker_read *r = read_new(call, TRACKER_ISSUE_LIST);
	r->request.search = str_copy(&r->read.arena, api_query(call, S("search")));
	if (api_query_int(call, S("limit"), 1, LIMIT_TRACKER_PAGE_ITEMS, 30, &r->request.limit,
			  &r->error))
		executor_read(call->api->settings.executor, &r->read);
	else
		profile_done(&r->read);
}

void api_issue_read(struct api_call *call)
{
	struct tracker_read *r = read_new(call, TRACKER_ISSUE_READ);
	executor_read(call->api->settings.executor, &r->read);
}

void api_issue_comment(struct api_call *call, const struct run_comment_request *body)
{
	struct tracker_read *r = read_new(call, TRACKER_COMMENT_ADD);
	char text[UUID_TEXT_SIZE];
	struct uuid marker;
	uint8_t random[16];
	platform_random(loop_platform(call->api->settings.loop), random, sizeof(random));
	marker = uuid_from_random(random);
	r->status = 201;
	r->request.text = str_copy(&r->read.arena, body->text);
	r->request.marker = str_copy(&r->read.arena, uuid_text(&marker, text));
	executor_read(call->api->settings.executor, &r->read);
}
