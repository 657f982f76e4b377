/* engine/decision_budget.h -- what a decision has to do with budgets (engine/budget.h). */
#ifndef ENGINE_DECISION_BUDGET_H
#define ENGINE_DECISION_BUDGET_H

#include "base/str.h"

struct budget_total;

struct decision_budget {
	/* A turn waits until others settle their reservations: of a named budget, or, if that is "",
	 * of the run's own. */
	bool waits;
	struct str waited_for;
	int64_t amount; /* what the turn would reserve */
	/* What the run had of named budgets before the first event of a turn. */
	bool has_totals;
	const struct budget_total *totals;
	size_t total_count;
};

#endif
