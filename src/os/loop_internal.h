/* os/loop_internal.h -- private to loop.c, loop_timer.c, loop_lane.c, process.c and
 * child_queue.c.
 *
 * Threads: finished_mutex guards `finished`, and each lane has its own mutex.  Everything else
 * belongs to the loop thread.
 */
#ifndef OS_LOOP_INTERNAL_H
#define OS_LOOP_INTERNAL_H

#include <pthread.h>
#include <uv.h>

#include "base/slots.h"
#include "os/loop.h"

enum { LOOP_READERS = 2, LOOP_READ_BYTES = 65536 };

struct job_list {
	struct job *first, *last;
};

/* A queue of jobs and the threads that run them. */
struct lane {
	struct loop *loop;
	pthread_mutex_t mutex;
	pthread_cond_t changed; /* a job was queued, or the lane is closing */
	pthread_cond_t idle;    /* no job is queued or running */
	struct job_list queue;
	size_t unfinished; /* jobs queued or running */
	size_t waiting;    /* jobs queued */
	bool closing;
	unsigned threads, next_thread;
	pthread_t thread[LOOP_READERS];
};

/* Callers that wait for a place for a child process (child_queue.c). */
struct child_queue {
	struct child_waiter *first, *last;
	size_t count;
	bool scheduled; /* the head will be called */
	bool granting;  /* a callback of the head runs: it may start a child */
};

struct loop {
	struct platform platform; /* first member: loop_of() converts back */
	uv_loop_t uv;
	uv_async_t wake;
	uv_signal_t interrupt, terminate;
	uv_prepare_t before_wait;
	uint64_t tick_ns, idle_ns; /* time and total idle time at the start of the tick */
	struct histogram ticks;
	int64_t cpu_us,
		tick_cpu_most_us; /* CPU time of the loop thread: so far, most in one tick */
	struct flight flight;
	bool watches_signals;
	bool closing; /* loop_free() is running: timers no longer start */
	platform_callback *on_signal;
	void *on_signal_context;
	struct lane writer, reader;
	pthread_mutex_t finished_mutex;
	struct job_list finished;
	struct slots timers, children;
	struct child_queue child_queue;
	char read_bytes[LOOP_READ_BYTES]; /* read buffer, valid during one callback */
};

static inline struct loop *loop_of(struct platform *platform)
{
	return (struct loop *)(void *)platform;
}

void job_list_add(struct job_list *list, struct job *job);
struct job *job_list_take(struct job_list *list);

/* Schedules the job's done() on the loop thread.  May be called on any thread. */
void loop_finish(struct loop *loop, struct job *job);

MUST_CHECK bool lane_open(struct lane *lane, struct loop *loop, unsigned threads,
			  struct error *error);
void lane_submit(struct lane *lane, struct job *job);
struct loop_queue lane_queue(struct lane *lane);
void lane_wait(struct lane *lane);  /* blocks until no job is queued or running */
void lane_close(struct lane *lane); /* joins the threads */

uint64_t loop_timer_start(struct platform *platform, int64_t delay_us, platform_callback *callback,
			  void *context, uint64_t argument);
void loop_timer_stop(struct platform *platform, uint64_t timer);
void loop_timers_close(struct loop *loop);

/* Whether there is a place for one more child; whether the caller may take it. */
bool child_queue_has_place(const struct loop *loop);
bool child_queue_may_start(const struct loop *loop);
/* A place may have become free. */
void child_queue_wake(struct loop *loop);
void loop_child_await(struct platform *platform, platform_callback *callback, void *context,
		      uint64_t argument);
void child_queue_close(struct loop *loop);

/* Kills the process group of every child and drops the child without calling its done(). */
void loop_children_close(struct loop *loop);

#endif
