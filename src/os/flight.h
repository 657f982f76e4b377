/* os/flight.h -- the flight recorder: what the loop did last and what it does now.
 *
 * Whoever lets the loop call out (a job's done, a timer, a request …) marks it as a phase:
 *
 *	struct flight_mark mark = flight_begin(loop_flight(loop), "request", exchange);
 *	... the call ...
 *	flight_end(loop_flight(loop), mark);
 *
 * Phases may be nested; names are literals.  The last LIMIT_FLIGHT_PHASES are kept in fixed memory.
 * Only the loop thread writes; any thread, and a signal handler, may print.
 *
 * Once watched (loop_watch), a phase that holds the loop for more than LIMIT_LOOP_STALL_MS is a
 * stall: it is counted, named to the watcher, and the recorder is written to flight-<ms>.txt in the
 * data folder, of which the newest LIMIT_FLIGHT_FILES are kept.  So it is when the process aborts
 * or faults; then the signal takes its course.
 */
#ifndef OS_FLIGHT_H
#define OS_FLIGHT_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/limits.h"

struct flight_phase {
	atomic_uint_least64_t number; /* from 1 */
	_Atomic(const char *) name;
	atomic_uint_least64_t subject;
	atomic_int_least64_t start_us;
	atomic_int_least64_t took_us; /* -1 = under way */
};

struct flight_mark {
	const char *name;
	uint64_t subject, number, outer;
	int64_t start_us;
};

struct watchdog;

struct flight {
	struct flight_phase phases[LIMIT_FLIGHT_PHASES];
	atomic_uint_least64_t count;   /* phases ever begun */
	atomic_uint_least64_t current; /* the innermost under way; 0 = none */
	atomic_uint_least64_t named;   /* the last one that was called a stall */
	atomic_uint_least64_t stalls;
	bool inner_stalled;        /* the phase around it is not to blame */
	bool stalled;              /* there was one since flight_tick() */
	struct watchdog *watchdog; /* NULL = nobody looks */
};

struct flight_mark flight_begin(struct flight *flight, const char *name, uint64_t subject);
void flight_end(struct flight *flight, struct flight_mark mark);
/* The loop has come round; this long it was not waiting. */
void flight_tick(struct flight *flight, int64_t busy_us);

/* Writes the recorder as text; safe in a signal handler. */
void flight_print(const struct flight *flight, const char *why, int file);

/* ---- the watchdog: a thread that looks at the current phase ------------------------------- */

struct flight_stall {
	const char *phase;
	uint64_t subject;
	int64_t lasted_us; /* until now, or until it was over */
	const char *file;  /* what was written, "" when nothing could be */
};
/* On the watchdog's thread. */
typedef void flight_stalled(void *context, const struct flight_stall *stall);

struct error;
bool watchdog_start(struct flight *flight, const char *folder, flight_stalled *stalled,
		    void *context, struct error *error);
void watchdog_stop(struct flight *flight);
/* The loop begins to work after a rest: somebody should look. */
void watchdog_wake(struct watchdog *watchdog);
void watchdog_tell(struct watchdog *watchdog, const char *phase, uint64_t subject,
		   int64_t lasted_us);
bool watchdog_dozes(const struct watchdog *watchdog);
/* SIGABRT, SIGSEGV … of this process write this recorder into the watched folder. */
void flight_on_crash(struct flight *flight);

/* What a thread of ours blocks: all signals are the loop's, except the faults, which belong to
 * whoever makes them (blocked, they would end the process without a word). */
void flight_block_signals(sigset_t *out_before);

int64_t flight_now_us(void);

#endif
