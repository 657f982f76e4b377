/* views/run_outline.h -- a run and its steps in Baton's own words, a few of them each.
 *
 * What a person needs to see where a run stands: every activation with its state, its attempts and
 * times, why it failed, and what it waits for.  Whatever it was given and gave is left out, so that
 * the outline of a long run stays small enough to be asked for again and again.
 */
#ifndef VIEWS_OUTLINE_H
#define VIEWS_OUTLINE_H

#include "contract/run_types.h"
#include "views/timeline.h"

/* In the story's arena, and good as long as that is. */
struct run_outline *run_outline(const struct timeline *timeline);

#endif
