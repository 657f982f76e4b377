/* engine/budget.c -- asks budgets before a turn is requested.
 *
 * What the decision itself has settled and reserved so far counts: its events are committed together.
 */
#include "engine/budget.h"

#include "base/date.h"
#include "base/limits.h"
#include "contract/run_event_types.h"
#include "contract/run_graph_types.h"
#include "contract/run_start_types.h"
#include "engine/engine_internal.h"

enum { NAMED = 4 }; /* agent, profile, day, server */

static const int64_t day_us = 86400LL * 1000000;

int64_t budget_picodollars(double dollars)
{
	enum { MOST_DOLLARS = 9000000 };
	return dollars >= MOST_DOLLARS ? (int64_t)MOST_DOLLARS * 1000000000000
				       : (int64_t)(dollars * 1e12 + 0.5);
}

int64_t budget_limit(const struct run *run)
{
	if (has(run->start, budget_usd))
		return budget_picodollars(run->start->budget_usd);
	return has(run->graph->rows, budget_usd) ? budget_picodollars(run->graph->rows->budget_usd)
						 : -1;
}

static int64_t times(int64_t a, int64_t b)
{
	int64_t product;
	return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

/* ---- named budgets -------------------------------------------------------------------------- */

/* The budgets that a turn of the agent belongs to, in the order in which every turn asks them. */
static size_t names_of(const struct run *run, const struct run_graph_agent *agent, int64_t now,
		       struct arena *arena, struct str *out_names)
{
	struct date date = date_from_days(date_floor_divide(now, day_us));
	size_t count = 0;
	out_names[count++] = str_format(arena, "agent:" STR_FMT, STR_ARG(agent->name));
	if (has(run->start, profile) && run->start->profile.size > 0)
		out_names[count++] =
			str_format(arena, "profile:" STR_FMT, STR_ARG(run->start->profile));
	out_names[count++] = str_format(arena, "day:%04lld-%02d-%02d", (long long)date.year,
					date.month, date.day);
	out_names[count++] = S("server");
	return count;
}

/* The names that have a limit. */
static struct str_list limited(const struct run *run, const struct run_graph_agent *agent,
			       int64_t now, const struct engine_values *values, struct arena *arena,
			       struct engine_budget *out_budgets)
{
	struct str *names = arena_array(arena, struct str, NAMED);
	size_t count = 0;
	if (values->budgets == NULL)
		return (struct str_list){ NULL, 0 };
	size_t all = names_of(run, agent, now, arena, names);
	for (size_t i = 0; i < all; i++)
		if (values->budgets->find(values->budgets->context, names[i], &out_budgets[count]))
			names[count++] = names[i];
	return (struct str_list){ names, count };
}

int64_t budget_max_tokens(const struct run *run, const struct run_graph_agent *agent, int64_t now,
			  const struct engine_values *values)
{
	AUTO(arena) arena = { 0 };
	struct engine_budget budgets[NAMED];
	if (budget_limit(run) < 0 && limited(run, agent, now, values, &arena, budgets).count == 0)
		return 0;
	return has(agent, max_tokens) ? agent->max_tokens : LIMIT_BUDGET_MAX_TOKENS;
}

/* ---- asking --------------------------------------------------------------------------------- */

static int64_t reserved(const struct run *run)
{
	int64_t sum = 0;
	for (size_t i = 0; run->usages != NULL && i < run->usages->open_count; i++)
		sum = budget_add(sum, run->usages->open[i].amount);
	return sum;
}

static int64_t spent(const struct run *run)
{
	return run->usages == NULL ? 0 : budget_add(usage_total(run).cost, run->usages->booked);
}

/* A token has at least one byte; the provider adds some of its own. */
static int64_t upper_bound(const struct engine_price *price, int64_t bytes, int64_t max_tokens)
{
	int64_t tokens = bytes + LIMIT_BUDGET_OVERHEAD_TOKENS;
	if (price->context_window > 0 && price->context_window < tokens)
		tokens = price->context_window;
	return budget_add(times(tokens, price->input), times(max_tokens, price->output));
}

static enum budget_answer ask_one(const struct engine_budget *budget, int64_t amount)
{
	if (budget->ahead)
		return BUDGET_WAIT;
	if (budget_add(budget->used, amount) <= budget->limit)
		return BUDGET_FITS;
	return budget->reserved > 0 ? BUDGET_WAIT : BUDGET_EXHAUSTED;
}

static void add_moves(struct engine_budget *budget, struct str name, const struct run *run,
		      const struct decision *d)
{
	size_t count;
	const struct budget_move *moves = budget_moves(run, d, d->arena, &count);
	for (size_t i = 0; i < count; i++)
		if (str_equal(moves[i].name, name)) {
			int64_t held = moves[i].taken - moves[i].released;
			budget->reserved += held;
			budget->used = budget_add(budget->used, moves[i].cost + held);
		}
}

static enum budget_answer ask_named(const struct run *run, struct budget_question *question,
				    const struct engine_budget *budgets, struct decision *d)
{
	for (size_t i = 0; i < question->budgets.count; i++) {
		struct engine_budget left = budgets[i];
		add_moves(&left, question->budgets.at[i], run, d);
		enum budget_answer answer = ask_one(&left, question->amount);
		if (answer == BUDGET_FITS)
			continue;
		question->budget = question->budgets.at[i];
		question->left = left;
		return answer;
	}
	return BUDGET_FITS;
}

enum budget_answer budget_ask(const struct run *run, struct budget_question *question,
			      const struct engine_values *values, struct decision *d)
{
	struct engine_price price;
	struct engine_budget budgets[NAMED];
	struct engine_budget own = { .limit = budget_limit(run) };
	question->budget = S("");
	struct str_list names =
		limited(run, question->agent, question->now, values, d->arena, budgets);
	if ((own.limit < 0 && names.count == 0) || values->prices == NULL ||
	    !values->prices->find(values->prices->context, question->agent, &price))
		return BUDGET_NONE;
	question->budgets = names;
	question->reserves = true;
	question->amount =
		upper_bound(&price, question->bytes,
			    budget_max_tokens(run, question->agent, question->now, values));
	own.reserved = reserved(run);
	own.used = budget_add(spent(run), own.reserved);
	question->left = own;
	enum budget_answer answer = own.limit < 0 ? BUDGET_FITS : ask_one(&own, question->amount);
	return answer == BUDGET_FITS ? ask_named(run, question, budgets, d) : answer;
}

/* ---- answers -------------------------------------------------------------------------------- */

struct failure budget_refusal(const struct activation *activation,
			      const struct budget_question *question, struct arena *arena)
{
	const struct engine_budget *left = &question->left;
	bool named = question->budget.size > 0;
	return failure_make(ERROR_FORBIDDEN,
			    str_format(arena,
				       "the budget%s" STR_FMT
				       " of $%.6f does not allow the next turn of step " STR_FMT
				       ": $%.6f are spent, and the turn can cost $%.6f",
				       named ? " " : "", STR_ARG(question->budget),
				       (double)left->limit / 1e12, STR_ARG(activation->path),
				       (double)(left->used - left->reserved) / 1e12,
				       (double)question->amount / 1e12));
}

void budget_pause(struct run *run, const struct activation *activation,
		  const struct budget_question *question, struct decision *d)
{
	struct str text = budget_refusal(activation, question, d->arena).text;
	struct run_paused *body = run_paused_new(d->arena);
	SET(body, by, S("baton"));
	SET(body, reason, text);
	if (question->budget.size > 0) {
		SET(body, budget, question->budget);
		SET(body, amount, question->amount);
	}
	if (str_starts(question->budget, S("day:")))
		SET(body, until, (date_floor_divide(question->now, day_us) + 1) * day_us);
	decision_emit(run, d,
		      (struct event){ EVENT_RUN_PAUSED, question->now, { .run_paused = body } });
}

bool budget_day_is_over(const struct run *run, int64_t now)
{
	return run->paused && run->pause.until > 0 && now >= run->pause.until;
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

/* ---- what a decision moves ------------------------------------------------------------------ */

void budget_note_totals(const struct run *run, struct decision *d)
{
	const struct usages *all = run->usages;
	if (d->budget.has_totals)
		return;
	d->budget.has_totals = true;
	if (all == NULL || all->budget_count == 0)
		return;
	d->budget.total_count = all->budget_count;
	d->budget.totals =
		arena_copy(d->arena, all->budgets, all->budget_count * sizeof(*all->budgets));
}

struct budget_move *budget_moves(const struct run *run, const struct decision *d,
				 struct arena *arena, size_t *out_count)
{
	const struct usages *all = run->usages;
	size_t count = d->budget.has_totals && all != NULL ? all->budget_count : 0;
	struct budget_move *moves = arena_array(arena, struct budget_move, count);
	*out_count = 0;
	for (size_t i = 0; i < count; i++) {
		static const struct budget_total none;
		const struct budget_total *now = &all->budgets[i];
		const struct budget_total *was =
			i < d->budget.total_count ? &d->budget.totals[i] : &none;
		const struct budget_move move = { now->name, now->spent - was->spent,
						  now->taken - was->taken,
						  now->released - was->released };
		if (move.cost != 0 || move.taken != 0 || move.released != 0)
			moves[(*out_count)++] = move;
	}
	return moves;
}
