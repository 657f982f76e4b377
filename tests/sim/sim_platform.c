/* sim/sim_platform.c -- simulated clock, timers and worker threads on one thread, in random order.
 *
 * A job runs at one time and completes at a later one, so that other events can come between, as with
 * real threads.  The writer's jobs keep their order; the readers' jobs have none.
 */
#include <stdlib.h>
#include <string.h>

#include "sim/sim.h"

static struct sim_platform *self_of(struct platform *platform)
{
	return (struct sim_platform *)platform;
}

static int64_t wall_us(struct platform *platform)
{
	return self_of(platform)->sim->mono + self_of(platform)->sim->wall_offset;
}

static int64_t mono_us(struct platform *platform)
{
	return self_of(platform)->sim->mono;
}

static void random_bytes(struct platform *platform, void *bytes, size_t size)
{
	uint8_t *out = bytes;
	for (size_t i = 0; i < size; i++)
		out[i] = (uint8_t)sim_roll(&self_of(platform)->sim->dice);
}

/* ---- timers ------------------------------------------------------------------------- */

static bool sooner(const struct sim_timer *a, const struct sim_timer *b)
{
	return a->due != b->due ? a->due < b->due : a->id < b->id;
}

static void swap(struct sim_timer *a, struct sim_timer *b)
{
	struct sim_timer kept = *a;
	*a = *b;
	*b = kept;
}

static uint64_t timer_start(struct platform *platform, int64_t delay_us,
			    platform_callback *callback, void *context, uint64_t argument)
{
	struct sim_platform *self = self_of(platform);
	if (self->timer_count == self->timer_room) {
		self->timer_room = self->timer_room == 0 ? 64 : self->timer_room * 2;
		self->timers = reallocarray(self->timers, self->timer_room, sizeof(*self->timers));
		require(self->timers != NULL);
	}
	int64_t due = self->sim->mono + (delay_us > 0 ? delay_us : 0);
	size_t place = self->timer_count++;
	self->timers[place] =
		(struct sim_timer){ due, ++self->timer_ids, callback, context, argument };
	for (; place > 0 && sooner(&self->timers[place], &self->timers[(place - 1) / 2]);
	     place = (place - 1) / 2)
		swap(&self->timers[place], &self->timers[(place - 1) / 2]);
	return self->timer_ids;
}

static struct sim_timer take_timer(struct sim_platform *self, size_t place)
{
	struct sim_timer taken = self->timers[place];
	self->timers[place] = self->timers[--self->timer_count];
	for (; place > 0 && sooner(&self->timers[place], &self->timers[(place - 1) / 2]);
	     place = (place - 1) / 2)
		swap(&self->timers[place], &self->timers[(place - 1) / 2]);
	for (size_t child; (child = place * 2 + 1) < self->timer_count; place = child) {
		if (child + 1 < self->timer_count &&
		    sooner(&self->timers[child + 1], &self->timers[child]))
			child++;
		if (!sooner(&self->timers[child], &self->timers[place]))
			break;
		swap(&self->timers[child], &self->timers[place]);
	}
	return taken;
}

static void timer_stop(struct platform *platform, uint64_t timer)
{
	struct sim_platform *self = self_of(platform);
	for (size_t i = 0; i < self->timer_count; i++)
		if (self->timers[i].id == timer) {
			take_timer(self, i);
			return;
		}
}

static void fire_next(struct sim_platform *self)
{
	struct sim_timer timer = take_timer(self, 0);
	if (self->sim->mono < timer.due)
		self->sim->mono = timer.due;
	if (self->sim->latest < self->sim->mono + self->sim->wall_offset)
		self->sim->latest = self->sim->mono + self->sim->wall_offset;
	sim_children_tick(self->sim);
	timer.callback(timer.context, timer.argument);
}

/* Places for children become free at a time of their own, in the order of asking or not: the order is
 * a promise of the loop, and nothing may depend on it. */
static void child_await(struct platform *platform, platform_callback *callback, void *context,
			uint64_t argument)
{
	timer_start(platform, (int64_t)sim_below(&self_of(platform)->sim->dice, 40000), callback,
		    context, argument);
}

/* ---- jobs --------------------------------------------------------------------------- */

static void jobs_add(struct sim_jobs *jobs, struct job *job)
{
	if (jobs->count == jobs->room) {
		jobs->room = jobs->room == 0 ? 16 : jobs->room * 2;
		jobs->at = reallocarray(jobs->at, jobs->room, sizeof(struct job *));
		require(jobs->at != NULL);
	}
	jobs->at[jobs->count++] = job;
}

static struct job *jobs_take(struct sim_jobs *jobs, size_t place)
{
	struct job *job = jobs->at[place];
	jobs->count--;
	memmove(jobs->at + place, jobs->at + place + 1,
		(jobs->count - place) * sizeof(struct job *));
	return job;
}

static size_t pick(struct sim_platform *self, enum platform_lane lane, const struct sim_jobs *jobs)
{
	return lane == LANE_WRITER ? 0 : (size_t)sim_below(&self->sim->dice, jobs->count);
}

