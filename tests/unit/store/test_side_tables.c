/* tests/unit/store/test_side_tables.c -- values and their references, snapshots, floors, counts,
 * due effects and rebuilding, for every store.  The other side tables are in test_documents.c. */
#include <stdio.h>
#include <string.h>

#include "store_fixture.h"

/* ---- helpers ------------------------------------------------------------------------- */

static bool value_there(struct fixture *f, struct str value)
{
	struct hash hash = hash_of(value);
	struct str bytes;
	bool found = false;
	cr_assert(f->reader->ops->read_blob(f->reader, &hash, &f->arena, &bytes, &found, &f->error),
		  "%s", f->error.text);
	if (found)
		cr_assert_str(bytes, value);
	return found;
}

/* An event that refers to the value `times` times; the append carries the value. */
static void name_value(struct fixture *f, unsigned run, int64_t seq, struct str value, size_t times)
{
	struct draft draft = draft_of(run, seq, 1);
	draft.blob = (struct store_blob){ hash_of(value), value };
	draft.append.blob_count = 1;
	draft.names[0] = draft.names[1] = hash_of(value);
	draft.events[0].name_count = times;
	draft_commit(f, &draft);
}

static void snapshot_take(struct fixture *f, unsigned run, int64_t seq, int64_t floor)
{
	struct draft draft = draft_of(run, seq, 1);
	char body[48];
	snprintf(body, sizeof(body), "{\"upto\":%lld}", (long long)seq + 1);
	draft.append.snapshot.body = str_from_c(body);
	draft.append.floor = floor;
	draft_commit(f, &draft);
}

static int64_t snapshot_at(struct fixture *f, unsigned run, int64_t at)
{
	struct uuid id = id_of(run);
	struct store_snapshot snapshot = { 0 };
	bool found = false;
	cr_assert(f->reader->ops->read_snapshot(f->reader, &id, at, &f->arena, &snapshot, &found,
						&f->error));
	if (!found)
		return 0;
	char body[48];
	snprintf(body, sizeof(body), "{\"upto\":%lld}", (long long)snapshot.seq);
	cr_assert_str(snapshot.body, str_from_c(body));
	return snapshot.seq;
}

/* ---- values -------------------------------------------------------------------------- */

STORE_TEST(values, live_as_long_as_somebody_names_them)
{
	name_value(f, 1, 0, S("once"), 2);
	name_value(f, 2, 0, S("shared"), 1);
	name_value(f, 3, 0, S("shared"), 1);
	for (unsigned run = 1; run <= 2; run++) {
		snapshot_take(f, run, 1, 2);
		purge_all(f, 100);
	}
	cr_assert_not(value_there(f, S("once")));
	cr_assert(value_there(f, S("shared")), "run 3 names it");
	snapshot_take(f, 3, 1, 2);
	cr_assert(value_there(f, S("shared")), "not purged yet");
	purge_all(f, 100);
	cr_assert_not(value_there(f, S("shared")));
	struct store_size size;
	cr_assert(f->reader->admin->measure(f->reader, &size, &f->error));
	cr_assert_eq(size.blobs, 0);
	check_whole(f);
}

STORE_TEST(values, are_kept_by_a_snapshot_and_go_with_it)
{
	struct str value = S("state");
	name_value(f, 1, 0, value, 1);
	struct draft draft = draft_of(1, 1, 1);
	draft.append.snapshot.body = S("{}");
	draft.names[0] = draft.names[1] = hash_of(value);
	draft.append.snapshot.name_count = 2;
	draft.append.floor = 2;
	draft_commit(f, &draft);
	purge_all(f, 100);
	cr_assert(value_there(f, value), "the snapshot names it");
	check_whole(f);
	snapshot_take(f, 1, 2, 0);
	purge_all(f, 100);
	cr_assert(value_there(f, value), "two snapshots are kept");
	snapshot_take(f, 1, 3, 0);
	purge_all(f, 100);
	cr_assert_not(value_there(f, value));
	check_whole(f);
}

