/* views/timeline.c -- reading a timeline, and queries on it.
 *
 * The stored state of the run is read before the stream, so the stream may be newer: then the state
 * follows from the stream.  timeline_apply.c applies single events, timeline_derive.c derives the
 * facts that have no event.
 */
#include "views/timeline_internal.h"

#include "contract/run_start_types.h"

/* ---- reading ----------------------------------------------------------------------- */

static enum vocabulary_run state_of(const struct timeline *timeline)
{
	enum vocabulary_run row = vocabulary_run_from(timeline->source->state);
	switch (timeline->word) {
	case TIMELINE_STORED_STATE:
		break;
	case TIMELINE_QUEUED:
		return VOCABULARY_RUN_QUEUED;
	case TIMELINE_PAUSED:
		return VOCABULARY_RUN_PAUSED;
	case TIMELINE_STARTED:
		return row == VOCABULARY_RUN_QUEUED ? VOCABULARY_RUN_RUNNING : row;
	case TIMELINE_RETRIED:
		return row == VOCABULARY_RUN_WAITING_HUMAN || row == VOCABULARY_RUN_PAUSED
			       ? row
			       : VOCABULARY_RUN_RUNNING;
	case TIMELINE_RUNNING:
		return row == VOCABULARY_RUN_QUEUED || row == VOCABULARY_RUN_PAUSED
			       ? VOCABULARY_RUN_RUNNING
			       : row;
	}
	return row;
}

void timeline_extend(struct timeline *timeline, size_t from)
{
	const struct view_source *source = timeline->source;
	for (size_t i = from; i < source->event_count; i++)
		timeline_apply(
			timeline, &source->events[i],
			(struct timeline_now){ timeline_seq(timeline, i), source->events[i].at });
	timeline_skip(timeline);
	if (!timeline->ended)
		timeline->state = state_of(timeline);
}

void timeline_read(struct timeline *timeline, const struct view_source *source, struct arena *arena)
{
	*timeline = (struct timeline){ .source = source,
				       .arena = arena,
				       .start = run_start_new(arena),
				       .inputs = &timeline_no_members };
	timeline_begin_root(timeline);
	timeline_extend(timeline, 0);
}

void timeline_done(struct timeline *timeline)
{
	map_done(&timeline->paths);
	map_done(&timeline->places);
	map_done(&timeline->scopes);
}

/* ---- queries ----------------------------------------------------------------------- */

int64_t timeline_seq(const struct timeline *timeline, size_t index)
{
	const int64_t *seqs = timeline->source->seqs;
	return seqs == NULL ? (int64_t)index + 1 : seqs[index];
}

size_t timeline_index(const struct timeline *timeline, int64_t seq)
{
	size_t low = 0, high = timeline->source->event_count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (timeline_seq(timeline, middle) < seq)
			low = middle + 1;
		else
			high = middle;
	}
	bool there = low < timeline->source->event_count && timeline_seq(timeline, low) == seq;
	return there ? low : timeline->source->event_count;
}

bool timeline_covers(const struct timeline *timeline, const struct event *event)
{
	struct str path;
	return !timeline_event_of_step(event, &path) || timeline_find(timeline, path) != NULL;
}

const struct timeline_step *timeline_step(const struct timeline *timeline,
					  const struct event *event)
{
	struct str path;
	return timeline_event_of_step(event, &path) ? timeline_find(timeline, path) : NULL;
}

const struct timeline_call *timeline_call(const struct timeline *timeline, size_t index)
{
	static const struct timeline_call nothing = { .attempt = 1,
						      .inputs = &timeline_no_members };
	const struct timeline_step *step =
		timeline_step(timeline, &timeline->source->events[index]);
	const struct timeline_call *newest = step == NULL ? NULL : step->call, *call;
	int64_t seq = timeline_seq(timeline, index);
	for (call = newest; call != NULL; call = call->before)
		if (call->begun_seq == seq || call->ended_seq == seq)
			return call;
	for (call = newest; call != NULL; call = call->before)
		if (call->begun_seq < seq)
			return call;
	return &nothing;
}

struct timeline timeline_at(const struct timeline *timeline, size_t index)
{
	struct timeline shown = *timeline;
	int64_t seq = timeline_seq(timeline, index);
	const struct timeline_end *end = timeline->end;
	while (end != NULL && end->seq != seq)
		end = end->before;
	if (end == NULL)
		return shown;
	shown.ended = true;
	shown.ended_at = end->at;
	shown.state = end->state;
	shown.outputs = end->outputs;
	shown.fault = end->fault;
	shown.ended_count = end->ended_count;
	return shown;
}

const struct vocabulary_run_row *timeline_words(const struct timeline *timeline)
{
	return vocabulary_run(timeline->state);
}
