/* document/schedule_read.c -- what is stored of a schedule, and what that means now. */
#include "document/schedule_read.h"

#include "base/date.h"
#include "base/limits.h"
#include "os/file.h"
#include "document/stored_document.h"

#define ZONE_FOLDER "/usr/share/zoneinfo"

bool schedule_zone(struct str name, struct arena *arena, struct zone *out_zone, struct error *error)
{
	struct str bytes;
	struct error why;
	if (str_equal(name, S("UTC"))) {
		*out_zone = zone_utc;
		return true;
	}
	if (!zone_name_good(name) || !file_read_confined(ZONE_FOLDER, str_c(arena, name),
							 LIMIT_ZONE_BYTES, arena, &bytes, &why))
		return fail(error, ERROR_INVALID,
			    "there is no time zone " STR_FMT " in " ZONE_FOLDER
			    "; take a name such as Europe/Berlin (Debian's package is tzdata)",
			    STR_ARG(str_head(name, LIMIT_ZONE_NAME_BYTES)));
	if (zone_read(bytes, arena, out_zone, error))
		return true;
	error_prefix(error, ZONE_FOLDER "/" STR_FMT ": ", STR_ARG(name));
	return false;
}

/* ---- documents --------------------------------------------------------------------------- */

bool schedules_read(struct store_reader *reader, struct str name, struct arena *arena,
		    const struct run_schedule **out_schedule,
		    const struct run_schedule_progress **out_progress, int64_t *out_revision,
		    struct error *error)
{
	const void *schedule, *progress;
	int64_t revision;
	if (!stored_document_read(reader, DOCUMENT_SCHEDULE, name, arena, &schedule, &revision,
				  error) ||
	    !stored_document_read(reader, DOCUMENT_SCHEDULE_PROGRESS, name, arena, &progress, NULL,
				  error))
		return false;
	/* One without the other: the schedule was created or deleted between the two reads. */
	bool there = schedule != NULL && progress != NULL;
	*out_schedule = there ? schedule : NULL;
	*out_progress = there ? progress : NULL;
	*out_revision = there ? revision : 0;
	return true;
}

/* Which of its runs have ended; a run that does not exist counts as ended. */
static bool read_ended(struct store_reader *reader, const struct run_schedule_progress *progress,
		       struct arena *arena, const bool **out_ended, struct error *error)
{
	bool *ended = arena_array(arena, bool, progress->running.count);
	for (size_t i = 0; i < progress->running.count; i++) {
		struct store_run row;
		bool found;
		if (!reader->ops->read_run(reader, &progress->running.at[i], arena, &row, &found,
					   error))
			return false;
		ended[i] = !found || row.ended_at != 0;
	}
	*out_ended = ended;
	return true;
}

bool schedule_progress_now(struct store_reader *reader, const struct run_schedule *schedule,
			   const struct run_schedule_progress *before, int64_t now,
			   int64_t opened_at, struct arena *arena,
			   const struct run_schedule_progress **out_progress, struct error *error)
{
	struct schedule_world world = { .now = now, .opened_at = opened_at };
	struct schedule_clock clock;
	struct zone zone;
	if (!schedule_zone(schedule->time_zone, arena, &zone, error) ||
	    !schedule_clock_init(&clock, schedule, &zone, error) ||
	    !read_ended(reader, before, arena, &world.ended, error))
		return false;
	*out_progress = schedule_step(schedule, &clock, before, &world, arena);
	return true;
}

/* ---- times to come ----------------------------------------------------------------------- */

/* "2026-03-29T03:00:00+02:00" */
static struct str local_text(const struct zone *zone, int64_t at, struct arena *arena)
{
	int64_t seconds = date_floor_divide(at, 1000000);
	int offset = zone_span(zone, seconds).offset,
	    minutes = (offset < 0 ? -offset : offset) / 60;
	int64_t local = seconds + offset, days = date_floor_divide(local, 86400);
	int rest = (int)(local - days * 86400);
	struct date date = date_from_days(days);
	return str_format(arena, "%04lld-%02d-%02dT%02d:%02d:%02d%c%02d:%02d", (long long)date.year,
			  date.month, date.day, rest / 3600, rest / 60 % 60, rest % 60,
			  offset < 0 ? '-' : '+', minutes / 60, minutes % 60);
}

bool schedules_times(const struct run_schedule *schedule,
		     const struct run_schedule_progress *progress, int64_t now, size_t count,
		     struct arena *arena, const struct run_schedule_times **out_times,
		     struct error *error)
{
	struct schedule_clock clock;
	struct zone zone;
	if (!schedule_zone(schedule->time_zone, arena, &zone, error) ||
	    !schedule_clock_init(&clock, schedule, &zone, error))
		return false;
	struct run_schedule_times *times = run_schedule_times_new(arena);
	struct run_due_time *items = arena_array(arena, struct run_due_time, count);
	size_t found = 0;
	int64_t at = has(progress, seen_at) && progress->seen_at > now ? progress->seen_at : now;
	for (; !schedule->paused && found < count; found++) {
		at = schedule_next(&clock, progress->begun_at, at);
		if (at == 0)
			break;
		struct run_due_time *pending = run_due_time_new(arena);
		SET(pending, at, at);
		SET(pending, local, local_text(&zone, at, arena));
		items[found] = *pending;
	}
	SET(times, time_zone, schedule->time_zone);
	SET(times, items, ((struct run_due_time_list){ items, found }));
	*out_times = times;
	return true;
}
