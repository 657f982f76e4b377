/* api/api_timeline.c -- reads a run's event stream into a timeline (views/timeline.h). */
#include "api/api_timeline.h"

#include "active/run_reads.h"
#include "base/limits.h"
#include "active/stored_row.h"
#include "contract/run_start_types.h"

static const struct json *read_value(void *context, const struct hash *hash)
{
	struct api_timeline *s = context;
	struct str bytes;
	bool found;
	const struct json *json;
	struct error error;
	if (!s->reader->ops->read_blob(s->reader, hash, s->arena, &bytes, &found, &error) ||
	    !found || !json_read(bytes, s->arena, &json, &error))
		return NULL;
	return json;
}

static void add_event(struct api_timeline *s, const struct event *event, int64_t seq)
{
	if (s->count == s->room) {
		s->room = s->room == 0 ? 32 : s->room * 2;
		struct event *events = arena_array(s->arena, struct event, s->room);
		int64_t *seqs = arena_array(s->arena, int64_t, s->room);
		for (size_t i = 0; i < s->count; i++) {
			events[i] = s->events[i];
			seqs[i] = s->seqs[i];
		}
		s->events = events;
		s->seqs = seqs;
	}
	s->events[s->count] = *event;
	s->seqs[s->count++] = seq;
}

/* Reads all events.  Stops at an event that this version does not know and sets `unreadable`. */
static bool read_events(struct api_timeline *s, const struct uuid *run, struct error *error)
{
	for (;;) {
		struct store_event_page page;
		if (!s->reader->ops->read_events(s->reader, run, s->last_seq,
						 LIMIT_STREAM_PAGE_EVENTS, s->arena, &page, error))
			return false;
		for (size_t i = 0; i < page.count; i++) {
			const struct store_event_row *row = &page.at[i];
			struct event event;
			if (!stored_event_read(row, s->arena, &event, &s->unreadable))
				return true;
			add_event(s, &event, row->seq);
			s->last_seq = row->seq;
		}
		if (page.count < LIMIT_STREAM_PAGE_EVENTS)
			return true;
	}
}

/* Merges the synthesized events with the stored ones; both are ordered by seq. */
static void merge_synthesized(struct api_timeline *s, const struct executor_history *synthesized)
{
	const struct event *events = s->events;
	const int64_t *seqs = s->seqs;
	size_t stored = s->count, next = 0;
	s->count = s->room = 0;
	for (size_t i = 0; i < synthesized->count; i++) {
		while (next < stored && seqs[next] < synthesized->seqs[i]) {
			add_event(s, &events[next], seqs[next]);
			next++;
		}
		add_event(s, &synthesized->events[i], synthesized->seqs[i]);
	}
	for (; next < stored; next++)
		add_event(s, &events[next], seqs[next]);
}

static bool read_graph(struct api_timeline *s, struct executor *executor)
{
	if (s->count == 0 || s->events[0].type != EVENT_RUN_CREATED)
		return fail(
			&s->unreadable, ERROR_STORAGE,
			"the first event of the run is missing in the store; run baton db check");
	return executor_graph(executor, s->reader, &s->events[0].as.run_created->definition,
			      &s->graph, &s->unreadable);
}

static const struct timeline *read_subrun(void *context, const struct uuid *run)
{
	struct api_timeline *s = context;
	struct api_timeline *sub = arena_new(s->arena, struct api_timeline);
	struct error ignored; /* the view shows what the run itself knows */
	if (!api_timeline_read(sub, s->executor, s->reader, run, s->arena, &ignored))
		return NULL;
	sub->next = s->subruns;
	s->subruns = sub;
	return sub->readable ? &sub->timeline : NULL;
}

bool api_timeline_read(struct api_timeline *s, struct executor *executor,
		       struct store_reader *reader, const struct uuid *run, struct arena *arena,
		       struct error *error)
{
	*s = (struct api_timeline){ .executor = executor, .reader = reader, .arena = arena };
	struct store_run row;
	if (!reader->ops->read_run(reader, run, arena, &row, &s->found, error))
		return false;
	if (!s->found)
		return true;
	s->floor = row.floor;
	if (!read_events(s, run, error))
		return false;
	if (s->unreadable.code != ERROR_NONE || !read_graph(s, executor))
		return true;
	struct executor_history synthesized = { 0 };
	if (s->floor > 1 && !executor_synthesize_history(reader, &row, s->graph.rows, arena,
							 &synthesized, &s->unreadable))
		return true;
	if (synthesized.count > 0)
		merge_synthesized(s, &synthesized);
	s->source = (struct view_source){ .run = *run,
					  .state = row.state,
					  .graph = s->graph.rows,
					  .events = s->events,
					  .seqs = s->seqs,
					  .event_count = s->count,
					  .read_value = read_value,
					  .read_run = read_subrun,
					  .context = s };
	timeline_read(&s->timeline, &s->source, arena);
	s->readable = true;
	return true;
}

bool api_timeline_require(struct api_timeline *s, struct executor *executor,
			  struct store_reader *reader, const struct uuid *run, struct arena *arena,
			  struct error *error)
{
	if (!api_timeline_read(s, executor, reader, run, arena, error))
		return false;
	if (!s->found)
		return fail(error, ERROR_NOT_FOUND, "there is no run with this id");
	if (!s->readable)
		*error = s->unreadable;
	return s->readable;
}

bool api_timeline_extend(struct api_timeline *s, struct store_reader *reader, struct error *error)
{
	size_t before = s->count;
	s->reader = reader;
	if (!s->readable)
		return true;
	if (!read_events(s, &s->source.run, error))
		return false;
	s->readable = s->unreadable.code == ERROR_NONE;
	s->source.events = s->events;
	s->source.seqs = s->seqs;
	s->source.event_count = s->count;
	if (s->count > before)
		timeline_extend(&s->timeline, before);
	return true;
}

void api_timeline_done(struct api_timeline *s)
{
	for (; s->subruns != NULL; s->subruns = s->subruns->next)
		api_timeline_done(s->subruns);
	timeline_done(&s->timeline);
	executor_graph_done(&s->graph);
}

void api_timeline_group(const struct api_timeline *s, const struct view *view, int64_t seq,
			struct view_group *out_group)
{
	size_t index = s->readable ? timeline_index(&s->timeline, seq) : s->count;
	*out_group = (struct view_group){ .view = view };
	if (index < s->count)
		view_group_make(out_group, view, &s->timeline, index);
}

bool api_timeline_position_exists(struct store_reader *reader, int64_t position, bool *out_exists,
				  struct error *error)
{
	AUTO(arena) arena = { 0 };
	struct store_event_page page;
	int64_t newest = reader->ops->newest_position(reader);
	*out_exists = true;
	/* A future position is not a gap. */
	if (position == 0 || newest < 0 || position > newest)
		return true;
	if (!reader->ops->read_all(reader, position - 1, 1, &arena, &page, error))
		return false;
	*out_exists = page.count > 0 && page.at[0].position == position;
	return true;
}

bool api_timeline_check_floor(int64_t floor, int64_t after, struct error *error)
{
	if (after + 1 >= floor)
		return true;
	return fail(
		error, ERROR_GONE,
		"the run was compacted: its oldest stored event has seq %lld; read the run itself "
		"and continue with after=%lld",
		(long long)floor, (long long)floor - 1);
}
