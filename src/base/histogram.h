/* base/histogram.h -- histogram with fixed upper bounds, as in Prometheus.
 *
 * The caller passes the bounds in ascending order and keeps them alive as long as the histogram.  A
 * value above the last bound counts only in `count` and `sum`.  `counts` are not cumulative: the
 * printer adds them up.  A histogram belongs to one thread.
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
