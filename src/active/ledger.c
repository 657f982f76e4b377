/* active/ledger.c -- what is used of named budgets, and the queues of those who wait.
 *
 * Queues are looked at by a timer of no length: a wake decides at once, and a thousand runs that leave
 * a queue one after the other must not be a thousand nested calls.
 */
#include "active/ledger.h"

#include <stdlib.h>

#include "active/active_run.h"
#include "active/commit_cycle.h"
#include "active/executor_state.h"
#include "active/ledger_entry.h"
#include "base/log.h"
#include "contract/run_event_types.h"
#include "os/failpoint.h"

/* ---- entries ------------------------------------------------------------------------------ */

struct ledger_limit {
	struct arena arena;
	struct str document;
	int64_t limit;
};

struct str ledger_document(struct str name)
{
	return str_starts(name, S("day:")) ? S("day") : name;
}

static int64_t limit_of(const struct ledger *ledger, struct str name)
{
	const struct ledger_limit *limit = map_get(&ledger->limits, ledger_document(name));
	return limit == NULL ? -1 : limit->limit;
}

struct ledger_entry *ledger_entry(struct ledger *ledger, struct str name)
{
	struct ledger_entry *entry = map_get(&ledger->entries, name);
	if (entry != NULL)
		return entry;
	entry = calloc(1, sizeof(*entry));
	require(entry != NULL);
	entry->name = str_copy(&entry->arena, name);
	map_put(&ledger->entries, entry->name, entry);
	return entry;
}

static int64_t used(const struct ledger_entry *entry)
{
	return budget_add(entry->used, entry->flying_used);
}

/* ---- places in queues --------------------------------------------------------------------- */

static void list_insert(struct ledger_list *list, struct ledger_waiter *waiter,
			struct ledger_waiter *before)
{
	waiter->next = before;
	waiter->previous = before == NULL ? list->last : before->previous;
	if (waiter->previous == NULL)
		list->first = waiter;
	else
		waiter->previous->next = waiter;
	if (before == NULL)
		list->last = waiter;
	else
		before->previous = waiter;
	list->count++;
}

static void list_remove(struct ledger_list *list, struct ledger_waiter *waiter)
{
	if (waiter->previous == NULL)
		list->first = waiter->next;
	else
		waiter->previous->next = waiter->next;
	if (waiter->next == NULL)
		list->last = waiter->previous;
	else
		waiter->next->previous = waiter->previous;
	list->count--;
}

static struct ledger_waiter *waiter_add(struct map *map, struct ledger_entry *entry,
					const struct uuid *run, int64_t amount)
{
	struct ledger_waiter *waiter = calloc(1, sizeof(*waiter));
	require(waiter != NULL);
	waiter->run = *run;
	waiter->entry = entry;
	waiter->amount = amount;
	map_put(map, uuid_str(&waiter->run), waiter);
	return waiter;
}

static void look_soon(struct executor *executor, struct ledger_entry *entry);

static void leave_queue(struct executor *executor, const struct uuid *run)
{
	struct ledger_waiter *waiter = map_remove(&executor->ledger.waiting, uuid_str(run));
	if (waiter == NULL)
		return;
	list_remove(&waiter->entry->waiting, waiter);
	look_soon(executor, waiter->entry);
	free(waiter);
}

static void leave_pause(struct executor *executor, const struct uuid *run)
{
	struct ledger_waiter *waiter = map_remove(&executor->ledger.paused, uuid_str(run));
	if (waiter == NULL)
		return;
	list_remove(&waiter->entry->paused, waiter);
	free(waiter);
}

void ledger_note_paused(struct executor *executor, const struct uuid *run, struct str budget,
			int64_t amount, int64_t since)
{
	struct ledger_entry *entry = ledger_entry(&executor->ledger, budget);
	leave_pause(executor, run);
	struct ledger_waiter *waiter = waiter_add(&executor->ledger.paused, entry, run, amount);
	waiter->since = since;
	struct ledger_waiter *before = entry->paused.first;
	while (before != NULL && before->since <= since)
		before = before->next;
	list_insert(&entry->paused, waiter, before);
}

bool ledger_waits(const struct executor *executor, const struct uuid *run)
{
	return map_get(&executor->ledger.waiting, uuid_str(run)) != NULL;
}

void ledger_forget(struct executor *executor, const struct uuid *run)
{
	leave_queue(executor, run);
	leave_pause(executor, run);
}

