/* api/api_run_told.c -- what a run's story tells beyond its result: where its time went, its graph
 * as a picture, S4's trace and sessions.
 *
 * Each is a function of the story, so one reading serves them all; what it gives is printed on the
 * reader's thread.
 */
#include "api/api_story.h"
#include "api/reading.h"
#include "views/picture.h"
#include "views/times.h"
#include "views/view.h"

struct told_read;
typedef void tell_story(const struct told_read *read, const struct story *story,
			struct json_writer *writer);

struct told_read {
	struct api_reading answer; /* first */
	struct uuid run;
	int64_t now;
	tell_story *tell;
	struct str name; /* which of the view's further documents */
	int64_t depth;   /* of spans */
};

static void tell_time(const struct told_read *r, const struct story *story,
		      struct json_writer *writer)
{
	run_time_print(times_document(story, r->now), writer);
}

static void tell_picture(const struct told_read *r, const struct story *story,
			 struct json_writer *writer)
{
	(void)r;
	run_picture_print(picture(story), writer);
}

/* A list that nothing is in is told as one. */
static void tell_document(const struct told_read *r, const struct story *story,
			  struct json_writer *writer)
{
	struct view_documents documents = view_at(VIEW_graph)->ops->more(story);
	for (size_t i = 0; i < documents.count; i++)
		if (str_equal(documents.at[i].name, r->name)) {
			view_print(&documents.at[i], writer);
			return;
		}
	json_open(writer, '[');
	json_close(writer, ']');
}

static void tell_profile(const struct told_read *r, const struct story *story,
			 struct json_writer *writer)
{
	struct run_execution_profile *profile = run_execution_profile_new(story->arena);
	SET(profile, run_id, r->run);
	SET(profile, workflow, story->source->graph->name);
	SET(profile, status, story_words(story)->runtime);
	SET(profile, time, times_document(story, r->now));
	SET(profile, span, times_spans(story, r->now, r->depth));
	run_execution_profile_print(profile, writer);
}

static void told_work(struct runtime_read *read, struct store_reader *reader)
{
	struct told_read *r = (struct told_read *)read;
	AUTO(api_story) story = { 0 };
	AUTO(buf) text = { 0 };
	struct json_writer writer = { .out = &text };
	if (!api_story_demand(&story, read->runtime, reader, &r->run, &read->arena,
			      &r->answer.error))
		return;
	r->tell(r, &story.story, &writer);
	r->answer.text = str_copy(&read->arena, buf_str(&text));
}

static struct told_read *told_new(struct api *api, uint64_t exchange, const struct uuid *run,
				  tell_story *tell)
{
	struct told_read *r = api_reading_new(api, exchange, sizeof(*r));
	r->run = *run;
	r->now = system_wall_us(loop_system(api->settings.loop));
	r->tell = tell;
	return r;
}

static void answer(struct api_call *call, tell_story *tell, struct str name)
{
	struct told_read *r = told_new(call->api, call->exchange, &call->id, tell);
	r->name = name;
	api_reading_begin(&r->answer, told_work);
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
	api_reading_begin(&r->answer, told_work);
}