static void submit(struct platform *platform, enum platform_lane lane, struct job *job)
{
	jobs_add(&self_of(platform)->waiting[lane], job);
}

static unsigned reader_threads(struct platform *platform)
{
	(void)platform;
	return SIM_READERS;
}

static void run_job(struct sim_platform *self, enum platform_lane lane)
{
	struct job *job = jobs_take(&self->waiting[lane], pick(self, lane, &self->waiting[lane]));
	unsigned thread =
		lane == LANE_WRITER ? 0 : (unsigned)sim_below(&self->sim->dice, SIM_READERS);
	job->run(job, thread);
	jobs_add(&self->ran[lane], job);
}

static void end_job(struct sim_platform *self, enum platform_lane lane)
{
	struct job *job = jobs_take(&self->ran[lane], pick(self, lane, &self->ran[lane]));
	job->done(job);
}

/* ---- the loop ----------------------------------------------------------------------- */

static const struct platform_ops ops = {
	.wall_us = wall_us,
	.mono_us = mono_us,
	.random = random_bytes,
	.timer_start = timer_start,
	.timer_stop = timer_stop,
	.submit = submit,
	.reader_threads = reader_threads,
	.child_await = child_await,
};

void sim_system_init(struct sim_platform *platform, struct sim *sim)
{
	*platform = (struct sim_platform){ .base = { &ops }, .sim = sim };
}

/* The wall clock jumps now and then, by a little or by an hour; the monotonic clock never does. */
static void pass_time(struct sim_platform *self)
{
	struct sim *sim = self->sim;
	sim->mono += (int64_t)sim_below(&sim->dice, 200);
	if (sim->mode != SIM_CALM && sim_below(&sim->dice, 400) == 0) {
		int64_t most = sim_chance(&sim->dice, 70) ? 2000000 : INT64_C(3600) * 1000000;
		int64_t jump = (int64_t)sim_below(&sim->dice, (uint64_t)most * 2) - most;
		sim_trace(sim, "the wall clock jumps by %lld us", (long long)jump);
		sim->wall_offset += jump;
		sim->jumped_at = sim->mono;
		sim->jumps[sim->counts.jumps % SIM_JUMPS] = sim->mono;
		sim->counts.jumps++;
	}
	if (sim->latest < sim->mono + sim->wall_offset)
		sim->latest = sim->mono + sim->wall_offset;
	sim_children_tick(sim);
}

/* A timer in the far future does not delay jobs that are ready now. */
enum { LEAP_US = 5000000 };

static size_t weigh_timer(const struct sim_platform *self, size_t jobs)
{
	if (self->timer_count == 0)
		return 0;
	int64_t wait = self->timers[0].due - self->sim->mono;
	return wait <= 0 ? 4 : jobs == 0 || wait < LEAP_US ? 1 : 0;
}

bool sim_system_writes(const struct sim_platform *self)
{
	return self->waiting[LANE_WRITER].count + self->ran[LANE_WRITER].count > 0;
}

bool sim_system_step(struct sim_platform *self)
{
	size_t waiting = self->waiting[0].count + self->waiting[1].count;
	size_t ran = self->ran[0].count + self->ran[1].count;
	size_t timer_weight = weigh_timer(self, waiting + ran);
	if (waiting + ran + timer_weight == 0)
		return false;
	pass_time(self);
	if (self->sim->slow_writer && self->waiting[LANE_READER].count > 0 &&
	    sim_chance(&self->sim->dice, 70)) {
		run_job(self, LANE_READER);
		return true;
	}
	uint64_t choice = sim_below(&self->sim->dice, waiting * 2 + ran * 2 + timer_weight);
	if (choice < self->waiting[0].count * 2)
		run_job(self, LANE_WRITER);
	else if (choice < waiting * 2)
		run_job(self, LANE_READER);
	else if (choice < (waiting + self->ran[0].count) * 2)
		end_job(self, LANE_WRITER);
	else if (choice < (waiting + ran) * 2)
		end_job(self, LANE_READER);
	else
		fire_next(self);
	return true;
}

void sim_system_drain(struct sim_platform *self)
{
	for (enum platform_lane lane = LANE_WRITER; lane <= LANE_READER;) {
		if (self->waiting[lane].count > 0)
			run_job(self, lane);
		else if (self->ran[lane].count > 0)
			end_job(self, lane);
		else {
			lane++;
			continue;
		}
		lane = LANE_WRITER;
	}
}

void sim_system_crash(struct sim_platform *self)
{
	if (self->waiting[LANE_WRITER].count > 0 && sim_chance(&self->sim->dice, 50))
		run_job(self, LANE_WRITER);
}

void sim_system_done(struct sim_platform *self)
{
	for (size_t lane = 0; lane < 2; lane++) {
		free(self->waiting[lane].at);
		free(self->ran[lane].at);
	}
	free(self->timers);
}
