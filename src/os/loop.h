/* os/loop.h -- event loop of the program: a libuv loop, one writer thread, a few reader threads.
 *
 * This is the platform (platform.h) of the real program.  loop_new() creates the loop, loop_run()
 * runs it until loop_stop().  loop_free() finishes all queued jobs (it calls their done(), and also
 * finishes the jobs which these submit), joins the threads and closes everything else: timers do
 * not fire any more; child processes are killed with their process group and their done() is not
 * called. loop_uv() is for net/ and os/process.c only.
 *
 * The loop records how long each iteration ("tick") was busy, and its flight recorder (flight.h)
 * records what it was doing.  loop_watch() starts a watchdog thread that reports stalls.
 */
#ifndef OS_LOOP_H
#define OS_LOOP_H

#include "base/error.h"
#include "base/histogram.h"
#include "os/flight.h"
#include "os/platform.h"

struct loop;
struct uv_loop_s;

MUST_CHECK bool loop_new(struct loop **out_loop, struct error *error);
struct platform *loop_platform(struct loop *loop);
struct uv_loop_s *loop_uv(struct loop *loop);
void loop_run(struct loop *loop);
void loop_stop(struct loop *loop); /* from the loop thread */
void loop_free(struct loop *loop);
struct flight *loop_flight(struct loop *loop);
/* Starts the watchdog: it reports stalls to `stalled` and writes the flight recorder into the
 * folder on a stall and on a crash. */
MUST_CHECK bool loop_watch(struct loop *loop, const char *folder, flight_stalled *stalled,
			   void *context, struct error *error);
/* Busy time of the ticks, in seconds; number of stalls so far. */
const struct histogram *loop_ticks(const struct loop *loop);
/* The largest CPU time of one tick so far. */
int64_t loop_tick_cpu_most_us(const struct loop *loop);
uint64_t loop_stalls(const struct loop *loop);
/* Number of jobs that wait for a thread of the lane, and how long the oldest has been waiting. */
struct loop_queue {
	size_t depth;
	int64_t oldest_us;
};
struct loop_queue loop_queue(struct loop *loop, enum platform_lane lane);
/* SIGINT and SIGTERM call `callback` on the loop thread.  (loop_new() ignores SIGPIPE.) */
void loop_on_stop_signal(struct loop *loop, platform_callback *callback, void *context);

#endif
