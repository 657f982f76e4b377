/* os/loop_internal.h -- the loop's insides, for loop.c, loop_timer.c, loop_lane.c and process.c
 * only.
 *
 * Who touches what: `finished` is shared under its mutex, a lane is shared under its own; all the
 * rest belongs to the loop thread.
 */
#ifndef OS_LOOP_INSIDE_H
#define OS_LOOP_INSIDE_H

#include <pthread.h>
#include <uv.h>

#include "base/slots.h"
#include "os/loop.h"

enum { LOOP_READERS = 2, LOOP_READ_BYTES = 65536 };

struct job_list {
	struct job *first, *last;
};

/* One queue and the threads that take from it. */
struct lane {
	struct loop *loop;
	pthread_mutex_t mutex;
	pthread_cond_t came; /* a job, or the lane closes */
	pthread_cond_t idle; /* nothing is queued or running any more */
	struct job_list queue;
	size_t unfinished; /* queued and running */
	size_t waiting;    /* queued */
	bool closing;
	unsigned threads, next_thread;
	pthread_t thread[LOOP_READERS];
};

struct loop {
	struct platform platform; /* first: loop_platform() and back */
	uv_loop_t uv;
	uv_async_t wake;
	uv_signal_t interrupt, terminate;
	uv_prepare_t before_wait;
	uint64_t turn_ns, idle_ns; /* when the loop last came round, and its idle time then */
	struct histogram turns;
	struct flight flight;
	bool watches_signals;
	bool closing; /* loop_free() runs: no timer starts any more */
	platform_callback *on_signal;
	void *on_signal_context;
	struct lane writer, reader;
	pthread_mutex_t finished_mutex;
	struct job_list finished;
	struct slots timers, children;
	char read_bytes[LOOP_READ_BYTES]; /* what a pipe gave, for the length of one callback */
};

static inline struct loop *loop_of(struct platform *platform)
{
	return (struct loop *)(void *)platform;
}

void job_list_add(struct job_list *list, struct job *job);
struct job *job_list_take(struct job_list *list);

/* Hands a job back: its done() will be called on the loop.  From any thread. */
void loop_finish(struct loop *loop, struct job *job);

MUST_CHECK bool lane_open(struct lane *lane, struct loop *loop, unsigned threads,
			  struct error *error);
void lane_submit(struct lane *lane, struct job *job);
struct loop_queue lane_queue(struct lane *lane);
void lane_wait(struct lane *lane);  /* until nothing is queued or running */
void lane_close(struct lane *lane); /* joins */

uint64_t loop_timer_start(struct platform *platform, int64_t delay_us, platform_callback *callback,
			  void *context, uint64_t argument);
void loop_timer_stop(struct platform *platform, uint64_t timer);
void loop_timers_close(struct loop *loop);

/* Kills every child's group and forgets it; its done() is not called. */
void loop_children_close(struct loop *loop);

#endif