STORE_TEST(values, that_are_named_again_before_the_purge_stay)
{
	struct str value = S("again");
	name_value(f, 1, 0, value, 1);
	snapshot_take(f, 1, 1, 2);
	bool more;
	/* Deletes the event and notes its value as unreferenced. */
	cr_assert(f->store->admin->purge(f->store, 1, NULL, &more, &f->error));
	cr_assert(more);
	name_value(f, 2, 0, value, 1);
	purge_all(f, 100);
	cr_assert(value_there(f, value));
	check_whole(f);
	snapshot_take(f, 2, 1, 2);
	purge_all(f, 100);
	cr_assert_not(value_there(f, value));
	/* The value can be stored again. */
	name_value(f, 3, 0, value, 1);
	cr_assert(value_there(f, value));
	check_whole(f);
}

STORE_TEST(values, that_nobody_has_named_yet_are_left_alone)
{
	struct draft draft = draft_of(1, 0, 1);
	draft.blob = (struct store_blob){ hash_of(S("early")), S("early") };
	draft.append.blob_count = 1;
	draft_commit(f, &draft);
	purge_all(f, 100);
	cr_assert(value_there(f, S("early")));
}

STORE_TEST(values, that_are_unknown_cannot_be_named)
{
	struct draft draft = draft_of(1, 0, 1), *batch[] = { &draft };
	draft.names[0] = hash_of(S("nowhere"));
	draft.events[0].name_count = 1;
	cr_assert_not(drafts_commit(f, batch, 1));
	cr_assert_eq(f->error.code, ERROR_STORAGE);
	cr_assert_not_null(strstr(f->error.text, "neither stored nor part of the append"), "%s",
			   f->error.text);
	cr_assert_not(run_exists(f, 1));
}

/* ---- snapshots and floors -------------------------------------------------------------- */

STORE_TEST(snapshots, the_newest_two_are_kept)
{
	cr_assert_eq(snapshot_at(f, 1, 0), 0);
	for (int64_t seq = 0; seq < 5; seq++) {
		snapshot_take(f, 1, seq, 0);
		snapshot_take(f, 2, seq, 0);
		cr_assert_eq(snapshot_at(f, 1, 0), seq + 1);
	}
	cr_assert_eq(snapshot_at(f, 1, 99), 5);
	cr_assert_eq(snapshot_at(f, 1, 4), 4);
	cr_assert_eq(snapshot_at(f, 1, 3), 0);
	cr_assert_eq(snapshot_at(f, 2, 5), 5);
	cr_assert_eq(snapshot_at(f, 3, 0), 0);
	check_whole(f);
}

/* Ten events each of runs 1 and 2; the first and the fourth are life-cycle events. */
static void ten_events(struct fixture *f)
{
	for (int64_t seq = 0; seq < 9; seq++)
		for (unsigned run = 1; run <= 2; run++) {
			struct draft draft = draft_of(run, seq, 1);
			draft.events[0].kept = seq == 0 || seq == 3;
			draft_commit(f, &draft);
		}
	snapshot_take(f, 1, 9, 0);
	snapshot_take(f, 2, 9, 0);
}

static void expect_seqs(const struct store_event_page *page, const int64_t *seqs, size_t count)
{
	cr_assert_eq(page->count, count, "%zu events", page->count);
	for (size_t i = 0; i < count; i++)
		cr_assert_eq(page->at[i].seq, seqs[i]);
}

static void expect_floor_at_eight(struct fixture *f)
{
	static const int64_t left[] = { 1, 4, 8, 9, 10, 11 };
	struct store_event_page page = events_of(f, 1);
	expect_seqs(&page, left, COUNT(left));
	struct uuid id = id_of(1);
	cr_assert(f->reader->ops->read_events(f->reader, &id, 1, 2, &f->arena, &page, &f->error));
	expect_seqs(&page, left + 1, 2);
	cr_assert(f->reader->ops->read_events(f->reader, &id, 4, 9, &f->arena, &page, &f->error));
	expect_seqs(&page, left + 2, 4);
	cr_assert_eq(events_of(f, 2).count, 10);
	cr_assert_eq(events_all(f).count, 16);
	cr_assert_eq(run_of(f, 1).floor, 8);
	cr_assert_eq(run_of(f, 1).seq, 11);
	cr_assert_eq(run_of(f, 2).floor, 0);
}

