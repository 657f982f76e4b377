/* active/commit_cycle.h -- one command from its decision to the effects behind its commit.
 *
 * A commit cycle holds the command, the decision, the append, and what must happen once the append
 * is committed.  Cycles of one run are committed in order; the next command is decided while the
 * append before is still at the writer.
 */
#ifndef ACTIVE_COMMIT_CYCLE_H
#define ACTIVE_COMMIT_CYCLE_H

#include "active/active_run.h"
#include "active/notices.h"
#include "engine/decide.h"
#include "store/writer.h"

struct commit_cycle {
	struct writer_ticket ticket; /* first: its done() gets it back as a cycle */
	struct executor *executor;
	uint64_t active;
	struct commit_cycle *next; /* in the run's list of appends in flight */
	struct pending_command *pending;
	struct command command; /* the pending one, as it is decided on this state */
	struct arena arena;
	struct decision decision;
	int64_t now, begun_us; /* the same moment by the wall clock and the monotonic one */
	bool decided;          /* the command is; what follows from it may still need values */
	bool held_back;        /* the program stops: steps that could start were not started */
	bool computed;         /* the first pure steps were computed with the run's creation */
	struct str *computing; /* pure steps that this cycle started */
	size_t computing_count;
	struct str *opened_steps; /* steps of append.opened, in its order */
	struct store_guard *guards;
	struct budget_move *moves;       /* of named budgets (ledger.h) */
	size_t move_count, budget_guard; /* index of the first guard of a budget */
	bool flying;                     /* the ledger counts the moves as at the writer */
	int64_t admission_delta; /* 1: the run takes a place under way; -1: it gives it back */
	bool enters_queue;       /* created or retried, the run waits for admission */
	struct uuid parent;      /* the run's; zero = none */
	struct executor_notice notice;
};

/* Fills in the cycle's append from its decision (append_builder.c). */
void append_build(struct commit_cycle *cycle, struct active_run *active);
/* Whether the run can be compacted: TOO_LARGE if its snapshot could not be read again. */
MUST_CHECK bool append_can_compact(struct commit_cycle *cycle, const struct active_run *active,
				   struct error *error);
void commit_cycle_free(struct commit_cycle *cycle);

#endif
