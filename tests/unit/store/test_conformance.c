/* tests/unit/store/test_conformance.c -- the promises of store.h, for every store. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "store_fixture.h"

Test(backends, are_found_by_name)
{
	cr_assert_eq(simstore_backend_count, 3);
	for (size_t i = 0; i < simstore_backend_count; i++)
		cr_assert_eq(simstore_backend(str_from_c(simstore_backends[i]->name)),
			     simstore_backends[i]);
	cr_assert_null(simstore_backend(S("postgres")));
	cr_assert_null(simstore_backend(S("")));
	cr_assert_null(simstore_backend(S("sqlit")));
}

Test(backends, for_tests_are_not_shipped)
{
	struct error error = { 0 };
	cr_assert_eq(store_backend_count, 1);
	cr_assert_eq(store_backend_find(S("sqlite"), &error), store_backends[0]);
	const char *const unshipped[] = { "memory", "sim", "postgres", "" };
	for (size_t i = 0; i < COUNT(unshipped); i++) {
		error = (struct error){ 0 };
		cr_assert_null(store_backend_find(str_from_c(unshipped[i]), &error));
		char expected[80];
		snprintf(expected, sizeof(expected), "unknown store \"%s\"; expected one of sqlite",
			 unshipped[i]);
		cr_assert_str_eq(error.text, expected);
		cr_assert_eq(error.code, ERROR_USAGE);
	}
}

STORE_TEST(conformance, is_empty_at_first)
{
	cr_assert_eq(f->reader->ops->newest_position(f->reader), 0);
	cr_assert_eq(events_all(f).count, 0);
	cr_assert_eq(events_of(f, 1).count, 0);
	cr_assert_not(run_exists(f, 1));
	struct store_run_page runs;
	cr_assert(
		f->reader->ops->list_runs(f->reader, NULL, NULL, 10, &f->arena, &runs, &f->error));
	cr_assert_eq(runs.count, 0);
	cr_assert(f->reader->ops->list_needing_recovery(f->reader, NULL, 10, &f->arena, &runs,
							&f->error));
	cr_assert_eq(runs.count, 0);
	struct store_effect_page effects;
	cr_assert(f->reader->ops->list_effects(f->reader, S(""), NULL, 10, &f->arena, &effects,
					       &f->error));
	cr_assert_eq(effects.count, 0);
}

STORE_TEST(conformance, a_first_append_makes_the_run)
{
	struct draft draft = draft_of(7, 0, 3);
	draft.append.run.ended_at = 99;
	draft.append.run.summary = S("{\"a\":1}");
	draft_commit(f, &draft);
	cr_assert_eq(draft.append.first_position, 1);
	cr_assert_eq(draft.append.last_position, 3);

	struct store_event_page page = events_of(f, 7);
	cr_assert_eq(page.count, 3);
	struct uuid id = id_of(7);
	for (size_t i = 0; i < 3; i++) {
		cr_assert(uuid_equal(&page.at[i].run, &id));
		cr_assert_eq(page.at[i].seq, (int64_t)i + 1);
		cr_assert_eq(page.at[i].position, (int64_t)i + 1);
		cr_assert_eq(page.at[i].at, 5000 + (int64_t)i);
		cr_assert_str(page.at[i].type, S("step.finished"));
		cr_assert_str(page.at[i].body, str_from_c(draft.bodies[i]));
	}
	struct store_run row = run_of(f, 7);
	cr_assert(uuid_equal(&row.id, &id));
	cr_assert_str(row.name, S("chain"));
	cr_assert_str(row.state, S("running"));
	cr_assert_str(row.summary, S("{\"a\":1}"));
	cr_assert_eq(row.created_at, 1007);
	cr_assert_eq(row.updated_at, 2000);
	cr_assert_eq(row.ended_at, 99);
	cr_assert_eq(row.seq, 3);
	cr_assert_not(row.needs_recovery);
}

STORE_TEST(conformance, a_later_append_goes_on_and_replaces_the_row)
{
	struct draft first = draft_of(1, 0, 2), second = draft_of(1, 2, 2);
	draft_commit(f, &first);
	second.append.run.name = S("other");
	second.append.run.state = S("succeeded");
	second.append.run.summary = S("");
	second.append.run.ended_at = 77;
	draft_commit(f, &second);
	cr_assert_eq(second.append.first_position, 3);
	struct store_event_page page = events_of(f, 1);
	cr_assert_eq(page.count, 4);
	cr_assert_eq(page.at[3].seq, 4);
	cr_assert_str(page.at[3].body, S("{\"run\":1,\"seq\":4}"));
	struct store_run row = run_of(f, 1);
	cr_assert_str(row.name, S("other"));
	cr_assert_str(row.state, S("succeeded"));
	cr_assert_str(row.summary, S(""));
	cr_assert_eq(row.ended_at, 77);
	cr_assert_eq(row.seq, 4);
	/* A change of the name alone, and a name that is too long for the row cache. */
	const struct str names[] = {
		S("third"),
		S("a-name-that-is-longer-than-the-sixty-four-bytes-which-are-kept-of-it-in-memory"),
		S("fifth"), S("sixth")
	};
	for (size_t i = 0; i < COUNT(names); i++) {
		struct draft more = draft_of(1, 4 + (int64_t)i, 1);
		more.append.run = second.append.run;
		more.append.run.name = names[i];
		draft_commit(f, &more);
		cr_assert_str(run_of(f, 1).name, names[i]);
		struct store_tallies tallies;
		cr_assert(f->reader->ops->tally_runs(f->reader, &f->arena, &tallies, &f->error));
		cr_assert_eq(tallies.count, 1);
		cr_assert_str(tallies.at[0].name, names[i]);
		cr_assert_eq(tallies.at[0].runs, 1);
	}
}

