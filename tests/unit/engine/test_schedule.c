/* Schedules: what the policies make of due times, and that each due time has one end, whatever is
 * forgotten in between.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "base/limits.h"
#include "engine/schedule.h"

enum { SECOND = 1000000 };

static struct scene {
	struct arena arena;
	struct run_schedule *schedule;
	struct schedule_clock clock;
	const struct run_schedule_progress *progress;
	int64_t opened_at;
} scene;

static void begin(void)
{
	memset(&scene, 0, sizeof(scene));
}

static void end(void)
{
	arena_done(&scene.arena);
}

TestSuite(schedule, .init = begin, .fini = end);

static void make(const char *every, enum run_overlap overlap, enum run_catch_up catch_up)
{
	struct error error;
	scene.schedule = run_schedule_new(&scene.arena);
	SET(scene.schedule, name, S("s"));
	SET(scene.schedule, every, str_from_c(every));
	SET(scene.schedule, workflow, S("w"));
	SET(scene.schedule, overlap, overlap);
	SET(scene.schedule, catch_up, catch_up);
	cr_assert(schedule_clock_init(&scene.clock, scene.schedule, &zone_utc, &error));
	scene.progress = schedule_begin(scene.schedule, &scene.clock, NULL, 0, &scene.arena);
}

static void step_with(int64_t now, const bool *ended)
{
	const struct schedule_world world = { now, scene.opened_at, ended };
	scene.progress =
		schedule_step(scene.schedule, &scene.clock, scene.progress, &world, &scene.arena);
}

/* Nothing has ended. */
static void step(int64_t now)
{
	static const bool none[LIMIT_SCHEDULE_RUNS + 1];
	step_with(now, none);
}

static int64_t ready(void)
{
	return schedule_ready(scene.schedule, scene.progress);
}

static void note(int64_t due, struct str fault)
{
	struct uuid run = schedule_run_id(S("s"), due);
	scene.progress = schedule_note(scene.progress, due, &run, fault, &scene.arena);
}

Test(schedule, comes_due_at_its_time)
{
	make("10s", RUN_OVERLAP_SKIP, RUN_CATCH_UP_ONE);
	cr_expect_eq(scene.progress->next_at, 10 * SECOND);
	step(10 * SECOND - 1);
	cr_expect_eq(ready(), 0);
	step(10 * SECOND);
	cr_expect_eq(ready(), 10 * SECOND);
	cr_expect_eq(scene.progress->next_at, 20 * SECOND);
	step(10 * SECOND);
	cr_expect_eq(scene.progress->waiting.count, 1);
	note(10 * SECOND, S(""));
	cr_expect_eq(ready(), 0);
	cr_expect_eq(scene.progress->started, 1);
	cr_expect_eq(scene.progress->last_due_at, 10 * SECOND);
}

Test(schedule, intervals_are_counted_from_the_beginning)
{
	make("7s", RUN_OVERLAP_SKIP, RUN_CATCH_UP_ONE);
	for (int64_t at = -30; at < 100; at++) {
		int64_t next = schedule_next(&scene.clock, 5, at * SECOND);
		cr_expect(next > at * SECOND && next <= at * SECOND + 7 * SECOND);
		cr_expect_eq((next - 5) % (7 * SECOND), 0);
	}
}

Test(schedule, a_run_id_belongs_to_one_due_time)
{
	struct uuid a = schedule_run_id(S("s"), 1), b = schedule_run_id(S("s"), 1);
	struct uuid c = schedule_run_id(S("s"), 11), d = schedule_run_id(S("s1"), 1);
	cr_expect(uuid_equal(&a, &b));
	cr_expect(!uuid_equal(&a, &c) && !uuid_equal(&a, &d) && !uuid_equal(&c, &d));
}

/* ---- overlap ----------------------------------------------------------------------------- */

Test(schedule, overlap)
{
	static const struct {
		enum run_overlap overlap;
		size_t waiting;
		int64_t skipped, ready;
	} rows[] = { { RUN_OVERLAP_SKIP, 0, 2, 0 },
		     { RUN_OVERLAP_QUEUE, 2, 0, 0 },
		     { RUN_OVERLAP_ALLOW, 2, 0, 2 * SECOND } };
	for (size_t i = 0; i < COUNT(rows); i++) {
		make("1s", rows[i].overlap, RUN_CATCH_UP_ONE);
		step(1 * SECOND);
		note(1 * SECOND, S(""));
		step(2 * SECOND);
		step(3 * SECOND);
		cr_expect_eq(scene.progress->waiting.count, rows[i].waiting, "row %zu", i);
		cr_expect_eq(scene.progress->skipped, rows[i].skipped, "row %zu", i);
		cr_expect_eq(ready(), rows[i].ready, "row %zu", i);
		step_with(3 * SECOND, (const bool[]){ true });
		cr_expect_eq(scene.progress->running.count, 0);
		cr_expect_eq(ready(), rows[i].waiting > 0 ? 2 * SECOND : 0, "row %zu", i);
	}
}

