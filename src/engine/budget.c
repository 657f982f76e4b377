/* engine/budget.c -- reservations and settlements.
 *
 * All sums stop at the greatest number: a budget that cannot be computed is exhausted.
 */
#include "engine/budget.h"

#include "base/limits.h"
#include "contract/run_event_types.h"
#include "contract/run_graph_types.h"
#include "contract/run_snapshot_types.h"
#include "contract/run_start_types.h"
#include "engine/engine_internal.h"

static int64_t picodollars(double dollars)
{
	enum { MOST_DOLLARS = 9000000 };
	return dollars >= MOST_DOLLARS ? (int64_t)MOST_DOLLARS * 1000000000000
				       : (int64_t)(dollars * 1e12 + 0.5);
}

int64_t budget_limit(const struct run *run)
{
	if (has(run->start, budget_usd))
		return picodollars(run->start->budget_usd);
	return has(run->graph->rows, budget_usd) ? picodollars(run->graph->rows->budget_usd) : -1;
}

int64_t budget_max_tokens(const struct run *run, const struct run_graph_agent *agent)
{
	if (budget_limit(run) < 0)
		return 0;
	return has(agent, max_tokens) ? agent->max_tokens : LIMIT_BUDGET_MAX_TOKENS;
}

static int64_t add(int64_t a, int64_t b)
{
	int64_t sum;
	return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

static int64_t times(int64_t a, int64_t b)
{
	int64_t product;
	return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

static int64_t reserved(const struct run *run)
{
	int64_t sum = 0;
	for (size_t i = 0; run->usages != NULL && i < run->usages->open_count; i++)
		sum = add(sum, run->usages->open[i].amount);
	return sum;
}

static int64_t spent(const struct run *run)
{
	return run->usages == NULL ? 0 : add(usage_total(run).cost, run->usages->booked);
}

/* A token has at least one byte; the provider adds some of its own. */
static int64_t upper_bound(const struct engine_price *price, int64_t bytes, int64_t max_tokens)
{
	int64_t tokens = bytes + LIMIT_BUDGET_OVERHEAD_TOKENS;
	if (price->context_window > 0 && price->context_window < tokens)
		tokens = price->context_window;
	return add(times(tokens, price->input), times(max_tokens, price->output));
}

enum budget_answer budget_ask(const struct run *run, const struct run_graph_agent *agent,
			      int64_t request_bytes, const struct engine_values *values,
			      int64_t *out_amount)
{
	struct engine_price price;
	int64_t limit = budget_limit(run);
	*out_amount = 0;
	if (limit < 0 || values->prices == NULL ||
	    !values->prices->find(values->prices->context, agent, &price))
		return BUDGET_NONE;
	*out_amount = upper_bound(&price, request_bytes, budget_max_tokens(run, agent));
	int64_t held = reserved(run);
	if (add(add(spent(run), held), *out_amount) <= limit)
		return BUDGET_FITS;
	return held > 0 ? BUDGET_WAIT : BUDGET_EXHAUSTED;
}

void budget_stop(struct run *run, const struct activation *activation, int64_t amount, int64_t now,
		 struct decision *d)
{
	struct str text =
		str_format(d->arena,
			   "the budget of $%.6f is used up: $%.6f are spent, and the next turn of "
			   "step " STR_FMT " can cost $%.6f",
			   (double)budget_limit(run) / 1e12, (double)spent(run) / 1e12,
			   STR_ARG(activation->path), (double)amount / 1e12);
	if (run->cancelling) {
		request_fail_ready(run, activation, failure_make(ERROR_FORBIDDEN, text), now, d);
		return;
	}
	struct run_paused *body = run_paused_new(d->arena);
	SET(body, by, S("baton"));
	SET(body, reason, text);
	decision_emit(run, d, (struct event){ EVENT_RUN_PAUSED, now, { .run_paused = body } });
}

bool budget_restart(struct run *run, const struct activation *activation, int64_t now,
		    struct decision *d)
{
	const struct usages *all = run->usages;
	bool found = false;
	for (size_t i = 0; all != NULL && i < all->open_count; i++)
		found = found || uuid_equal(&all->open[i].effect, &activation->effect);
	if (!found || activation->stopping)
		return false;
	struct run_next *next = run_next_new(d->arena);
	SET(next, retry_at, now);
	const struct call_end end = {
		.step = activation->path,
		.effect = activation->effect,
		.outcome = RUN_OUTCOME_FAILED,
		.fault = decision_failure(
			d,
			failure_make(ERROR_UNAVAILABLE,
				     S("the program ended during the turn, which is asked again"))),
		.next = next,
	};
	struct event event = call_finished(run_node(run, activation)->row, &end, d->arena);
	event.at = now;
	decision_emit(run, d, event);
	return true;
}

/* ---- changes of the state ----------------------------------------------------------------- */

void budget_reserve(struct run *run, const struct uuid *effect, int64_t amount)
{
	if (run->usages == NULL)
		run->usages = arena_new(run->arena, struct usages);
	struct usages *all = run->usages;
	if (all->open_count == all->open_room) {
		all->open_room = all->open_room == 0 ? 4 : all->open_room * 2;
		struct reservation *open =
			arena_array(run->arena, struct reservation, all->open_room);
		for (size_t i = 0; i < all->open_count; i++)
			open[i] = all->open[i];
		all->open = open;
	}
	all->open[all->open_count++] = (struct reservation){ *effect, amount };
}

void budget_settle(struct run *run, const struct uuid *effect, bool known)
{
	struct usages *all = run->usages;
	for (size_t i = 0; all != NULL && i < all->open_count; i++) {
		if (!uuid_equal(&all->open[i].effect, effect))
			continue;
		if (!known)
			all->booked = add(all->booked, all->open[i].amount);
		for (; i + 1 < all->open_count; i++)
			all->open[i] = all->open[i + 1];
		all->open_count--;
		return;
	}
}

void budget_print(const struct run *run, struct arena *arena, struct run_snapshot *out)
{
	const struct usages *all = run->usages;
	if (all == NULL)
		return;
	struct run_snapshot_reservation *rows =
		arena_array(arena, struct run_snapshot_reservation, all->open_count);
	for (size_t i = 0; i < all->open_count; i++) {
		rows[i] = *run_snapshot_reservation_new(arena);
		SET(&rows[i], effect, all->open[i].effect);
		SET(&rows[i], amount, all->open[i].amount);
	}
	if (all->open_count > 0)
		SET(out, reservations,
		    ((struct run_snapshot_reservation_list){ rows, all->open_count }));
	if (all->booked > 0)
		SET(out, booked, all->booked);
}

void budget_restore(struct run *run, const struct run_snapshot *from)
{
	for (size_t i = 0; has(from, reservations) && i < from->reservations.count; i++)
		budget_reserve(run, &from->reservations.at[i].effect,
			       from->reservations.at[i].amount);
	if (!has(from, booked))
		return;
	if (run->usages == NULL)
		run->usages = arena_new(run->arena, struct usages);
	run->usages->booked = from->booked;
}
