/* sim/sim_schedules.c -- schedules: the changes that people make, and the checks of every commit.
 *
 * Some seeds have one or two schedules.  Each has a random list of requested changes: create, change,
 * pause, resume, delete, create again.  The last one deletes or pauses the schedule, because a world
 * with an active schedule never ends.  A change is requested when the previous one was acknowledged;
 * without an acknowledgment it is requested again, in this life or the next.
 *
 * The checks share no code with the engine.  They derive due times from periods alone (every cron
 * line of the table is a fixed period), and each stored change of the progress must be what overlap
 * and catch_up require for exactly the due times in between.  So no due time is lost, taken twice,
 * taken early or taken again after a skip, wherever the program crashed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "active/run_commands.h"
#include "base/date.h"
#include "base/limits.h"
#include "contract/document_kind.h"
#include "contract/run_event_types.h"
#include "document/schedules.h"
#include "engine/schedule.h"
#include "sim/sim.h"

enum { MOST = 2, WISHES = 8, ENOUGH_RUNS = 250 };

static const int64_t US = 1000000;

static const struct clock {
	const char *member, *text;
	bool cron; /* counted from the epoch; otherwise from the creation of the schedule */
	int64_t seconds;
} clocks[] = {
	/* Short periods, for schedules that skip due times while they are busy. */
	{ "every", "1s", false, 1 },       { "every", "7s", false, 7 },
	{ "cron", "* * * * *", true, 60 }, { "every", "1m", false, 60 },
	{ "every", "20m", false, 1200 },   { "cron", "*/20 * * * *", true, 1200 },
	{ "cron", "@hourly", true, 3600 }, { "every", "1h", false, 3600 },
};

enum { FIRST_SLOW = 4 };

struct wish {
	enum schedules_verb verb;
	struct str body;
	struct str key; /* "" = none */
};

struct schedule {
	char name[24];
	struct wish wishes[WISHES];
	size_t count, next;
	bool asked;        /* requested in this life and not answered yet */
	int64_t asked_now; /* what the clock showed */
	/* As committed; NULL = does not exist. */
	const struct run_schedule *words, *words_before;
	int64_t words_at; /* position of the newest change */
	const struct run_schedule_progress *progress;
	const struct run_schedule_progress *left; /* of a deleted schedule */
	int64_t dealt_with;                       /* the newest of all past due times */
	bool still_told;                          /* deleted or paused, and acknowledged */
};

struct sim_schedules {
	struct arena arena;
	struct schedule at[MOST];
	size_t count;
	int64_t opened_at; /* in this life; 0 = not yet */
};

/* ---- the plan ----------------------------------------------------------------------- */

static struct str draw_words(struct sim_schedules *all, const char *name, struct sim_dice *dice)
{
	static const char *const overlaps[] = { "skip", "queue", "allow" };
	static const char *const catch_ups[] = { "skip", "one", "all" };
	size_t clock = (size_t)sim_below(dice, COUNT(clocks));
	size_t overlap = clock < FIRST_SLOW ? 0 : (size_t)sim_below(dice, 3);
	size_t catch_up = (size_t)sim_below(dice, overlap == 0 ? 2 : 3);
	return str_format(&all->arena,
			  "{\"name\":\"%s\",\"%s\":\"%s\",\"workflow\":\"t%u\",\"overlap\":\"%s\","
			  "\"catch_up\":\"%s\",\"paused\":%s}",
			  name, clocks[clock].member, clocks[clock].text,
			  (unsigned)sim_below(dice, 2), overlaps[overlap], catch_ups[catch_up],
			  sim_chance(dice, 8) ? "true" : "false");
}

static void draw_wishes(struct sim_schedules *all, struct schedule *schedule, struct sim_dice *dice)
{
	static const enum schedules_verb verbs[] = { SCHEDULE_SET,    SCHEDULE_SET,
						     SCHEDULE_SET,    SCHEDULE_PAUSE,
						     SCHEDULE_RESUME, SCHEDULE_RESUME,
						     SCHEDULE_DELETE };
	schedule->count = 3 + (size_t)sim_below(dice, WISHES - 2);
	for (size_t i = 0; i < schedule->count; i++) {
		struct wish *wish = &schedule->wishes[i];
		wish->verb = i == 0                    ? SCHEDULE_SET
			     : i + 1 < schedule->count ? verbs[sim_below(dice, COUNT(verbs))]
			     : sim_chance(dice, 60)    ? SCHEDULE_DELETE
						       : SCHEDULE_PAUSE;
		wish->body =
			wish->verb == SCHEDULE_SET ? draw_words(all, schedule->name, dice) : S("");
		wish->key = sim_chance(dice, 70)
				    ? str_format(&all->arena, "%s wish %zu", schedule->name, i)
				    : S("");
	}
}