Test(schedule, runs_and_waiting_times_have_their_limits)
{
	make("1s", RUN_OVERLAP_ALLOW, RUN_CATCH_UP_ONE);
	for (int64_t at = 1; at <= LIMIT_SCHEDULE_RUNS; at++) {
		step(at * SECOND);
		cr_assert_eq(ready(), at * SECOND);
		note(at * SECOND, S(""));
	}
	for (int64_t at = 1; at <= LIMIT_SCHEDULE_WAITING + 5; at++)
		step((LIMIT_SCHEDULE_RUNS + at) * SECOND);
	cr_expect_eq(ready(), 0);
	cr_expect_eq(scene.progress->waiting.count, LIMIT_SCHEDULE_WAITING);
	cr_expect_eq(scene.progress->skipped, 5);
	bool ended[LIMIT_SCHEDULE_RUNS] = { [7] = true };
	step_with(scene.progress->next_at - 1, ended);
	cr_expect_eq(ready(), (LIMIT_SCHEDULE_RUNS + 1) * (int64_t)SECOND);
}

/* ---- catching up ------------------------------------------------------------------------- */

Test(schedule, catch_up)
{
	static const struct {
		enum run_catch_up catch_up;
		size_t waiting;
		int64_t skipped, first;
	} rows[] = { { RUN_CATCH_UP_SKIP, 1, 4, 5 },
		     { RUN_CATCH_UP_ONE, 2, 3, 1 },
		     { RUN_CATCH_UP_ALL, 5, 0, 1 } };
	for (size_t i = 0; i < COUNT(rows); i++) {
		make("1s", RUN_OVERLAP_QUEUE, rows[i].catch_up);
		scene.opened_at = 4 * SECOND; /* 1 to 4 passed, 5 came while somebody looked */
		step(5 * SECOND + SECOND / 2);
		cr_expect_eq(scene.progress->waiting.count, rows[i].waiting, "row %zu", i);
		cr_expect_eq(scene.progress->skipped, rows[i].skipped, "row %zu", i);
		cr_expect_eq(scene.progress->waiting.at[0], rows[i].first * SECOND, "row %zu", i);
		cr_expect_eq(scene.progress->next_at, 6 * SECOND, "row %zu", i);
	}
}

Test(schedule, a_long_absence_is_one_jump)
{
	make("1s", RUN_OVERLAP_QUEUE, RUN_CATCH_UP_ALL);
	scene.opened_at = INT64_C(366) * 86400 * SECOND;
	step(scene.opened_at);
	cr_expect_eq(scene.progress->waiting.count, LIMIT_SCHEDULE_WAITING);
	cr_expect_eq(scene.progress->waiting.at[0], 1 * SECOND);
	cr_expect_eq(scene.progress->next_at, scene.opened_at + SECOND);
}

Test(schedule, paused_it_neither_comes_due_nor_starts_what_waits)
{
	make("1s", RUN_OVERLAP_QUEUE, RUN_CATCH_UP_ALL);
	step(1 * SECOND);
	SET(scene.schedule, paused, true);
	scene.progress = schedule_begin(scene.schedule, &scene.clock, scene.progress, 1 * SECOND,
					&scene.arena);
	cr_expect(!has(scene.progress, next_at));
	step(9 * SECOND);
	cr_expect_eq(ready(), 0);
	cr_expect_eq(scene.progress->waiting.count, 1);
	SET(scene.schedule, paused, false);
	scene.progress = schedule_begin(scene.schedule, &scene.clock, scene.progress,
					9 * SECOND + 1, &scene.arena);
	cr_expect_eq(scene.progress->next_at, 10 * SECOND);
	cr_expect_eq(ready(), 1 * SECOND);
}

