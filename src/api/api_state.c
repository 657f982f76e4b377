/* api/api_state.c -- a run as the engine has it, its steps in a few words, its place in the queue,
 * and all runs in figures.
 */
#include <stdlib.h>

#include "api/api_story.h"
#include "api/inside.h"
#include "base/limits.h"
#include "views/view_runtime.h"
#include "views/outline.h"

/* ---- the state ----------------------------------------------------------------------- */

struct state_read {
	struct runtime_read read;
	struct api *api;
	uint64_t exchange;
	struct uuid run;
	struct run_queue_place *place; /* when it was asked */
	struct str text;
	struct error error;
};

static void state_work(struct runtime_read *read, struct store_reader *reader)
{
	struct state_read *r = (struct state_read *)read;
	bool good = runtime_state_text(read->runtime, reader, &r->run, &read->arena, &r->text,
				       &r->error);
	(void)good; /* the error says so, too */
}

static void state_done(struct runtime_read *read)
{
	struct state_read *r = (struct state_read *)read;
	if (r->error.code != ERROR_NONE)
		api_reply_error(r->api, r->exchange, &r->error, NULL);
	else
		api_reply_json(r->api, r->exchange, 200, r->text);
	arena_done(&read->arena);
	free(r);
}

static struct run_queue_place *queue_place(const struct api_call *call, struct arena *arena)
{
	struct runtime_place place = runtime_place(call->api->settings.runtime, &call->id);
	struct run_queue_place *answer = run_queue_place_new(arena);
	SET(answer, run_id, call->id);
	if (place.position > 0)
		SET(answer, kind, str_copy(arena, place.kind));
	SET(answer, position, place.position);
	SET(answer, length, place.length);
	return answer;
}

static void read_state(struct api_call *call,
		       void (*work)(struct runtime_read *read, struct store_reader *reader))
{
	struct state_read *r = calloc(1, sizeof(*r));
	require(r != NULL);
	r->api = call->api;
	r->exchange = call->exchange;
	r->run = call->id;
	r->place = queue_place(call, &r->read.arena);
	r->read.work = work;
	r->read.done = state_done;
	runtime_read(call->api->settings.runtime, &r->read);
}

void api_run_state(struct api_call *call)
{
	read_state(call, state_work);
}

/* ---- the steps ----------------------------------------------------------------------- */

static void steps_work(struct runtime_read *read, struct store_reader *reader)
{
	struct state_read *r = (struct state_read *)read;
	AUTO(api_story) story = { 0 };
	if (!api_story_read(&story, read->runtime, reader, &r->run, &read->arena, &r->error))
		return;
	if (!story.found)
		fail(&r->error, ERROR_NOT_FOUND, "no such run");
	else if (!story.told)
		r->error = story.untold;
	if (r->error.code != ERROR_NONE)
		return;
	struct run_outline *made = outline(&story.story);
	if (r->place->position > 0 && str_equal(made->state, S("queued")))
		SET(made, queue, r->place);
	r->text = run_outline_text(made, &read->arena);
}

void api_run_steps(struct api_call *call)
{
	read_state(call, steps_work);
}

/* ---- the queue ----------------------------------------------------------------------- */

void api_run_queue(struct api_call *call)
{
	struct run_queue_place *answer = queue_place(call, call->arena);
	api_reply_json(call->api, call->exchange, 200, run_queue_place_text(answer, call->arena));
}

/* ---- all runs ------------------------------------------------------------------------ */

/* Walks over the rows of all runs, a page at a time, on a reader's thread.  What the store counts
 * in every commit, runs by state, would give the totals of all workflows, but neither the mean
 * duration nor the names, nor anything about one workflow: for these it would have to count by
 * name and state, with the time of those that have ended.  And an answer whose totals were read at
 * another moment than its mean would not add up. */
struct summary_read {
	struct runtime_read read;
	struct api *api;
	uint64_t exchange;
	struct str workflow; /* "" = every one */
	int64_t total, good, bad, ended;
	double duration_ms;
	struct map names;
	struct str *name;
	size_t name_count, name_room;
	struct str text;
	struct error error;
};

static void note_workflow(struct summary_read *r, struct str name)
{
	if (map_get(&r->names, name) != NULL)
		return;
	if (r->name_count == r->name_room) {
		r->name_room = r->name_room == 0 ? 16 : r->name_room * 2;
		struct str *more = arena_array(&r->read.arena, struct str, r->name_room);
		for (size_t i = 0; i < r->name_count; i++)
			more[i] = r->name[i];
		r->name = more;
	}
	struct str copy = str_copy(&r->read.arena, name);
	r->name[r->name_count++] = copy;
	map_put(&r->names, copy, r);
}

static void count_run(struct summary_read *r, const struct store_run *run)
{
	if (r->workflow.size > 0 && !str_equal(run->name, r->workflow))
		return;
	r->total++;
	/* In the list's words: S2 has no other for a run that was called off than failed. */
	struct str status = view_runtime_status(run->state);
	r->good += str_equal(status, S("success"));
	r->bad += str_equal(status, S("failed"));
	if (run->ended_at > 0) {
		r->ended++;
		r->duration_ms += (double)(run->ended_at - run->created_at) / 1000;
	}
	note_workflow(r, run->name);
}

static void summary_work(struct runtime_read *read, struct store_reader *reader)
{
	struct summary_read *r = (struct summary_read *)read;
	struct uuid last;
	const struct uuid *before = NULL;
	for (;;) {
		AUTO(arena) arena = { 0 };
		struct store_run_page page;
		if (!reader->ops->list_runs(reader, before, LIMIT_PAGE_ITEMS, &arena, &page,
					    &r->error))
			return;
		for (size_t i = 0; i < page.count; i++)
			count_run(r, &page.at[i]);
		if (page.count < LIMIT_PAGE_ITEMS)
			break;
		last = page.at[page.count - 1].id;
		before = &last;
	}
	struct runtime_runs_summary_response *answer =
		runtime_runs_summary_response_new(&read->arena);
	SET(answer, total_runs, r->total);
	SET(answer, successful_runs, r->good);
	SET(answer, failed_runs, r->bad);
	SET(answer, success_rate, r->total == 0 ? 0 : (double)r->good / (double)r->total);
	if (r->ended > 0)
		SET(answer, avg_duration_ms, r->duration_ms / (double)r->ended);
	SET(answer, workflows, ((struct str_list){ r->name, r->name_count }));
	r->text = runtime_runs_summary_response_text(answer, &read->arena);
}

static void summary_done(struct runtime_read *read)
{
	struct summary_read *r = (struct summary_read *)read;
	if (r->error.code != ERROR_NONE)
		api_reply_error(r->api, r->exchange, &r->error, NULL);
	else
		api_reply_json(r->api, r->exchange, 200, r->text);
	map_done(&r->names);
	arena_done(&read->arena);
	free(r);
}

void api_runs_summary(struct api_call *call)
{
	struct summary_read *r = calloc(1, sizeof(*r));
	require(r != NULL);
	r->api = call->api;
	r->exchange = call->exchange;
	r->workflow = str_copy(&r->read.arena, api_query(call, S("workflow")));
	r->read.work = summary_work;
	r->read.done = summary_done;
	runtime_read(call->api->settings.runtime, &r->read);
}
