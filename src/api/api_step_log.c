/* api/api_step_log.c -- the log of a step: stdout and stderr of its attempts.
 *
 * The text of an attempt under way is only in memory (active/live_log.h); that of an ended one is
 * only in the store.  The text in memory is copied before the store is read.  If the attempt ends in
 * between, the store has it, and the copy is not used.
 */
#include <stdlib.h>

#include "active/live_log.h"
#include "api/api_timeline.h"
#include "api/step_log_read.h"
#include "contract/closest.h"
#include "tool/output_log.h"
#include "views/step_log.h"

enum { LISTED_BYTES = 200 };

/* ---- reading ----------------------------------------------------------------------- */

static bool fail_unknown_step(const struct timeline *timeline, struct str step, struct error *error)
{
	AUTO(buf) known = buf_limited(LISTED_BYTES);
	struct str *paths = arena_array(timeline->arena, struct str, timeline->count);
	for (size_t i = 0; i < timeline->count; i++) {
		paths[i] = timeline->steps[i]->path;
		buf_add_format(&known, "%s" STR_FMT, i == 0 ? "" : ", ", STR_ARG(paths[i]));
	}
	struct str near = closest_word((struct str_list){ paths, timeline->count }, step);
	struct str name = str_head(step, LIMIT_QUOTE_BYTES);
	if (near.size > 0)
		return fail(error, ERROR_NOT_FOUND,
			    "step \"" STR_FMT
			    "\" does not exist in this run; did you mean \"" STR_FMT "\"?",
			    STR_ARG(name), STR_ARG(near));
	return fail(error, ERROR_NOT_FOUND,
		    "step \"" STR_FMT "\" does not exist in this run; it has " STR_FMT "%s",
		    STR_ARG(name), STR_ARG(buf_str(&known)), known.full ? " and more" : "");
}

static void add_live(const struct step_log_read *r, struct arena *arena)
{
	struct problems problems = { .arena = arena };
	struct contract_source source = { .json = r->live, .lenient = true };
	const struct run_log *live =
		r->live == NULL ? NULL : run_log_parse(&source, arena, &problems);
	if (live == NULL)
		return;
	for (size_t i = 0; i < r->log->attempts.count; i++) {
		struct run_log_attempt attempt = r->log->attempts.at[i];
		if (attempt.attempt != r->live_attempt || !attempt.live)
			continue;
		SET(&attempt, size, live->size);
		SET(&attempt, parts, live->parts);
		if (has(live, omitted))
			SET(&attempt, omitted, live->omitted);
		struct run_log_attempt *at =
			arena_array(arena, struct run_log_attempt, r->log->attempts.count);
		for (size_t k = 0; k < r->log->attempts.count; k++)
			at[k] = k == i ? attempt : r->log->attempts.at[k];
		SET(r->log, attempts,
		    ((struct run_log_attempt_list){ at, r->log->attempts.count }));
	}
}

static void read_work(struct executor_read *read, struct store_reader *reader)
{
	struct step_log_read *r = (struct step_log_read *)read;
	AUTO(api_timeline) timeline = { 0 };
	if (!api_timeline_require(&timeline, read->executor, reader, &r->run, &read->arena,
				  &r->error))
		return;
	const struct timeline_step *step = timeline_find(&timeline.timeline, r->step);
	if (step == NULL) {
		(void)!fail_unknown_step(&timeline.timeline, r->step, &r->error);
		return;
	}
	struct run_step_log *log = step_log(&timeline.timeline, step, r->attempt);
	r->over = step->ended || timeline.timeline.ended;
	if (r->attempt > 0 && log->attempts.count == 0 && r->over) {
		fail(&r->error, ERROR_NOT_FOUND,
		     "step \"" STR_FMT "\" has no attempt %lld; it had %lld", STR_ARG(r->step),
		     (long long)r->attempt, (long long)step->attempts);
		return;
	}
	r->log = log;
	add_live(r, &read->arena);
}

struct step_log_read *step_log_read_new(struct api *api, uint64_t owner, const struct uuid *run,
					struct str step, int64_t attempt)
{
	struct step_log_read *r = calloc(1, sizeof(*r));
	require(r != NULL);
	r->read.work = read_work;
	r->api = api;
	r->owner = owner;
	r->run = *run;
	r->step = str_copy(&r->read.arena, step);
	r->attempt = attempt;
	return r;
}

void step_log_read_free(struct step_log_read *r)
{
	executor_discard(r->api->settings.executor, &r->read.arena);
	free(r);
}

/* ---- the document ------------------------------------------------------------------ */

static void read_done(struct executor_read *read)
{
	struct step_log_read *r = (struct step_log_read *)read;
	if (r->log == NULL)
		api_reply_error(r->api, r->owner, &r->error, NULL);
	else
		api_reply_json(r->api, r->owner, 200, run_step_log_text(r->log, &read->arena));
	step_log_read_free(r);
}

static void send_document(struct api_call *call, int64_t attempt)
{
	struct executor *executor = call->api->settings.executor;
	struct step_log_read *r =
		step_log_read_new(call->api, call->exchange, &call->id, call->path, attempt);
	const struct live_log *live = live_log_find(executor, &call->id, call->path);
	if (live != NULL) {
		r->live = output_log_json(live->text, &r->read.arena);
		r->live_attempt = live->attempt;
	}
	r->read.done = read_done;
	executor_read(executor, &r->read);
}

/* ?follow; or the client accepts nothing but events. */
static bool wants_events(const struct api_call *call, bool *out_follow, struct error *error)
{
	size_t at;
	bool accepts =
		str_find(http_header(call->request, S("Accept")), S("text/event-stream"), &at);
	return api_query_flag(call, S("follow"), accepts, out_follow, error);
}

void api_step_log(struct api_call *call)
{
	struct error error;
	int64_t attempt;
	bool follow;
	if (!api_query_int(call, S("attempt"), 1, INT64_MAX, 0, &attempt, &error) ||
	    !wants_events(call, &follow, &error))
		api_reply_error(call->api, call->exchange, &error, NULL);
	else if (follow)
		api_log_stream_open(call, attempt);
	else
		send_document(call, attempt);
}
