/* active/ledger_read.c -- reads limits, counters and paused runs from the store: at the start, and the
 * counters again after a rebuild.
 *
 * A counter that moved while it was read is left alone: the commits that moved it are counted here
 * already, and a guard that knows better refuses.
 */
#include <stdlib.h>

#include "active/executor_jobs.h"
#include "active/executor_state.h"
#include "active/ledger_entry.h"
#include "active/stored_row.h"
#include "base/limits.h"
#include "base/log.h"
#include "contract/document_kind.h"
#include "contract/run_budget_types.h"
#include "contract/run_open_types.h"

struct ledger_read {
	struct executor_read read;
	bool only_counters;
	struct uuid *runs; /* that are paused */
	const struct run_open_pause **pauses;
	size_t pause_count, pause_room;
	struct str *documents;
	int64_t *limits;
	size_t limit_count;
	struct store_guard_page used, reserved;
	uint64_t commits; /* of the ledger when the read began */
	platform_callback *done;
	void *context;
	struct error error;
};

/* ---- on a reader thread ------------------------------------------------------------------- */

static bool read_guards(struct ledger_read *r, struct store_reader *reader, struct str prefix,
			struct store_guard_page *out)
{
	struct arena *arena = &r->read.arena;
	struct str after = S("");
	size_t room = 0;
	*out = (struct store_guard_page){ NULL, 0 };
	for (;;) {
		struct store_guard_page page;
		if (!reader->ops->list_guards(reader, prefix, after, LIMIT_PAGE_ITEMS, arena, &page,
					      &r->error))
			return false;
		if (out->count + page.count > room) {
			room = 2 * (out->count + page.count);
			struct store_guard_value *more =
				arena_array(arena, struct store_guard_value, room);
			for (size_t i = 0; i < out->count; i++)
				more[i] = out->at[i];
			out->at = more;
		}
		for (size_t i = 0; i < page.count; i++)
			out->at[out->count++] = page.at[i];
		if (page.count < LIMIT_PAGE_ITEMS)
			return true;
		after = page.at[page.count - 1].name;
	}
}

static bool read_limits(struct ledger_read *r, struct store_reader *reader)
{
	struct arena *arena = &r->read.arena;
	struct str kind = document_kind_name(DOCUMENT_BUDGET);
	struct store_document_page page;
	if (!reader->ops->list_documents(reader, kind, S(""), LIMIT_DOCUMENTS, arena, &page,
					 &r->error))
		return false;
	r->documents = arena_array(arena, struct str, page.count);
	r->limits = arena_array(arena, int64_t, page.count);
	for (size_t i = 0; i < page.count; i++) {
		/* A limit that cannot be read must not be taken for none. */
		const struct run_budget *budget =
			document_read_stored(DOCUMENT_BUDGET, page.at[i].body, arena, &r->error);
		if (budget == NULL)
			return false;
		r->documents[r->limit_count] = page.at[i].name;
		r->limits[r->limit_count++] = budget_picodollars(budget->limit_usd);
	}
	return true;
}

static void add_pause(struct ledger_read *r, const struct store_effect *row)
{
	struct arena *arena = &r->read.arena;
	const struct json *json;
	struct error error;
	if (r->pause_count == r->pause_room) {
		r->pause_room = r->pause_room == 0 ? 64 : 2 * r->pause_room;
		struct uuid *runs = arena_array(arena, struct uuid, r->pause_room);
		const struct run_open_pause **pauses =
			arena_array(arena, const struct run_open_pause *, r->pause_room);
		for (size_t i = 0; i < r->pause_count; i++) {
			runs[i] = r->runs[i];
			pauses[i] = r->pauses[i];
		}
		r->runs = runs;
		r->pauses = pauses;
	}
	struct problems problems = { .arena = arena };
	bool good = json_read(row->body, arena, &json, &error);
	struct contract_source source = { .json = good ? json : NULL,
					  .text = row->body,
					  .lenient = true };
	const struct run_open_pause *pause =
		good ? run_open_pause_parse(&source, arena, &problems) : NULL;
	if (pause == NULL) {
		if (good)
			problems_fail(&problems, &error);
		stored_effect_fail(row, &error);
		log_line(LOG_ERROR, "a run that is paused for a budget must be resumed by hand: %s",
			 error.text);
		return;
	}
	r->runs[r->pause_count] = row->run;
	r->pauses[r->pause_count++] = pause;
}