STORE_TEST(conformance, a_conflict_writes_nothing)
{
	struct draft first = draft_of(1, 0, 2);
	draft_commit(f, &first);
	static const struct {
		unsigned run;
		int64_t expected;
	} cases[] = { { 1, 0 }, { 1, 1 }, { 1, 3 }, { 2, 1 }, { 2, 5 }, { 1, -1 } };
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct draft bad = draft_of(cases[i].run, cases[i].expected, 1);
		bad.append.run.state = S("failed");
		bad.append.run.needs_recovery = true;
		bad.blob = (struct store_blob){ hash_of(S("bad")), S("bad") };
		bad.append.blob_count = 1;
		bad.effect = (struct store_effect){ .id = id_of(50), .kind = S("tool") };
		bad.append.opened_count = 1;
		cr_assert_eq(draft_try(f, &bad), STORE_CONFLICT, "case %zu", i);
	}
	cr_assert_eq(events_all(f).count, 2);
	cr_assert_not(run_exists(f, 2));
	cr_assert_str(run_of(f, 1).state, S("running"));
	cr_assert_not(run_of(f, 1).needs_recovery);
	struct hash hash = hash_of(S("bad"));
	struct str bytes;
	bool found = true;
	cr_assert(
		f->reader->ops->read_blob(f->reader, &hash, &f->arena, &bytes, &found, &f->error));
	cr_assert_not(found);
	struct uuid effect = id_of(50);
	struct store_effect read;
	found = true;
	cr_assert(f->reader->ops->read_effect(f->reader, &effect, &f->arena, &read, &found,
					      &f->error));
	cr_assert_not(found);
	struct store_stats stats = f->store->writer->stats(f->store);
	cr_assert_eq(stats.conflicts, COUNT(cases));
	cr_assert_eq(stats.commits, 1);
}

STORE_TEST(conformance, a_conflict_leaves_its_neighbours_alone)
{
	struct draft good = draft_of(1, 0, 2), again = draft_of(1, 0, 1), late = draft_of(9, 4, 1),
		     other = draft_of(2, 0, 1);
	struct draft *batch[] = { &good, &again, &late, &other };
	cr_assert(drafts_commit(f, batch, COUNT(batch)), "%s", f->error.text);
	cr_assert_eq(good.append.outcome, STORE_COMMITTED);
	cr_assert_eq(again.append.outcome, STORE_CONFLICT);
	cr_assert_eq(late.append.outcome, STORE_CONFLICT);
	cr_assert_eq(other.append.outcome, STORE_COMMITTED);
	cr_assert_eq(other.append.first_position, 3);
	cr_assert_eq(events_all(f).count, 3);
	struct store_stats stats = f->store->writer->stats(f->store);
	cr_assert_eq(stats.commits, 1);
	cr_assert_eq(stats.appends, 2);
	cr_assert_eq(stats.events, 3);
	cr_assert_eq(stats.conflicts, 2);
}

STORE_TEST(conformance, a_batch_may_append_to_one_run_twice)
{
	struct draft first = draft_of(1, 0, 2), second = draft_of(1, 2, 3),
		     third = draft_of(1, 5, 1);
	struct draft *batch[] = { &first, &second, &third };
	cr_assert(drafts_commit(f, batch, COUNT(batch)));
	for (size_t i = 0; i < COUNT(batch); i++)
		cr_assert_eq(batch[i]->append.outcome, STORE_COMMITTED);
	struct store_event_page page = events_of(f, 1);
	cr_assert_eq(page.count, 6);
	for (size_t i = 0; i < page.count; i++)
		cr_assert_eq(page.at[i].seq, (int64_t)i + 1);
	cr_assert_eq(run_of(f, 1).seq, 6);
	cr_assert_eq(f->store->writer->stats(f->store).commits, 1);
}

