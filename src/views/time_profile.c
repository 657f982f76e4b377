/* views/time_profile.c -- a sweep over the stretches of a run.
 *
 * Each stretch has two edges.  Between two adjacent edges nothing changes, so the whole piece
 * belongs to the first share that is open there.  Every piece is assigned exactly once, so the
 * shares add up.
 */
#include "views/time_profile.h"

#include <stdlib.h>

#include "base/limits.h"
#include "contract/run_start_types.h"
#include "contract/run_value_types.h"

/* ---- the sweep --------------------------------------------------------------------- */

struct edge {
	int64_t at;
	enum run_share share;
	int by; /* 1 = start, -1 = end */
};

static int by_time(const void *left, const void *right)
{
	const struct edge *a = left, *b = right;
	return a->at < b->at ? -1 : a->at > b->at;
}

static enum run_share first_open(const size_t open[TIMES_SHARES])
{
	int share = 0;
	while (share < RUN_SHARE_ENGINE && open[share] == 0)
		share++;
	return (enum run_share)share;
}

static void give(struct time_profile *times, enum run_share share, int64_t from, int64_t to)
{
	if (to <= from)
		return;
	times->us[share] += to - from;
	struct time_profile_stretch *last =
		times->piece_count > 0 ? &times->pieces[times->piece_count - 1] : NULL;
	if (last != NULL && last->share == share)
		last->to = to;
	else
		times->pieces[times->piece_count++] =
			(struct time_profile_stretch){ share, from, to };
}

void time_profile_sweep(struct time_profile *times, const struct time_profile_stretch *open,
			size_t count, int64_t from, int64_t to, struct arena *arena)
{
	struct edge *edges = arena_array(arena, struct edge, 2 * count + 1);
	size_t edge_count = 0, under_way[TIMES_SHARES] = { 0 };
	if (to < from)
		to = from;
	*times = (struct time_profile){ .from = from,
					.to = to,
					.pieces = arena_array(arena, struct time_profile_stretch,
							      2 * count + 1) };
	for (size_t i = 0; i < count; i++) {
		int64_t begins = open[i].from > from ? open[i].from : from;
		int64_t ends = open[i].to < to ? open[i].to : to;
		if (begins >= ends)
			continue;
		edges[edge_count++] = (struct edge){ begins, open[i].share, 1 };
		edges[edge_count++] = (struct edge){ ends, open[i].share, -1 };
	}
	if (edge_count > 0)
		qsort(edges, edge_count, sizeof(edges[0]), by_time);
	int64_t at = from;
	for (size_t i = 0; i < edge_count; i++) {
		give(times, first_open(under_way), at, edges[i].at);
		at = edges[i].at;
		if (edges[i].by > 0)
			under_way[edges[i].share]++;
		else
			under_way[edges[i].share]--;
	}
	give(times, first_open(under_way), at, to);
}

/* ---- stretches --------------------------------------------------------------------- */

struct stretches {
	struct time_profile_stretch *at;
	size_t count;
	const struct timeline *timeline;
	struct run_commit *commits; /* by seq */
	size_t commit_count;
	int64_t end; /* end of the run */
};

static void add(struct stretches *s, enum run_share share, int64_t from, int64_t to)
{
	s->at[s->count++] = (struct time_profile_stretch){ share, from, to };
}

/* Adds the members that a stored commit omits when they have their usual value. */
static struct run_commit complete_commit(const struct run_commit *stored, int64_t event_seq)
{
	struct run_commit commit = *stored;
	if (!has(stored, last))
		SET(&commit, last, event_seq - 1);
	if (!has(stored, first))
		SET(&commit, first, commit.last);
	return commit;
}

/* Every record is about appends after those of earlier records. */
static void find_commits(struct stretches *s)
{
	const struct view_source *source = s->timeline->source;
	size_t room = 0;
	for (size_t i = 0; i < source->event_count; i++)
		room += event_commits(&source->events[i]).count;
	s->commits = arena_array(s->timeline->arena, struct run_commit, room);
	for (size_t i = 0; i < source->event_count; i++) {
		struct run_commit_list list = event_commits(&source->events[i]);
		for (size_t c = 0; c < list.count; c++) {
			struct run_commit commit =
				complete_commit(&list.at[c], timeline_seq(s->timeline, i));
			if (s->commit_count == 0 ||
			    commit.first > s->commits[s->commit_count - 1].last)
				s->commits[s->commit_count++] = commit;
		}
	}
}