static bool read_pauses(struct ledger_read *r, struct store_reader *reader)
{
	struct uuid last;
	const struct uuid *after = NULL;
	for (;;) {
		struct store_effect_page page;
		if (!reader->ops->list_effects(reader, S("budget"), after, LIMIT_PAGE_ITEMS,
					       &r->read.arena, &page, &r->error))
			return false;
		for (size_t i = 0; i < page.count; i++)
			add_pause(r, &page.at[i]);
		if (page.count < LIMIT_PAGE_ITEMS)
			return true;
		last = page.at[page.count - 1].id;
		after = &last;
	}
}

static void ledger_work(struct executor_read *read, struct store_reader *reader)
{
	struct ledger_read *r = (struct ledger_read *)read;
	if (read_guards(r, reader, S(STORE_BUDGET_USED), &r->used) &&
	    read_guards(r, reader, S(STORE_BUDGET_RESERVED), &r->reserved) && !r->only_counters &&
	    read_limits(r, reader))
		(void)read_pauses(r, reader);
}

/* ---- on the loop thread ------------------------------------------------------------------- */

static void take_counters(struct ledger *ledger, const struct ledger_read *r)
{
	if (ledger->commits != r->commits)
		return;
	for (size_t i = 0; i < r->used.count; i++) {
		struct str name = str_skip(r->used.at[i].name, sizeof(STORE_BUDGET_USED) - 1);
		struct ledger_entry *entry = ledger_entry(ledger, name);
		if (entry->flying_used == 0)
			entry->used = r->used.at[i].value;
	}
	for (size_t i = 0; i < r->reserved.count; i++) {
		struct str name =
			str_skip(r->reserved.at[i].name, sizeof(STORE_BUDGET_RESERVED) - 1);
		struct ledger_entry *entry = ledger_entry(ledger, name);
		if (entry->flying_used == 0 && entry->flying_reserved == 0)
			entry->reserved = r->reserved.at[i].value;
	}
}

static void ledger_done(struct executor_read *read)
{
	struct ledger_read *r = (struct ledger_read *)read;
	struct executor *executor = read->executor;
	if (r->error.code != ERROR_NONE) {
		executor_fail(executor, &r->error);
	} else {
		take_counters(&executor->ledger, r);
		for (size_t i = 0; i < r->limit_count; i++)
			ledger_set_limit(executor, r->documents[i], r->limits[i]);
		for (size_t i = 0; i < r->pause_count; i++)
			ledger_note_paused(executor, &r->runs[i], r->pauses[i]->budget,
					   r->pauses[i]->amount, r->pauses[i]->since);
		if (r->done != NULL)
			r->done(r->context, 0);
	}
	arena_done(&read->arena);
	free(r);
}

static struct ledger_read *read_new(struct executor *executor)
{
	struct ledger_read *r = calloc(1, sizeof(*r));
	require(r != NULL);
	r->commits = executor->ledger.commits;
	r->read.work = ledger_work;
	r->read.done = ledger_done;
	return r;
}

void ledger_recover(struct executor *executor, platform_callback *done, void *context)
{
	struct ledger_read *r = read_new(executor);
	r->done = done;
	r->context = context;
	executor_read(executor, &r->read);
}

void ledger_reload(struct executor *executor)
{
	struct ledger_read *r = read_new(executor);
	r->only_counters = true;
	executor_read(executor, &r->read);
}
