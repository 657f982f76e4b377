/* base/work.c -- see work.h. */
#include "base/work.h"

_Thread_local struct work work_done;

const char *work_name(enum work_kind kind)
{
	static const char *const names[] = {
#define WORK(constant, name) name,
		WORK_KINDS(WORK)
#undef WORK
	};
	return names[kind];
}
