/* base/work.h -- how many bytes the calling thread has worked through, by kind of work.
 *
 * The functions of this room that can take long count here; the flight recorder (os/flight.h) takes
 * the difference over a phase of the loop.  So a test can ask whether something large was worked
 * through on the loop, and the answer does not depend on how busy the machine is.
 *
 * State: one count a thread, written by that thread alone.
 */
#ifndef BASE_WORK_H
#define BASE_WORK_H

#include <stdint.h>

/*	constant  name      what is counted */
#define WORK_KINDS(WORK)                                             \
	WORK(PARSED, "parsed")   /* JSON text that was read */       \
	WORK(PRINTED, "printed") /* JSON text that was written */    \
	WORK(COPIED, "copied")   /* nodes of trees, by their size */ \
	WORK(HASHED, "hashed")   /* bytes of SHA-256 */              \
	WORK(FREED, "freed")     /* memory of arenas */

enum work_kind {
#define WORK(constant, name) WORK_##constant,
	WORK_KINDS(WORK)
#undef WORK
		WORK_KIND_COUNT
};

struct work {
	uint64_t bytes[WORK_KIND_COUNT];
};

extern _Thread_local struct work work_done;

static inline void work_add(enum work_kind kind, uint64_t bytes)
{
	work_done.bytes[kind] += bytes;
}

const char *work_name(enum work_kind kind);

#endif
