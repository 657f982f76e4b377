/* tests/unit/store/test_stored_documents.c -- documents, guards and idempotency keys, for every store. */
#include "store_fixture.h"

/* ---- documents ------------------------------------------------------------------------- */

static struct draft change_of(int64_t seq, struct str name, int64_t revision, struct str body)
{
	struct draft draft = draft_of(0, seq, 1);
	draft.append.run = (struct store_run){ 0 };
	draft.document = (struct store_document){ .kind = S("profile"),
						  .name = name,
						  .revision = revision,
						  .changed_at = 100 + seq,
						  .body = body };
	draft.append.document_count = 1;
	return draft;
}

static struct store_document document_of(struct fixture *f, struct str name)
{
	struct store_document document = { 0 };
	bool found = false;
	cr_assert(f->reader->ops->read_document(f->reader, S("profile"), name, &f->arena, &document,
						&found, &f->error));
	return found ? document : (struct store_document){ 0 };
}

STORE_TEST(documents, are_made_changed_and_deleted)
{
	cr_assert_eq(document_of(f, S("ann")).revision, 0);
	struct draft made = change_of(0, S("ann"), 0, S("{\"a\":1}"));
	draft_commit(f, &made);
	struct store_document document = document_of(f, S("ann"));
	cr_assert_eq(document.revision, 1);
	cr_assert_eq(document.changed_at, 100);
	cr_assert_str(document.kind, S("profile"));
	cr_assert_str(document.name, S("ann"));
	cr_assert_str(document.body, S("{\"a\":1}"));
	struct draft changed = change_of(1, S("ann"), 1, S("{\"a\":2}"));
	draft_commit(f, &changed);
	cr_assert_eq(document_of(f, S("ann")).revision, 2);
	cr_assert_str(document_of(f, S("ann")).body, S("{\"a\":2}"));
	struct draft deleted = change_of(2, S("ann"), 2, S(""));
	draft_commit(f, &deleted);
	cr_assert_eq(document_of(f, S("ann")).revision, 0);
	bool found = true;
	cr_assert(f->reader->ops->read_document(f->reader, S("profile"), S("ann"), &f->arena,
						&document, &found, &f->error));
	cr_assert_not(found);
	cr_assert_eq(document.revision, 3, "the next one goes on from here");
	/* Created again: it must not exist, and its revisions continue. */
	struct draft again = change_of(3, S("ann"), 0, S("{\"a\":3}"));
	draft_commit(f, &again);
	cr_assert_eq(document_of(f, S("ann")).revision, 4);
	check_whole(f);
}

STORE_TEST(documents, are_replaced_by_what_their_stream_says)
{
	struct draft ann = change_of(0, S("ann"), 0, S("{\"a\":1}"));
	struct draft bob = change_of(1, S("bob"), 0, S("{\"b\":1}"));
	draft_commit(f, &ann);
	draft_commit(f, &bob);
	const struct store_document made[] = {
		{ S("profile"), S("cyd"), .revision = 7, .changed_at = 3, .body = S("{\"c\":1}") },
		{ S("profile"), S("ann"), .revision = 4, .changed_at = 5, .body = S("") },
	};
	bool current = true;
	/* The stream has newer events. */
	cr_assert(f->store->admin->rebuild_documents(f->store, 1, made, 2, &current, &f->error));
	cr_assert_not(current);
	cr_assert_str(document_of(f, S("ann")).body, S("{\"a\":1}"));
	cr_assert(f->store->admin->rebuild_documents(f->store, 2, made, 2, &current, &f->error));
	cr_assert(current);
	cr_assert_eq(document_of(f, S("bob")).revision, 0);
	cr_assert_eq(document_of(f, S("cyd")).revision, 7);
	cr_assert_eq(document_of(f, S("cyd")).changed_at, 3);
	/* A deleted document keeps its revision. */
	struct store_document gone;
	bool found = true;
	cr_assert(f->reader->ops->read_document(f->reader, S("profile"), S("ann"), &f->arena, &gone,
						&found, &f->error));
	cr_assert_not(found);
	cr_assert_eq(gone.revision, 4);
	struct draft again = change_of(2, S("ann"), 0, S("{}"));
	draft_commit(f, &again);
	cr_assert_eq(document_of(f, S("ann")).revision, 5);
	check_whole(f);
}

