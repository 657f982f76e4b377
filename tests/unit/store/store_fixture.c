/* tests/unit/store/store_fixture.c -- see store_fixture.h. */
#include "store_fixture.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"

static void handles_open(struct fixture *fixture)
{
	cr_assert(fixture->backend->open(fixture->path, &fixture->store, &fixture->error), "%s",
		  fixture->error.text);
	cr_assert(fixture->backend->open_reader(fixture->store, &fixture->reader, &fixture->error),
		  "%s", fixture->error.text);
}

static void handles_close(struct fixture *fixture)
{
	fixture->backend->close_reader(fixture->reader);
	fixture->backend->close(fixture->store);
}

void fixture_open(struct fixture *fixture, const struct store_backend *backend)
{
	*fixture = (struct fixture){ .backend = backend, .folder = "/tmp/store-test-XXXXXX" };
	cr_assert_not_null(mkdtemp(fixture->folder));
	snprintf(fixture->path, sizeof(fixture->path), "%s/baton.db", fixture->folder);
	handles_open(fixture);
}

void fixture_reopen(struct fixture *fixture)
{
	handles_close(fixture);
	handles_open(fixture);
}

void fixture_close(struct fixture *fixture)
{
	handles_close(fixture);
	arena_done(&fixture->arena);
	DIR *folder = opendir(fixture->folder);
	cr_assert_not_null(folder);
	for (struct dirent *entry; (entry = readdir(folder)) != NULL;)
		if (entry->d_name[0] != '.')
			cr_assert_eq(unlinkat(dirfd(folder), entry->d_name, 0), 0);
	closedir(folder);
	cr_assert_eq(rmdir(fixture->folder), 0);
}

struct uuid id_of(unsigned number)
{
	struct uuid id = { .bytes = { [6] = 0x40, [8] = 0x80 } };
	for (int i = 0; i < 4; i++)
		id.bytes[i] = (uint8_t)(number >> (24 - 8 * i));
	return id;
}

struct draft draft_of(unsigned run, int64_t expected_seq, size_t events)
{
	struct draft draft = { 0 };
	cr_assert_leq(events, DRAFT_EVENTS);
	draft.append.expected_seq = expected_seq;
	draft.append.event_count = events;
	draft.append.run = (struct store_run){ .id = id_of(run),
					       .name = S("chain"),
					       .state = S("running"),
					       .created_at = 1000 + run,
					       .updated_at = 2000 + expected_seq,
					       .summary = S("{}") };
	for (size_t i = 0; i < events; i++) {
		snprintf(draft.bodies[i], sizeof(draft.bodies[i]), "{\"run\":%u,\"seq\":%lld}", run,
			 (long long)(expected_seq + 1 + (int64_t)i));
		draft.events[i].type = S("step.finished");
		draft.events[i].at = 5000 + expected_seq + (int64_t)i;
	}
	return draft;
}

/* A draft is returned by value, so pointers into it are set only when it is committed. */
static void draft_settle(struct draft *draft)
{
	draft->append.events = draft->events;
	for (size_t i = 0; i < draft->append.event_count; i++)
		if (draft->events[i].body.at == NULL && draft->events[i].body.size == 0)
			draft->events[i].body = str_from_c(draft->bodies[i]);
	if (draft->append.blob_count > 0)
		draft->append.blobs = &draft->blob;
	if (draft->append.opened_count > 0)
		draft->append.opened = &draft->effect;
	if (draft->append.closed_count > 0)
		draft->append.closed = &draft->closed;
	if (draft->append.document_count > 0)
		draft->append.documents = &draft->document;
	if (draft->append.guard_count > 0)
		draft->append.guards = draft->guards;
	for (size_t i = 0; i < draft->append.event_count; i++)
		draft->events[i].names = draft->names;
	if (draft->append.snapshot.names == NULL)
		draft->append.snapshot.names = draft->names;
}

bool drafts_commit(struct fixture *fixture, struct draft *const *drafts, size_t count)
{
	struct store_append *appends[64];
	cr_assert_leq(count, COUNT(appends));
	for (size_t i = 0; i < count; i++) {
		draft_settle(drafts[i]);
		appends[i] = &drafts[i]->append;
	}
	return fixture->store->writer->commit(fixture->store, appends, count, &fixture->error);
}