void sim_schedules_new(struct sim *sim)
{
	struct sim_dice dice = { sim->seed ^ UINT64_C(0x5c4ed) };
	struct sim_schedules *all = calloc(1, sizeof(*all));
	require(all != NULL);
	sim->schedules = all;
	if (sim->mode == SIM_CALM || !sim_chance(&dice, 20))
		return;
	all->count = sim_chance(&dice, 30) ? MOST : 1;
	for (size_t i = 0; i < all->count; i++) {
		snprintf(all->at[i].name, sizeof(all->at[i].name), "s%zu", i);
		draw_wishes(all, &all->at[i], &dice);
	}
}

void sim_schedules_free(struct sim *sim)
{
	arena_done(&sim->schedules->arena);
	free(sim->schedules);
}

/* The scheduled workflows: a short one, and one long enough to overlap the next due time. */
bool sim_schedules_definition(struct str name, struct str *out_yaml)
{
	if (str_equal(name, S("t0")))
		*out_yaml = S("name: t0\nsteps:\n  - {name: a, tool: echo, inputs: {h: tick}}\n");
	else if (str_equal(name, S("t1")))
		*out_yaml = S("name: t1\nsteps:\n  - {name: a, wait: {seconds: 2.5}}\n");
	else
		return false;
	return true;
}

/* ---- a life ------------------------------------------------------------------------- */

void sim_schedules_begin(struct sim *sim)
{
	sim->schedules->opened_at = 0;
	for (size_t i = 0; i < sim->schedules->count; i++)
		sim->schedules->at[i].asked = false;
}

void sim_schedules_open(struct sim *sim)
{
	if (sim->schedules->count == 0)
		return;
	sim->schedules->opened_at = sim->mono + sim->wall_offset;
	schedules_open(sim->documents);
}

bool sim_schedules_over(const struct sim *sim)
{
	for (size_t i = 0; i < sim->schedules->count; i++)
		if (sim->schedules->at[i].next < sim->schedules->at[i].count)
			return false;
	return true;
}

/* ---- people ------------------------------------------------------------------------- */

static bool is_as_wished(const struct schedule *schedule, const struct wish *wish)
{
	AUTO(arena) arena = { 0 };
	struct error error;
	const struct run_schedule *wanted;
	switch (wish->verb) {
	case SCHEDULE_SET:
		wanted = document_read_stored(DOCUMENT_SCHEDULE, wish->body, &arena, &error);
		require(wanted != NULL);
		return schedule->words != NULL &&
		       str_equal(run_schedule_text(wanted, &arena),
				 run_schedule_text(schedule->words, &arena));
	case SCHEDULE_PAUSE:
	case SCHEDULE_RESUME:
		return schedule->words != NULL &&
		       schedule->words->paused == (wish->verb == SCHEDULE_PAUSE);
	case SCHEDULE_DELETE:
		break;
	}
	return schedule->words == NULL;
}

static void replied(void *context, uint64_t number, const struct executor_reply *reply)
{
	struct sim *sim = context;
	struct schedule *schedule = &sim->schedules->at[number];
	const struct wish *wish = &schedule->wishes[schedule->next];
	sim_trace(sim, "schedule %s, wish %zu: %s", schedule->name, schedule->next,
		  reply->error == NULL ? "acknowledged" : reply->error->text);
	schedule->asked = false;
	if (reply->error != NULL && sim_not_now(sim, reply->error))
		return;
	if (reply->error != NULL && reply->error->code == ERROR_STORAGE_FULL &&
	    sim->mode == SIM_DISK_FULL) {
		sim->counts.full_replies++;
		return;
	}
	if (reply->error != NULL && (reply->error->code != ERROR_NOT_FOUND ||
				     wish->verb == SCHEDULE_SET || schedule->words != NULL))
		sim_fail(sim, "a schedule's change was refused: %s", reply->error->text);
	if (reply->error == NULL && sim->fatal && !reply->repeated)
		sim_fail(sim, "a schedule's change was acknowledged after the store had failed");
	if (reply->error == NULL && !is_as_wished(schedule, wish))
		sim_fail(sim, "a schedule is not as was acknowledged");
	schedule->still_told = schedule->words == NULL || schedule->words->paused;
	schedule->next++;
	sim->counts.wishes++;
}