STORE_TEST(conformance, nothing_to_do_is_no_commit)
{
	cr_assert(f->store->writer->commit(f->store, NULL, 0, &f->error));
	struct draft late = draft_of(1, 4, 1);
	cr_assert_eq(draft_try(f, &late), STORE_CONFLICT);
	cr_assert_eq(f->store->writer->stats(f->store).commits, 0);
	struct draft first = draft_of(1, 0, 1);
	draft_commit(f, &first);
	cr_assert_eq(f->store->writer->stats(f->store).commits, 1);
}

STORE_TEST(conformance, positions_follow_the_commits)
{
	for (unsigned i = 0; i < 30; i++) {
		struct draft draft = draft_of(i % 3, i / 3 * 2, 2);
		draft_commit(f, &draft);
		cr_assert_eq(draft.append.first_position, 2 * (int64_t)i + 1);
		cr_assert_eq(f->reader->ops->newest_position(f->reader), 2 * (int64_t)i + 2);
	}
	int64_t after = 0;
	size_t seen = 0;
	for (struct store_event_page page;; after = page.at[page.count - 1].position) {
		cr_assert(
			f->reader->ops->read_all(f->reader, after, 7, &f->arena, &page, &f->error));
		for (size_t i = 0; i < page.count; i++, seen++) {
			struct uuid run = id_of((unsigned)(seen / 2 % 3));
			cr_assert_eq(page.at[i].position, (int64_t)seen + 1);
			cr_assert(uuid_equal(&page.at[i].run, &run));
		}
		if (page.count < 7)
			break;
	}
	cr_assert_eq(seen, 60);
}

STORE_TEST(conformance, events_come_in_pages)
{
	for (int64_t i = 0; i < 10; i++) {
		struct draft one = draft_of(1, i * 2, 2), two = draft_of(2, i, 1);
		draft_commit(f, &one);
		draft_commit(f, &two);
	}
	struct uuid id = id_of(1);
	struct store_event_page page;
	cr_assert(f->reader->ops->read_events(f->reader, &id, 0, 20, &f->arena, &page, &f->error));
	cr_assert_eq(page.count, 20);
	cr_assert(f->reader->ops->read_events(f->reader, &id, 17, 20, &f->arena, &page, &f->error));
	cr_assert_eq(page.count, 3);
	cr_assert_eq(page.at[0].seq, 18);
	cr_assert(f->reader->ops->read_events(f->reader, &id, 4, 3, &f->arena, &page, &f->error));
	cr_assert_eq(page.count, 3);
	cr_assert_eq(page.at[0].seq, 5);
	cr_assert_eq(page.at[2].seq, 7);
	cr_assert(f->reader->ops->read_events(f->reader, &id, 20, 3, &f->arena, &page, &f->error));
	cr_assert_eq(page.count, 0);
	cr_assert(f->reader->ops->read_events(f->reader, &id, INT64_MAX, 3, &f->arena, &page,
					      &f->error));
	cr_assert_eq(page.count, 0);
	cr_assert(f->reader->ops->read_events(f->reader, &id, -5, 2, &f->arena, &page, &f->error));
	cr_assert_eq(page.count, 2);
	cr_assert_eq(page.at[0].seq, 1);
	cr_assert(f->reader->ops->read_events(f->reader, &id, 0, 0, &f->arena, &page, &f->error));
	cr_assert_eq(page.count, 0);
}

STORE_TEST(conformance, runs_are_listed_newest_first)
{
	static const unsigned order[] = { 5, 3, 9, 1, 7 };
	for (size_t i = 0; i < COUNT(order); i++) {
		struct draft draft = draft_of(order[i], 0, 1);
		draft_commit(f, &draft);
	}
	/* A later append does not move a run in the list. */
	struct draft again = draft_of(5, 1, 1);
	draft_commit(f, &again);
	struct store_run_page page;
	cr_assert(f->reader->ops->list_runs(f->reader, NULL, NULL, 2, &f->arena, &page, &f->error));
	cr_assert_eq(page.count, 2);
	struct uuid seven = id_of(7), one = id_of(1), five = id_of(5), none = id_of(77);
	cr_assert(uuid_equal(&page.at[0].id, &seven));
	cr_assert(uuid_equal(&page.at[1].id, &one));
	cr_assert(
		f->reader->ops->list_runs(f->reader, NULL, &one, 10, &f->arena, &page, &f->error));
	cr_assert_eq(page.count, 3);
	cr_assert(uuid_equal(&page.at[2].id, &five));
	cr_assert_eq(page.at[2].seq, 2);
	cr_assert(
		f->reader->ops->list_runs(f->reader, NULL, &five, 10, &f->arena, &page, &f->error));
	cr_assert_eq(page.count, 0);
	cr_assert(
		f->reader->ops->list_runs(f->reader, NULL, &none, 10, &f->arena, &page, &f->error));
	cr_assert_eq(page.count, 0);
}

