/* os/loop.h -- the real system: one libuv loop, a writer thread and a few reader threads.
 *
 * loop_new() makes the loop, loop_run() runs it until loop_stop().  loop_free() finishes the jobs
 * that are queued (their done() is called, and what these submit is finished too), joins the
 * threads and closes what is left: timers do not fire any more, children still running are killed
 * with their group and their done() is not called.  loop_uv() is for net/ and os/process.c only.
 *
 * The loop measures itself: how long each turn was busy, and by its flight recorder (flight.h) what
 * with.  loop_watch() sets a watchdog on it.
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
/* Stalls and the end of the process are written down in the folder, and stalls told. */
MUST_CHECK bool loop_watch(struct loop *loop, const char *folder, flight_stalled *stalled,
			   void *context, struct error *error);
/* How long turns were busy, in seconds; stalls so far. */
const struct histogram *loop_ticks(const struct loop *loop);
uint64_t loop_stalls(const struct loop *loop);
/* Jobs that wait for a lane's thread, and for how long the oldest has. */
struct loop_queue {
	size_t depth;
	int64_t oldest_us;
};
struct loop_queue loop_queue(struct loop *loop, enum platform_lane lane);
/* SIGINT and SIGTERM call `callback` on the loop; SIGPIPE is ignored for the whole process. */
void loop_on_stop_signal(struct loop *loop, platform_callback *callback, void *context);

#endif