static void ask(struct sim *sim, size_t number)
{
	struct schedule *schedule = &sim->schedules->at[number];
	const struct wish *wish = &schedule->wishes[schedule->next];
	const struct schedules_change change = { .verb = wish->verb,
						 .name = str_from_c(schedule->name),
						 .revision = wish->verb == SCHEDULE_SET ? -1 : -2,
						 .body = wish->body,
						 .by = S("ada"),
						 .key = { wish->key, hash_of(wish->body) } };
	schedule->asked = true;
	schedule->asked_now = sim->mono + sim->wall_offset;
	schedules_change(sim->documents, &change, replied, sim, number);
}

/* No waiting due time may be left when the last change is requested. */
static bool is_busy(const struct schedule *schedule)
{
	return schedule->next + 1 == schedule->count && schedule->words != NULL &&
	       !schedule->words->paused && schedule->progress->waiting.count > 0;
}

bool sim_schedule_one(struct sim *sim)
{
	struct sim_schedules *all = sim->schedules;
	if (all->opened_at == 0 || all->count == 0)
		return false;
	size_t first = (size_t)sim_below(&sim->dice, all->count);
	for (size_t i = 0; i < all->count; i++) {
		size_t number = (first + i) % all->count;
		struct schedule *schedule = &all->at[number];
		if (schedule->asked || schedule->next == schedule->count)
			continue;
		if (sim->known_count > ENOUGH_RUNS)
			schedule->next = schedule->count - 1;
		if (is_busy(schedule))
			continue;
		ask(sim, number);
		return true;
	}
	return false;
}

/* The program is idle: it does not even have a timer. */
void sim_schedules_still(struct sim *sim)
{
	for (size_t i = 0; i < sim->schedules->count; i++) {
		const struct schedule *schedule = &sim->schedules->at[i];
		if (sim->schedules->opened_at != 0 && schedule->words != NULL &&
		    !schedule->words->paused)
			sim_fail(sim, "schedule %s has a due time but the program has no timer",
				 schedule->name);
	}
}

/* ---- due times, counted ------------------------------------------------------------- */

static int64_t next_on(const struct run_schedule *words, int64_t begun_at, int64_t after)
{
	struct str text = has(words, every) ? words->every : words->cron;
	for (size_t i = 0; i < COUNT(clocks); i++)
		if (str_equal(text, str_from_c(clocks[i].text))) {
			int64_t period = clocks[i].seconds * US;
			int64_t from = clocks[i].cron ? 0 : begun_at;
			return from + (date_floor_divide(after - from, period) + 1) * period;
		}
	require(false);
	return 0;
}

static bool has_due(const struct run_schedule_progress *progress, int64_t due)
{
	for (size_t i = 0; progress != NULL && i < progress->waiting.count; i++)
		if (progress->waiting.at[i] == due)
			return true;
	return false;
}

/* The change from one stored progress to the next. */
struct stride {
	const struct run_schedule *words; /* that held */
	const struct run_schedule_progress *before, *after;
	int64_t waiting[LIMIT_SCHEDULE_WAITING];
	size_t count;
	int64_t skipped, started;
	int64_t until; /* due times up to here could be taken */
};

/* A due time that is no longer waiting has its run. */
static void note_started(struct sim *sim, const struct schedule *schedule, struct stride *stride)
{
	for (size_t i = 0; i < stride->before->waiting.count; i++) {
		int64_t due = stride->before->waiting.at[i];
		if (has_due(stride->after, due)) {
			stride->waiting[stride->count++] = due;
			continue;
		}
		struct uuid run = schedule_run_id(str_from_c(schedule->name), due);
		stride->started++;
		if (sim_known(sim, &run) == SIZE_MAX)
			sim_fail(sim, "a due time of %s is recorded as started and has no run",
				 schedule->name);
	}
	if (stride->after->failed > 0)
		sim_fail(sim, "a due time of %s could not be started", schedule->name);
}

static bool has_ended(const struct sim *sim, const struct uuid *run)
{
	for (const struct sim_recorded *at = sim_first(sim, run); at != NULL;
	     at = sim_next(sim, at))
		if (at->event.type == EVENT_RUN_FINISHED)
			return true;
	return false;
}

/* A run that was removed from the progress has ended. */
static void note_ended(struct sim *sim, const struct schedule *schedule,
		       const struct stride *stride)
{
	for (size_t i = 0; i < stride->before->running.count; i++) {
		const struct uuid *run = &stride->before->running.at[i];
		bool stays = false;
		for (size_t k = 0; k < stride->after->running.count; k++)
			stays = stays || uuid_equal(&stride->after->running.at[k], run);
		if (!stays && !has_ended(sim, run))
			sim_fail(sim, "%s has forgotten a run that is active", schedule->name);
	}
}