static void expect_listed(struct fixture *f, struct store_run_filter only, const unsigned *expected,
			  size_t count)
{
	const struct uuid *before = NULL;
	struct uuid last;
	/* Page by page, two at a time. */
	for (size_t seen = 0;;) {
		struct store_run_page page;
		cr_assert(f->reader->ops->list_runs(f->reader, &only, before, 2, &f->arena, &page,
						    &f->error),
			  "%s", f->error.text);
		for (size_t i = 0; i < page.count; i++, seen++) {
			struct uuid wanted = id_of(expected[seen]);
			cr_assert_lt(seen, count);
			cr_assert(uuid_equal(&page.at[i].id, &wanted), "run %zu of the list", seen);
			cr_assert_eq(page.at[i].created_at, 1000 + expected[seen]);
		}
		if (page.count < 2) {
			cr_assert_eq(seen, count);
			return;
		}
		last = page.at[1].id;
		before = &last;
	}
}

#define LISTED(name_, states_, ...)                                                           \
	expect_listed(                                                                        \
		f,                                                                            \
		(struct store_run_filter){                                                    \
			.name = S(name_), .states = states_, .state_count = COUNT(states_) }, \
		(const unsigned[]){ __VA_ARGS__ }, COUNT(((const unsigned[]){ __VA_ARGS__ })))

STORE_TEST(conformance, runs_are_listed_by_name_and_state)
{
	const struct str names[] = { S("a"), S("b"), S("a") };
	const struct str states[] = { S("running"), S("failed"), S("waiting"), S("running") };
	for (unsigned i = 0; i < 12; i++) {
		struct draft draft = draft_of(i, 0, 1);
		draft.append.run.name = names[i % 3];
		draft.append.run.state = states[i % 4];
		draft_commit(f, &draft);
	}
	const struct str running[] = { S("running") }, ended[] = { S("failed"), S("waiting") },
			 odd[] = { S("lost") };
	LISTED("", running, 11, 8, 7, 4, 3, 0);
	LISTED("", ended, 10, 9, 6, 5, 2, 1);
	LISTED("b", running, 7, 4);
	LISTED("a", ended, 9, 6, 5, 2);
	expect_listed(f, (struct store_run_filter){ .name = S("b") }, (unsigned[]){ 10, 7, 4, 1 },
		      4);
	expect_listed(f, (struct store_run_filter){ .name = S("nobody") }, NULL, 0);
	expect_listed(f,
		      (struct store_run_filter){ .name = S("b"), .states = odd, .state_count = 1 },
		      NULL, 0);
	/* A run that changes its state moves to the other list and keeps its position in the order. */
	struct draft moves = draft_of(4, 1, 1);
	moves.append.run.name = S("b");
	moves.append.run.state = S("failed");
	draft_commit(f, &moves);
	LISTED("b", running, 7);
	LISTED("b", ended, 10, 4, 1);
	struct store_run_page page;
	struct uuid none = id_of(77);
	struct store_run_filter only = { .states = running, .state_count = 1 };
	cr_assert(
		f->reader->ops->list_runs(f->reader, &only, &none, 9, &f->arena, &page, &f->error));
	cr_assert_eq(page.count, 0);
}

static struct draft labelled(unsigned run, const struct str *labels, size_t count)
{
	struct draft draft = draft_of(run, 0, 1);
	draft.append.run.name = run % 2 == 0 ? S("even") : S("odd");
	draft.append.run.state = run < 4 ? S("running") : S("failed");
	draft.append.run.labels = (struct str_list){ labels, count };
	return draft;
}

