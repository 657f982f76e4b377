/* os/loop.c -- the libuv loop; finished jobs come back to it through one uv_async handle.
 *
 * The list of finished jobs is taken as a whole and then processed.  Jobs that finish meanwhile
 * wait for the next tick, so that sockets are served in between.
 */
#include "os/loop_internal.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>

static const double tick_bounds[] = { 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005,
				      0.01,   0.025,   0.05,   0.1,   0.25,   1 };

static int64_t clock_us(clockid_t clock)
{
	struct timespec now;
	require(clock_gettime(clock, &now) == 0);
	return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static int64_t loop_wall_us(struct platform *platform)
{
	(void)platform;
	return clock_us(CLOCK_REALTIME);
}

static int64_t loop_mono_us(struct platform *platform)
{
	(void)platform;
	return clock_us(CLOCK_MONOTONIC);
}

static void loop_random(struct platform *platform, void *bytes, size_t size)
{
	(void)platform;
	char *at = bytes;
	while (size > 0) {
		ssize_t got = getrandom(at, size, 0);
		require(got > 0 || errno == EINTR);
		if (got > 0) {
			at += got;
			size -= (size_t)got;
		}
	}
}

static void loop_submit(struct platform *platform, enum platform_lane lane, struct job *job)
{
	struct loop *loop = loop_of(platform);
	lane_submit(lane == LANE_WRITER ? &loop->writer : &loop->reader, job);
}

static unsigned loop_reader_threads(struct platform *platform)
{
	(void)platform;
	return LOOP_READERS;
}

static const struct platform_ops loop_ops = {
	.wall_us = loop_wall_us,
	.mono_us = loop_mono_us,
	.random = loop_random,
	.timer_start = loop_timer_start,
	.timer_stop = loop_timer_stop,
	.submit = loop_submit,
	.reader_threads = loop_reader_threads,
	.child_await = loop_child_await,
};

void loop_finish(struct loop *loop, struct job *job)
{
	pthread_mutex_lock(&loop->finished_mutex);
	job_list_add(&loop->finished, job);
	pthread_mutex_unlock(&loop->finished_mutex);
	uv_async_send(&loop->wake);
}

/* Calls done() of every finished job; false when there was none. */
static bool finished_jobs_complete(struct loop *loop)
{
	pthread_mutex_lock(&loop->finished_mutex);
	struct job_list taken = loop->finished;
	loop->finished = (struct job_list){ 0 };
	pthread_mutex_unlock(&loop->finished_mutex);
	struct job *job = job_list_take(&taken);
	if (job == NULL)
		return false;
	for (; job != NULL; job = job_list_take(&taken)) {
		const char *name = job->name == NULL ? "job" : job->name;
		struct flight_mark mark = flight_begin(&loop->flight, name, 0);
		job->done(job);
		flight_end(&loop->flight, mark);
	}
	return true;
}

/* Runs when the loop is about to wait: records how long it was busy since the last wait. */
static void tick_measure(uv_prepare_t *handle)
{
	struct loop *loop = handle->data;
	uint64_t now = uv_hrtime(), idle = uv_metrics_idle_time(&loop->uv);
	uint64_t waited = idle - loop->idle_ns, passed = now - loop->tick_ns;
	uint64_t busy = passed > waited ? passed - waited : 0;
	if (loop->tick_ns != 0) {
		histogram_add(&loop->ticks, (double)busy / 1e9);
		flight_tick(&loop->flight, (int64_t)(busy / 1000));
	}
	/* Unlike elapsed time, CPU time does not grow when other processes use the processor. */
	int64_t cpu_us = clock_us(CLOCK_THREAD_CPUTIME_ID);
	if (loop->cpu_us != 0 && loop->tick_cpu_most_us < cpu_us - loop->cpu_us)
		loop->tick_cpu_most_us = cpu_us - loop->cpu_us;
	loop->cpu_us = cpu_us;
	loop->tick_ns = now;
	loop->idle_ns = idle;
}

static void wake_received(uv_async_t *async)
{
	finished_jobs_complete(async->data);
}

static void signal_received(uv_signal_t *handle, int number)
{
	struct loop *loop = handle->data;
	struct flight_mark mark = flight_begin(&loop->flight, "signal", (uint64_t)number);
	loop->on_signal(loop->on_signal_context, (uint64_t)number);
	flight_end(&loop->flight, mark);
}

bool loop_new(struct loop **out_loop, struct error *error)
{
	struct loop *loop = calloc(1, sizeof(*loop));
	require(loop != NULL);
	loop->platform.ops = &loop_ops;
	int code = uv_loop_init(&loop->uv);
	if (code != 0) {
		free(loop);
		return fail(error, ERROR_IO, "cannot make the event loop: %s", uv_strerror(code));
	}
	code = uv_async_init(&loop->uv, &loop->wake, wake_received);
	if (code != 0) {
		uv_loop_close(&loop->uv);
		free(loop);
		return fail(error, ERROR_IO, "cannot make the event loop: %s", uv_strerror(code));
	}
	loop->wake.data = loop;
	/* uv_prepare_init() cannot fail; without the idle time only the histogram is wrong. */
	uv_loop_configure(&loop->uv, UV_METRICS_IDLE_TIME);
	uv_prepare_init(&loop->uv, &loop->before_wait);
	loop->before_wait.data = loop;
	uv_prepare_start(&loop->before_wait, tick_measure);
	uv_unref((uv_handle_t *)&loop->before_wait);
	histogram_init(&loop->ticks, tick_bounds, COUNT(tick_bounds));
	require(pthread_mutex_init(&loop->finished_mutex, NULL) == 0);
	/* Writing to a closed pipe or socket must be an error of write(), not end the process. */
	signal(SIGPIPE, SIG_IGN);
	bool writer = lane_open(&loop->writer, loop, 1, error);
	bool reader = writer && lane_open(&loop->reader, loop, LOOP_READERS, error);
	if (writer && reader) {
		*out_loop = loop;
		return true;
	}
	if (writer)
		lane_close(&loop->writer);
	uv_close((uv_handle_t *)&loop->wake, NULL);
	uv_close((uv_handle_t *)&loop->before_wait, NULL);
	uv_run(&loop->uv, UV_RUN_DEFAULT);
	uv_loop_close(&loop->uv);
	pthread_mutex_destroy(&loop->finished_mutex);
	free(loop);
	return false;
}

struct platform *loop_platform(struct loop *loop)
{
	return &loop->platform;
}

struct uv_loop_s *loop_uv(struct loop *loop)
{
	return &loop->uv;
}

struct flight *loop_flight(struct loop *loop)
{
	return &loop->flight;
}

bool loop_watch(struct loop *loop, const char *folder, flight_stalled *stalled, void *context,
		struct error *error)
{
	if (!watchdog_start(&loop->flight, folder, stalled, context, error))
		return false;
	flight_on_crash(&loop->flight);
	return true;
}

const struct histogram *loop_ticks(const struct loop *loop)
{
	return &loop->ticks;
}

int64_t loop_tick_cpu_most_us(const struct loop *loop)
{
	return loop->tick_cpu_most_us;
}

uint64_t loop_stalls(const struct loop *loop)
{
	return atomic_load(&loop->flight.stalls);
}

struct loop_queue loop_queue(struct loop *loop, enum platform_lane lane)
{
	return lane_queue(lane == LANE_WRITER ? &loop->writer : &loop->reader);
}

void loop_run(struct loop *loop)
{
	uv_run(&loop->uv, UV_RUN_DEFAULT);
}

void loop_stop(struct loop *loop)
{
	uv_stop(&loop->uv);
}

static void close_rest(uv_handle_t *handle, void *context)
{
	(void)context;
	if (!uv_is_closing(handle))
		uv_close(handle, NULL);
}

void loop_free(struct loop *loop)
{
	if (loop == NULL)
		return;
	loop->closing = true;
	loop_timers_close(loop);
	/* A done() may submit another job: repeat until both lanes and the list are empty. */
	do {
		lane_wait(&loop->writer);
		lane_wait(&loop->reader);
	} while (finished_jobs_complete(loop));
	lane_close(&loop->writer);
	lane_close(&loop->reader);
	loop_children_close(loop);
	uv_walk(&loop->uv, close_rest, NULL);
	/* A pending loop_stop() makes the first uv_run() return early, so run until all handles
	 * are closed. */
	while (uv_run(&loop->uv, UV_RUN_DEFAULT) != 0)
		;
	require(uv_loop_close(&loop->uv) == 0);
	pthread_mutex_destroy(&loop->finished_mutex);
	slots_done(&loop->timers);
	slots_done(&loop->children);
	watchdog_stop(&loop->flight);
	free(loop);
}

void loop_on_stop_signal(struct loop *loop, platform_callback *callback, void *context)
{
	loop->on_signal = callback;
	loop->on_signal_context = context;
	if (loop->watches_signals)
		return;
	loop->watches_signals = true;
	loop->interrupt.data = loop;
	loop->terminate.data = loop;
	require(uv_signal_init(&loop->uv, &loop->interrupt) == 0);
	require(uv_signal_init(&loop->uv, &loop->terminate) == 0);
	require(uv_signal_start(&loop->interrupt, signal_received, SIGINT) == 0);
	require(uv_signal_start(&loop->terminate, signal_received, SIGTERM) == 0);
}