/* The clock was set back, or the change waited while a step was faster. */
Test(schedule, a_change_brings_back_no_due_time)
{
	make("10s", RUN_OVERLAP_QUEUE, RUN_CATCH_UP_ALL);
	step(35 * SECOND); /* 10, 20, 30 */
	cr_assert_eq(scene.progress->waiting.count, 3);
	scene.progress = schedule_begin(scene.schedule, &scene.clock, scene.progress, 12 * SECOND,
					&scene.arena);
	cr_expect_eq(scene.progress->next_at, 40 * SECOND);
	SET(scene.schedule, paused, true);
	scene.progress = schedule_begin(scene.schedule, &scene.clock, scene.progress, 13 * SECOND,
					&scene.arena);
	SET(scene.schedule, paused, false);
	scene.progress = schedule_begin(scene.schedule, &scene.clock, scene.progress, 14 * SECOND,
					&scene.arena);
	cr_expect_eq(scene.progress->next_at, 40 * SECOND);
	step(39 * SECOND);
	cr_expect_eq(scene.progress->waiting.count, 3);
	step(40 * SECOND);
	cr_expect_eq(scene.progress->waiting.count, 4);
}

Test(schedule, what_is_noted_twice_counts_once)
{
	make("1s", RUN_OVERLAP_ALLOW, RUN_CATCH_UP_ALL);
	step(3 * SECOND);
	note(2 * SECOND, S(""));
	note(2 * SECOND, S(""));
	note(9 * SECOND, S(""));
	cr_expect_eq(scene.progress->started, 1);
	cr_expect_eq(scene.progress->running.count, 1);
	cr_expect_eq(scene.progress->waiting.count, 2);
	note(1 * SECOND, S("no such definition"));
	cr_expect_eq(scene.progress->failed, 1);
	cr_expect(str_equal(scene.progress->last_error, S("no such definition")));
	cr_expect(uuid_equal(&scene.progress->last_run, &scene.progress->running.at[0]));
	note(3 * SECOND, S(""));
	cr_expect(!has(scene.progress, last_error));
}

/* ---- any history ------------------------------------------------------------------------- */

static uint32_t dice(uint32_t *seed, uint32_t sides)
{
	*seed = *seed * 1664525 + 1013904223;
	return (*seed >> 16) % sides;
}

/* A life of starts, kills and ends: a start that nobody noted is made again, so what counts is the
 * set of due times that were started. */
static void live(uint32_t seed, enum run_overlap overlap, enum run_catch_up catch_up)
{
	enum { SPAN = 400 };
	bool started[SPAN + 64] = { false };
	int64_t now = 0, begun = 0;
	make("1s", overlap, catch_up);
	scene.opened_at = 0;
	while (now < SPAN * (int64_t)SECOND) {
		bool ended[LIMIT_SCHEDULE_RUNS];
		now += dice(&seed, 1500) * 1000;
		if (dice(&seed, 10) == 0) {
			now += dice(&seed, 6) * SECOND;
			scene.opened_at = now; /* killed, and there again */
		}
		for (size_t i = 0; i < COUNT(ended); i++)
			ended[i] = dice(&seed, 3) == 0;
		step_with(now, ended);
		cr_assert_gt(scene.progress->next_at, now);
		for (int64_t due; (due = ready()) != 0;) {
			cr_assert(due <= now && due % SECOND == 0);
			started[due / SECOND] = true;
			if (dice(&seed, 4) == 0) {
				scene.opened_at = now; /* killed before it was noted */
				break;
			}
			cr_assert(overlap == RUN_OVERLAP_ALLOW ||
				  scene.progress->running.count == 0);
			note(due, S(""));
			begun++;
		}
	}
	cr_assert_eq(scene.progress->started, begun);
	int64_t known = scene.progress->skipped, last = scene.progress->next_at / SECOND - 1;
	for (int64_t i = 0; i < SPAN + 64; i++)
		known += started[i];
	/* Those that wait and were never begun. */
	for (size_t i = 0; i < scene.progress->waiting.count; i++)
		known += !started[scene.progress->waiting.at[i] / SECOND];
	cr_assert_eq(known, last, "seed %u: %lld of %lld", seed, (long long)known, (long long)last);
	/* A queue may be longer than its limit. */
	if (catch_up == RUN_CATCH_UP_ALL && overlap == RUN_OVERLAP_ALLOW)
		cr_assert_eq(scene.progress->skipped, 0);
}

Test(schedule, every_due_time_has_one_end)
{
	for (uint32_t seed = 1; seed <= 60; seed++)
		for (int policy = 0; policy < 9; policy++) {
			enum run_overlap overlap = (enum run_overlap)(policy / 3);
			enum run_catch_up catch_up = (enum run_catch_up)(policy % 3);
			if (overlap == RUN_OVERLAP_SKIP && catch_up == RUN_CATCH_UP_ALL)
				continue;
			live(seed * 7919, overlap, catch_up);
			end();
			begin();
		}
}