STORE_TEST(documents, that_stand_elsewhere_are_conflicts)
{
	struct draft made = change_of(0, S("ann"), 0, S("{}"));
	draft_commit(f, &made);
	static const int64_t wrong[] = { 0, 2, -1 };
	for (size_t i = 0; i < COUNT(wrong); i++) {
		struct draft bad = change_of(1, S("ann"), wrong[i], S("{\"bad\":1}"));
		cr_assert_eq(draft_try(f, &bad), STORE_CONFLICT);
	}
	struct draft unknown = change_of(1, S("bob"), 1, S("{}"));
	cr_assert_eq(draft_try(f, &unknown), STORE_CONFLICT);
	struct draft gone = change_of(1, S("bob"), 1, S(""));
	cr_assert_eq(draft_try(f, &gone), STORE_CONFLICT);
	cr_assert_str(document_of(f, S("ann")).body, S("{}"));
	cr_assert_eq(events_all(f).count, 1);
	cr_assert_eq(f->store->writer->stats(f->store).conflicts, 5);
	/* Two appends in one batch: the second sees the changes of the first. */
	struct draft first = change_of(1, S("ann"), 1, S("{\"b\":1}"));
	struct draft second = change_of(2, S("ann"), 1, S("{\"b\":2}"));
	struct draft *batch[] = { &first, &second };
	cr_assert(drafts_commit(f, batch, 2));
	cr_assert_eq(first.append.outcome, STORE_COMMITTED);
	cr_assert_eq(second.append.outcome, STORE_CONFLICT);
}

STORE_TEST(documents, are_listed_by_name)
{
	const struct str names[] = { S("c"), S("a"), S("d"), S("b") };
	for (size_t i = 0; i < COUNT(names); i++) {
		struct draft draft = change_of((int64_t)i, names[i], 0, S("{}"));
		draft_commit(f, &draft);
	}
	struct draft other = change_of(4, S("aa"), 0, S("{}"));
	other.document.kind = S("team");
	draft_commit(f, &other);
	struct draft deleted = change_of(5, S("b"), 1, S(""));
	draft_commit(f, &deleted);
	struct store_document_page page;
	cr_assert(f->reader->ops->list_documents(f->reader, S("profile"), S(""), 2, &f->arena,
						 &page, &f->error));
	cr_assert_eq(page.count, 2);
	cr_assert_str(page.at[0].name, S("a"));
	cr_assert_str(page.at[1].name, S("c"));
	cr_assert(f->reader->ops->list_documents(f->reader, S("profile"), S("c"), 9, &f->arena,
						 &page, &f->error));
	cr_assert_eq(page.count, 1);
	cr_assert_str(page.at[0].name, S("d"));
	cr_assert(f->reader->ops->list_documents(f->reader, S("prof"), S(""), 9, &f->arena, &page,
						 &f->error));
	cr_assert_eq(page.count, 0);
}

STORE_TEST(documents, the_system_stream_is_no_run)
{
	struct draft run = draft_of(1, 0, 1);
	draft_commit(f, &run);
	struct draft made = change_of(0, S("ann"), 0, S("{}"));
	made.append.run.needs_recovery = true;
	made.append.run.ended_at = 1;
	draft_commit(f, &made);
	struct draft more = change_of(1, S("ann"), 1, S("{\"a\":1}"));
	draft_commit(f, &more);
	cr_assert_eq(more.append.first_position, 3);
	struct uuid zero = { 0 };
	struct store_run row;
	bool found = false;
	cr_assert(f->reader->ops->read_run(f->reader, &zero, &f->arena, &row, &found, &f->error));
	cr_assert(found);
	cr_assert_eq(row.seq, 2);
	struct store_event_page page;
	cr_assert(f->reader->ops->read_events(f->reader, &zero, 0, 9, &f->arena, &page, &f->error));
	cr_assert_eq(page.count, 2);
	cr_assert(uuid_is_zero(&page.at[0].run));
	cr_assert_eq(events_all(f).count, 3);
	struct store_run_page runs;
	cr_assert(f->reader->ops->list_runs(f->reader, NULL, NULL, 9, &f->arena, &runs, &f->error));
	cr_assert_eq(runs.count, 1);
	cr_assert(
		f->reader->ops->list_runs(f->reader, NULL, &zero, 9, &f->arena, &runs, &f->error));
	cr_assert_eq(runs.count, 0);
	cr_assert(f->reader->ops->list_needing_recovery(f->reader, NULL, 9, &f->arena, &runs,
							&f->error));
	cr_assert_eq(runs.count, 0);
	struct store_state_counts counts;
	cr_assert(f->reader->ops->count_states(f->reader, &f->arena, &counts, &f->error));
	cr_assert_eq(counts.count, 1);
	cr_assert_eq(counts.at[0].runs, 1);
	cr_assert_eq(old_runs(f, 1000000, 1), 0);
	struct store_size size;
	cr_assert(f->reader->admin->measure(f->reader, &size, &f->error));
	cr_assert_eq(size.runs, 1);
	cr_assert_eq(size.events, 3);
	check_whole(f);
}