/* The append of this event; NULL when its commit time is unknown. */
static const struct run_commit *commit_of(const struct stretches *s, int64_t seq)
{
	size_t low = 0, high = s->commit_count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (s->commits[middle].last < seq)
			low = middle + 1;
		else
			high = middle;
	}
	return low < s->commit_count && s->commits[low].first <= seq ? &s->commits[low] : NULL;
}

static int64_t sum(int64_t at, int64_t made, int64_t took)
{
	int64_t end;
	if (__builtin_add_overflow(at, made, &end) || __builtin_add_overflow(end, took, &end))
		return INT64_MAX;
	return end;
}

/* When an effect that the event with this seq requested at this time could start. */
static int64_t begun_at(const struct stretches *s, int64_t seq, int64_t at)
{
	const struct run_commit *commit = commit_of(s, seq);
	return commit == NULL ? at : sum(at, commit->made_us, commit->us);
}

static void add_commits(struct stretches *s)
{
	for (size_t i = 0; i < s->commit_count; i++) {
		const struct run_commit *commit = &s->commits[i];
		size_t index = timeline_index(s->timeline, commit->first);
		if (index == s->timeline->source->event_count)
			continue; /* deleted by compaction */
		int64_t at = s->timeline->source->events[index].at;
		add(s, RUN_SHARE_FSYNC, sum(at, commit->made_us, 0),
		    sum(at, commit->made_us, commit->us));
	}
}

/* The share of a call; false for a body or a pure step, which count as the engine's. */
static bool share_of(const struct stretches *s, const struct timeline_call *call,
		     enum run_share *out_share)
{
	const struct view_source *source = s->timeline->source;
	size_t index = timeline_index(s->timeline, call->begun_seq);
	if (call->begun_seq == 0 || index == source->event_count)
		return false;
	switch (source->events[index].type) {
	case EVENT_TURN_REQUESTED:
		*out_share = RUN_SHARE_MODEL;
		return true;
	case EVENT_TOOL_REQUESTED:
		*out_share = RUN_SHARE_TOOL;
		return true;
	case EVENT_SUBRUN_REQUESTED:
		*out_share = RUN_SHARE_SUBRUN;
		return true;
	case EVENT_HUMAN_REQUESTED:
		*out_share = RUN_SHARE_HUMAN;
		return true;
	case EVENT_TIMER_REQUESTED:
		*out_share = RUN_SHARE_WAIT;
		return true;
	case EVENT_RUN_CREATED:
	case EVENT_STEP_COMPUTED:
	case EVENT_STEP_SKIPPED:
	case EVENT_STEP_STARTED:
	case EVENT_STEP_ENTERED:
	case EVENT_STEP_LEFT:
	case EVENT_TOOL_RESTARTED:
	case EVENT_TOOL_FINISHED:
	case EVENT_TIMER_FINISHED:
	case EVENT_HUMAN_ESCALATED:
	case EVENT_HUMAN_FINISHED:
	case EVENT_TURN_FINISHED:
	case EVENT_SUBRUN_FINISHED:
	case EVENT_RUN_STARTED:
	case EVENT_RUN_PAUSED:
	case EVENT_RUN_RESUMED:
	case EVENT_RUN_RETRIED:
	case EVENT_RUN_CANCELLING:
	case EVENT_RUN_UNWINDING:
	case EVENT_RUN_SIGNALLED:
	case EVENT_MESSAGE_SENT:
	case EVENT_MESSAGE_READ:
	case EVENT_RUN_FINISHED:
	case EVENT_DOCUMENT_CHANGED:
	case EVENT_BRANCH_ENDED:
	case EVENT_RUN_COMPACTED:
		break;
	}
	return false;
}

/* The calls of a step and the delays between them. */
static void add_step(struct stretches *s, const struct timeline_step *step)
{
	int64_t over = step->ended ? step->ended_at : s->end; /* an open call ends with its step */
	int64_t next = over;
	for (const struct timeline_call *call = step->call; call != NULL; call = call->before) {
		enum run_share share;
		int64_t ended = call->ended_at != 0 ? call->ended_at : over;
		if (share_of(s, call, &share))
			add(s, share, begun_at(s, call->begun_seq, call->begun_at), ended);
		if (call->retry_at != 0 && call->ended_at != 0)
			add(s, RUN_SHARE_WAIT, call->ended_at, next);
		next = call->begun_at;
	}
}

