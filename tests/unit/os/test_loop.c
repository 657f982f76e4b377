/* The loop: jobs complete in order on the loop thread, timers fire once, loop_free() finishes all
 * queued jobs. */
#include <criterion/criterion.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "os/loop.h"

struct numbered {
	struct job job;
	struct trial *trial;
	unsigned number;
	unsigned thread;
	pthread_t ran_on;
};

enum { MOST = 200 };

struct trial {
	struct loop *loop;
	unsigned ran[MOST], done[MOST];
	atomic_uint ran_count;
	unsigned done_count, stop_at;
	pthread_t loop_thread;
	struct numbered jobs[MOST];
};

static struct loop *open_loop(void)
{
	struct loop *loop;
	struct error error;
	cr_assert(loop_new(&loop, &error));
	return loop;
}

static void run_number(struct job *job, unsigned thread)
{
	struct numbered *numbered = (struct numbered *)(void *)job;
	numbered->thread = thread;
	numbered->ran_on = pthread_self();
	numbered->trial->ran[atomic_fetch_add(&numbered->trial->ran_count, 1)] = numbered->number;
}

static void number_done(struct job *job)
{
	struct numbered *numbered = (struct numbered *)(void *)job;
	struct trial *trial = numbered->trial;
	cr_assert(pthread_equal(pthread_self(), trial->loop_thread));
	trial->done[trial->done_count++] = numbered->number;
	if (trial->done_count == trial->stop_at)
		loop_stop(trial->loop);
}

static void submit_all(struct trial *trial, enum platform_lane lane)
{
	trial->loop_thread = pthread_self();
	for (unsigned i = 0; i < MOST; i++) {
		trial->jobs[i] = (struct numbered){
			.job.run = run_number, .job.done = number_done, .trial = trial, .number = i
		};
		platform_submit(loop_platform(trial->loop), lane, &trial->jobs[i].job);
	}
}

Test(loop, the_writer_is_one_thread_in_order)
{
	struct trial trial = { .loop = open_loop(), .stop_at = MOST };
	submit_all(&trial, LANE_WRITER);
	loop_run(trial.loop);
	cr_assert_eq(trial.done_count, MOST);
	for (unsigned i = 0; i < MOST; i++) {
		cr_assert_eq(trial.ran[i], i);
		cr_assert_eq(trial.done[i], i);
		cr_assert_eq(trial.jobs[i].thread, 0);
		cr_assert(pthread_equal(trial.jobs[i].ran_on, trial.jobs[0].ran_on));
		cr_assert(!pthread_equal(trial.jobs[i].ran_on, trial.loop_thread));
	}
	loop_free(trial.loop);
}

Test(loop, readers_run_every_job_once_with_their_number)
{
	struct trial trial = { .loop = open_loop(), .stop_at = MOST };
	unsigned threads = platform_reader_threads(loop_platform(trial.loop));
	cr_assert_eq(threads, 2);
	submit_all(&trial, LANE_READER);
	loop_run(trial.loop);
	unsigned seen[MOST] = { 0 };
	for (unsigned i = 0; i < MOST; i++) {
		seen[trial.done[i]]++;
		cr_assert_lt(trial.jobs[i].thread, threads);
	}
	for (unsigned i = 0; i < MOST; i++)
		cr_assert_eq(seen[i], 1);
	loop_free(trial.loop);
}

/* Two jobs that wait for each other finish only when two threads run them. */
struct meeting {
	struct job job;
	struct loop *loop;
	pthread_barrier_t *barrier;
	unsigned thread;
	unsigned *left;
};

static void meet(struct job *job, unsigned thread)
{
	struct meeting *meeting = (struct meeting *)(void *)job;
	meeting->thread = thread;
	pthread_barrier_wait(meeting->barrier);
}

static void met(struct job *job)
{
	struct meeting *meeting = (struct meeting *)(void *)job;
	if (--*meeting->left == 0)
		loop_stop(meeting->loop);
}

