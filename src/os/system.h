/* os/system.h -- the one door for everything that is not determined: time, dice, timers and
 * work on other threads.
 *
 * Two backends behind one vtable (architecture R20): loop.c on a libuv loop for the real
 * program, and tests/sim's deterministic twin that runs everything on one thread from a seed.
 * Runtime and store use only this header, so they run unchanged in both.
 *
 * Threads: every callback (timer, done, next) runs on the loop thread.  job->run runs on the
 * job's lane: LANE_WRITER is one thread, jobs in order; LANE_READER is a small pool, each of its
 * threads with a number 0 <= thread < system_reader_threads().  Nothing else crosses threads.
 *
 * Ownership: a job is made by the caller and must live until its done() was called; done() may
 * free it.  A timer is named by its id; stopping one that has fired is harmless.
 */
#ifndef OS_SYSTEM_H
#define OS_SYSTEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum system_lane { LANE_WRITER, LANE_READER };

struct job {
	void (*run)(struct job *job, unsigned thread); /* on the lane's thread */
	void (*done)(struct job *job);                 /* on the loop thread */
	const char *name;  /* for the flight recorder, a literal; NULL = "job" */
	struct job *next;  /* the lane's queue; not the caller's */
	int64_t queued_us; /* likewise */
};

typedef void system_callback(void *context, uint64_t argument);

struct system;

struct system_ops {
	int64_t (*wall_us)(struct system *system);
	int64_t (*mono_us)(struct system *system);
	void (*random)(struct system *system, void *bytes, size_t size);
	uint64_t (*timer_start)(struct system *system, int64_t delay_us, system_callback *callback,
				void *context, uint64_t argument);
	void (*timer_stop)(struct system *system, uint64_t timer);
	void (*submit)(struct system *system, enum system_lane lane, struct job *job);
	unsigned (*reader_threads)(struct system *system);
};

struct system {
	const struct system_ops *ops;
};

/* Microseconds since 1970 UTC; may jump. */
int64_t system_wall_us(struct system *system);
/* Microseconds from an arbitrary start; never goes back. */
int64_t system_mono_us(struct system *system);
void system_random(struct system *system, void *bytes, size_t size);
/* Calls callback(context, argument) once, on the loop, not before delay_us have passed
 * (0 or less: on the loop's next turn).  The id is never 0. */
uint64_t system_timer_start(struct system *system, int64_t delay_us, system_callback *callback,
			    void *context, uint64_t argument);
void system_timer_stop(struct system *system, uint64_t timer);
void system_submit(struct system *system, enum system_lane lane, struct job *job);
unsigned system_reader_threads(struct system *system);

#endif