/* Applies catch_up and overlap to each due time in order; returns the first future due time. */
static int64_t take_due(struct sim *sim, struct schedule *schedule, struct stride *stride)
{
	const struct run_schedule *words = stride->words;
	int64_t due = has(stride->before, next_at) ? stride->before->next_at : 0;
	bool caught_up = false;
	for (int i = 0; due != 0 && due <= stride->until && !words->paused; i++) {
		bool late = due <= sim->schedules->opened_at;
		bool busy = stride->count > 0 || stride->after->running.count > 0;
		if (i == LIMIT_SCHEDULE_WAITING)
			return next_on(words, stride->before->begun_at, stride->until);
		if (due > sim->latest)
			sim_fail(sim, "%s was early", schedule->name);
		if (due <= schedule->dealt_with)
			sim_fail(sim, "%s has a due time twice", schedule->name);
		schedule->dealt_with = due;
		if ((late && (words->catch_up == RUN_CATCH_UP_SKIP ||
			      (words->catch_up == RUN_CATCH_UP_ONE && caught_up))) ||
		    (words->overlap == RUN_OVERLAP_SKIP && busy) ||
		    stride->count == LIMIT_SCHEDULE_WAITING)
			stride->skipped++;
		else
			stride->waiting[stride->count++] = due;
		caught_up = caught_up || late;
		due = next_on(words, stride->before->begun_at, due);
	}
	return due;
}

static void check_sums(struct sim *sim, const struct schedule *schedule,
		       const struct stride *stride)
{
	const struct run_schedule_progress *before = stride->before, *after = stride->after;
	bool same = after->waiting.count == stride->count;
	for (size_t i = 0; same && i < stride->count; i++)
		same = after->waiting.at[i] == stride->waiting[i];
	if (!same)
		sim_fail(sim, "the wrong due times of %s are waiting", schedule->name);
	if (after->skipped != before->skipped + stride->skipped ||
	    after->started != before->started + stride->started)
		sim_fail(sim, "%s has miscounted its due times", schedule->name);
	if (after->begun_at != before->begun_at)
		sim_fail(sim, "%s has begun anew", schedule->name);
	sim->counts.skipped_ticks += (unsigned)stride->skipped;
}

/* A change by the program: all due times that it took have passed, and next_at is the first future
 * one. */
static void check_step(struct sim *sim, struct schedule *schedule,
		       const struct run_schedule_progress *after)
{
	int64_t next = has(after, next_at) ? after->next_at : 0;
	struct stride stride = { .words = schedule->words,
				 .before = schedule->progress,
				 .after = after,
				 .until = next - 1 };
	note_started(sim, schedule, &stride);
	note_ended(sim, schedule, &stride);
	if (take_due(sim, schedule, &stride) != next)
		sim_fail(sim, "the next due time of %s is wrong", schedule->name);
	check_sums(sim, schedule, &stride);
}

/* A change by a person: the old schedule applies to past due times, the new one from then on. */
static void check_change(struct sim *sim, struct schedule *schedule,
			 const struct run_schedule_progress *after)
{
	struct stride stride = { .words = schedule->words_before,
				 .before = schedule->progress,
				 .after = after,
				 .until = schedule->asked_now };
	note_started(sim, schedule, &stride);
	note_ended(sim, schedule, &stride);
	take_due(sim, schedule, &stride);
	check_sums(sim, schedule, &stride);
}

static void check_next(struct sim *sim, const struct schedule *schedule,
		       const struct run_schedule_progress *after)
{
	int64_t behind = schedule->asked_now;
	int64_t next = has(after, next_at) ? after->next_at : 0;
	if (has(after, seen_at) && after->seen_at > behind)
		behind = after->seen_at;
	if (schedule->words->paused ? next != 0 : next <= schedule->dealt_with)
		sim_fail(sim, "%s goes back in time", schedule->name);
	if (next != 0 && next != next_on(schedule->words, after->begun_at, behind))
		sim_fail(sim, "%s was changed and its next due time is wrong", schedule->name);
}

static void check_begun(struct sim *sim, struct schedule *schedule,
			const struct run_schedule_progress *after)
{
	if (after->begun_at != schedule->asked_now || after->waiting.count > 0 ||
	    after->started + after->skipped + after->failed > 0)
		sim_fail(sim, "%s is new and has a past", schedule->name);
	schedule->dealt_with = 0;
}

/* ---- what is committed -------------------------------------------------------------- */

