/* views/step_log.c -- collects the attempts of a step from the run's events.
 *
 * Values are read from the store last, and from the newest attempt backwards, so that a step with
 * many attempts costs no more than the text that is shown.
 */
#include "views/step_log.h"

#include "base/limits.h"
#include "contract/run_event_types.h"
#include "contract/run_log_types.h"
#include "contract/run_value_types.h"

struct attempts {
	struct arena *arena;
	struct run_log_attempt *at;
	const struct run_value **logs; /* of each attempt; NULL = none */
	size_t count, room;
};

static void attempts_grow(struct attempts *attempts)
{
	size_t room = attempts->room == 0 ? 4 : attempts->room * 2;
	struct run_log_attempt *at = arena_array(attempts->arena, struct run_log_attempt, room);
	const struct run_value **logs =
		arena_array(attempts->arena, const struct run_value *, room);
	for (size_t i = 0; i < attempts->count; i++) {
		at[i] = attempts->at[i];
		logs[i] = attempts->logs[i];
	}
	attempts->at = at;
	attempts->logs = logs;
	attempts->room = room;
}

static struct run_log_attempt *attempts_last(const struct attempts *attempts)
{
	return attempts->count == 0 ? NULL : &attempts->at[attempts->count - 1];
}

static void attempt_begin(struct attempts *attempts, int64_t number, int64_t at)
{
	struct run_log_attempt *before = attempts_last(attempts);
	if (before != NULL && before->live) {
		SET(before, live, false);
		SET(before, interrupted, true);
		SET(before, ended_at, at);
	}
	if (attempts->count == attempts->room)
		attempts_grow(attempts);
	attempts->logs[attempts->count] = NULL;
	struct run_log_attempt *attempt = &attempts->at[attempts->count++];
	*attempt = *run_log_attempt_new(attempts->arena);
	SET(attempt, attempt, number);
	SET(attempt, started_at, at);
	SET(attempt, live, true);
	SET(attempt, size, 0);
	SET(attempt, parts, ((struct run_log_part_list){ NULL, 0 }));
}

static void attempt_end(struct attempts *attempts, const struct run_tool_finished *event,
			int64_t at)
{
	struct run_log_attempt *attempt = attempts_last(attempts);
	if (attempt == NULL || !attempt->live)
		return;
	SET(attempt, live, false);
	SET(attempt, ended_at, at);
	SET(attempt, outcome, event->outcome);
	if (has(event, fault))
		SET(attempt, error, event->fault->text);
	if (has(event, log))
		attempts->logs[attempts->count - 1] = event->log;
}

static void collect(struct attempts *attempts, const struct event *event, struct str path)
{
	struct str of;
	if (!timeline_event_of_step(event, &of) || !str_equal(of, path))
		return;
	if (event->type == EVENT_TOOL_REQUESTED) {
		const struct run_tool_requested *body = event->as.run_tool_requested;
		attempt_begin(attempts, has(body, attempt) ? body->attempt : 1, event->at);
	} else if (event->type == EVENT_TOOL_RESTARTED) {
		attempt_begin(attempts, event->as.run_tool_restarted->attempt, event->at);
	} else if (event->type == EVENT_TOOL_FINISHED) {
		attempt_end(attempts, event->as.run_tool_finished, event->at);
	}
}

static const struct run_log *read_log(const struct timeline *timeline,
				      const struct run_value *value)
{
	const struct view_source *source = timeline->source;
	const struct json *json = has(value, sha256)
					  ? source->read_value(source->context, &value->sha256)
				  : has(value, json) ? value->json
						     : NULL;
	struct problems problems = { .arena = timeline->arena };
	struct contract_source from = { .json = json, .lenient = true };
	return json == NULL ? NULL : run_log_parse(&from, timeline->arena, &problems);
}

static void add_texts(const struct timeline *timeline, const struct attempts *attempts)
{
	size_t left = LIMIT_STEP_LOG_ANSWER_BYTES;
	for (size_t i = attempts->count; i > 0; i--) {
		struct run_log_attempt *attempt = &attempts->at[i - 1];
		const struct run_value *value = attempts->logs[i - 1];
		if (value == NULL)
			continue;
		size_t size = has(value, size) ? (size_t)value->size : 0;
		if (size > left) {
			SET(attempt, too_large, true);
			continue;
		}
		const struct run_log *log = read_log(timeline, value);
		if (log == NULL)
			continue;
		left -= size;
		SET(attempt, size, log->size);
		if (has(log, omitted))
			SET(attempt, omitted, log->omitted);
		SET(attempt, parts, log->parts);
	}
}

/* Leaves only the attempt with this number. */
static void select_attempt(struct attempts *attempts, int64_t number)
{
	size_t count = 0;
	for (size_t i = 0; i < attempts->count; i++)
		if (attempts->at[i].attempt == number) {
			attempts->at[count] = attempts->at[i];
			attempts->logs[count++] = attempts->logs[i];
		}
	attempts->count = count;
}

struct run_step_log *step_log(const struct timeline *timeline, const struct timeline_step *step,
			      int64_t attempt)
{
	struct attempts attempts = { .arena = timeline->arena };
	for (size_t i = 0; i < timeline->source->event_count; i++)
		collect(&attempts, &timeline->source->events[i], step->path);
	struct run_log_attempt *last = attempts_last(&attempts);
	/* A call that was open when a person settled its outcome, or when its run ended. */
	if (last != NULL && last->live && step->ended) {
		SET(last, live, false);
		SET(last, ended_at, step->ended_at);
	}
	bool live = last != NULL && last->live;
	if (attempt > 0)
		select_attempt(&attempts, attempt);
	add_texts(timeline, &attempts);
	struct run_step_log *out = run_step_log_new(timeline->arena);
	SET(out, run_id, timeline->source->run);
	SET(out, step, step->path);
	SET(out, state, vocabulary_step(step->state)->word);
	SET(out, live, live);
	SET(out, attempts, ((struct run_log_attempt_list){ attempts.at, attempts.count }));
	return out;
}
