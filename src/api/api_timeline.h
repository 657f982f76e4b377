/* api/api_timeline.h -- the events of one run, ready to be shown in a vocabulary.
 *
 * Made on a reader's thread and good as long as the arena is; api_timeline_go_on() reads what has
 * come since, so that who follows a run reads each event once.  A run that is not there, or that
 * has something in it that this program does not know, has no story: `told` is false and none of
 * its events is shown.  Only a store that cannot be read is an error.
 *
 * The older events of a compacted run are told again from its snapshot
 * (engine/history_synthesis.h), so its story begins at the beginning like any other.
 */
#ifndef API_API_STORY_H
#define API_API_STORY_H

#include "active/run_reads.h"
#include "views/view.h"

struct api_timeline {
	bool found; /* there is such a run */
	bool told;
	struct error untold; /* why a run that is there has no story */
	int64_t floor;       /* stored events with a smaller seq were gone when it was read */
	size_t count;        /* of the events, those that are told again included */

	/* Not the caller's: */
	struct store_reader *reader;
	struct arena *arena;
	struct event *events;
	int64_t *seqs;
	size_t room;
	int64_t last_seq; /* read so far */
	struct executor_graph graph;
	struct view_source source;
	struct timeline timeline; /* when told: for what a view makes of it */
};

/* It must not move afterwards. */
MUST_CHECK bool api_timeline_read(struct api_timeline *s, struct executor *executor,
				  struct store_reader *reader, const struct uuid *run,
				  struct arena *arena, struct error *error);
/* The same for those who have nothing to show without a story: that the run is not there, or why it
 * has none, is an error, too. */
MUST_CHECK bool api_timeline_demand(struct api_timeline *s, struct executor *executor,
				    struct store_reader *reader, const struct uuid *run,
				    struct arena *arena, struct error *error);
MUST_CHECK bool api_timeline_go_on(struct api_timeline *s, struct store_reader *reader,
				   struct error *error);
void api_timeline_done(struct api_timeline *s);
/* Says no to whoever asks for events that are gone: those behind `after`. */
MUST_CHECK bool api_timeline_reaches(int64_t floor, int64_t after, struct error *error);
/* Whether the event at a position is still there; one that is not has taken with it what stood
 * beside it.  Position 0 stands before the first one. */
MUST_CHECK bool api_timeline_is_there(struct store_reader *reader, int64_t position,
				      bool *out_there, struct error *error);
/* The event in the view's words; false when the view does not show it. */
bool api_timeline_event(const struct api_timeline *s, const struct view *view, int64_t seq,
			struct view_document *out_document);

#endif