STORE_TEST(conformance, runs_are_listed_by_their_labels)
{
	const struct str labels[] = { S("team=a"), S("env=prod"), S("team=b") };
	for (unsigned i = 0; i < 8; i++) {
		struct draft draft = labelled(i, labels + (i % 2 == 0 ? 0 : 1), i == 7 ? 0 : 2);
		draft_commit(f, &draft);
	}
	/* 0, 2, 4, 6: team=a env=prod; 1, 3, 5: env=prod team=b; 7: none */
	struct store_run_filter prod = { .labels = { labels + 1, 1 } },
				both = { .labels = { labels, 2 } },
				none = { .labels = { labels, 3 } };
	expect_listed(f, prod, (unsigned[]){ 6, 5, 4, 3, 2, 1, 0 }, 7);
	expect_listed(f, both, (unsigned[]){ 6, 4, 2, 0 }, 4);
	expect_listed(f, none, NULL, 0);
	prod.name = S("odd");
	expect_listed(f, prod, (unsigned[]){ 5, 3, 1 }, 3);
	const struct str failed[] = { S("failed") };
	prod.states = failed;
	prod.state_count = 1;
	expect_listed(f, prod, (unsigned[]){ 5 }, 1);
	/* The labels follow the run to its next state. */
	struct draft ends = draft_of(3, 1, 1);
	ends.append.run.name = S("odd");
	ends.append.run.state = S("failed");
	ends.append.run.labels = (struct str_list){ labels + 1, 2 };
	draft_commit(f, &ends);
	expect_listed(f, prod, (unsigned[]){ 5, 3 }, 2);
}

STORE_TEST(conformance, runs_are_found_by_a_range_of_ids)
{
	static const unsigned order[] = { 4, 2, 6, 0, 8 };
	for (size_t i = 0; i < COUNT(order); i++) {
		struct draft draft = draft_of(order[i], 0, 1);
		draft_commit(f, &draft);
	}
	struct store_run_page page;
	struct uuid one = id_of(1), two = id_of(2), six = id_of(6), seven = id_of(7);
	cr_assert(f->reader->ops->find_runs(f->reader, &two, &six, 9, &f->arena, &page, &f->error));
	cr_assert_eq(page.count, 3);
	for (unsigned i = 0; i < 3; i++) {
		struct uuid id = id_of(2 + 2 * i);
		cr_assert(uuid_equal(&page.at[i].id, &id));
		cr_assert_eq(page.at[i].seq, 1);
	}
	cr_assert(
		f->reader->ops->find_runs(f->reader, &one, &seven, 2, &f->arena, &page, &f->error));
	cr_assert_eq(page.count, 2);
	cr_assert(uuid_equal(&page.at[0].id, &two));
	cr_assert(f->reader->ops->find_runs(f->reader, &one, &one, 9, &f->arena, &page, &f->error));
	cr_assert_eq(page.count, 0);
}

STORE_TEST(conformance, runs_are_tallied_with_what_they_took)
{
	for (unsigned i = 0; i < 6; i++) {
		struct draft draft = draft_of(i, 0, 1);
		draft.append.run.name = i < 4 ? S("a") : S("b");
		draft_commit(f, &draft);
	}
	for (unsigned i = 1; i < 3; i++) {
		struct draft ends = draft_of(i, 1, 1);
		ends.append.run.name = S("a");
		ends.append.run.state = S("succeeded");
		ends.append.run.ended_at = ends.append.run.created_at + 100 * i;
		draft_commit(f, &ends);
	}
	struct store_tallies tallies;
	cr_assert(f->reader->ops->tally_runs(f->reader, &f->arena, &tallies, &f->error));
	const struct store_tally expected[] = { { S("a"), S("running"), 2, 0, 0 },
						{ S("a"), S("succeeded"), 2, 2, 300 },
						{ S("b"), S("running"), 2, 0, 0 } };
	cr_assert_eq(tallies.count, COUNT(expected));
	for (size_t i = 0; i < COUNT(expected); i++) {
		cr_assert_str(tallies.at[i].name, expected[i].name);
		cr_assert_str(tallies.at[i].state, expected[i].state);
		cr_assert_eq(tallies.at[i].runs, expected[i].runs);
		cr_assert_eq(tallies.at[i].ended, expected[i].ended);
		cr_assert_eq(tallies.at[i].took_us, expected[i].took_us);
	}
}