static struct schedule *schedule_called(struct sim *sim, struct str name)
{
	for (size_t i = 0; i < sim->schedules->count; i++)
		if (str_equal(name, str_from_c(sim->schedules->at[i].name)))
			return &sim->schedules->at[i];
	return NULL;
}

static void words_recorded(struct sim *sim, struct schedule *schedule, struct str body,
			   int64_t position)
{
	struct error error;
	schedule->words_before = schedule->words;
	schedule->words_at = position;
	schedule->words = NULL;
	schedule->still_told = false;
	if (body.size == 0)
		return;
	schedule->words =
		document_read_stored(DOCUMENT_SCHEDULE, body, &sim->schedules->arena, &error);
	require(schedule->words != NULL);
}

static void progress_recorded(struct sim *sim, struct schedule *schedule, struct str body,
			      bool by_itself, int64_t position)
{
	const struct run_schedule_progress *after = NULL;
	struct error error;
	if (body.size > 0) {
		after = document_read_stored(DOCUMENT_SCHEDULE_PROGRESS, body,
					     &sim->schedules->arena, &error);
		require(after != NULL);
	}
	if (by_itself ? after == NULL || schedule->progress == NULL
		      : schedule->words_at != position - 1)
		sim_fail(sim, "the progress of %s was created or deleted without its schedule",
			 schedule->name);
	else if (after == NULL)
		schedule->left = schedule->progress;
	else if (by_itself)
		check_step(sim, schedule, after);
	else if (schedule->progress == NULL)
		check_begun(sim, schedule, after);
	else
		check_change(sim, schedule, after);
	if (after != NULL && !by_itself && schedule->words != NULL)
		check_next(sim, schedule, after);
	if (after != NULL && has(after, seen_at) &&
	    (after->seen_at > sim->latest || after->seen_at < schedule->dealt_with))
		sim_fail(sim, "%s has a seen_at in the future", schedule->name);
	schedule->progress = after;
}

void sim_schedule_changed(struct sim *sim, const struct sim_recorded *recorded)
{
	const struct run_document_changed *changed = recorded->event.as.run_document_changed;
	struct schedule *schedule = schedule_called(sim, changed->name);
	struct str body =
		has(changed, body) ? json_print(&sim->schedules->arena, changed->body) : S("");
	if (schedule == NULL)
		sim_fail(sim, "a document is stored that was not requested");
	else if (str_equal(changed->kind, document_kind_name(DOCUMENT_SCHEDULE)))
		words_recorded(sim, schedule, body, recorded->row.position);
	else
		progress_recorded(sim, schedule, body, str_equal(changed->by, S("schedule")),
				  recorded->row.position);
}

/* A run may start for a waiting due time, or for one whose schedule was just deleted. */
bool sim_schedule_started(struct sim *sim, const struct uuid *run)
{
	for (size_t i = 0; i < sim->schedules->count; i++) {
		const struct schedule *schedule = &sim->schedules->at[i];
		const struct run_schedule_progress *from =
			schedule->progress != NULL ? schedule->progress : schedule->left;
		for (size_t k = 0; from != NULL && k < from->waiting.count; k++) {
			struct uuid id =
				schedule_run_id(str_from_c(schedule->name), from->waiting.at[k]);
			if (!uuid_equal(&id, run))
				continue;
			if (schedule->still_told)
				sim_fail(sim, "%s is deleted or paused and starts a run",
					 schedule->name);
			sim->counts.ticks++;
			return true;
		}
	}
	return false;
}

/* ---- what is stored ----------------------------------------------------------------- */

void sim_check_schedules(struct sim *sim)
{
	for (size_t i = 0; i < sim->schedules->count; i++) {
		AUTO(arena) arena = { 0 };
		const struct schedule *schedule = &sim->schedules->at[i];
		const struct run_schedule *words;
		const struct run_schedule_progress *progress;
		int64_t revision;
		struct error error;
		bool good = schedules_read(sim->reader, str_from_c(schedule->name), &arena, &words,
					   &progress, &revision, &error);
		require(good);
		bool same = (words == NULL) == (schedule->words == NULL) &&
			    (progress == NULL) == (schedule->progress == NULL);
		if (same && words != NULL)
			same = str_equal(run_schedule_text(words, &arena),
					 run_schedule_text(schedule->words, &arena)) &&
			       str_equal(run_schedule_progress_text(progress, &arena),
					 run_schedule_progress_text(schedule->progress, &arena));
		if (!same)
			sim_fail(sim, "the stored document %s differs from its events",
				 schedule->name);
	}
}