STORE_TEST(floors, hide_at_once_and_purge_in_slices)
{
	ten_events(f);
	struct draft draft = draft_of(1, 10, 1);
	draft.append.floor = 8;
	draft_commit(f, &draft);
	expect_floor_at_eight(f);
	check_whole(f);
	struct store_size size;
	cr_assert(f->reader->admin->measure(f->reader, &size, &f->error));
	cr_assert_eq(size.events, 21, "still on the disk");
	int64_t newest = f->reader->ops->newest_position(f->reader);
	bool more;
	cr_assert(f->store->admin->purge(f->store, 2, NULL, &more, &f->error));
	cr_assert(more);
	cr_assert(f->reader->admin->measure(f->reader, &size, &f->error));
	cr_assert_eq(size.events, 19);
	expect_floor_at_eight(f);
	check_whole(f);
	purge_all(f, 2);
	cr_assert(f->reader->admin->measure(f->reader, &size, &f->error));
	cr_assert_eq(size.events, 16);
	cr_assert_eq(f->store->writer->stats(f->store).purged, 5);
	expect_floor_at_eight(f);
	check_whole(f);
	cr_assert_eq(f->reader->ops->newest_position(f->reader), newest);
	/* A floor never decreases, and the stream continues. */
	struct draft lower = draft_of(1, 11, 1);
	lower.append.floor = 3;
	draft_commit(f, &lower);
	cr_assert_eq(run_of(f, 1).floor, 8);
	cr_assert_eq(lower.append.first_position, newest + 1);
	/* The floor rises again after a purge. */
	snapshot_take(f, 1, 12, 13);
	purge_all(f, 100);
	static const int64_t left[] = { 1, 4, 13 };
	struct store_event_page page = events_of(f, 1);
	expect_seqs(&page, left, COUNT(left));
	cr_assert_eq(f->store->writer->stats(f->store).purged, 10);
	check_whole(f);
}

/* A clock that advances by a millisecond at every reading. */
struct ticking {
	struct platform system;
	int64_t now_us;
};

static int64_t tick(struct platform *system)
{
	return ((struct ticking *)system)->now_us += 1000;
}

Test(floors, a_slice_ends_at_its_deadline)
{
	static const struct platform_ops ops = { .mono_us = tick };
	struct ticking clock = { .system = { &ops } };
	struct fixture f;
	fixture_open(&f, simstore_backend(S("sqlite")));
	ten_events(&f);
	struct draft draft = draft_of(1, 10, 1);
	draft.append.floor = 8;
	draft_commit(&f, &draft);
	bool more = false;
	/* The first row is deleted even after the deadline, so that every slice makes progress. */
	struct store_deadline deadline = { &clock.system, 0 };
	cr_assert(f.store->admin->purge(f.store, 1000, &deadline, &more, &f.error));
	cr_assert(more);
	cr_assert_eq(f.store->writer->stats(f.store).purged, 1);
	/* The purge reads the clock once for the slice and once before each row. */
	deadline.at_us = clock.now_us + 4000;
	cr_assert(f.store->admin->purge(f.store, 1000, &deadline, &more, &f.error));
	cr_assert(more);
	cr_assert_eq(f.store->writer->stats(f.store).purged, 3);
	expect_floor_at_eight(&f);
	/* Slices together delete what one purge without a deadline deletes. */
	for (more = true; more;) {
		deadline.at_us = clock.now_us + 3000;
		cr_assert(f.store->admin->purge(f.store, 1000, &deadline, &more, &f.error));
	}
	cr_assert_eq(f.store->writer->stats(f.store).purged, 5);
	expect_floor_at_eight(&f);
	check_whole(&f);
	fixture_close(&f);
}