enum store_outcome draft_try(struct fixture *fixture, struct draft *draft)
{
	cr_assert(drafts_commit(fixture, &draft, 1), "%s", fixture->error.text);
	return draft->append.outcome;
}

void draft_commit(struct fixture *fixture, struct draft *draft)
{
	cr_assert_eq(draft_try(fixture, draft), STORE_COMMITTED);
}

struct store_event_page events_of(struct fixture *fixture, unsigned run)
{
	struct uuid id = id_of(run);
	struct store_event_page page = { 0 };
	cr_assert(fixture->reader->ops->read_events(fixture->reader, &id, 0, SIZE_MAX,
						    &fixture->arena, &page, &fixture->error),
		  "%s", fixture->error.text);
	return page;
}

struct store_event_page events_all(struct fixture *fixture)
{
	struct store_event_page page = { 0 };
	cr_assert(fixture->reader->ops->read_all(fixture->reader, 0, SIZE_MAX, &fixture->arena,
						 &page, &fixture->error),
		  "%s", fixture->error.text);
	return page;
}

bool run_exists(struct fixture *fixture, unsigned run)
{
	struct uuid id = id_of(run);
	struct store_run row;
	bool found = false;
	cr_assert(fixture->reader->ops->read_run(fixture->reader, &id, &fixture->arena, &row,
						 &found, &fixture->error),
		  "%s", fixture->error.text);
	return found;
}

struct store_run run_of(struct fixture *fixture, unsigned run)
{
	struct uuid id = id_of(run);
	struct store_run row = { 0 };
	bool found = false;
	cr_assert(fixture->reader->ops->read_run(fixture->reader, &id, &fixture->arena, &row,
						 &found, &fixture->error),
		  "%s", fixture->error.text);
	cr_assert(found);
	return row;
}

static bool tell_events(struct fixture *f, struct buf *out)
{
	char id[UUID_TEXT_SIZE];
	struct store_event_page events;
	if (!f->reader->ops->read_all(f->reader, 0, SIZE_MAX, &f->arena, &events, &f->error))
		return false;
	for (size_t i = 0; i < events.count; i++)
		buf_add_format(out, "%lld " STR_FMT " %lld %lld " STR_FMT " " STR_FMT "\n",
			       (long long)events.at[i].position,
			       STR_ARG(uuid_text(&events.at[i].run, id)),
			       (long long)events.at[i].seq, (long long)events.at[i].at,
			       STR_ARG(events.at[i].type), STR_ARG(events.at[i].body));
	return true;
}

static void tell_runs(const struct store_run_page *runs, struct buf *out)
{
	char id[UUID_TEXT_SIZE];
	for (size_t i = 0; i < runs->count; i++) {
		const struct store_run *run = &runs->at[i];
		buf_add_format(out,
			       "run " STR_FMT " " STR_FMT " " STR_FMT
			       " %d %lld %lld %lld %lld %lld " STR_FMT "\n",
			       STR_ARG(uuid_text(&run->id, id)), STR_ARG(run->name),
			       STR_ARG(run->state), run->needs_recovery, (long long)run->created_at,
			       (long long)run->updated_at, (long long)run->ended_at,
			       (long long)run->seq, (long long)run->floor, STR_ARG(run->summary));
	}
	buf_add_format(out, "--\n");
}

static bool tell_snapshots(struct fixture *f, const struct store_run_page *runs, struct buf *out)
{
	for (size_t i = 0; i < runs->count; i++) {
		struct store_snapshot snapshot = { 0 };
		bool found = true;
		for (int64_t at = 0; found; at = snapshot.seq - 1) {
			if (!f->reader->ops->read_snapshot(f->reader, &runs->at[i].id, at,
							   &f->arena, &snapshot, &found, &f->error))
				return false;
			if (found)
				buf_add_format(out, "snapshot %zu %lld " STR_FMT "\n", i,
					       (long long)snapshot.seq, STR_ARG(snapshot.body));
			found = found && snapshot.seq > 1;
		}
	}
	return true;
}

