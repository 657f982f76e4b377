/* api/api_state.c -- the engine's state of a run, its step outline, its position in the admission
 * queue, and the summary of all runs.
 */
#include <stdlib.h>

#include "active/executor_jobs.h"
#include "active/run_commands.h"
#include "active/run_reads.h"
#include "api/api_timeline.h"
#include "api/read_job.h"
#include "base/limits.h"
#include "api/usage_sum.h"
#include "contract/run_outline_types.h"
#include "views/run_outline.h"
#include "views/view_runtime.h"

/* ---- the state --------------------------------------------------------------------- */

struct state_read {
	struct api_read_job answer; /* first */
	struct uuid run;
	struct run_queue_place *place; /* sampled when the request arrived */
	struct str path;               /* of one step */
};

static void state_work(struct executor_read *read, struct store_reader *reader)
{
	struct state_read *r = (struct state_read *)read;
	bool good = executor_state_text(read->executor, reader, &r->run, &read->arena,
					&r->answer.text, &r->answer.error);
	(void)good; /* api_read_job_end() checks the error */
}

static struct run_queue_place *queue_place(const struct api_call *call, struct arena *arena)
{
	struct admission_place place = admission_place(call->api->settings.executor, &call->id);
	struct run_queue_place *answer = run_queue_place_new(arena);
	SET(answer, run_id, call->id);
	if (place.position > 0)
		SET(answer, kind, str_copy(arena, place.kind));
	SET(answer, position, place.position);
	SET(answer, length, place.length);
	return answer;
}

static void read_state(struct api_call *call, api_read_job_work *work)
{
	struct state_read *r = api_read_job_new(call->api, call->exchange, sizeof(*r));
	r->run = call->id;
	r->place = queue_place(call, &r->answer.read.arena);
	api_read_job_begin(&r->answer, work);
}

void api_run_state(struct api_call *call)
{
	read_state(call, state_work);
}

/* ---- the steps --------------------------------------------------------------------- */

/* From the projection: the timeline of a compacted run does not have it. */
static bool add_usage(struct run_outline *out, struct store_reader *reader, const struct uuid *run,
		      struct arena *arena, struct error *error)
{
	const struct store_usage_filter filter = { INT64_MIN, INT64_MAX, run };
	struct store_usage_sums sums;
	if (!reader->ops->sum_usage(reader, &filter, STORE_USAGE_TOTAL, 1, arena, &sums, error))
		return false;
	if (sums.at[0].usage.turns > 0)
		SET(out, usage, usage_sum_total(&sums.at[0].usage, arena));
	return true;
}

static void steps_work(struct executor_read *read, struct store_reader *reader)
{
	struct state_read *r = (struct state_read *)read;
	AUTO(api_timeline) timeline = { 0 };
	if (!api_timeline_require(&timeline, read->executor, reader, &r->run, &read->arena,
				  &r->answer.error))
		return;
	struct run_outline *made = run_outline(&timeline.timeline);
	if (r->place->position > 0 && str_equal(made->state, S("queued")))
		SET(made, queue, r->place);
	if (!add_usage(made, reader, &r->run, &read->arena, &r->answer.error))
		return;
	r->answer.text = run_outline_text(made, &read->arena);
}

void api_run_steps(struct api_call *call)
{
	read_state(call, steps_work);
}

static void step_work(struct executor_read *read, struct store_reader *reader)
{
	struct state_read *r = (struct state_read *)read;
	AUTO(api_timeline) timeline = { 0 };
	if (!api_timeline_require(&timeline, read->executor, reader, &r->run, &read->arena,
				  &r->answer.error))
		return;
	const struct timeline_step *step = timeline_find(&timeline.timeline, r->path);
	if (step == NULL) {
		fail(&r->answer.error, ERROR_NOT_FOUND, "the run has no step " STR_FMT,
		     STR_ARG(str_head(r->path, LIMIT_QUOTE_BYTES)));
		return;
	}
	r->answer.text =
		run_step_details_text(run_step_details(&timeline.timeline, step), &read->arena);
}

void api_run_step_details(struct api_call *call)
{
	struct state_read *r = api_read_job_new(call->api, call->exchange, sizeof(*r));
	r->run = call->id;
	r->path = str_copy(&r->answer.read.arena, call->path);
	api_read_job_begin(&r->answer, step_work);
}

/* ---- the queue --------------------------------------------------------------------- */

static void queue_work(struct executor_read *read, struct store_reader *reader)
{
	struct state_read *r = (struct state_read *)read;
	struct store_run run;
	bool found;
	if (!reader->ops->read_run(reader, &r->run, &read->arena, &run, &found, &r->answer.error))
		return;
	if (!found)
		fail(&r->answer.error, ERROR_NOT_FOUND, "there is no run with this id");
	else
		r->answer.text = run_queue_place_text(r->place, &read->arena);
}

void api_run_queue(struct api_call *call)
{
	read_state(call, queue_work);
}

/* ---- all runs ---------------------------------------------------------------------- */

/* Reads the tallies that every commit updates: the cost does not depend on the number of runs. */
struct summary_read {
	struct api_read_job answer; /* first */
	struct str workflow;        /* "" = all workflows */
};

struct summary {
	int64_t total, good, bad, ended, took_us;
	struct str *names;
	size_t name_count;
};

static void summary_add(struct summary *summary, const struct store_tally *tally)
{
	/* Runtime vocabulary, as in the run list: a cancelled run counts as failed. */
	struct str status = view_runtime_status(tally->state);
	summary->total += tally->runs;
	summary->good += str_equal(status, S("success")) ? tally->runs : 0;
	summary->bad += str_equal(status, S("failed")) ? tally->runs : 0;
	summary->ended += tally->ended;
	summary->took_us += tally->took_us;
	/* Tallies are ordered by workflow name. */
	if (summary->name_count == 0 ||
	    !str_equal(summary->names[summary->name_count - 1], tally->name))
		summary->names[summary->name_count++] = tally->name;
}

static void summary_work(struct executor_read *read, struct store_reader *reader)
{
	struct summary_read *r = (struct summary_read *)read;
	struct store_tallies tallies;
	if (!reader->ops->tally_runs(reader, &read->arena, &tallies, &r->answer.error))
		return;
	struct summary summary = { .names = arena_array(&read->arena, struct str, tallies.count) };
	for (size_t i = 0; i < tallies.count; i++)
		if (r->workflow.size == 0 || str_equal(r->workflow, tallies.at[i].name))
			summary_add(&summary, &tallies.at[i]);
	struct runtime_runs_summary_response *answer =
		runtime_runs_summary_response_new(&read->arena);
	SET(answer, total_runs, summary.total);
	SET(answer, successful_runs, summary.good);
	SET(answer, failed_runs, summary.bad);
	SET(answer, success_rate,
	    summary.ended == 0 ? 0 : (double)summary.good / (double)summary.ended);
	if (summary.ended > 0)
		SET(answer, avg_duration_ms,
		    (double)summary.took_us / 1000 / (double)summary.ended);
	SET(answer, workflows, ((struct str_list){ summary.names, summary.name_count }));
	r->answer.text = runtime_runs_summary_response_text(answer, &read->arena);
}

void api_runs_summary(struct api_call *call)
{
	struct summary_read *r = api_read_job_new(call->api, call->exchange, sizeof(*r));
	r->workflow = str_copy(&r->answer.read.arena, api_query(call, S("workflow")));
	api_read_job_begin(&r->answer, summary_work);
}
