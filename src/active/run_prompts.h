/* active/run_prompts.h -- the named prompts that a run has, for its first event.
 *
 * The texts are in the graph; ids and versions are recorded with the run, too, so that they can be shown
 * without it.
 */
#ifndef ACTIVE_RUN_PROMPTS_H
#define ACTIVE_RUN_PROMPTS_H

struct arena;
struct graph;
struct run_start;

/* Records id and version of each named prompt of the graph. */
void run_prompts_record(struct run_start *start, const struct graph *graph, struct arena *arena);

#endif