STORE_TEST(floors, come_with_a_snapshot_of_the_same_append)
{
	struct draft draft = draft_of(1, 0, 4);
	draft.append.snapshot.body = S("{\"upto\":4}");
	draft.append.floor = 4;
	draft_commit(f, &draft);
	static const int64_t left[] = { 4 };
	struct store_event_page page = events_of(f, 1);
	expect_seqs(&page, left, COUNT(left));
}

STORE_TEST(floors, never_rise_over_the_newest_snapshot)
{
	snapshot_take(f, 1, 0, 0);
	struct draft draft = draft_of(1, 1, 3), *batch[] = { &draft };
	draft.append.floor = 2;
	cr_assert_not(drafts_commit(f, batch, 1));
	cr_assert_eq(f->error.code, ERROR_STORAGE);
	cr_assert_not_null(strstr(f->error.text, "above the newest snapshot"), "%s", f->error.text);
	cr_assert_eq(run_of(f, 1).seq, 1);
}

STORE_TEST(floors, old_runs_are_found_until_nothing_is_left_to_take)
{
	/* Run i has i events and ended at 1000 + i; run 9 has not ended. */
	for (unsigned run = 9; run >= 1; run--) {
		struct draft draft = draft_of(run, 0, run < 9 ? run : 8);
		draft.append.run.ended_at = run < 9 ? 1000 + run : 0;
		draft_commit(f, &draft);
	}
	cr_assert_eq(old_runs(f, 0, 0), 0);
	cr_assert_eq(old_runs(f, 1004, 0), 2, "run 1 has only the newest event, run 4 ended then");
	cr_assert_eq(old_runs(f, 0, 6), 3);
	cr_assert_eq(old_runs(f, 1004, 6), 5);
	struct uuid after = id_of(3);
	struct store_old_runs runs;
	cr_assert(f->reader->ops->list_old(f->reader, 1004, 6, &after, 2, &f->arena, &runs,
					   &f->error));
	cr_assert_eq(runs.count, 2);
	struct uuid seven = id_of(7);
	cr_assert(uuid_equal(&runs.at[0].id, &seven));
	cr_assert_eq(runs.at[0].seq, 7);
	cr_assert_eq(runs.at[0].floor, 0);
	cr_assert_eq(runs.at[0].ended_at, 1007);
	struct draft draft = draft_of(3, 3, 1);
	draft.append.run.ended_at = 1003;
	draft.append.snapshot.body = S("{\"upto\":4}");
	draft.append.floor = 4;
	draft_commit(f, &draft);
	cr_assert_eq(old_runs(f, 1004, 0), 1);
	snapshot_take(f, 9, 8, 4);
	cr_assert_eq(old_runs(f, 0, 5), 4);
	cr_assert_eq(old_runs(f, 0, 6), 2, "run 9 has six left");
}

/* ---- lists ------------------------------------------------------------------------------- */

STORE_TEST(lists, runs_are_counted_by_state)
{
	for (unsigned i = 0; i < 5; i++) {
		struct draft draft = draft_of(i, 0, 1);
		draft.append.run.state = i < 3 ? S("running") : S("waiting");
		draft_commit(f, &draft);
	}
	struct draft ends = draft_of(0, 1, 1), goes = draft_of(3, 1, 1), late = draft_of(4, 9, 1);
	ends.append.run.state = S("succeeded");
	struct draft *batch[] = { &ends, &goes, &late };
	cr_assert(drafts_commit(f, batch, 3));
	struct store_state_counts counts;
	cr_assert(f->reader->ops->count_states(f->reader, &f->arena, &counts, &f->error));
	const struct store_state_count expected[] = { { S("running"), 3 },
						      { S("succeeded"), 1 },
						      { S("waiting"), 1 } };
	cr_assert_eq(counts.count, COUNT(expected));
	for (size_t i = 0; i < COUNT(expected); i++) {
		cr_assert_str(counts.at[i].state, expected[i].state);
		cr_assert_eq(counts.at[i].runs, expected[i].runs);
	}
	struct draft last = draft_of(4, 1, 1);
	draft_commit(f, &last);
	cr_assert(f->reader->ops->count_states(f->reader, &f->arena, &counts, &f->error));
	cr_assert_eq(counts.count, 2, "a state without a run is not told");
	check_whole(f);
}