STORE_TEST(conformance, stepping_runs_are_found_by_id)
{
	static const unsigned order[] = { 4, 2, 6, 0, 8 };
	for (size_t i = 0; i < COUNT(order); i++) {
		struct draft draft = draft_of(order[i], 0, 1);
		draft.append.run.needs_recovery = order[i] != 6;
		draft_commit(f, &draft);
	}
	struct store_run_page page;
	cr_assert(f->reader->ops->list_needing_recovery(f->reader, NULL, 3, &f->arena, &page,
							&f->error));
	cr_assert_eq(page.count, 3);
	for (unsigned i = 0; i < 3; i++) {
		struct uuid id = id_of(2 * i);
		cr_assert(uuid_equal(&page.at[i].id, &id));
		cr_assert(page.at[i].needs_recovery);
		cr_assert_eq(page.at[i].seq, 1);
	}
	struct uuid four = id_of(4), three = id_of(3);
	cr_assert(f->reader->ops->list_needing_recovery(f->reader, &four, 9, &f->arena, &page,
							&f->error));
	cr_assert_eq(page.count, 1);
	cr_assert(f->reader->ops->list_needing_recovery(f->reader, &three, 9, &f->arena, &page,
							&f->error));
	cr_assert_eq(page.count, 2);
	/* One stops, one stays, one starts. */
	struct draft stops = draft_of(2, 1, 1), stays = draft_of(4, 1, 1),
		     starts = draft_of(6, 1, 1);
	stays.append.run.needs_recovery = starts.append.run.needs_recovery = true;
	struct draft *batch[] = { &stops, &stays, &starts };
	cr_assert(drafts_commit(f, batch, COUNT(batch)));
	cr_assert(f->reader->ops->list_needing_recovery(f->reader, NULL, 9, &f->arena, &page,
							&f->error));
	static const unsigned left[] = { 0, 4, 6, 8 };
	cr_assert_eq(page.count, COUNT(left));
	for (size_t i = 0; i < COUNT(left); i++) {
		struct uuid id = id_of(left[i]);
		cr_assert(uuid_equal(&page.at[i].id, &id));
	}
}

STORE_TEST(conformance, values_are_kept_once)
{
	static const struct str values[] = { { "a\0b\xff", 4 }, { NULL, 0 }, { "plain", 5 } };
	for (unsigned round = 0; round < 2; round++)
		for (unsigned i = 0; i < COUNT(values); i++) {
			struct draft draft = draft_of(10 * round + i, 0, 1);
			draft.blob = (struct store_blob){ hash_of(values[i]), values[i] };
			draft.append.blob_count = 1;
			draft_commit(f, &draft);
		}
	for (size_t i = 0; i < COUNT(values); i++) {
		struct hash hash = hash_of(values[i]);
		struct str bytes;
		bool found = false;
		cr_assert(f->reader->ops->read_blob(f->reader, &hash, &f->arena, &bytes, &found,
						    &f->error));
		cr_assert(found);
		cr_assert_str(bytes, values[i]);
	}
	struct hash unknown = hash_of(S("never written"));
	struct str bytes;
	bool found = true;
	cr_assert(f->reader->ops->read_blob(f->reader, &unknown, &f->arena, &bytes, &found,
					    &f->error));
	cr_assert_not(found);
}

static void effect_open(struct fixture *f, unsigned run, unsigned effect, struct str kind)
{
	struct draft draft = draft_of(run, run_exists(f, run) ? run_of(f, run).seq : 0, 1);
	draft.effect = (struct store_effect){ .id = id_of(effect),
					      .kind = kind,
					      .due_at = 100 + effect,
					      .body = S("{\"tool\":\"echo\"}") };
	draft.append.opened_count = 1;
	draft_commit(f, &draft);
}

STORE_TEST(conformance, effects_are_listed_by_id_and_kind)
{
	static const unsigned order[] = { 30, 10, 50, 20, 40 };
	for (size_t i = 0; i < COUNT(order); i++)
		effect_open(f, order[i] % 20, order[i], order[i] < 30 ? S("timer") : S("tool"));
	struct store_effect_page page;
	cr_assert(f->reader->ops->list_effects(f->reader, S(""), NULL, 4, &f->arena, &page,
					       &f->error));
	cr_assert_eq(page.count, 4);
	for (unsigned i = 0; i < 4; i++) {
		struct uuid id = id_of(10 * (i + 1)), run = id_of(10 * (i + 1) % 20);
		cr_assert(uuid_equal(&page.at[i].id, &id));
		cr_assert(uuid_equal(&page.at[i].run, &run));
		cr_assert_eq(page.at[i].due_at, 100 + 10 * ((int64_t)i + 1));
		cr_assert_str(page.at[i].kind, i < 2 ? S("timer") : S("tool"));
		cr_assert_str(page.at[i].body, S("{\"tool\":\"echo\"}"));
	}
	struct uuid after = id_of(30);
	cr_assert(f->reader->ops->list_effects(f->reader, S(""), &after, 9, &f->arena, &page,
					       &f->error));
	cr_assert_eq(page.count, 2);
	cr_assert(f->reader->ops->list_effects(f->reader, S("tool"), NULL, 2, &f->arena, &page,
					       &f->error));
	cr_assert_eq(page.count, 2);
	cr_assert(uuid_equal(&page.at[0].id, &after));
	cr_assert(f->reader->ops->list_effects(f->reader, S("tool"), &after, 9, &f->arena, &page,
					       &f->error));
	cr_assert_eq(page.count, 2);
	cr_assert(f->reader->ops->list_effects(f->reader, S("human"), NULL, 9, &f->arena, &page,
					       &f->error));
	cr_assert_eq(page.count, 0);
}

