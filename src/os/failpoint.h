/* os/failpoint.h -- failpoints: places where the crash rig pulls the plug, or holds it.
 *
 * FAILPOINT("store.after_commit") costs one predictable branch.  Environment variables, read once
 *by failpoint_setup(): BATON_POINTS        rules, `name=action` with a semicolon between: kill,
 *kill@3          SIGKILL ourselves the first or third time we pass abort, abort@3        abort(),
 *as a broken invariant would hold, hold@3          whoever passes waits until a byte can be read
 *from the gate; the test decides when: nothing depends on how long things take full, full@3-8 there
 *is no room on the disk the first time we pass, or from the third to the eighth; only at points
 *that ask (FAILPOINT_FULL: store.before_commit) limit@3               a limit that nobody can fill
 *in a test is 3; only at places that ask (FAILPOINT_LIMIT: writer.queue, live.renew)
 *	BATON_POINTS_GATE   the gate of `hold`: a FIFO, opened once
 *	BATON_POINTS_TRACE  a file to which every passed name is appended, one a line
 * A point stands before and after every durable transition.
 */
#ifndef OS_POINT_H
#define OS_POINT_H

#include <stdbool.h>
#include <stdint.h>

extern bool failpoint_active;

void failpoint_setup(void);
void failpoint_passed(const char *name);
bool failpoint_full(const char *name);
int64_t failpoint_limit(const char *name, int64_t limit);

#define FAILPOINT(name)                                        \
	do {                                                   \
		if (__builtin_expect(failpoint_active, false)) \
			failpoint_passed(name);                \
	} while (0)

/* Is the disk full here, by order?  Counts its own passings. */
#define FAILPOINT_FULL(name) (__builtin_expect(failpoint_active, false) && failpoint_full(name))

/* The limit, or the one that was ordered. */
#define FAILPOINT_LIMIT(name, limit) \
	(__builtin_expect(failpoint_active, false) ? failpoint_limit(name, limit) : (limit))

#endif
