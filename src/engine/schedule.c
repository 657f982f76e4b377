/* engine/schedule.c -- decides which due times get a run.
 *
 * The work is bounded however long the server was down: only the first LIMIT_SCHEDULE_WAITING missed
 * due times are considered, and the rest are skipped at once.
 */
#include "engine/schedule.h"

#include "base/date.h"
#include "base/limits.h"

static const int64_t US = 1000000;

bool schedule_clock_init(struct schedule_clock *clock, const struct run_schedule *schedule,
			 const struct zone *zone, struct error *error)
{
	*clock = (struct schedule_clock){ .zone = zone };
	return has(schedule, every) ? cron_interval_parse(schedule->every, &clock->every_us, error)
				    : cron_parse(schedule->cron, &clock->cron, error);
}

int64_t schedule_next(const struct schedule_clock *clock, int64_t begun_at, int64_t after)
{
	int64_t seconds;
	if (clock->every_us > 0)
		return begun_at +
		       (date_floor_divide(after - begun_at, clock->every_us) + 1) * clock->every_us;
	if (!cron_next(&clock->cron, clock->zone, date_floor_divide(after, US), &seconds))
		return 0;
	return seconds * US;
}

static struct run_schedule_progress *copy(const struct run_schedule_progress *before,
					  struct arena *arena)
{
	return arena_copy(arena, before, sizeof(*before));
}

static void set_next(struct run_schedule_progress *progress, int64_t next)
{
	if (next == 0)
		SET_NULL(progress, next_at);
	else
		SET(progress, next_at, next);
}

struct run_schedule_progress *schedule_begin(const struct run_schedule *schedule,
					     const struct schedule_clock *clock,
					     const struct run_schedule_progress *before,
					     int64_t now, struct arena *arena)
{
	struct run_schedule_progress *progress;
	int64_t after = now;
	if (before != NULL) {
		progress = copy(before, arena);
		/* The clock was set back, or a step with a later time came before this change. */
		if (has(progress, seen_at) && progress->seen_at > after)
			after = progress->seen_at;
	} else {
		progress = run_schedule_progress_new(arena);
		SET(progress, begun_at, now);
	}
	set_next(progress, schedule->paused ? 0 : schedule_next(clock, progress->begun_at, after));
	return progress;
}

/* ---- a step ------------------------------------------------------------------------------ */

static void forget_ended(struct run_schedule_progress *progress, const bool *ended,
			 struct arena *arena)
{
	size_t count = 0;
	struct uuid *left = arena_array(arena, struct uuid, progress->running.count);
	for (size_t i = 0; i < progress->running.count; i++)
		if (!ended[i])
			left[count++] = progress->running.at[i];
	if (count < progress->running.count)
		SET(progress, running, ((struct uuid_list){ left, count }));
}

/* Applies the overlap policy to a due time: it waits for its run, or is skipped. */
static void take(const struct run_schedule *schedule, struct run_schedule_progress *progress,
		 int64_t *waiting, int64_t due)
{
	size_t count = progress->waiting.count;
	bool busy = count > 0 || progress->running.count > 0;
	if (count >= LIMIT_SCHEDULE_WAITING || (schedule->overlap == RUN_OVERLAP_SKIP && busy)) {
		SET(progress, skipped, progress->skipped + 1);
		return;
	}
	waiting[count] = due;
	SET(progress, waiting, ((struct time_list){ waiting, count + 1 }));
}

static void take_due(const struct run_schedule *schedule, const struct schedule_clock *clock,
		     struct run_schedule_progress *progress, const struct schedule_world *world,
		     struct arena *arena)
{
	int64_t *waiting = arena_array(arena, int64_t, LIMIT_SCHEDULE_WAITING);
	int64_t due = progress->next_at;
	bool caught_up = false;
	for (size_t i = 0; i < progress->waiting.count; i++)
		waiting[i] = progress->waiting.at[i];
	for (int i = 0; due != 0 && due <= world->now && i < LIMIT_SCHEDULE_WAITING; i++) {
		bool late = due <= world->opened_at;
		if (late && (schedule->catch_up == RUN_CATCH_UP_SKIP ||
			     (schedule->catch_up == RUN_CATCH_UP_ONE && caught_up)))
			SET(progress, skipped, progress->skipped + 1);
		else
			take(schedule, progress, waiting, due);
		caught_up = caught_up || late;
		due = schedule_next(clock, progress->begun_at, due);
	}
	if (due != 0 && due <= world->now)
		due = schedule_next(clock, progress->begun_at, world->now);
	set_next(progress, due);
	SET(progress, seen_at, world->now);
}

struct run_schedule_progress *schedule_step(const struct run_schedule *schedule,
					    const struct schedule_clock *clock,
					    const struct run_schedule_progress *before,
					    const struct schedule_world *world, struct arena *arena)
{
	struct run_schedule_progress *progress = copy(before, arena);
	if (progress->waiting.count > LIMIT_SCHEDULE_WAITING)
		progress->waiting.count = LIMIT_SCHEDULE_WAITING; /* written under a higher limit */
	forget_ended(progress, world->ended, arena);
	if (has(progress, next_at) && progress->next_at <= world->now && !schedule->paused)
		take_due(schedule, clock, progress, world, arena);
	return progress;
}

/* ---- starting ---------------------------------------------------------------------------- */

int64_t schedule_ready(const struct run_schedule *schedule,
		       const struct run_schedule_progress *progress)
{
	size_t most = schedule->overlap == RUN_OVERLAP_ALLOW ? LIMIT_SCHEDULE_RUNS : 1;
	if (schedule->paused || progress->waiting.count == 0 || progress->running.count >= most)
		return 0;
	return progress->waiting.at[0];
}

struct uuid schedule_run_id(struct str name, int64_t due_at)
{
	char text[24];
	char *digit = text + sizeof(text);
	uint64_t rest = (uint64_t)due_at;
	do
		*--digit = (char)('0' + rest % 10);
	while ((rest /= 10) != 0);
	const struct str parts[] = { S("schedule"),
				     name,
				     { digit, (size_t)(text + sizeof(text) - digit) } };
	return uuid_derive(parts, COUNT(parts));
}

struct run_schedule_progress *schedule_note(const struct run_schedule_progress *before,
					    int64_t due_at, const struct uuid *run,
					    struct str fault, struct arena *arena)
{
	struct run_schedule_progress *progress = copy(before, arena);
	size_t count = before->waiting.count, left = 0;
	int64_t *waiting = arena_array(arena, int64_t, count);
	for (size_t i = 0; i < count; i++)
		if (before->waiting.at[i] != due_at)
			waiting[left++] = before->waiting.at[i];
	if (left == count)
		return progress;
	SET(progress, waiting, ((struct time_list){ waiting, left }));
	SET(progress, last_due_at, due_at);
	if (fault.size > 0) {
		SET(progress, failed, progress->failed + 1);
		SET(progress, last_error, fault);
		return progress;
	}
	size_t runs = before->running.count;
	struct uuid *running = arena_array(arena, struct uuid, runs + 1);
	for (size_t i = 0; i < runs; i++)
		running[i] = before->running.at[i];
	running[runs] = *run;
	SET(progress, running, ((struct uuid_list){ running, runs + 1 }));
	SET(progress, started, progress->started + 1);
	SET(progress, last_run, *run);
	SET_NULL(progress, last_error);
	return progress;
}
