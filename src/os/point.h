/* os/point.h -- failpoints: places where the crash rig pulls the plug.
 *
 * POINT("store.after_commit") costs one predictable branch.  Two environment variables, read
 * once by point_setup():
 *	BATON_POINTS        "name=kill@3;other=kill"   SIGKILL ourselves the third time we pass
 *	BATON_POINTS_TRACE  a file to which every passed name is appended, one a line
 * A point stands before and after every durable transition.
 */
#ifndef OS_POINT_H
#define OS_POINT_H

#include <stdbool.h>

extern bool point_active;

void point_setup(void);
void point_passed(const char *name);

#define POINT(name)                                        \
	do {                                               \
		if (__builtin_expect(point_active, false)) \
			point_passed(name);                \
	} while (0)

#endif
