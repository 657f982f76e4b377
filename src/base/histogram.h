/* base/histogram.h -- how often a value was at most this much, for figures that have a spread.
 *
 * The bounds are the caller's, ascending, and must outlive it; a value beyond the last one counts
 * in `count` alone.  `counts` are not cumulative; whoever prints adds them up.  One thread.
 */
#ifndef BASE_HISTOGRAM_H
#define BASE_HISTOGRAM_H

#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"

enum { HISTOGRAM_BOUNDS = 16 };

struct histogram {
	const double *bounds;
	size_t bound_count;
	uint64_t counts[HISTOGRAM_BOUNDS];
	uint64_t count;
	double sum;
};

static inline void histogram_init(struct histogram *histogram, const double *bounds, size_t count)
{
	require(count <= HISTOGRAM_BOUNDS);
	*histogram = (struct histogram){ .bounds = bounds, .bound_count = count };
}

static inline void histogram_add(struct histogram *histogram, double value)
{
	size_t at = 0;
	while (at < histogram->bound_count && value > histogram->bounds[at])
		at++;
	if (at < histogram->bound_count)
		histogram->counts[at]++;
	histogram->count++;
	histogram->sum += value;
}

#endif
