/* engine/budget.h -- budgets: no turn is requested that could exceed one.
 *
 * A turn reserves the most that it can cost before it is requested: the tokens of its request at the
 * highest input price, and max_tokens, which is sent along, at the output price.  turn.requested
 * records the amount.  turn.finished replaces it by the cost.  If the cost is not known, because the
 * turn failed, was cut or was interrupted by a crash, the whole amount is booked as spent: the
 * provider may have charged it.
 *
 *	spent + reserved <= limit, at any time, for models with a known price
 *
 * A run may have a budget of its own, which needs no guard in the store, because a run has one stream
 * of decisions.  Named budgets limit many runs:
 *
 *	agent:NAME       turns of the agent
 *	profile:NAME     turns of runs of the profile
 *	day:YYYY-MM-DD   turns that are requested on this day, in UTC
 *	server           all turns
 *
 * turn.requested records the names, in this order, of those that have a limit; so the day is that of
 * the request, also when the turn ends on the next one.  The caller tells what is spent and reserved
 * by others (struct engine_budgets) and moves guards of the store in the commit (active/ledger.h).
 *
 * A turn that does not fit while reservations are open, or while others wait for the same budget,
 * waits; in a run, turns wait in the order in which they became ready.  A turn waits for the first
 * budget that does not allow it, and all turns ask in the same order, so no two wait for each other.
 * One that does not fit although nothing is reserved pauses the run; a higher limit continues it, and
 * the end of the day if it is a daily budget.  Turns of models without a known price reserve nothing.
 */
#ifndef ENGINE_BUDGET_H
#define ENGINE_BUDGET_H

#include "engine/decide.h"
#include "engine/usage.h"

struct run_graph_agent;
struct run_snapshot;

/* Picodollars per token; context_window 0 = unknown. */
struct engine_price {
	int64_t input, output,
		context_window; /* input: the highest of input, cache read and write */
};

struct engine_prices {
	/* False = unknown. */
	bool (*find)(const void *context, const struct run_graph_agent *agent,
		     struct engine_price *out_price);
	const void *context;
};

/* A named budget as it was before this decision, in picodollars. */
struct engine_budget {
	int64_t limit;
	int64_t used;     /* spent and reserved together */
	int64_t reserved; /* by turns under way */
	bool ahead;       /* turns of other runs wait for it already */
};

struct engine_budgets {
	/* False = it has no limit. */
	bool (*find)(const void *context, struct str name, struct engine_budget *out_budget);
	const void *context;
};

enum budget_answer { BUDGET_NONE, BUDGET_FITS, BUDGET_WAIT, BUDGET_EXHAUSTED };

/* A turn that wants to be requested, and the answer. */
struct budget_question {
	const struct run_graph_agent *agent;
	int64_t bytes; /* of its request */
	int64_t now;
	/* out */
	int64_t amount; /* what it reserves */
	bool reserves;
	struct str_list budgets;   /* named ones that it reserves of */
	struct str budget;         /* WAIT, EXHAUSTED: which one; "" = the run's own */
	struct engine_budget left; /* EXHAUSTED: of that one, by now */
};

/* Of the run's own budget, in picodollars; -1 = it has none. */
int64_t budget_limit(const struct run *run);
/* The max_tokens to send with a turn of the agent; 0 = no budget limits it. */
int64_t budget_max_tokens(const struct run *run, const struct run_graph_agent *agent, int64_t now,
			  const struct engine_values *values);
enum budget_answer budget_ask(const struct run *run, struct budget_question *question,
			      const struct engine_values *values, struct decision *d);
/* Why an exhausted budget does not allow the turn. */
struct failure budget_refusal(const struct activation *activation,
			      const struct budget_question *question, struct arena *arena);
/* Pauses the run, which does not unwind: then it cannot be paused, and the step fails. */
void budget_pause(struct run *run, const struct activation *activation,
		  const struct budget_question *question, struct decision *d);
/* Closes a turn with a reservation that a crash interrupted: it is booked and asked again, if the
 * budget allows.  False when the effect has no reservation. */
bool budget_restart(struct run *run, const struct activation *activation, int64_t now,
		    struct decision *d);
/* Whether the run is paused for the budget of a day that is over. */
bool budget_day_is_over(const struct run *run, int64_t now);

/* ---- what a decision moves ------------------------------------------------------------------ */

/* In picodollars. */
struct budget_move {
	struct str name;
	int64_t cost, taken, released; /* of turns that ended, were requested, ended */
};

/* Remembers what the run has of named budgets; the first call for a decision counts. */
void budget_note_totals(const struct run *run, struct decision *d);
/* What the decision so far moves, by name; none for a decision without turns. */
struct budget_move *budget_moves(const struct run *run, const struct decision *d,
				 struct arena *arena, size_t *out_count);

/* ---- changes of the state, by evolve(), budget_state.c -------------------------------------- */

void budget_reserve(struct run *run, const struct uuid *effect, int64_t amount,
		    struct str_list budgets);
/* `known`: the cost is counted as usage.  Otherwise the reservation is booked. */
void budget_settle(struct run *run, const struct uuid *effect, bool known, int64_t cost);
void budget_print(const struct run *run, struct arena *arena, struct run_snapshot *out);
void budget_restore(struct run *run, const struct run_snapshot *from);
/* At most nine million dollars. */
int64_t budget_picodollars(double dollars);
/* Sums that stop at the greatest number. */
int64_t budget_add(int64_t a, int64_t b);

#endif