STORE_TEST(conformance, an_effect_is_replaced_and_closed)
{
	effect_open(f, 1, 5, S("tool"));
	effect_open(f, 2, 5, S("timer"));
	struct uuid id = id_of(5), two = id_of(2);
	struct store_effect effect;
	bool found = false;
	cr_assert(
		f->reader->ops->read_effect(f->reader, &id, &f->arena, &effect, &found, &f->error));
	cr_assert(found);
	cr_assert(uuid_equal(&effect.run, &two));
	cr_assert_str(effect.kind, S("timer"));

	/* A second attempt: closed and opened under the same id in one append. */
	struct draft retry = draft_of(2, 1, 1);
	retry.closed = id;
	retry.append.closed_count = 1;
	retry.effect = (struct store_effect){ .id = id, .kind = S("again") };
	retry.append.opened_count = 1;
	draft_commit(f, &retry);
	found = false;
	cr_assert(
		f->reader->ops->read_effect(f->reader, &id, &f->arena, &effect, &found, &f->error));
	cr_assert(found);
	cr_assert_str(effect.kind, S("again"));
	cr_assert_str(effect.body, S(""));

	struct draft closes = draft_of(2, 2, 1);
	closes.closed = id;
	closes.append.closed_count = 1;
	draft_commit(f, &closes);
	cr_assert(
		f->reader->ops->read_effect(f->reader, &id, &f->arena, &effect, &found, &f->error));
	cr_assert_not(found);
	/* Closing an effect that is not open changes nothing. */
	struct draft twice = draft_of(2, 3, 1);
	twice.closed = id;
	twice.append.closed_count = 1;
	draft_commit(f, &twice);
}

STORE_TEST(conformance, text_comes_back_as_it_went_in)
{
	char *large = malloc(1 << 20);
	memset(large, 'x', 1 << 20);
	const struct str texts[] = { S("gr\xc3\xbc\xc3\x9f dich \xf0\x9f\x98\x80"),
				     { "a\0b", 3 },
				     { "", 0 },
				     S("'; DROP TABLE events; --"),
				     { large, 1 << 20 } };
	for (unsigned i = 0; i < COUNT(texts); i++) {
		struct draft draft = draft_of(i, 0, 1);
		draft.events[0].body = texts[i];
		draft.events[0].type = texts[i];
		draft.append.run.name = draft.append.run.state = texts[i];
		draft.append.run.summary = texts[i];
		draft_commit(f, &draft);
	}
	for (unsigned i = 0; i < COUNT(texts); i++) {
		struct store_event_page page = events_of(f, i);
		cr_assert_eq(page.count, 1);
		cr_assert(str_equal(page.at[0].type, texts[i]), "text %u", i);
		cr_assert(str_equal(page.at[0].body, texts[i]), "text %u", i);
		struct store_run row = run_of(f, i);
		cr_assert(str_equal(row.name, texts[i]) && str_equal(row.state, texts[i]) &&
				  str_equal(row.summary, texts[i]),
			  "text %u", i);
	}
	free(large);
}

STORE_TEST(conformance, missing_text_is_empty_text)
{
	struct draft draft = draft_of(1, 0, 1);
	draft.append.run = (struct store_run){ .id = id_of(1) };
	draft.events[0].type = (struct str){ NULL, 0 };
	draft_commit(f, &draft);
	cr_assert_eq(run_of(f, 1).name.size, 0);
	cr_assert_eq(events_of(f, 1).at[0].type.size, 0);
}

struct watcher {
	struct fixture *fixture;
	pthread_t thread;
	int64_t last;
	bool ordered;
};

/* Reads by position until it has read `last`. */
static void *watch(void *context)
{
	struct watcher *watcher = context;
	const struct store_backend *backend = watcher->fixture->backend;
	struct store_reader *reader;
	struct error error;
	if (!backend->open_reader(watcher->fixture->store, &reader, &error))
		return NULL;
	int64_t seen = 0;
	bool ordered = true;
	struct arena arena = { 0 };
	while (seen < watcher->last && ordered) {
		struct store_event_page page;
		arena_reset(&arena);
		ordered = reader->ops->read_all(reader, seen, 16, &arena, &page, &error);
		for (size_t i = 0; ordered && i < page.count; i++)
			ordered = page.at[i].position == ++seen;
	}
	arena_done(&arena);
	backend->close_reader(reader);
	watcher->ordered = ordered;
	return NULL;
}

