/* engine/budget_state.c -- reservations and settlements as part of a run's state.
 *
 * All sums stop at the greatest number: a budget that cannot be computed is exhausted.  The number of
 * named budgets of a run is bounded by its agents and by the days that it lasts.
 */
#include "engine/budget.h"

#include "contract/run_snapshot_types.h"

int64_t budget_add(int64_t a, int64_t b)
{
	int64_t sum;
	return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

static struct usages *usages_of(struct run *run)
{
	if (run->usages == NULL)
		run->usages = arena_new(run->arena, struct usages);
	return run->usages;
}

static void *grown(struct run *run, const void *items, size_t count, size_t *room, size_t size)
{
	*room = *room == 0 ? 4 : *room * 2;
	char *more = arena_take_array(run->arena, *room, size);
	if (count > 0)
		__builtin_memcpy(more, items, count * size);
	return more;
}

static struct budget_total *total_of(struct run *run, struct str name)
{
	struct usages *all = usages_of(run);
	for (size_t i = all->budget_count; i-- > 0;)
		if (str_equal(all->budgets[i].name, name))
			return &all->budgets[i];
	if (all->budget_count == all->budget_room)
		all->budgets = grown(run, all->budgets, all->budget_count, &all->budget_room,
				     sizeof(*all->budgets));
	struct budget_total *total = &all->budgets[all->budget_count++];
	*total = (struct budget_total){ .name = str_copy(run->arena, name) };
	return total;
}

void budget_reserve(struct run *run, const struct uuid *effect, int64_t amount,
		    struct str_list budgets)
{
	struct usages *all = usages_of(run);
	if (all->open_count == all->open_room)
		all->open =
			grown(run, all->open, all->open_count, &all->open_room, sizeof(*all->open));
	struct str *names = arena_array(run->arena, struct str, budgets.count);
	for (size_t i = 0; i < budgets.count; i++) {
		struct budget_total *total = total_of(run, budgets.at[i]);
		total->taken = budget_add(total->taken, amount);
		names[i] = total->name;
	}
	all->open[all->open_count++] =
		(struct reservation){ *effect, amount, { names, budgets.count } };
}

static void settle(struct run *run, const struct reservation *open, bool known, int64_t cost)
{
	if (!known)
		run->usages->booked = budget_add(run->usages->booked, open->amount);
	for (size_t i = 0; i < open->budgets.count; i++) {
		struct budget_total *total = total_of(run, open->budgets.at[i]);
		total->released = budget_add(total->released, open->amount);
		total->spent = budget_add(total->spent, known ? cost : open->amount);
	}
}

void budget_settle(struct run *run, const struct uuid *effect, bool known, int64_t cost)
{
	struct usages *all = run->usages;
	for (size_t i = 0; all != NULL && i < all->open_count; i++) {
		if (!uuid_equal(&all->open[i].effect, effect))
			continue;
		settle(run, &all->open[i], known, cost);
		for (; i + 1 < all->open_count; i++)
			all->open[i] = all->open[i + 1];
		all->open_count--;
		return;
	}
}

/* ---- snapshots ------------------------------------------------------------------------------ */

static void print_pause(const struct run *run, struct arena *arena, struct run_snapshot *out)
{
	if (run->pause.budget.size == 0)
		return;
	struct run_snapshot_pause *pause = run_snapshot_pause_new(arena);
	SET(pause, budget, run->pause.budget);
	SET(pause, amount, run->pause.amount);
	SET(pause, at, run->pause.at);
	if (run->pause.until > 0)
		SET(pause, until, run->pause.until);
	SET(out, pause, pause);
}

static void print_totals(const struct usages *all, struct arena *arena, struct run_snapshot *out)
{
	struct run_snapshot_budget *rows =
		arena_array(arena, struct run_snapshot_budget, all->budget_count);
	for (size_t i = 0; i < all->budget_count; i++) {
		rows[i] = *run_snapshot_budget_new(arena);
		SET(&rows[i], name, all->budgets[i].name);
		SET(&rows[i], spent, all->budgets[i].spent);
	}
	if (all->budget_count > 0)
		SET(out, budgets, ((struct run_snapshot_budget_list){ rows, all->budget_count }));
}

void budget_print(const struct run *run, struct arena *arena, struct run_snapshot *out)
{
	const struct usages *all = run->usages;
	print_pause(run, arena, out);
	if (all == NULL)
		return;
	struct run_snapshot_reservation *rows =
		arena_array(arena, struct run_snapshot_reservation, all->open_count);
	for (size_t i = 0; i < all->open_count; i++) {
		rows[i] = *run_snapshot_reservation_new(arena);
		SET(&rows[i], effect, all->open[i].effect);
		SET(&rows[i], amount, all->open[i].amount);
		if (all->open[i].budgets.count > 0)
			SET(&rows[i], budgets, all->open[i].budgets);
	}
	if (all->open_count > 0)
		SET(out, reservations,
		    ((struct run_snapshot_reservation_list){ rows, all->open_count }));
	if (all->booked > 0)
		SET(out, booked, all->booked);
	print_totals(all, arena, out);
}

void budget_restore(struct run *run, const struct run_snapshot *from)
{
	/* First, so that the budgets have the order of the state that was printed. */
	for (size_t i = 0; has(from, budgets) && i < from->budgets.count; i++)
		total_of(run, from->budgets.at[i].name)->spent = from->budgets.at[i].spent;
	for (size_t i = 0; has(from, reservations) && i < from->reservations.count; i++) {
		const struct run_snapshot_reservation *row = &from->reservations.at[i];
		budget_reserve(run, &row->effect, row->amount,
			       has(row, budgets) ? row->budgets : (struct str_list){ NULL, 0 });
	}
	if (has(from, booked))
		usages_of(run)->booked = from->booked;
	if (has(from, pause))
		run->pause = (struct budget_pause){
			.budget = str_copy(run->arena, from->pause->budget),
			.amount = from->pause->amount,
			.at = from->pause->at,
			.until = has(from->pause, until) ? from->pause->until : 0,
		};
}
