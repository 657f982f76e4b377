/* simulation/simulated_platform.c -- clock, timers and worker threads on one thread, in an order that the seed
 * chooses.
 *
 * A job runs at one moment and ends at a later one, so that other events come between, as with real threads.  The
 * writer's jobs keep their order.  Time passes only when nothing else is left to do.
 */
#include <stdlib.h>
#include <string.h>

#include "simulation/simulation_world.h"

static struct simulated_platform *self_of(struct platform *platform)
{
	return (struct simulated_platform *)platform;
}

static int64_t mono_us(struct platform *platform)
{
	return self_of(platform)->world->mono;
}

static int64_t wall_us(struct platform *platform)
{
	return self_of(platform)->world->mono + INT64_C(1790000000) * 1000000;
}

static void random_bytes(struct platform *platform, void *bytes, size_t size)
{
	uint8_t *out = bytes;
	for (size_t i = 0; i < size; i++)
		out[i] = (uint8_t)simulated_roll(self_of(platform)->world, 256);
}

static uint64_t timer_start(struct platform *platform, int64_t delay_us,
			    platform_callback *callback, void *context, uint64_t argument)
{
	struct simulated_platform *self = self_of(platform);
	if (self->timer_count == self->timer_room) {
		self->timer_room = self->timer_room == 0 ? 64 : self->timer_room * 2;
		self->timers = reallocarray(self->timers, self->timer_room, sizeof(*self->timers));
		require(self->timers != NULL);
	}
	self->timers[self->timer_count++] =
		(struct simulated_timer){ self->world->mono + (delay_us > 0 ? delay_us : 0),
					  ++self->timer_ids, callback, context, argument };
	return self->timer_ids;
}

static void timer_stop(struct platform *platform, uint64_t timer)
{
	struct simulated_platform *self = self_of(platform);
	for (size_t i = 0; i < self->timer_count; i++)
		if (self->timers[i].id == timer) {
			self->timers[i] = self->timers[--self->timer_count];
			return;
		}
}

static void child_await(struct platform *platform, platform_callback *callback, void *context,
			uint64_t argument)
{
	timer_start(platform, 0, callback, context, argument);
}

static void jobs_add(struct simulated_jobs *jobs, struct job *job)
{
	if (jobs->count == jobs->room) {
		jobs->room = jobs->room == 0 ? 16 : jobs->room * 2;
		jobs->at = reallocarray(jobs->at, jobs->room, sizeof(struct job *));
		require(jobs->at != NULL);
	}
	jobs->at[jobs->count++] = job;
}

static struct job *jobs_take(struct simulated_platform *self, struct simulated_jobs *jobs,
			     enum platform_lane lane)
{
	size_t place = lane == LANE_WRITER ? 0 : (size_t)simulated_roll(self->world, jobs->count);
	struct job *job = jobs->at[place];
	jobs->count--;
	memmove(jobs->at + place, jobs->at + place + 1,
		(jobs->count - place) * sizeof(struct job *));
	return job;
}

static void submit(struct platform *platform, enum platform_lane lane, struct job *job)
{
	jobs_add(&self_of(platform)->waiting[lane], job);
}

static unsigned reader_threads(struct platform *platform)
{
	(void)platform;
	return SIMULATED_READERS;
}

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

void simulated_platform_init(struct simulated_platform *platform, struct simulated_world *world)
{
	*platform = (struct simulated_platform){ .base = { &ops }, .world = world };
}

static void run_job(struct simulated_platform *self, enum platform_lane lane)
{
	struct job *job = jobs_take(self, &self->waiting[lane], lane);
	job->run(job, lane == LANE_WRITER
			      ? 0
			      : (unsigned)simulated_roll(self->world, SIMULATED_READERS));
	jobs_add(&self->ran[lane], job);
}

static void end_job(struct simulated_platform *self, enum platform_lane lane)
{
	struct job *job = jobs_take(self, &self->ran[lane], lane);
	job->done(job);
}

/* The earliest timer; of several, the one that was started first. */
static void fire_next(struct simulated_platform *self)
{
	size_t first = 0;
	for (size_t i = 1; i < self->timer_count; i++) {
		const struct simulated_timer *a = &self->timers[i], *b = &self->timers[first];
		if (a->due < b->due || (a->due == b->due && a->id < b->id))
			first = i;
	}
	struct simulated_timer timer = self->timers[first];
	self->timers[first] = self->timers[--self->timer_count];
	if (self->world->mono < timer.due)
		self->world->mono = timer.due;
	timer.callback(timer.context, timer.argument);
}

static bool timer_is_due(const struct simulated_platform *self)
{
	for (size_t i = 0; i < self->timer_count; i++)
		if (self->timers[i].due <= self->world->mono)
			return true;
	return false;
}

bool simulated_platform_step(struct simulated_platform *self)
{
	size_t waiting[2] = { self->waiting[0].count, self->waiting[1].count };
	size_t ran[2] = { self->ran[0].count, self->ran[1].count };
	size_t jobs = waiting[0] + waiting[1] + ran[0] + ran[1];
	self->world->mono += (int64_t)simulated_roll(self->world, 50);
	if (jobs == 0 && self->timer_count == 0)
		return false;
	if (jobs == 0 || (timer_is_due(self) && simulated_roll(self->world, 3) == 0)) {
		fire_next(self);
		return true;
	}
	uint64_t choice = simulated_roll(self->world, jobs);
	if (choice < waiting[0])
		run_job(self, LANE_WRITER);
	else if (choice < waiting[0] + waiting[1])
		run_job(self, LANE_READER);
	else if (choice < waiting[0] + waiting[1] + ran[0])
		end_job(self, LANE_WRITER);
	else
		end_job(self, LANE_READER);
	return true;
}

void simulated_platform_drain(struct simulated_platform *self)
{
	for (enum platform_lane lane = LANE_WRITER; lane <= LANE_READER;) {
		if (self->waiting[lane].count > 0) {
			run_job(self, lane);
		} else if (self->ran[lane].count > 0) {
			end_job(self, lane);
		} else {
			lane++;
			continue;
		}
		lane = LANE_WRITER;
	}
}

void simulated_platform_done(struct simulated_platform *self)
{
	for (size_t lane = 0; lane < 2; lane++) {
		free(self->waiting[lane].at);
		free(self->ran[lane].at);
	}
	free(self->timers);
}
