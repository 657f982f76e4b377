/* os/platform.h -- the one door for everything that is not determined: time, dice, timers and
 * work on other threads.
 *
 * Two backends behind one vtable (architecture R20): loop.c on a libuv loop for the real
 * program, and tests/sim's deterministic twin that runs everything on one thread from a seed.
 * Runtime and store use only this header, so they run unchanged in both.
 *
 * Threads: every callback (timer, done, next) runs on the loop thread.  job->run runs on the
 * job's lane: LANE_WRITER is one thread, jobs in order; LANE_READER is a small pool, each of its
 * threads with a number 0 <= thread < platform_reader_threads().  Nothing else crosses threads.
 *
 * Ownership: a job is made by the caller and must live until its done() was called; done() may
 * free it.  A timer is named by its id; stopping one that has fired is harmless.
 */
#ifndef OS_SYSTEM_H
#define OS_SYSTEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum platform_lane { LANE_WRITER, LANE_READER };

struct job {
	void (*run)(struct job *job, unsigned thread); /* on the lane's thread */
	void (*done)(struct job *job);                 /* on the loop thread */
	const char *name;  /* for the flight recorder, a literal; NULL = "job" */
	struct job *next;  /* the lane's queue; not the caller's */
	int64_t queued_us; /* likewise */
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
};

struct platform {
	const struct platform_ops *ops;
};

/* Microseconds since 1970 UTC; may jump. */
int64_t platform_wall_us(struct platform *platform);
/* Microseconds from an arbitrary start; never goes back. */
int64_t platform_mono_us(struct platform *platform);
void platform_random(struct platform *platform, void *bytes, size_t size);
/* Calls callback(context, argument) once, on the loop, not before delay_us have passed
 * (0 or less: on the loop's next turn).  The id is never 0. */
uint64_t platform_timer_start(struct platform *platform, int64_t delay_us,
			      platform_callback *callback, void *context, uint64_t argument);
void platform_timer_stop(struct platform *platform, uint64_t timer);
void platform_submit(struct platform *platform, enum platform_lane lane, struct job *job);
unsigned platform_reader_threads(struct platform *platform);

#endif
