/* base/limits.c -- rejection counters. */
#include "base/limits.h"

#include <stdatomic.h>

static atomic_uint_least64_t hits[REJECTION_COUNT];

void limit_hit(enum rejection rejection)
{
	atomic_fetch_add_explicit(&hits[rejection], 1, memory_order_relaxed);
}

uint64_t limit_hits(enum rejection rejection)
{
	return atomic_load_explicit(&hits[rejection], memory_order_relaxed);
}
