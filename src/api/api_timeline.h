/* api/api_timeline.h -- the timeline of one run (views/timeline.h), read from the store.
 *
 * Read it on a reader thread.  It lives as long as the arena; api_timeline_extend() adds the events
 * that were committed since, so a connection that follows a run reads each event once.  A run that
 * does not exist, or that contains an event this version does not know, has no timeline: `readable`
 * is false and none of its events is shown.  Only a failing store is an error.
 *
 * The deleted events of a compacted run are synthesized from its snapshot
 * (engine/history_synthesis.h), so its timeline starts at the beginning like any other.
 */
#ifndef API_API_TIMELINE_H
#define API_API_TIMELINE_H

#include "active/run_reads.h"
#include "views/view.h"

struct api_timeline {
	bool found; /* the run exists */
	bool readable;
	struct error unreadable; /* why an existing run has no timeline */
	int64_t floor;           /* events with a smaller seq were deleted before the read */
	size_t count;            /* of the events, including synthesized ones */

	/* Private: */
	struct store_reader *reader;
	struct arena *arena;
	struct event *events;
	int64_t *seqs;
	size_t room;
	int64_t last_seq; /* last event read */
	struct executor_graph graph;
	struct view_source source;
	struct timeline timeline; /* when readable: for the views */
	struct executor *executor;
	struct api_timeline *subruns; /* that a view has asked for; a list by `next` */
	struct api_timeline *next;
};

/* The struct must not move afterwards: the timeline points into it. */
MUST_CHECK bool api_timeline_read(struct api_timeline *s, struct executor *executor,
				  struct store_reader *reader, const struct uuid *run,
				  struct arena *arena, struct error *error);
/* As api_timeline_read(), but fails when the run does not exist (NOT_FOUND) or has no timeline. */
MUST_CHECK bool api_timeline_require(struct api_timeline *s, struct executor *executor,
				     struct store_reader *reader, const struct uuid *run,
				     struct arena *arena, struct error *error);
MUST_CHECK bool api_timeline_extend(struct api_timeline *s, struct store_reader *reader,
				    struct error *error);
void api_timeline_done(struct api_timeline *s);
/* GONE when the event after `after` was deleted by compaction. */
MUST_CHECK bool api_timeline_check_floor(int64_t floor, int64_t after, struct error *error);
/* Whether the event at a position still exists.  When it was deleted, the events around it may be
 * deleted, too.  Position 0 is before the first event and always exists. */
MUST_CHECK bool api_timeline_position_exists(struct store_reader *reader, int64_t position,
					     bool *out_exists, struct error *error);
/* What the event becomes in the vocabulary of the view; empty when the view does not show it. */
void api_timeline_group(const struct api_timeline *s, const struct view *view, int64_t seq,
			struct view_group *out_group);

#endif