/* ---- waking ------------------------------------------------------------------------------- */

static void wake(struct executor *executor, struct ledger_waiter *waiter)
{
	struct uuid run = waiter->run;
	waiter->woken = true;
	executor->ledger.wakes++;
	FAILPOINT_GATE("budget.before_wake");
	active_run_wake(active_run_get(executor, &run));
}

/* Of the turns that wait, in their order, the first that fits beside those that were woken before it.
 * The first of all is also woken when it never will fit, because nothing is reserved: its run pauses. */
static struct ledger_waiter *next_to_wake(const struct ledger *ledger,
					  const struct ledger_entry *entry)
{
	int64_t limit = limit_of(ledger, entry->name);
	int64_t left = limit < 0 ? INT64_MAX : limit - used(entry);
	for (struct ledger_waiter *waiter = entry->waiting.first; waiter != NULL;
	     waiter = waiter->next) {
		bool stuck = waiter == entry->waiting.first &&
			     entry->reserved + entry->flying_reserved <= 0;
		if (!waiter->woken)
			return waiter->amount <= left || stuck ? waiter : NULL;
		left -= waiter->amount;
	}
	return NULL;
}

static void resume(struct executor *executor, struct ledger_waiter *waiter)
{
	struct pending_command *pending = pending_command_new(COMMAND_RESUME);
	struct uuid run = waiter->run;
	waiter->woken = true;
	executor->ledger.wakes++;
	pending->command.by = S("baton");
	pending->command.name = str_copy(&pending->arena, waiter->entry->name);
	FAILPOINT_GATE("budget.before_resume");
	active_run_command(active_run_get(executor, &run), pending);
}

static struct ledger_waiter *next_to_resume(const struct ledger *ledger,
					    const struct ledger_entry *entry)
{
	int64_t limit = limit_of(ledger, entry->name);
	int64_t left = limit < 0 ? INT64_MAX : limit - used(entry);
	for (struct ledger_waiter *waiter = entry->paused.first; waiter != NULL;
	     waiter = waiter->next)
		if (waiter->woken)
			left -= waiter->amount;
		else if (waiter->amount <= left)
			return waiter;
	return NULL;
}

/* A wake may change every queue, so each search begins anew. */
static void look(void *context, uint64_t argument)
{
	struct executor *executor = context;
	struct ledger *ledger = &executor->ledger;
	(void)argument;
	ledger->looks = false;
	/* Nothing changes a run before recovery has loaded the runs; it looks when it has. */
	if (executor->draining || executor->failed || !executor->recovered)
		return;
	while (ledger->changed != NULL) {
		struct ledger_entry *entry = ledger->changed;
		ledger->changed = entry->next_changed;
		entry->changed = false;
		struct ledger_waiter *waiter;
		while ((waiter = next_to_wake(ledger, entry)) != NULL)
			wake(executor, waiter);
		while ((waiter = next_to_resume(ledger, entry)) != NULL)
			resume(executor, waiter);
	}
}

static void look_soon(struct executor *executor, struct ledger_entry *entry)
{
	struct ledger *ledger = &executor->ledger;
	if (entry->waiting.first == NULL && entry->paused.first == NULL)
		return;
	if (!entry->changed) {
		entry->changed = true;
		entry->next_changed = ledger->changed;
		ledger->changed = entry;
	}
	if (ledger->looks)
		return;
	ledger->looks = true;
	platform_timer_start(executor->settings.platform, 0, look, executor, 0);
}

void ledger_look(struct executor *executor)
{
	struct ledger *ledger = &executor->ledger;
	size_t i = 0;
	struct str name;
	for (struct ledger_entry *entry; (entry = map_next(&ledger->entries, &i, &name)) != NULL;)
		look_soon(executor, entry);
}

/* ---- decisions ---------------------------------------------------------------------------- */

/* A run with a place behind others may go only when it was woken; one without a place takes one. */
static bool others_ahead(const struct ledger *ledger, const struct ledger_entry *entry,
			 const struct uuid *run)
{
	const struct ledger_waiter *waiter = map_get(&ledger->waiting, uuid_str(run));
	if (waiter != NULL && waiter->entry == entry)
		return !waiter->woken && entry->waiting.first != waiter;
	return entry->waiting.first != NULL;
}