STORE_TEST(lists, due_effects_come_by_time)
{
	static const int64_t dues[] = { 50, 0, 20, 20, 70, 10 };
	for (unsigned i = 0; i < COUNT(dues); i++) {
		struct draft draft = draft_of(i, 0, 1);
		draft.effect = (struct store_effect){
			.id = id_of(i), .kind = S("timer"), .due_at = dues[i], .body = S("{}")
		};
		draft.append.opened_count = 1;
		draft_commit(f, &draft);
	}
	struct store_effect_page page;
	cr_assert(f->reader->ops->list_due(f->reader, 0, 50, 9, &f->arena, &page, &f->error));
	static const unsigned order[] = { 5, 2, 3, 0 };
	cr_assert_eq(page.count, COUNT(order));
	for (size_t i = 0; i < COUNT(order); i++) {
		struct uuid id = id_of(order[i]);
		cr_assert(uuid_equal(&page.at[i].id, &id));
		cr_assert(uuid_equal(&page.at[i].run, &id));
	}
	cr_assert(f->reader->ops->list_due(f->reader, 0, 50, 2, &f->arena, &page, &f->error));
	cr_assert_eq(page.count, 2);
	cr_assert(f->reader->ops->list_due(f->reader, 0, 9, 9, &f->arena, &page, &f->error));
	cr_assert_eq(page.count, 0);
}

/* ---- rebuilding --------------------------------------------------------------------------- */

STORE_TEST(rebuilding, replaces_a_row_and_its_effects)
{
	struct draft draft = draft_of(1, 0, 3);
	draft.append.run.state = S("wrong");
	draft.append.run.needs_recovery = true;
	draft.effect = (struct store_effect){ .id = id_of(8), .kind = S("tool") };
	draft.append.opened_count = 1;
	draft_commit(f, &draft);
	snapshot_take(f, 2, 0, 0);
	struct store_run row = { .id = id_of(1),
				 .name = S("chain"),
				 .state = S("waiting"),
				 .created_at = 7,
				 .summary = S("{\"s\":1}") };
	struct store_effect open = { .id = id_of(9), .kind = S("timer"), .due_at = 5 };
	cr_assert(f->store->admin->rebuild_run(f->store, &row, &open, 1, &f->error), "%s",
		  f->error.text);
	cr_assert(f->store->admin->rebuild_end(f->store, &f->error), "%s", f->error.text);
	struct store_run now = run_of(f, 1);
	cr_assert_str(now.state, S("waiting"));
	cr_assert_str(now.summary, S("{\"s\":1}"));
	cr_assert_not(now.needs_recovery);
	cr_assert_eq(now.seq, 3);
	struct store_effect_page page;
	cr_assert(f->reader->ops->list_effects(f->reader, S(""), NULL, 9, &f->arena, &page,
					       &f->error));
	cr_assert_eq(page.count, 1);
	cr_assert_str(page.at[0].kind, S("timer"));
	struct store_state_counts counts;
	cr_assert(f->reader->ops->count_states(f->reader, &f->arena, &counts, &f->error));
	cr_assert_eq(counts.count, 2);
	cr_assert_str(counts.at[1].state, S("waiting"));
	check_whole(f);
	/* Rebuilding an unknown run fails, and the store remains usable. */
	row.id = id_of(99);
	cr_assert_not(f->store->admin->rebuild_run(f->store, &row, NULL, 0, &f->error));
	cr_assert_eq(f->error.code, ERROR_NOT_FOUND);
	struct draft more = draft_of(1, 3, 1);
	draft_commit(f, &more);
}