STORE_TEST(conformance, readers_on_other_threads_follow)
{
	struct watcher watchers[3];
	for (size_t i = 0; i < COUNT(watchers); i++) {
		watchers[i] = (struct watcher){ .fixture = f, .last = 150 };
		cr_assert_eq(pthread_create(&watchers[i].thread, NULL, watch, &watchers[i]), 0);
	}
	for (unsigned i = 0; i < 50; i++) {
		struct draft draft = draft_of(i % 5, 3 * (i / 5), 3);
		draft_commit(f, &draft);
	}
	for (size_t i = 0; i < COUNT(watchers); i++) {
		pthread_join(watchers[i].thread, NULL);
		cr_assert(watchers[i].ordered);
	}
}

/* A generator with a seed, so that a failure can be repeated. */
static unsigned dice(uint32_t *seed, unsigned sides)
{
	*seed = *seed * 1664525 + 1013904223;
	return (*seed >> 16) % sides;
}

static void shuffle_commit(struct fixture *f, uint32_t *seed)
{
	static struct draft drafts[6];
	struct draft *batch[6];
	size_t count = 1 + dice(seed, 6);
	for (size_t i = 0; i < count; i++) {
		drafts[i] = draft_of(dice(seed, 8), dice(seed, 6), 1 + dice(seed, 3));
		struct draft *draft = batch[i] = &drafts[i];
		draft->append.run.needs_recovery = dice(seed, 2) == 0;
		draft->append.opened_count = dice(seed, 2);
		draft->effect = (struct store_effect){ .id = id_of(dice(seed, 10)),
						       .kind = dice(seed, 2) ? S("a") : S("b") };
		draft->append.closed_count = dice(seed, 2);
		draft->closed = id_of(dice(seed, 10));
	}
	cr_assert(drafts_commit(f, batch, count), "%s", f->error.text);
}

STORE_TEST(conformance, a_sound_store_has_nothing_wrong_with_it)
{
	uint32_t seed = 7;
	for (int round = 0; round < 30; round++)
		shuffle_commit(f, &seed);
	struct draft draft = draft_of(90, 0, 1);
	draft.blob = (struct store_blob){ hash_of(S("value")), S("value") };
	draft.append.blob_count = 1;
	draft_commit(f, &draft);
	struct store_check check;
	cr_assert(f->reader->admin->check(f->reader, &f->arena, &check, &f->error), "%s",
		  f->error.text);
	cr_assert_eq(check.count, 0);
	struct store_size size;
	cr_assert(f->reader->admin->measure(f->reader, &size, &f->error), "%s", f->error.text);
	struct store_effect_page effects;
	cr_assert(f->reader->ops->list_effects(f->reader, S(""), NULL, 99, &f->arena, &effects,
					       &f->error));
	cr_assert_eq(size.events, (int64_t)events_all(f).count);
	cr_assert_eq(size.effects, (int64_t)effects.count);
	cr_assert_eq(size.blobs, 1);
	cr_assert_gt(size.runs, 1);
}

STORE_TEST(conformance, an_open_effect_of_an_ended_run_is_found)
{
	struct draft draft = draft_of(1, 0, 1);
	draft.append.run.ended_at = 5;
	draft.effect = (struct store_effect){ .id = id_of(3), .kind = S("tool") };
	draft.append.opened_count = 1;
	draft_commit(f, &draft);
	struct store_check check;
	cr_assert(f->reader->admin->check(f->reader, &f->arena, &check, &f->error), "%s",
		  f->error.text);
	cr_assert_eq(check.count, 1);
	size_t at;
	cr_assert(str_find(check.problems[0], S("00000003"), &at));
	cr_assert(str_find(check.problems[0], S("its run has ended"), &at));
}

STORE_TEST(conformance, a_vacuum_changes_nothing)
{
	uint32_t seed = 3;
	for (int round = 0; round < 20; round++)
		shuffle_commit(f, &seed);
	struct str before = timeline_of(f);
	cr_assert(f->store->admin->vacuum(f->store, &f->error), "%s", f->error.text);
	cr_assert_str(timeline_of(f), before);
	struct draft draft = draft_of(77, 0, 1);
	draft_commit(f, &draft);
}

Test(conformance, all_backends_tell_the_same_story)
{
	for (uint32_t seed = 1; seed <= 5; seed++) {
		struct arena arena = { 0 };
		struct str first = S("");
		for (size_t i = 0; i < simstore_backend_count; i++) {
			struct fixture f;
			fixture_open(&f, simstore_backends[i]);
			uint32_t dices = seed;
			for (int round = 0; round < 60; round++)
				shuffle_commit(&f, &dices);
			struct str timeline = timeline_of(&f);
			cr_assert_gt(timeline.size, 1000);
			if (i == 0)
				first = str_copy(&arena, timeline);
			else
				cr_assert(str_equal(first, timeline), "seed %u: %s differs", seed,
					  f.backend->name);
			fixture_close(&f);
		}
		arena_done(&arena);
	}
}
