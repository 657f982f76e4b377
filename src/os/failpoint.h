/* os/failpoint.h -- failpoints: places where a test kills, holds or fills the disk.
 *
 * FAILPOINT("store.after_commit") costs one predictable branch.  failpoint_setup() reads three
 * environment variables once:
 *
 *	BATON_POINTS        rules `name=action`, separated by semicolons
 *	BATON_POINTS_GATE   the gate of `hold`: a FIFO, opened once
 *	BATON_POINTS_TRACE  a file to which the name of every passed failpoint is appended
 *
 * Actions:
 *
 *	kill, kill@3        SIGKILL the process at the first or third passing
 *	abort, abort@3      call abort(), as a broken invariant does
 *	hold, hold@3-8      block the thread until it has read one byte from the gate, at the first
 *	                    passing or from the third to the eighth: the test decides when
 *	full, full@3-8      report that there is no room; only at a FAILPOINT_FULL: on the disk
 *	                    (store.before_commit) or for a client's stream (http.write)
 *	limit@3             replace a limit that no test can reach by 3; only at a FAILPOINT_LIMIT
 *
 * A FAILPOINT stands before and after every durable transition, and the crash rig kills at each of
 * them.  A FAILPOINT_GATE stands where nothing durable happens: a test holds a thread there, and
 * the queue behind the thread exists for certain.
 */
#ifndef OS_FAILPOINT_H
#define OS_FAILPOINT_H

#include <stdbool.h>
#include <stdint.h>

extern bool failpoint_active;

void failpoint_setup(void);
/* The simulator sees every passing instead; NULL = no longer.  For a process with one thread. */
typedef void failpoint_watcher(const char *name);
void failpoint_watch(failpoint_watcher *watcher);
void failpoint_passed(const char *name);
bool failpoint_full(const char *name);
int64_t failpoint_limit(const char *name, int64_t limit);

#define FAILPOINT(name)                                        \
	do {                                                   \
		if (__builtin_expect(failpoint_active, false)) \
			failpoint_passed(name);                \
	} while (0)

/* Like FAILPOINT, but the crash tests need not kill here. */
#define FAILPOINT_GATE(name) FAILPOINT(name)

/* True when a rule simulates a full disk here.  Passes are counted per rule. */
#define FAILPOINT_FULL(name) (__builtin_expect(failpoint_active, false) && failpoint_full(name))

/* The limit, or the value of a rule that replaces it. */
#define FAILPOINT_LIMIT(name, limit) \
	(__builtin_expect(failpoint_active, false) ? failpoint_limit(name, limit) : (limit))

#endif
