/* os/loop_timer.c -- timers, addressed by id.
 *
 * A timer with a delay is a uv_timer.  A timer without a delay is put on the loop's list of
 * finished jobs instead: libuv fires a due timer in the same tick even when a timer callback
 * started it, so a caller that restarts a timer without delay again and again would starve every
 * socket.
 */
#include "os/loop_internal.h"

#include <stdlib.h>

struct timer {
	uv_timer_t uv;
	struct job job; /* in the loop's list of finished jobs when there is no delay */
	struct loop *loop;
	uint64_t id; /* 0 once stopped */
	bool immediate;
	platform_callback *callback;
	void *context;
	uint64_t argument;
};

static void timer_closed(uv_handle_t *handle)
{
	free(handle->data);
}

static void timer_remove(struct timer *timer)
{
	slots_remove(&timer->loop->timers, timer->id);
	timer->id = 0;
	if (!timer->immediate)
		uv_close((uv_handle_t *)&timer->uv, timer_closed);
}

static void timer_fired(uv_timer_t *handle)
{
	struct timer *timer = handle->data;
	platform_callback *callback = timer->callback;
	void *context = timer->context;
	uint64_t argument = timer->argument;
	struct loop *loop = timer->loop;
	timer_remove(timer);
	struct flight_mark mark = flight_begin(&loop->flight, "timer", 0);
	callback(context, argument);
	flight_end(&loop->flight, mark);
}

static void timer_job_done(struct job *job)
{
	struct timer *timer = (struct timer *)(void *)((char *)job - offsetof(struct timer, job));
	if (timer->id != 0) {
		timer_remove(timer);
		timer->callback(timer->context, timer->argument);
	}
	free(timer);
}

uint64_t loop_timer_start(struct platform *platform, int64_t delay_us, platform_callback *callback,
			  void *context, uint64_t argument)
{
	struct loop *loop = loop_of(platform);
	struct timer *timer = calloc(1, sizeof(*timer));
	require(timer != NULL);
	timer->loop = loop;
	timer->immediate = delay_us <= 0;
	timer->callback = callback;
	timer->context = context;
	timer->argument = argument;
	timer->id = slots_add(&loop->timers, timer);
	if (loop->closing) {
		uint64_t id = timer->id;
		slots_remove(&loop->timers, id);
		free(timer);
		return id;
	}
	if (timer->immediate) {
		timer->job.done = timer_job_done;
		timer->job.name = "immediate timer";
		loop_finish(loop, &timer->job);
		return timer->id;
	}
	timer->uv.data = timer;
	require(uv_timer_init(&loop->uv, &timer->uv) == 0);
	/* The loop's clock is cached and counts whole milliseconds.  Update it, round up and add
	 * one more, so that a timer fires late rather than early. */
	uv_update_time(&loop->uv);
	uint64_t delay_ms = (uint64_t)delay_us / 1000 + 2;
	require(uv_timer_start(&timer->uv, timer_fired, delay_ms, 0) == 0);
	return timer->id;
}

void loop_timer_stop(struct platform *platform, uint64_t id)
{
	struct timer *timer = slots_get(&loop_of(platform)->timers, id);
	if (timer != NULL)
		timer_remove(timer);
}

void loop_timers_close(struct loop *loop)
{
	uint32_t index = 0;
	uint64_t id;
	struct timer *timer;
	while ((timer = slots_next(&loop->timers, &index, &id)) != NULL)
		timer_remove(timer);
}
