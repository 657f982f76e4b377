/* views/story.c -- a story read, and questions about it.
 *
 * The run's row is read before the stream, so a run may have gone on or ended in between: then the
 * stream is right and the row's word is not asked.  What each event adds is in story_see.c, what
 * nobody said follows in story_life.c.
 */
#include "views/story_inside.h"

/* ---- all of them --------------------------------------------------------------------- */

static enum vocabulary_run state_of(const struct story *story)
{
	enum vocabulary_run row = vocabulary_run_from(story->source->state);
	switch (story->word) {
	case STORY_AS_ITS_ROW:
		break;
	case STORY_QUEUED:
		return VOCABULARY_RUN_QUEUED;
	case STORY_PAUSED:
		return VOCABULARY_RUN_PAUSED;
	case STORY_STARTED:
		return row == VOCABULARY_RUN_QUEUED ? VOCABULARY_RUN_RUNNING : row;
	case STORY_AT_WORK:
		return row == VOCABULARY_RUN_QUEUED || row == VOCABULARY_RUN_PAUSED
			       ? VOCABULARY_RUN_RUNNING
			       : row;
	}
	return row;
}

void story_go_on(struct story *story, size_t from)
{
	const struct view_source *source = story->source;
	for (size_t i = from; i < source->event_count; i++)
		story_see(story, &source->events[i],
			  (struct story_now){ story_seq(story, i), source->events[i].at });
	story_skip(story);
	if (!story->ended)
		story->state = state_of(story);
}

void story_read(struct story *story, const struct view_source *source, struct arena *arena)
{
	*story = (struct story){
		.source = source, .arena = arena, .retention_days = -1, .inputs = &story_no_members
	};
	story_begin_root(story);
	story_go_on(story, 0);
}

void story_done(struct story *story)
{
	map_done(&story->paths);
	map_done(&story->places);
	map_done(&story->scopes);
}

/* ---- questions about it -------------------------------------------------------------- */

int64_t story_seq(const struct story *story, size_t index)
{
	const int64_t *seqs = story->source->seqs;
	return seqs == NULL ? (int64_t)index + 1 : seqs[index];
}

size_t story_index(const struct story *story, int64_t seq)
{
	size_t low = 0, high = story->source->event_count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (story_seq(story, middle) < seq)
			low = middle + 1;
		else
			high = middle;
	}
	bool there = low < story->source->event_count && story_seq(story, low) == seq;
	return there ? low : story->source->event_count;
}

bool story_covers(const struct story *story, const struct event *event)
{
	struct str path;
	return !story_event_of_step(event, &path) || story_find(story, path) != NULL;
}

const struct story_step *story_step(const struct story *story, const struct event *event)
{
	struct str path;
	return story_event_of_step(event, &path) ? story_find(story, path) : NULL;
}

const struct story_call *story_call(const struct story *story, size_t index)
{
	static const struct story_call nothing = { .attempt = 1, .inputs = &story_no_members };
	const struct story_step *step = story_step(story, &story->source->events[index]);
	const struct story_call *newest = step == NULL ? NULL : step->call, *call;
	int64_t seq = story_seq(story, index);
	for (call = newest; call != NULL; call = call->before)
		if (call->begun_seq == seq || call->ended_seq == seq)
			return call;
	for (call = newest; call != NULL; call = call->before)
		if (call->begun_seq < seq)
			return call;
	return &nothing;
}

const struct vocabulary_run_row *story_words(const struct story *story)
{
	return vocabulary_run(story->state);
}
