/* api/api_timeline.c -- a run's stream read from the store as a story (views/timeline.h), for those
 * who show single events in another vocabulary. */
#include "api/api_timeline.h"

#include "active/run_reads.h"
#include "base/limits.h"
#include "active/stored_row.h"

static const struct json *look(void *context, const struct hash *hash)
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

/* Reads everything, or up to an event that this program does not know: then `untold` says so. */
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
			if (!stored_event_read(row, s->arena, &event, &s->untold))
				return true;
			add_event(s, &event, row->seq);
			s->last_seq = row->seq;
		}
		if (page.count < LIMIT_STREAM_PAGE_EVENTS)
			return true;
	}
}

/* Puts what the snapshot tells among what is still there; both are in the stream's order. */
static void merge_retold(struct api_timeline *s, const struct executor_history *retold)
{
	const struct event *events = s->events;
	const int64_t *seqs = s->seqs;
	size_t stored = s->count, next = 0;
	s->count = s->room = 0;
	for (size_t i = 0; i < retold->count; i++) {
		while (next < stored && seqs[next] < retold->seqs[i]) {
			add_event(s, &events[next], seqs[next]);
			next++;
		}
		add_event(s, &retold->events[i], retold->seqs[i]);
	}
	for (; next < stored; next++)
		add_event(s, &events[next], seqs[next]);
}

static bool read_graph(struct api_timeline *s, struct executor *executor)
{
	if (s->count == 0 || s->events[0].type != EVENT_RUN_CREATED)
		return fail(&s->untold, ERROR_STORAGE, "the run's stream has no beginning");
	return executor_graph(executor, s->reader, &s->events[0].as.run_created->definition,
			      &s->graph, &s->untold);
}

bool api_timeline_read(struct api_timeline *s, struct executor *executor,
		       struct store_reader *reader, const struct uuid *run, struct arena *arena,
		       struct error *error)
{
	*s = (struct api_timeline){ .reader = reader, .arena = arena };
	struct store_run row;
	if (!reader->ops->read_run(reader, run, arena, &row, &s->found, error))
		return false;
	if (!s->found)
		return true;
	s->floor = row.floor;
	if (!read_events(s, run, error))
		return false;
	if (s->untold.code != ERROR_NONE || !read_graph(s, executor))
		return true;
	struct executor_history retold = { 0 };
	if (s->floor > 1 &&
	    !executor_synthesize_history(reader, &row, s->graph.rows, arena, &retold, &s->untold))
		return true;
	if (retold.count > 0)
		merge_retold(s, &retold);
	s->source = (struct view_source){ .run = *run,
					  .state = row.state,
					  .graph = s->graph.rows,
					  .events = s->events,
					  .seqs = s->seqs,
					  .event_count = s->count,
					  .look = look,
					  .context = s };
	timeline_read(&s->timeline, &s->source, arena);
	s->told = true;
	return true;
}

bool api_timeline_demand(struct api_timeline *s, struct executor *executor,
			 struct store_reader *reader, const struct uuid *run, struct arena *arena,
			 struct error *error)
{
	if (!api_timeline_read(s, executor, reader, run, arena, error))
		return false;
	if (!s->found)
		return fail(error, ERROR_NOT_FOUND, "no such run");
	if (!s->told)
		*error = s->untold;
	return s->told;
}

bool api_timeline_go_on(struct api_timeline *s, struct store_reader *reader, struct error *error)
{
	size_t before = s->count;
	s->reader = reader;
	if (!s->told)
		return true;
	if (!read_events(s, &s->source.run, error))
		return false;
	s->told = s->untold.code == ERROR_NONE;
	s->source.events = s->events;
	s->source.seqs = s->seqs;
	s->source.event_count = s->count;
	if (s->count > before)
		timeline_go_on(&s->timeline, before);
	return true;
}

void api_timeline_done(struct api_timeline *s)
{
	timeline_done(&s->timeline);
	executor_graph_done(&s->graph);
}

bool api_timeline_event(const struct api_timeline *s, const struct view *view, int64_t seq,
			struct view_document *out_document)
{
	size_t index = s->told ? timeline_index(&s->timeline, seq) : s->count;
	return index < s->count && view_event(view, &s->timeline, index, out_document);
}

bool api_timeline_is_there(struct store_reader *reader, int64_t position, bool *out_there,
			   struct error *error)
{
	AUTO(arena) arena = { 0 };
	struct store_event_page page;
	int64_t newest = reader->ops->newest_position(reader);
	*out_there = true;
	/* What is to come is no gap. */
	if (position == 0 || newest < 0 || position > newest)
		return true;
	if (!reader->ops->read_all(reader, position - 1, 1, &arena, &page, error))
		return false;
	*out_there = page.count > 0 && page.at[0].position == position;
	return true;
}

bool api_timeline_reaches(int64_t floor, int64_t after, struct error *error)
{
	if (after + 1 >= floor)
		return true;
	return fail(
		error, ERROR_GONE,
		"the run was compacted: its first event that is there has seq %lld; read the run "
		"itself and go on with after=%lld",
		(long long)floor, (long long)floor - 1);
}
