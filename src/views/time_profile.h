/* views/time_profile.h -- the time profile of a run: shares that add up to its wall-clock time.
 *
 * Every moment from the creation of the run to its end (or to `now`) belongs to exactly one share,
 * so the shares add up to the wall-clock time for every stream.  When several things are open at
 * once, the first of run.Share has the moment: work comes before waiting, and the engine gets the
 * rest.
 *
 * A request starts when its append is on disk, because no effect starts earlier.  A later event
 * records that time (`commits`).  When it is missing, because the program ended or the run left
 * memory meanwhile, the request starts at its event time and includes the commit.
 * docs/decisions/0017-where-the-time-goes.md.
 *
 * A clock that was set back never makes a share negative: a stretch that ends before it starts has
 * no length, and time outside of the run is cut off.
 */
#ifndef VIEWS_TIME_PROFILE_H
#define VIEWS_TIME_PROFILE_H

#include "contract/run_time_types.h"
#include "views/timeline.h"

enum { TIMES_SHARES = RUN_SHARE_ENGINE + 1 };

/* A share was open from one moment to another. */
struct time_profile_stretch {
	enum run_share share;
	int64_t from, to;
};

struct time_profile {
	int64_t from, to;
	int64_t us[TIMES_SHARES];
	struct time_profile_stretch *pieces; /* in order, without gaps */
	size_t piece_count;
	size_t commits; /* appends whose commit time is known */
	bool compacted;
};

/* Sweeps over stretches in any order; the pieces live in the arena. */
void time_profile_sweep(struct time_profile *times, const struct time_profile_stretch *open,
			size_t count, int64_t from, int64_t to, struct arena *arena);
/* `now` is the end of a run that has not ended. */
void time_profile_of(struct time_profile *times, const struct timeline *timeline, int64_t now);

/* The profile as a document, and the run as a tree of spans of at most `depth` levels.  Both
 * live in the timeline's arena. */
const struct run_time *time_profile_document(const struct timeline *timeline, int64_t now);
const struct run_span *trace_spans(const struct timeline *timeline, int64_t now, int64_t depth);

#endif
