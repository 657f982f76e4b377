/* views/graph_drawing.h -- a run's graph as boxes and lines, each box with its state.
 *
 * Where things stand comes from the definition (views/layout.h), what state they are in from the
 * story.  A node that was begun several times, in rounds or for items, is one box with counts; its
 * state is that of the activation that matters most now: one that asks a person, then one that runs
 * or is tried again, then of the newest in each body one that failed, was cancelled, waits,
 * succeeded or was skipped.
 *
 * A node of a body that was left without it is skipped, like one whose container was.  Of a
 * compacted run nobody knows any more what was in the bodies that are over: their nodes are shown
 * as their container is.
 */
#ifndef VIEWS_PICTURE_H
#define VIEWS_PICTURE_H

#include "views/timeline.h"

/* In the story's arena. */
const struct run_picture *graph_drawing(const struct timeline *timeline);

#endif
