/* os/platform.h -- interface to everything nondeterministic: clocks, random bytes, timers, threads.
 *
 * Two implementations share one vtable: loop.c on a libuv loop for the real program, and the
 * deterministic simulator of tests/sim, which runs everything on one thread and takes randomness
 * from a number.  Runtime and store use only this header, so they run unchanged on both.
 *
 * Threads: every callback (of a timer, or done() of a job) runs on the loop thread.  job->run runs
 * on a thread of the job's lane: LANE_WRITER is one thread that runs jobs in order; LANE_READER is
 * a small pool whose threads are numbered 0 <= thread < platform_reader_threads().  No other code
 * runs on other threads.
 *
 * Ownership: the caller owns a job and keeps it alive until done() is called; done() may free it. A
 * timer is addressed by its id; stopping a timer that has fired is harmless.
 */
#ifndef OS_PLATFORM_H
#define OS_PLATFORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum platform_lane { LANE_WRITER, LANE_READER };

struct job {
	void (*run)(struct job *job, unsigned thread); /* on the lane's thread */
	void (*done)(struct job *job);                 /* on the loop thread */
	const char *name;  /* for the flight recorder, a literal; NULL = "job" */
	struct job *next;  /* private to the platform */
	int64_t queued_us; /* private to the platform */
};

typedef void platform_callback(void *context, uint64_t argument);

struct platform;

struct platform_ops {
	int64_t (*wall_us)(struct platform *platform);
	int64_t (*mono_us)(struct platform *platform);
	void (*random)(struct platform *platform, void *bytes, size_t size);
	uint64_t (*timer_start)(struct platform *platform, int64_t delay_us,
				platform_callback *callback, void *context, uint64_t argument);
	void (*timer_stop)(struct platform *platform, uint64_t timer);
	void (*submit)(struct platform *platform, enum platform_lane lane, struct job *job);
	unsigned (*reader_threads)(struct platform *platform);
	void (*child_await)(struct platform *platform, platform_callback *callback, void *context,
			    uint64_t argument);
};

struct platform {
	const struct platform_ops *ops;
};

/* Wall clock: microseconds since 1970 UTC; may jump. */
int64_t platform_wall_us(struct platform *platform);
/* Monotonic clock: microseconds since an arbitrary start; never goes back. */
int64_t platform_mono_us(struct platform *platform);
void platform_random(struct platform *platform, void *bytes, size_t size);
/* Calls callback(context, argument) once on the loop thread, not before delay_us have passed (0 or
 * less: in the loop's next tick).  Returns the timer's id, which is never 0. */
uint64_t platform_timer_start(struct platform *platform, int64_t delay_us,
			      platform_callback *callback, void *context, uint64_t argument);
void platform_timer_stop(struct platform *platform, uint64_t timer);
void platform_submit(struct platform *platform, enum platform_lane lane, struct job *job);
unsigned platform_reader_threads(struct platform *platform);
/* Calls callback(context, argument) once on the loop thread when a child process can start.  All
 * callers wait in one queue, first in, first out; a caller whose turn comes starts its child inside
 * the callback, or gives its place to the next one.  Never called from inside this function. */
void platform_child_await(struct platform *platform, platform_callback *callback, void *context,
			  uint64_t argument);

#endif
