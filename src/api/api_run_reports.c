/* api/api_run_reports.c -- reports on one run: time profile, graph drawing, trace and sub-agent
 * sessions.
 *
 * Each report is computed from the run's timeline and printed on a reader thread.
 */
#include "active/executor_jobs.h"
#include "api/api_timeline.h"
#include "api/read_job.h"
#include "contract/run_graph_types.h"
#include "contract/run_picture_types.h"
#include "views/graph_drawing.h"
#include "views/time_profile.h"
#include "views/view.h"

struct report_read;
typedef void report_print(const struct report_read *read, const struct timeline *timeline,
			  struct json_writer *writer);

struct report_read {
	struct api_read_job answer; /* first */
	struct uuid run;
	int64_t now;
	report_print *print;
	struct str name; /* document of the graph view: trace or sessions */
	int64_t depth;   /* of the spans */
};

static void print_time(const struct report_read *r, const struct timeline *timeline,
		       struct json_writer *writer)
{
	run_time_print(time_profile_document(timeline, r->now), writer);
}

static void print_drawing(const struct report_read *r, const struct timeline *timeline,
			  struct json_writer *writer)
{
	(void)r;
	run_picture_print(graph_drawing(timeline), writer);
}

/* Prints an empty list when the view has no document of this name. */
static void print_document(const struct report_read *r, const struct timeline *timeline,
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

static void print_profile(const struct report_read *r, const struct timeline *timeline,
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

static void report_work(struct executor_read *read, struct store_reader *reader)
{
	struct report_read *r = (struct report_read *)read;
	AUTO(api_timeline) timeline = { 0 };
	AUTO(buf) text = { 0 };
	struct json_writer writer = { .out = &text };
	if (!api_timeline_require(&timeline, read->executor, reader, &r->run, &read->arena,
				  &r->answer.error))
		return;
	r->print(r, &timeline.timeline, &writer);
	r->answer.text = str_copy(&read->arena, buf_str(&text));
}

static struct report_read *report_new(struct api *api, uint64_t exchange, const struct uuid *run,
				      report_print *print)
{
	struct report_read *r = api_read_job_new(api, exchange, sizeof(*r));
	r->run = *run;
	r->now = platform_wall_us(loop_platform(api->settings.loop));
	r->print = print;
	return r;
}

static void report_send(struct api_call *call, report_print *print, struct str name)
{
	struct report_read *r = report_new(call->api, call->exchange, &call->id, print);
	r->name = name;
	api_read_job_begin(&r->answer, report_work);
}

void api_run_time(struct api_call *call)
{
	report_send(call, print_time, S(""));
}

void api_run_graph(struct api_call *call)
{
	report_send(call, print_drawing, S(""));
}

void api_run_checkpoints(struct api_call *call)
{
	report_send(call, print_document, S("checkpoints"));
}

void api_run_trace(struct api_call *call)
{
	report_send(call, print_document, S("trace"));
}

void api_run_sessions(struct api_call *call)
{
	report_send(call, print_document, S("sessions"));
}

void api_send_profile(struct api *api, uint64_t exchange, const struct uuid *run, int64_t depth)
{
	struct report_read *r = report_new(api, exchange, run, print_profile);
	r->depth = depth;
	api_read_job_begin(&r->answer, report_work);
}
