/* api/api_run_reports.c -- what a run's story tells beyond its result: where its time went, its
 * graph as a picture, S4's trace and sessions.
 *
 * Each is a function of the story, so one reading serves them all; what it gives is printed on the
 * reader's thread.
 */
#include "active/executor_jobs.h"
#include "api/api_timeline.h"
#include "api/read_job.h"
#include "views/graph_drawing.h"
#include "views/time_profile.h"
#include "views/view.h"

struct told_read;
typedef void tell_story(const struct told_read *read, const struct timeline *timeline,
			struct json_writer *writer);

struct told_read {
	struct api_read_job answer; /* first */
	struct uuid run;
	int64_t now;
	tell_story *tell;
	struct str name; /* which of the view's further documents */
	int64_t depth;   /* of spans */
};

static void tell_time(const struct told_read *r, const struct timeline *timeline,
		      struct json_writer *writer)
{
	run_time_print(time_profile_document(timeline, r->now), writer);
}

static void tell_picture(const struct told_read *r, const struct timeline *timeline,
			 struct json_writer *writer)
{
	(void)r;
	run_picture_print(graph_drawing(timeline), writer);
}

/* A list that nothing is in is told as one. */
static void tell_document(const struct told_read *r, const struct timeline *timeline,
			  struct json_writer *writer)
{
	struct view_documents documents = view_at(VIEW_graph)->ops->more(timeline);
	for (size_t i = 0; i < documents.count; i++)
		if (str_equal(documents.at[i].name, r->name)) {
			view_print(&documents.at[i], writer);
			return;
		}
	json_open(writer, '[');
	json_close(writer, ']');
}

static void tell_profile(const struct told_read *r, const struct timeline *timeline,
			 struct json_writer *writer)
{
	struct run_execution_profile *profile = run_execution_profile_new(timeline->arena);
	SET(profile, run_id, r->run);
	SET(profile, workflow, timeline->source->graph->name);
	SET(profile, status, timeline_words(timeline)->runtime);
	SET(profile, time, time_profile_document(timeline, r->now));
	SET(profile, span, trace_spans(timeline, r->now, r->depth));
	run_execution_profile_print(profile, writer);
}

static void told_work(struct executor_read *read, struct store_reader *reader)
{
	struct told_read *r = (struct told_read *)read;
	AUTO(api_timeline) timeline = { 0 };
	AUTO(buf) text = { 0 };
	struct json_writer writer = { .out = &text };
	if (!api_timeline_demand(&timeline, read->executor, reader, &r->run, &read->arena,
				 &r->answer.error))
		return;
	r->tell(r, &timeline.timeline, &writer);
	r->answer.text = str_copy(&read->arena, buf_str(&text));
}

static struct told_read *told_new(struct api *api, uint64_t exchange, const struct uuid *run,
				  tell_story *tell)
{
	struct told_read *r = api_read_job_new(api, exchange, sizeof(*r));
	r->run = *run;
	r->now = platform_wall_us(loop_platform(api->settings.loop));
	r->tell = tell;
	return r;
}

static void answer(struct api_call *call, tell_story *tell, struct str name)
{
	struct told_read *r = told_new(call->api, call->exchange, &call->id, tell);
	r->name = name;
	api_read_job_begin(&r->answer, told_work);
}

void api_run_time(struct api_call *call)
{
	answer(call, tell_time, S(""));
}

void api_run_graph(struct api_call *call)
{
	answer(call, tell_picture, S(""));
}

void api_run_trace(struct api_call *call)
{
	answer(call, tell_document, S("trace"));
}

void api_run_sessions(struct api_call *call)
{
	answer(call, tell_document, S("sessions"));
}

void api_send_profile(struct api *api, uint64_t exchange, const struct uuid *run, int64_t depth)
{
	struct told_read *r = told_new(api, exchange, run, tell_profile);
	r->depth = depth;
	api_read_job_begin(&r->answer, told_work);
}
