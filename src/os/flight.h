/* os/flight.h -- flight recorder: the most recent activities ("phases") of the loop thread.
 *
 * Code that calls out of the loop (done() of a job, a timer, a request handler) marks the call as a
 * phase:
 *
 *	struct flight_mark mark = flight_begin(loop_flight(loop), "request", exchange);
 *	... the call ...
 *	flight_end(loop_flight(loop), mark);
 *
 * The time of a phase depends on the machine and its load.  The number of bytes that were parsed,
 * printed, copied, hashed and freed in it does not; the recorder keeps both (base/work.h).
 *
 * Phases may nest; names are string literals.  The recorder keeps the last LIMIT_FLIGHT_PHASES
 * phases in fixed memory.  Only the loop thread records; any thread and a signal handler may
 * print.
 *
 * After loop_watch(), a phase that occupies the loop for more than LIMIT_LOOP_STALL_MS is a stall:
 * it is counted and reported to the callback, and the recorder is written to flight-<ms>.txt in
 * the data folder, which keeps the newest LIMIT_FLIGHT_FILES of these files.  The recorder is also
 * written when the process aborts or faults, before the signal ends the process.
 */
#ifndef OS_FLIGHT_H
#define OS_FLIGHT_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/limits.h"
#include "base/work.h"

struct flight_phase {
	atomic_uint_least64_t number; /* from 1 */
	_Atomic(const char *) name;
	atomic_uint_least64_t subject;
	atomic_int_least64_t start_us;
	atomic_int_least64_t took_us; /* -1 = in progress */
	atomic_uint_least64_t bytes;  /* all kinds of work together; set when the phase ends */
};

struct flight_mark {
	const char *name;
	uint64_t subject, number, outer;
	int64_t start_us;
	struct work before; /* what the loop thread had done */
};

struct watchdog;

struct flight {
	struct flight_phase phases[LIMIT_FLIGHT_PHASES];
	atomic_uint_least64_t count;   /* phases begun so far */
	atomic_uint_least64_t current; /* number of the innermost phase in progress; 0 = none */
	atomic_uint_least64_t named;   /* number of the last phase reported as a stall */
	atomic_uint_least64_t stalls;
	struct work total, most;   /* of outermost phases: their sum, and the largest of one */
	bool inner_stalled;        /* an inner phase stalled: do not report the outer one too */
	bool stalled;              /* a phase stalled since the last flight_tick() */
	struct watchdog *watchdog; /* NULL = not watched */
};

struct flight_mark flight_begin(struct flight *flight, const char *name, uint64_t subject);
void flight_end(struct flight *flight, struct flight_mark mark);
/* A tick of the loop ended, in which the loop was busy for this long. */
void flight_tick(struct flight *flight, int64_t busy_us);

/* Writes the recorder as text; safe in a signal handler. */
void flight_print(const struct flight *flight, const char *why, int file);

/* ---- the watchdog: a thread that checks the current phase --------------------------------- */

struct flight_stall {
	const char *phase;
	uint64_t subject;
	int64_t lasted_us; /* so far, or in total if the phase has ended */
	bool lasts;        /* the phase has not ended: a second report follows then */
	bool again;        /* this is the second report, without a file */
	const char *file;  /* name of the file written, "" when writing failed */
};
/* Called on the watchdog's thread. */
typedef void flight_stalled(void *context, const struct flight_stall *stall);

struct error;
bool watchdog_start(struct flight *flight, const char *folder, flight_stalled *stalled,
		    void *context, struct error *error);
void watchdog_stop(struct flight *flight);
/* Wakes the thread when the loop becomes busy again. */
void watchdog_wake(struct watchdog *watchdog);
/* Reports a stall that has already ended; `again`: it was reported while it lasted. */
void watchdog_tell(struct watchdog *watchdog, const char *phase, uint64_t subject,
		   int64_t lasted_us, bool again);
bool watchdog_dozes(const struct watchdog *watchdog); /* true while the thread sleeps */
/* SIGABRT, SIGSEGV, SIGBUS, SIGFPE and SIGILL write this recorder into the watched folder. */
void flight_on_crash(struct flight *flight);

/* Blocks all signals except faults in the calling thread, so that new threads inherit the mask and
 * only the loop thread receives signals.  A fault must stay unblocked: the kernel would end the
 * process without running the crash handler. */
void flight_block_signals(sigset_t *out_before);

int64_t flight_now_us(void);

#endif
