/* views/time_profile.h -- what each moment of a run went into.
 *
 * A total function of the run's events: from its creation to its end (or to `now`) every moment
 * belongs to exactly one share, so the shares add up to the wall clock whatever the stream holds.
 * Where several things are open at once the first of contracts/run.def's run.Share has the moment:
 * who works goes before who waits, and what is left over is the engine's.
 *
 * A request counts from when its append was on the disk, because nothing is begun before: that is
 * told by a later event (`commits`).  Where it is not told, because the program ended or the
 * run was out of memory meanwhile, the request counts from its own time, and the way to the disk
 * with it.  docs/decisions/0017-where-the-time-goes.md.
 *
 * A clock that was set back makes no share negative: what ends before it begins takes no time, and
 * what lies outside of the run is cut off.
 */
#ifndef VIEWS_TIMES_H
#define VIEWS_TIMES_H

#include "views/timeline.h"

enum { TIMES_SHARES = RUN_SHARE_ENGINE + 1 };

/* Something was so from one moment to another. */
struct time_profile_stretch {
	enum run_share share;
	int64_t from, to;
};

struct time_profile {
	int64_t from, to;
	int64_t us[TIMES_SHARES];
	struct time_profile_stretch *pieces; /* one after the other, without gaps */
	size_t piece_count;
	size_t commits; /* appends whose way to the disk is known */
	bool compacted;
};

/* Sweeps over stretches of whatever order and length; pieces are in the arena. */
void time_profile_sweep(struct time_profile *times, const struct time_profile_stretch *open,
			size_t count, int64_t from, int64_t to, struct arena *arena);
/* `now` counts while the run has not ended. */
void time_profile_of(struct time_profile *times, const struct timeline *timeline, int64_t now);

/* The same for clients, and the run as a tree of spans of at most `depth` levels.  Both live in the
 * story's arena. */
const struct run_time *time_profile_document(const struct timeline *timeline, int64_t now);
const struct run_span *trace_spans(const struct timeline *timeline, int64_t now, int64_t depth);

#endif