Test(loop, two_readers_run_at_the_same_time)
{
	struct loop *loop = open_loop();
	pthread_barrier_t barrier;
	pthread_barrier_init(&barrier, NULL, 2);
	unsigned left = 2;
	struct meeting meetings[2];
	for (size_t i = 0; i < 2; i++) {
		meetings[i] =
			(struct meeting){ { .run = meet, .done = met }, loop, &barrier, 9, &left };
		platform_submit(loop_platform(loop), LANE_READER, &meetings[i].job);
	}
	loop_run(loop);
	cr_assert_eq(meetings[0].thread + meetings[1].thread, 1);
	pthread_barrier_destroy(&barrier);
	loop_free(loop);
}

static void done_and_again(struct job *job)
{
	struct numbered *numbered = (struct numbered *)(void *)job;
	if (numbered->trial->done_count++ < 3)
		platform_submit(loop_platform(numbered->trial->loop), LANE_READER, job);
}

Test(loop, freeing_finishes_what_is_queued_and_what_that_submits)
{
	struct trial trial = { .loop = open_loop() };
	submit_all(&trial, LANE_WRITER);
	loop_free(trial.loop);
	cr_assert_eq(trial.ran_count, MOST);
	cr_assert_eq(trial.done_count, MOST);

	struct trial again = { .loop = open_loop() };
	again.jobs[0] = (struct numbered){ .job.run = run_number,
					   .job.done = done_and_again,
					   .trial = &again };
	platform_submit(loop_platform(again.loop), LANE_WRITER, &again.jobs[0].job);
	loop_free(again.loop);
	cr_assert_eq(again.done_count, 4);
	cr_assert_eq(again.ran_count, 4);
}

static void done_and_free(struct job *job)
{
	struct numbered *numbered = (struct numbered *)(void *)job;
	loop_stop(numbered->trial->loop);
	free(numbered);
}

Test(loop, done_may_free_its_job)
{
	struct trial trial = { .loop = open_loop() };
	struct numbered *numbered = calloc(1, sizeof(*numbered));
	numbered->job.run = run_number;
	numbered->job.done = done_and_free;
	numbered->trial = &trial;
	platform_submit(loop_platform(trial.loop), LANE_READER, &numbered->job);
	loop_run(trial.loop);
	cr_assert_eq(trial.ran_count, 1);
	loop_free(trial.loop);
}

struct bells {
	struct loop *loop;
	unsigned rung[8], count;
	uint64_t timer[8];
	int64_t due_us;
};

static void ring(void *context, uint64_t argument)
{
	struct bells *bells = context;
	bells->rung[bells->count++] = (unsigned)argument;
}

static void ring_last(void *context, uint64_t argument)
{
	struct bells *bells = context;
	cr_assert_geq(platform_mono_us(loop_platform(bells->loop)), bells->due_us);
	ring(context, argument);
	loop_stop(bells->loop);
}

Test(loop, timers_fire_once_in_order_and_never_early)
{
	struct bells bells = { .loop = open_loop() };
	struct platform *system = loop_platform(bells.loop);
	bells.due_us = platform_mono_us(system) + 30000;
	uint64_t last = platform_timer_start(system, 30000, ring_last, &bells, 4);
	uint64_t second = platform_timer_start(system, 15000, ring, &bells, 3);
	uint64_t first = platform_timer_start(system, 1, ring, &bells, 2);
	uint64_t now = platform_timer_start(system, 0, ring, &bells, 0);
	uint64_t before = platform_timer_start(system, -5, ring, &bells, 1);
	cr_assert(last != 0 && second != 0 && first != 0 && now != 0 && before != 0);
	cr_assert_neq(now, before);
	loop_run(bells.loop);
	cr_assert_eq(bells.count, 5);
	for (unsigned i = 0; i < 5; i++)
		cr_assert_eq(bells.rung[i], i);
	platform_timer_stop(system, last);
	platform_timer_stop(system, now);
	loop_free(bells.loop);
}

