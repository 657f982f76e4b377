/* engine/budget.h -- the budget of a run: no turn is requested that could exceed it.
 *
 * A turn reserves the most that it can cost before it is requested: the tokens of its request at the
 * highest input price, and max_tokens, which is sent along, at the output price.  turn.requested
 * records the amount.  turn.finished replaces it by the cost.  If the cost is not known, because the
 * turn failed, was cut or was interrupted by a crash, the whole amount is booked as spent: the
 * provider may have charged it.
 *
 *	spent + reserved <= limit, at any time, for models with a known price
 *
 * A turn that does not fit while other turns hold reservations waits for them, in the order in which
 * turns became ready.  One that does not fit although nothing is reserved pauses the run; a resume
 * with another limit continues it.  A run has one stream of decisions, so its budget needs no guard
 * in the store.  Turns of models without a known price reserve nothing.
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

enum budget_answer { BUDGET_NONE, BUDGET_FITS, BUDGET_WAIT, BUDGET_EXHAUSTED };

/* In picodollars; -1 = the run has no budget. */
int64_t budget_limit(const struct run *run);
/* The max_tokens to send with a turn of the agent; 0 = the run has no budget. */
int64_t budget_max_tokens(const struct run *run, const struct run_graph_agent *agent);
/* Whether a turn with a request of so many bytes may be requested, and what it reserves. */
enum budget_answer budget_ask(const struct run *run, const struct run_graph_agent *agent,
			      int64_t request_bytes, const struct engine_values *values,
			      int64_t *out_amount);
/* Pauses the run; while it unwinds, which cannot be paused, fails the step. */
void budget_stop(struct run *run, const struct activation *activation, int64_t amount, int64_t now,
		 struct decision *d);
/* Closes a turn with a reservation that a crash interrupted: it is booked and asked again, if the
 * budget allows.  False when the effect has no reservation. */
bool budget_restart(struct run *run, const struct activation *activation, int64_t now,
		    struct decision *d);

/* ---- changes of the state, by evolve() ---------------------------------------------------- */

void budget_reserve(struct run *run, const struct uuid *effect, int64_t amount);
/* `known`: the cost is counted as usage.  Otherwise the reservation is booked. */
void budget_settle(struct run *run, const struct uuid *effect, bool known);
void budget_print(const struct run *run, struct arena *arena, struct run_snapshot *out);
void budget_restore(struct run *run, const struct run_snapshot *from);

#endif
