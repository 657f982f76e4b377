/* active/ledger.h -- named budgets in this process: what is used of them, and who waits for them.
 *
 * Guards of the store limit what turns spend and reserve, in the commit that requests a turn
 * (architecture R13); the ledger knows their values, so that a turn is not decided in vain.  It counts
 * what is committed and, for what is at the writer, the worse of both outcomes: a reservation counts
 * from its decision on, a settlement when it is committed.  So the ledger never allows what a guard
 * would refuse, unless the guard knows better; then the ledger learns from it, and the turn is decided
 * again.
 *
 * A run with a turn that waits has one place, in the queue of one budget, first in, first out.  A
 * settlement, a higher limit and a run that leaves the queue wake the runs that fit, and no others.  The
 * queue is not stored: recovery loads every run with a step that can start, and the run asks again.
 * Runs that are paused for a budget have a row among the open effects, so that a higher limit finds
 * them after a restart, too.
 *
 * On the loop thread.
 */
#ifndef ACTIVE_LEDGER_H
#define ACTIVE_LEDGER_H

#include "active/executor.h"
#include "base/map.h"
#include "engine/budget.h"

struct active_run;
struct commit_cycle;
struct ledger_entry;

struct ledger {
	struct map limits;            /* name of a document -> struct ledger_limit */
	struct map entries;           /* name of a budget -> struct ledger_entry */
	struct map waiting;           /* run -> struct ledger_waiter: a turn of it waits */
	struct map paused;            /* run -> struct ledger_waiter: it is paused */
	struct ledger_entry *changed; /* their queues are to be looked at */
	bool looks;                   /* that is about to happen */
	uint64_t wakes, commits;      /* since the start */
};

/* Answers for engine_budgets; the context is an active run. */
bool ledger_find(const void *active_run, struct str name, struct engine_budget *out_budget);

/* The decision of the cycle is complete: it takes, keeps or leaves its place in a queue. */
void ledger_decided(struct commit_cycle *cycle, const struct active_run *active);
/* Counts what the append moves, from now on as if at the writer, and adds its guards. */
void ledger_fill_append(struct commit_cycle *cycle, struct active_run *active);
/* The writer's answer: it is committed, or nothing was stored. */
void ledger_committed(struct commit_cycle *cycle, const struct active_run *active);
void ledger_refused(struct commit_cycle *cycle);
/* Whether the guard that refused the append belongs to a budget; then the ledger learns its value. */
bool ledger_learn(const struct commit_cycle *cycle, struct active_run *active);
/* Whether a turn of the run waits in a queue; such a run need not be in memory. */
bool ledger_waits(const struct executor *executor, const struct uuid *run);
/* The run cannot be loaded: it waits no more. */
void ledger_forget(struct executor *executor, const struct uuid *run);

/* ---- for the rooms above ---------------------------------------------------------------- */

/* The limit of the budgets of this document, in picodollars; -1 = none. */
void ledger_set_limit(struct executor *executor, struct str document, int64_t limit);
/* The document of a budget: "day" for that of any day, otherwise the name itself. */
struct str ledger_document(struct str name);

struct ledger_queue {
	int64_t waiting, paused; /* runs */
};

/* The queues of the budgets of this document. */
struct ledger_queue ledger_queue(const struct executor *executor, struct str document);
/* The counters may have been recomputed: reads them again. */
void ledger_reload(struct executor *executor);

/* Reads limits, counters and paused runs from the store; then calls `done`. */
void ledger_recover(struct executor *executor, platform_callback *done, void *context);
/* Recovery is over: runs may be woken. */
void ledger_look(struct executor *executor);
void ledger_discard(struct executor *executor);

#endif