/* The side tables, as far as tests use them. */
static bool tell_beside(struct fixture *f, struct buf *out)
{
	struct store_state_counts states;
	struct store_effect_page due;
	if (!f->reader->ops->count_states(f->reader, &f->arena, &states, &f->error) ||
	    !f->reader->ops->list_due(f->reader, 0, INT64_MAX, SIZE_MAX, &f->arena, &due,
				      &f->error))
		return false;
	for (size_t i = 0; i < states.count; i++)
		buf_add_format(out, "state " STR_FMT " %lld\n", STR_ARG(states.at[i].state),
			       (long long)states.at[i].runs);
	for (size_t i = 0; i < due.count; i++)
		buf_add_format(out, "due %lld\n", (long long)due.at[i].due_at);
	const struct str kinds[] = { S("profile"), S("team") };
	for (size_t k = 0; k < COUNT(kinds); k++) {
		struct store_document_page page;
		if (!f->reader->ops->list_documents(f->reader, kinds[k], S(""), SIZE_MAX, &f->arena,
						    &page, &f->error))
			return false;
		for (size_t i = 0; i < page.count; i++)
			buf_add_format(out, STR_FMT " " STR_FMT " %lld %lld " STR_FMT "\n",
				       STR_ARG(page.at[i].kind), STR_ARG(page.at[i].name),
				       (long long)page.at[i].revision,
				       (long long)page.at[i].changed_at, STR_ARG(page.at[i].body));
	}
	const struct str names[] = { S("a"), S("b"), S("c") };
	for (size_t i = 0; i < COUNT(names); i++) {
		int64_t value;
		struct store_request request;
		bool found;
		if (!f->reader->ops->read_guard(f->reader, names[i], &value, &f->error) ||
		    !f->reader->ops->read_request(f->reader, names[i], &f->arena, &request, &found,
						  &f->error))
			return false;
		buf_add_format(out, STR_FMT " %lld, asked at %lld\n", STR_ARG(names[i]),
			       (long long)value, found ? (long long)request.at : -1);
	}
	return true;
}

bool timeline_try(struct fixture *f, struct str *out_story)
{
	AUTO(buf) out = { 0 };
	char id[UUID_TEXT_SIZE], other[UUID_TEXT_SIZE];
	struct store_run_page runs, stepping;
	struct store_effect_page effects;
	if (!tell_events(f, &out) ||
	    !f->reader->ops->list_runs(f->reader, NULL, NULL, SIZE_MAX, &f->arena, &runs,
				       &f->error) ||
	    !f->reader->ops->list_needing_recovery(f->reader, NULL, SIZE_MAX, &f->arena, &stepping,
						   &f->error) ||
	    !f->reader->ops->list_effects(f->reader, S(""), NULL, SIZE_MAX, &f->arena, &effects,
					  &f->error))
		return false;
	tell_runs(&runs, &out);
	tell_runs(&stepping, &out);
	for (size_t i = 0; i < effects.count; i++)
		buf_add_format(&out, STR_FMT " " STR_FMT " " STR_FMT " %lld " STR_FMT "\n",
			       STR_ARG(uuid_text(&effects.at[i].id, id)),
			       STR_ARG(uuid_text(&effects.at[i].run, other)),
			       STR_ARG(effects.at[i].kind), (long long)effects.at[i].due_at,
			       STR_ARG(effects.at[i].body));
	if (!tell_snapshots(f, &runs, &out) || !tell_beside(f, &out))
		return false;
	*out_story = str_copy(&f->arena, buf_str(&out));
	return true;
}

struct str timeline_of(struct fixture *fixture)
{
	struct str timeline = S("");
	cr_assert(timeline_try(fixture, &timeline), "%s", fixture->error.text);
	return timeline;
}

size_t purge_all(struct fixture *f, size_t limit)
{
	bool more = true;
	size_t slices = 0;
	for (; more; slices++)
		cr_assert(f->store->admin->purge(f->store, limit, NULL, &more, &f->error), "%s",
			  f->error.text);
	return slices;
}

void check_whole(struct fixture *f)
{
	struct store_check check;
	cr_assert(f->reader->admin->check(f->reader, &f->arena, &check, &f->error), "%s",
		  f->error.text);
	if (check.count > 0)
		cr_assert_fail("%s: " STR_FMT, f->backend->name, STR_ARG(check.problems[0]));
}

size_t old_runs(struct fixture *f, int64_t ended_before, int64_t most_events)
{
	struct store_old_runs runs;
	cr_assert(f->reader->ops->list_old(f->reader, ended_before, most_events, NULL, 99,
					   &f->arena, &runs, &f->error));
	for (size_t i = 1; i < runs.count; i++)
		cr_assert_lt(memcmp(&runs.at[i - 1].id, &runs.at[i].id, 16), 0);
	return runs.count;
}
