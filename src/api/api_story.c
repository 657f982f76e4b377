/* api/api_story.c -- a run's stream read from the store as a story (views/story.h), for those who
 * show single events in another vocabulary. */
#include "api/api_story.h"

#include "base/limits.h"

static const struct json *look(void *context, const struct hash *hash)
{
	struct api_story *s = context;
	struct str bytes;
	bool found;
	const struct json *json;
	struct error error;
	if (!s->reader->ops->read_blob(s->reader, hash, s->arena, &bytes, &found, &error) ||
	    !found || !json_read(bytes, s->arena, &json, &error))
		return NULL;
	return json;
}

static void add_event(struct api_story *s, const struct event *event)
{
	if (s->count == s->room) {
		s->room = s->room == 0 ? 32 : s->room * 2;
		struct event *more = arena_array(s->arena, struct event, s->room);
		for (size_t i = 0; i < s->count; i++)
			more[i] = s->events[i];
		s->events = more;
	}
	s->events[s->count++] = *event;
}

/* Reads everything, or up to an event that this program does not know: then `untold` says so. */
static bool read_events(struct api_story *s, const struct uuid *run, struct error *error)
{
	for (;;) {
		struct store_event_page page;
		if (!s->reader->ops->read_events(s->reader, run, s->last_seq,
						 LIMIT_STREAM_PAGE_EVENTS, s->arena, &page, error))
			return false;
		for (size_t i = 0; i < page.count; i++) {
			const struct store_event_row *row = &page.at[i];
			struct event event;
			if (!event_read(row->type, row->at, row->body, s->arena, &event,
					&s->untold))
				return true;
			add_event(s, &event);
			s->last_seq = row->seq;
		}
		if (page.count < LIMIT_STREAM_PAGE_EVENTS)
			return true;
	}
}

static bool read_graph(struct api_story *s, const struct run_graph **out_graph)
{
	if (s->count == 0 || s->events[0].type != EVENT_RUN_CREATED)
		return fail(&s->untold, ERROR_STORAGE, "the run's stream has no beginning");
	struct contract_source source = { .json = look(s, &s->events[0].as.run_created->definition),
					  .lenient = true };
	if (source.json == NULL)
		return fail(&s->untold, ERROR_STORAGE, "the run's graph is not stored");
	struct problems problems = { .arena = s->arena };
	*out_graph = run_graph_parse(&source, s->arena, &problems);
	return *out_graph != NULL || problems_fail(&problems, &s->untold);
}

bool api_story_read(struct api_story *s, struct store_reader *reader, const struct uuid *run,
		    struct arena *arena, struct error *error)
{
	*s = (struct api_story){ .reader = reader, .arena = arena };
	struct store_run row;
	const struct run_graph *graph = NULL;
	if (!reader->ops->read_run(reader, run, arena, &row, &s->found, error))
		return false;
	if (!s->found)
		return true;
	if (!read_events(s, run, error))
		return false;
	if (s->untold.code != ERROR_NONE || !read_graph(s, &graph))
		return true;
	s->source = (struct view_source){ .run = *run,
					  .state = row.state,
					  .graph = graph,
					  .events = s->events,
					  .event_count = s->count,
					  .look = look,
					  .context = s };
	story_read(&s->story, &s->source, arena);
	s->told = true;
	return true;
}

bool api_story_go_on(struct api_story *s, struct store_reader *reader, struct error *error)
{
	size_t before = s->count;
	s->reader = reader;
	if (!s->told)
		return true;
	if (!read_events(s, &s->source.run, error))
		return false;
	s->told = s->untold.code == ERROR_NONE;
	s->source.events = s->events;
	s->source.event_count = s->count;
	if (s->count > before)
		story_go_on(&s->story, before);
	return true;
}

void api_story_done(struct api_story *s)
{
	story_done(&s->story);
}

bool api_story_event(const struct api_story *s, const struct view *view, int64_t seq,
		     struct view_document *out_document)
{
	return s->told && seq >= 1 && (size_t)seq <= s->count &&
	       view_event(view, &s->story, (size_t)seq - 1, out_document);
}