/* ---- guards ----------------------------------------------------------------------------- */

static int64_t guard_of(struct fixture *f, struct str name)
{
	int64_t value = -1;
	cr_assert(f->reader->ops->read_guard(f->reader, name, &value, &f->error));
	return value;
}

static enum store_outcome guard_move(struct fixture *f, unsigned run, struct str name,
				     int64_t change, int64_t limit)
{
	struct draft draft = draft_of(run, run_exists(f, run) ? run_of(f, run).seq : 0, 1);
	draft.guards[0] = (struct store_guard){ name, change, limit };
	draft.append.guard_count = 1;
	return draft_try(f, &draft);
}

STORE_TEST(guards, are_moved_up_to_their_limit)
{
	cr_assert_eq(guard_of(f, S("a")), 0);
	cr_assert_eq(guard_move(f, 1, S("a"), 2, 3), STORE_COMMITTED);
	cr_assert_eq(guard_move(f, 1, S("a"), 1, 3), STORE_COMMITTED);
	cr_assert_eq(guard_move(f, 1, S("a"), 1, 3), STORE_GUARDED);
	cr_assert_eq(guard_move(f, 1, S("a"), 1, 4), STORE_COMMITTED, "the limit is the caller's");
	cr_assert_eq(guard_move(f, 1, S("a"), -5, -1), STORE_GUARDED, "below 0");
	cr_assert_eq(guard_move(f, 1, S("a"), -4, -1), STORE_COMMITTED);
	cr_assert_eq(guard_of(f, S("a")), 0);
	cr_assert_eq(guard_move(f, 1, S("a"), INT64_MAX, -1), STORE_COMMITTED, "no limit");
	cr_assert_eq(guard_move(f, 1, S("a"), 1, -1), STORE_GUARDED, "it cannot be counted");
	cr_assert_eq(guard_of(f, S("b")), 0);
	cr_assert_eq(run_of(f, 1).seq, 5);
}

STORE_TEST(guards, are_all_or_nothing)
{
	struct draft draft = draft_of(1, 0, 1);
	draft.guards[0] = (struct store_guard){ S("a"), 1, 5 };
	draft.guards[1] = (struct store_guard){ S("b"), 3, 2 };
	draft.append.guard_count = 2;
	cr_assert_eq(draft_try(f, &draft), STORE_GUARDED);
	cr_assert_eq(draft.append.refused_guard, 1);
	cr_assert_eq(guard_of(f, S("a")), 0);
	cr_assert_not(run_exists(f, 1));
	/* Changes of the same counter add up. */
	draft.guards[1] = (struct store_guard){ S("a"), 1, 5 };
	draft.guards[2] = (struct store_guard){ S("a"), 1, 2 };
	draft.append.guard_count = 3;
	cr_assert_eq(draft_try(f, &draft), STORE_GUARDED);
	cr_assert_eq(draft.append.refused_guard, 2);
	draft.guards[2].limit = 3;
	draft_commit(f, &draft);
	cr_assert_eq(guard_of(f, S("a")), 3);
}

STORE_TEST(guards, of_one_batch_see_each_other)
{
	struct draft drafts[4], *batch[4];
	for (unsigned i = 0; i < 4; i++) {
		drafts[i] = draft_of(i, 0, 1);
		drafts[i].guards[0] = (struct store_guard){ S("a"), 1, 2 };
		drafts[i].append.guard_count = 1;
		batch[i] = &drafts[i];
	}
	cr_assert(drafts_commit(f, batch, 4));
	for (size_t i = 0; i < 4; i++)
		cr_assert_eq(drafts[i].append.outcome, i < 2 ? STORE_COMMITTED : STORE_GUARDED);
	cr_assert_eq(guard_of(f, S("a")), 2);
	cr_assert_eq(events_all(f).count, 2);
}

/* ---- requests --------------------------------------------------------------------------- */