bool ledger_find(const void *active_run, struct str name, struct engine_budget *out_budget)
{
	const struct active_run *active = active_run;
	struct ledger *ledger = &active->executor->ledger;
	int64_t limit = limit_of(ledger, name);
	if (limit < 0)
		return false;
	const struct ledger_entry *entry = ledger_entry(ledger, name);
	*out_budget = (struct engine_budget){ .limit = limit };
	/* Tests hide the counts, so that a guard of the store must refuse. */
	if (FAILPOINT_LIMIT("budget.hidden", 0) > 0 && !entry->learned)
		return true;
	out_budget->used = used(entry);
	out_budget->reserved = entry->reserved + entry->flying_reserved;
	out_budget->ahead = others_ahead(ledger, entry, &active->run_id);
	return true;
}

void ledger_decided(struct commit_cycle *cycle, const struct active_run *active)
{
	struct executor *executor = cycle->executor;
	struct ledger *ledger = &executor->ledger;
	const struct decision *d = &cycle->decision;
	struct ledger_waiter *waiter = map_get(&ledger->waiting, uuid_str(&active->run_id));
	if (!d->budget.waits || d->budget.waited_for.size == 0) {
		leave_queue(executor, &active->run_id);
		return;
	}
	struct ledger_entry *entry = ledger_entry(ledger, d->budget.waited_for);
	if (waiter != NULL && waiter->entry == entry) {
		waiter->amount = d->budget.amount;
		waiter->woken = false;
	} else {
		leave_queue(executor, &active->run_id);
		waiter = waiter_add(&ledger->waiting, entry, &active->run_id, d->budget.amount);
		list_insert(&entry->waiting, waiter, NULL);
	}
	/* What was in its way may be gone with this very decision. */
	look_soon(executor, entry);
}

/* ---- appends ------------------------------------------------------------------------------ */

static void add_guard(struct commit_cycle *cycle, const char *prefix, struct str name,
		      int64_t change, int64_t limit)
{
	struct store_append *append = &cycle->ticket.append;
	struct str guard = str_format(&cycle->arena, "%s" STR_FMT, prefix, STR_ARG(name));
	cycle->guards[append->guard_count++] = (struct store_guard){ guard, change, limit };
}

void ledger_fill_append(struct commit_cycle *cycle, struct active_run *active)
{
	struct ledger *ledger = &cycle->executor->ledger;
	struct store_append *append = &cycle->ticket.append;
	cycle->moves =
		budget_moves(active->run, &cycle->decision, &cycle->arena, &cycle->move_count);
	cycle->budget_guard = append->guard_count;
	if (cycle->move_count == 0)
		return;
	struct store_guard *guards = arena_array(&cycle->arena, struct store_guard,
						 append->guard_count + 2 * cycle->move_count);
	for (size_t i = 0; i < append->guard_count; i++)
		guards[i] = cycle->guards[i];
	cycle->guards = guards;
	append->guards = guards;
	for (size_t i = 0; i < cycle->move_count; i++) {
		const struct budget_move *move = &cycle->moves[i];
		struct ledger_entry *entry = ledger_entry(ledger, move->name);
		int64_t held = move->taken - move->released;
		entry->flying_used = budget_add(entry->flying_used, move->taken + move->cost);
		entry->flying_reserved += move->taken;
		if (active->budgets_uncounted)
			continue;
		add_guard(cycle, STORE_BUDGET_USED, move->name, held + move->cost,
			  move->taken > 0 ? limit_of(ledger, move->name) : -1);
		add_guard(cycle, STORE_BUDGET_RESERVED, move->name, held, -1);
	}
	cycle->flying = true;
}

static void land(struct commit_cycle *cycle)
{
	struct ledger *ledger = &cycle->executor->ledger;
	for (size_t i = 0; cycle->flying && i < cycle->move_count; i++) {
		const struct budget_move *move = &cycle->moves[i];
		struct ledger_entry *entry = ledger_entry(ledger, move->name);
		entry->flying_used -= move->taken + move->cost;
		entry->flying_reserved -= move->taken;
		look_soon(cycle->executor, entry);
	}
	cycle->flying = false;
}

void ledger_refused(struct commit_cycle *cycle)
{
	land(cycle);
}