static void add_run(struct stretches *s)
{
	const struct view_source *source = s->timeline->source;
	int64_t paused_at = 0, ended_at = 0, queued_at = s->timeline->created_at;
	bool paused = false, queued = false;
	for (size_t i = 0; i < source->event_count; i++) {
		const struct event *event = &source->events[i];
		bool over = event->type == EVENT_RUN_CANCELLING;
		if (event->type == EVENT_RUN_CREATED)
			queued = timeline_event_queues(event);
		if (event->type == EVENT_RUN_RETRIED) {
			/* Between its end and the retry the run rested. */
			add(s, RUN_SHARE_PAUSED, ended_at, event->at);
			queued = timeline_event_queues(event);
			queued_at = event->at;
		}
		if (event->type == EVENT_RUN_FINISHED)
			ended_at = event->at;
		if (queued && (over || event->type == EVENT_RUN_STARTED)) {
			add(s, RUN_SHARE_QUEUE, queued_at, event->at);
			queued = false;
		}
		if (paused && (over || event->type == EVENT_RUN_RESUMED)) {
			add(s, RUN_SHARE_PAUSED, paused_at, event->at);
			paused = false;
		} else if (!paused && event->type == EVENT_RUN_PAUSED) {
			paused_at = event->at;
			paused = true;
		}
	}
	if (queued)
		add(s, RUN_SHARE_QUEUE, queued_at, s->end);
	if (paused)
		add(s, RUN_SHARE_PAUSED, paused_at, s->end);
}

void time_profile_of(struct time_profile *times, const struct timeline *timeline, int64_t now)
{
	const struct view_source *source = timeline->source;
	struct stretches s = { .timeline = timeline,
			       .end = timeline->ended ? timeline->ended_at : now };
	size_t room = source->event_count + 2;
	bool compacted = false;
	find_commits(&s);
	room += s.commit_count;
	for (size_t i = 0; i < timeline->count; i++)
		room += 2 * timeline->steps[i]->call_count;
	s.at = arena_array(timeline->arena, struct time_profile_stretch, room);
	add_run(&s);
	add_commits(&s);
	for (size_t i = 0; i < timeline->count; i++)
		add_step(&s, timeline->steps[i]);
	for (size_t i = 0; i < source->event_count; i++)
		compacted = compacted || source->events[i].type == EVENT_RUN_COMPACTED;
	time_profile_sweep(times, s.at, s.count, timeline->created_at, s.end, timeline->arena);
	times->commits = s.commit_count;
	times->compacted = compacted;
}

/* ---- the document ------------------------------------------------------------------ */

static const struct run_shares *shares_of(const struct time_profile *times, struct arena *arena)
{
	struct run_shares *shares = run_shares_new(arena);
	SET(shares, model, times->us[RUN_SHARE_MODEL]);
	SET(shares, tool, times->us[RUN_SHARE_TOOL]);
	SET(shares, subrun, times->us[RUN_SHARE_SUBRUN]);
	SET(shares, paused, times->us[RUN_SHARE_PAUSED]);
	SET(shares, human, times->us[RUN_SHARE_HUMAN]);
	SET(shares, wait, times->us[RUN_SHARE_WAIT]);
	SET(shares, queue, times->us[RUN_SHARE_QUEUE]);
	SET(shares, fsync, times->us[RUN_SHARE_FSYNC]);
	SET(shares, engine, times->us[RUN_SHARE_ENGINE]);
	return shares;
}

const struct run_time *time_profile_document(const struct timeline *timeline, int64_t now)
{
	struct time_profile times;
	time_profile_of(&times, timeline, now);
	size_t shown =
		times.piece_count < LIMIT_TIME_PIECES ? times.piece_count : LIMIT_TIME_PIECES;
	struct run_time *document = run_time_new(timeline->arena);
	struct run_time_piece *pieces = arena_array(timeline->arena, struct run_time_piece, shown);
	for (size_t i = 0; i < shown; i++) {
		SET(&pieces[i], share, times.pieces[i].share);
		SET(&pieces[i], from_us, times.pieces[i].from - times.from);
		SET(&pieces[i], us, times.pieces[i].to - times.pieces[i].from);
	}
	SET(document, run_id, timeline->source->run);
	SET(document, from, times.from);
	SET(document, to, times.to);
	SET(document, ended, timeline->ended);
	SET(document, wall_us, times.to - times.from);
	SET(document, shares, shares_of(&times, timeline->arena));
	SET(document, pieces, ((struct run_time_piece_list){ pieces, shown }));
	SET(document, pieces_left_out, (int64_t)(times.piece_count - shown));
	SET(document, commits, (int64_t)times.commits);
	SET(document, compacted, times.compacted);
	return document;
}