static struct draft request_of(unsigned run, struct str key, struct str said, int64_t at)
{
	struct draft draft = draft_of(run, 0, 1);
	draft.append.request = (struct store_request){
		.key = key, .said = hash_of(said), .subject = id_of(run), .at = at
	};
	return draft;
}

static bool request_known(struct fixture *f, struct str key)
{
	struct store_request request;
	bool found = false;
	cr_assert(f->reader->ops->read_request(f->reader, key, &f->arena, &request, &found,
					       &f->error));
	if (found)
		cr_assert_str(request.key, key);
	return found;
}

STORE_TEST(requests, a_key_makes_one_thing)
{
	cr_assert_not(request_known(f, S("a")));
	struct draft first = request_of(1, S("a"), S("start"), 50);
	draft_commit(f, &first);
	cr_assert(request_known(f, S("a")));
	/* The same request, and another request with the same key: both get the stored one. */
	const struct str words[] = { S("start"), S("stop") };
	for (size_t i = 0; i < COUNT(words); i++) {
		struct draft again = request_of(2, S("a"), words[i], 60);
		again.append.expected_seq = 77;
		cr_assert_eq(draft_try(f, &again), STORE_REPEATED);
		struct uuid one = id_of(1);
		struct hash said = hash_of(S("start"));
		cr_assert(uuid_equal(&again.append.request.subject, &one));
		cr_assert(hash_equal(&again.append.request.said, &said));
		cr_assert_eq(again.append.request.at, 50);
		cr_assert_str(again.append.request.key, S("a"));
	}
	cr_assert_not(run_exists(f, 2));
	cr_assert_eq(events_all(f).count, 1);
	/* Two appends in one batch. */
	struct draft one = request_of(3, S("b"), S("start"), 70);
	struct draft two = request_of(4, S("b"), S("start"), 70);
	struct draft *batch[] = { &one, &two };
	cr_assert(drafts_commit(f, batch, 2));
	cr_assert_eq(one.append.outcome, STORE_COMMITTED);
	cr_assert_eq(two.append.outcome, STORE_REPEATED);
	/* A refused append does not store its key. */
	struct draft late = request_of(1, S("c"), S("start"), 80);
	cr_assert_eq(draft_try(f, &late), STORE_CONFLICT);
	cr_assert_not(request_known(f, S("c")));
}

STORE_TEST(requests, are_kept_without_an_event_too)
{
	struct draft first = request_of(1, S("a"), S("start"), 50);
	draft_commit(f, &first);
	struct draft none = request_of(1, S("b"), S("stop"), 60);
	none.append.expected_seq = 1;
	none.append.event_count = 0;
	draft_commit(f, &none);
	cr_assert(request_known(f, S("b")));
	cr_assert_eq(events_all(f).count, 1);
	struct draft again = none;
	cr_assert_eq(draft_try(f, &again), STORE_REPEATED);
	/* A conflict stores nothing. */
	struct draft late = request_of(1, S("c"), S("stop"), 70);
	late.append.event_count = 0;
	cr_assert_eq(draft_try(f, &late), STORE_CONFLICT);
	cr_assert_not(request_known(f, S("c")));
	/* The stream is unchanged. */
	struct draft next = draft_of(1, 1, 2);
	draft_commit(f, &next);
	cr_assert_eq(next.append.first_position, 2);
	cr_assert_eq(events_all(f).count, 3);
	check_whole(f);
}

STORE_TEST(requests, are_forgotten)
{
	for (unsigned i = 0; i < 6; i++) {
		char key[2] = { (char)('a' + i), '\0' };
		struct draft draft = request_of(i, str_from_c(key), S("start"), 100 + i);
		draft_commit(f, &draft);
	}
	cr_assert(f->store->admin->expire_requests(f->store, 103, &f->error), "%s", f->error.text);
	cr_assert(f->store->admin->expire_requests(f->store, 50, &f->error),
		  "an earlier one brings nothing back");
	cr_assert_not(request_known(f, S("c")));
	cr_assert(request_known(f, S("d")));
	/* An expired key can be used again, purged or not. */
	struct draft again = request_of(10, S("a"), S("other"), 200);
	draft_commit(f, &again);
	cr_assert_eq(purge_all(f, 1), 3, "two are left to take");
	cr_assert(request_known(f, S("a")));
	cr_assert_not(request_known(f, S("b")));
	cr_assert(request_known(f, S("f")));
	check_whole(f);
}