static void note_pauses(struct commit_cycle *cycle, const struct active_run *active)
{
	for (size_t i = 0; i < cycle->decision.event_count; i++) {
		const struct event *event = &cycle->decision.events[i];
		const struct run_paused *paused =
			event->type == EVENT_RUN_PAUSED ? event->as.run_paused : NULL;
		if (paused != NULL && has(paused, budget))
			ledger_note_paused(cycle->executor, &active->run_id, paused->budget,
					   has(paused, amount) ? paused->amount : 0, event->at);
		else if (event->type == EVENT_RUN_RESUMED || event->type == EVENT_RUN_CANCELLING ||
			 event->type == EVENT_RUN_FINISHED)
			leave_pause(cycle->executor, &active->run_id);
	}
}

void ledger_committed(struct commit_cycle *cycle, const struct active_run *active)
{
	struct ledger *ledger = &cycle->executor->ledger;
	land(cycle);
	for (size_t i = 0; i < cycle->move_count; i++) {
		const struct budget_move *move = &cycle->moves[i];
		struct ledger_entry *entry = ledger_entry(ledger, move->name);
		int64_t held = move->taken - move->released;
		entry->used = budget_add(entry->used, held + move->cost);
		entry->reserved += held;
		entry->moves++;
	}
	ledger->commits += cycle->move_count > 0;
	note_pauses(cycle, active);
}

bool ledger_learn(const struct commit_cycle *cycle, struct active_run *active)
{
	const struct store_append *append = &cycle->ticket.append;
	if (append->refused_guard < cycle->budget_guard)
		return false;
	const struct store_guard *guard = &append->guards[append->refused_guard];
	const struct budget_move *move =
		&cycle->moves[(append->refused_guard - cycle->budget_guard) / 2];
	struct ledger_entry *entry = ledger_entry(&cycle->executor->ledger, move->name);
	if (guard->limit < 0) {
		/* Only a wrong count refuses what has no limit: the settlement is stored without it. */
		log_line(LOG_WARNING,
			 "the count of budget " STR_FMT
			 " is wrong; `baton db rebuild` counts it again",
			 STR_ARG(move->name));
		active->budgets_uncounted = true;
		return true;
	}
	entry->learned = true;
	entry->used = append->refused_value;
	return true;
}

/* ---- limits ------------------------------------------------------------------------------- */

void ledger_set_limit(struct executor *executor, struct str document, int64_t limit)
{
	struct ledger *ledger = &executor->ledger;
	struct ledger_limit *row = map_get(&ledger->limits, document);
	if (row == NULL && limit >= 0) {
		row = calloc(1, sizeof(*row));
		require(row != NULL);
		row->document = str_copy(&row->arena, document);
		map_put(&ledger->limits, row->document, row);
	}
	if (row != NULL && limit < 0) {
		map_remove(&ledger->limits, document);
		arena_done(&row->arena);
		free(row);
	} else if (row != NULL) {
		row->limit = limit;
	}
	size_t i = 0;
	struct str name;
	for (struct ledger_entry *entry; (entry = map_next(&ledger->entries, &i, &name)) != NULL;)
		if (str_equal(ledger_document(name), document))
			look_soon(executor, entry);
}

struct ledger_queue ledger_queue(const struct executor *executor, struct str document)
{
	struct ledger_queue queue = { 0 };
	size_t i = 0;
	struct str name;
	for (const struct ledger_entry *entry;
	     (entry = map_next(&executor->ledger.entries, &i, &name)) != NULL;)
		if (str_equal(ledger_document(name), document)) {
			queue.waiting += (int64_t)entry->waiting.count;
			queue.paused += (int64_t)entry->paused.count;
		}
	return queue;
}

/* ---- the end ------------------------------------------------------------------------------ */

static void free_waiters(struct map *map)
{
	size_t i = 0;
	struct str run;
	for (struct ledger_waiter *waiter; (waiter = map_next(map, &i, &run)) != NULL;)
		free(waiter);
	map_done(map);
}

void ledger_discard(struct executor *executor)
{
	struct ledger *ledger = &executor->ledger;
	struct str name;
	size_t i = 0;
	free_waiters(&ledger->waiting);
	free_waiters(&ledger->paused);
	for (struct ledger_entry *entry; (entry = map_next(&ledger->entries, &i, &name)) != NULL;) {
		arena_done(&entry->arena);
		free(entry);
	}
	map_done(&ledger->entries);
	i = 0;
	for (struct ledger_limit *limit; (limit = map_next(&ledger->limits, &i, &name)) != NULL;) {
		arena_done(&limit->arena);
		free(limit);
	}
	map_done(&ledger->limits);
}
