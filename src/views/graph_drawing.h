/* views/graph_drawing.h -- a run's graph as boxes and lines, each box with its state.
 *
 * The positions come from the definition (views/layout.h), the states from the timeline.  A node
 * with several activations (rounds or items) is one box with counts.  Its state is that of the most
 * important activation: first one that waits for a person, then one that is running or retrying,
 * then, of the newest activation in each body, failed, cancelled, pending, succeeded, skipped.
 *
 * A node that was never reached in a finished body is skipped, like a node whose container was
 * skipped.  The bodies of finished steps of a compacted run are unknown: their nodes have the state
 * of their container.
 */
#ifndef VIEWS_GRAPH_DRAWING_H
#define VIEWS_GRAPH_DRAWING_H

#include "views/timeline.h"

struct run_picture;

/* The result lives in the timeline's arena. */
const struct run_picture *graph_drawing(const struct timeline *timeline);

#endif