static void stop_others(void *context, uint64_t argument)
{
	struct bells *bells = context;
	ring(context, argument);
	for (size_t i = 0; i < 3; i++)
		platform_timer_stop(loop_platform(bells->loop), bells->timer[i]);
}

Test(loop, a_stopped_timer_stays_silent)
{
	struct bells bells = { .loop = open_loop() };
	struct platform *system = loop_platform(bells.loop);
	platform_timer_start(system, 0, stop_others, &bells, 7);
	bells.timer[0] = platform_timer_start(system, 0, ring, &bells, 1);
	bells.timer[1] = platform_timer_start(system, 5000, ring, &bells, 2);
	bells.timer[2] = platform_timer_start(system, 0, ring, &bells, 3);
	platform_timer_start(system, 20000, ring_last, &bells, 8);
	platform_timer_stop(system, bells.timer[2]);
	platform_timer_stop(system, bells.timer[2]);
	platform_timer_stop(system, 0);
	platform_timer_stop(system, 0xdeadbeef);
	loop_run(bells.loop);
	cr_assert_eq(bells.count, 2);
	cr_assert_eq(bells.rung[0], 7);
	cr_assert_eq(bells.rung[1], 8);
	loop_free(bells.loop);
}

static void ring_again(void *context, uint64_t argument)
{
	struct bells *bells = context;
	bells->count++;
	platform_timer_start(loop_platform(bells->loop), 0, ring_again, context, argument);
}

static void stop_loop(void *context, uint64_t argument)
{
	(void)argument;
	loop_stop(((struct bells *)context)->loop);
}

Test(loop, a_timer_that_always_starts_again_starves_nobody)
{
	struct bells bells = { .loop = open_loop() };
	platform_timer_start(loop_platform(bells.loop), 0, ring_again, &bells, 0);
	platform_timer_start(loop_platform(bells.loop), 3000, stop_loop, &bells, 0);
	loop_run(bells.loop);
	cr_assert_gt(bells.count, 1);
	loop_free(bells.loop);
}

Test(loop, freeing_drops_timers)
{
	struct bells bells = { .loop = open_loop() };
	platform_timer_start(loop_platform(bells.loop), 0, ring, &bells, 0);
	platform_timer_start(loop_platform(bells.loop), 1000, ring, &bells, 0);
	platform_timer_start(loop_platform(bells.loop), 3600000000, ring, &bells, 0);
	loop_free(bells.loop);
	cr_assert_eq(bells.count, 0);
	loop_free(NULL);
}

Test(loop, clocks_and_dice)
{
	struct loop *loop = open_loop();
	struct platform *system = loop_platform(loop);
	cr_assert_gt(platform_wall_us(system), 1600000000000000);
	int64_t before = platform_mono_us(system);
	cr_assert_leq(before, platform_mono_us(system));
	unsigned char one[32] = { 0 }, two[32] = { 0 };
	platform_random(system, one, sizeof(one));
	platform_random(system, two, sizeof(two));
	cr_assert_neq(memcmp(one, two, sizeof(one)), 0);
	loop_free(loop);
}

static void on_signal(void *context, uint64_t number)
{
	struct bells *bells = context;
	bells->rung[bells->count++] = (unsigned)number;
	if (bells->count == 1)
		raise(SIGINT);
	else
		loop_stop(bells->loop);
}

Test(loop, stop_signals_arrive_on_the_loop_and_a_broken_pipe_kills_nobody)
{
	struct bells bells = { .loop = open_loop() };
	loop_on_stop_signal(bells.loop, on_signal, &bells);
	raise(SIGPIPE);
	raise(SIGTERM);
	loop_run(bells.loop);
	cr_assert_eq(bells.count, 2);
	cr_assert_eq(bells.rung[0], SIGTERM);
	cr_assert_eq(bells.rung[1], SIGINT);
	loop_free(bells.loop);
}
