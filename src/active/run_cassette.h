/* active/run_cassette.h -- the cassette that a run records or replays.
 *
 * A start may name one: `record` keeps the replies of its agents' models, `replay` answers in place of
 * the models.  The name is compiled into the graph (definition/agent_driver.h), so it is pinned with the
 * run.  A new cassette belongs to the run that has claimed it: cassettes/NAME/run has the run's id.
 *
 * On a reader thread.
 */
#ifndef ACTIVE_RUN_CASSETTE_H
#define ACTIVE_RUN_CASSETTE_H

#include "base/sha256.h"
#include "base/error.h"

struct definition_reading;
struct executor;
struct run_graph;
struct run_start;
struct uuid;

/* Whether the start names a cassette: then its graph is not the one of other starts. */
bool run_cassette_is_named(const struct run_start *start);
/* Tells the compiler, and adds the names to the hash of what the graph is compiled from. */
void run_cassette_read(const struct run_start *start, struct definition_reading *reading,
		       struct sha256 *source);
/* The last check of a start.  Claims the cassette that is recorded: CONFLICT when it exists and the
 * start does not append to it, INVALID when the graph has no agent to record.  NOT_FOUND when there is
 * no cassette to replay. */
MUST_CHECK bool run_cassette_open(const struct executor *executor, const struct run_start *start,
				  const struct run_graph *graph, const struct uuid *run,
				  struct error *error);

#endif
