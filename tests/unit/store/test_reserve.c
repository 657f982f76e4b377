/* tests/unit/store/test_reserve.c -- urgent appends are committed on a full disk.
 *
 * The fault disk has a size limit, and the reserve is a file on it: SQLite can use the space that the
 * reserve releases.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/limits.h"
#include "store_fixture.h"
#include "os/failpoint.h"
#include "simstore/store_memory.h"
#include "simstore/store_sim.h"

enum { BODY = 9000, RESERVE = 64 * 4096 };

static char body[BODY];

static void body_make(void)
{
	memset(body, 'x', sizeof(body));
}

TestSuite(reserve, .init = body_make);

static struct draft heavy_of(unsigned run, int64_t seq, bool urgent)
{
	struct draft draft = draft_of(run, seq, 1);
	draft.events[0].body = (struct str){ body, sizeof(body) };
	draft.append.urgent = urgent;
	return draft;
}

/* Opens a store with a reserve on a disk that is almost full. */
static unsigned fill(struct fixture *f, size_t room)
{
	struct fault_disk *disk = store_sim_disk(f->store);
	store_sim_reserve(f->store, RESERVE);
	cr_assert_eq(fault_disk_size(disk, "-reserve"), RESERVE);
	fault_disk_limit(disk, fault_disk_used(disk) + room);
	unsigned runs = 0;
	for (enum store_outcome outcome = STORE_COMMITTED; outcome == STORE_COMMITTED;) {
		struct draft draft = heavy_of(runs, 0, false);
		outcome = draft_try(f, &draft);
		runs += outcome == STORE_COMMITTED;
		if (outcome != STORE_COMMITTED)
			cr_assert_eq(outcome, STORE_FULL);
	}
	return runs;
}

Test(reserve, a_full_disk_takes_what_is_urgent_and_nothing_else)
{
	struct fixture f;
	fixture_open(&f, simstore_backend(S("sim")));
	unsigned runs = fill(&f, 100000);
	struct fault_disk *disk = store_sim_disk(f.store);
	cr_assert_gt(runs, 2);
	cr_assert_eq(fault_disk_size(disk, "-reserve"), RESERVE, "nothing urgent, nothing spent");
	struct draft normal = heavy_of(500, 0, false), cancel = heavy_of(0, 1, true),
		     also = heavy_of(501, 0, false);
	struct draft *batch[] = { &normal, &cancel, &also };
	cr_assert(drafts_commit(&f, batch, COUNT(batch)), "%s", f.error.text);
	cr_assert_eq(normal.append.outcome, STORE_FULL);
	cr_assert_eq(cancel.append.outcome, STORE_COMMITTED);
	cr_assert_eq(also.append.outcome, STORE_FULL);
	cr_assert_eq(run_of(&f, 0).seq, 2);
	cr_assert_not(run_exists(&f, 500));
	cr_assert_lt(fault_disk_size(disk, "-reserve"), RESERVE);
	cr_assert_gt(fault_disk_size(disk, "-reserve"), 0);
	/* The commit survives a crash. */
	f.backend->close_reader(f.reader);
	cr_assert(store_sim_crash(&f.store, FAULT_DROP, 1, &f.error), "%s", f.error.text);
	cr_assert(f.backend->open_reader(f.store, &f.reader, &f.error), "%s", f.error.text);
	cr_assert_eq(run_of(&f, 0).seq, 2);
	fixture_close(&f);
}

Test(reserve, lasts_for_many_and_is_made_whole_when_there_is_room)
{
	struct fixture f;
	fixture_open(&f, simstore_backend(S("sim")));
	fill(&f, 100000);
	struct fault_disk *disk = store_sim_disk(f.store);
	int64_t seq = 1;
	for (enum store_outcome outcome = STORE_COMMITTED; outcome == STORE_COMMITTED; seq++) {
		struct draft cancel = heavy_of(0, seq, true);
		outcome = draft_try(&f, &cancel);
	}
	cr_assert_gt(seq, 10, "%lld", (long long)seq);
	cr_assert_eq(fault_disk_size(disk, "-reserve"), 0);
	cr_assert_eq(run_of(&f, 0).seq, seq - 1);
	/* Commits take precedence over refilling the reserve. */
	fault_disk_limit(disk, fault_disk_used(disk) + RESERVE / 2);
	struct draft little = heavy_of(600, 0, false);
	draft_commit(&f, &little);
	cr_assert_eq(fault_disk_size(disk, "-reserve"), 0);
	fault_disk_limit(disk, 0);
	size_t commits = 0;
	while (fault_disk_size(disk, "-reserve") < RESERVE && commits < 10) {
		struct draft more = heavy_of(700 + (unsigned)commits++, 0, false);
		draft_commit(&f, &more);
	}
	cr_assert_eq(fault_disk_size(disk, "-reserve"), RESERVE);
	cr_assert_leq(commits, 3);
	fixture_close(&f);
}

/* A crash at every write: the acknowledged commits are there, and nothing else. */
Test(reserve, no_crash_loses_what_the_reserve_has_saved, .timeout = 600)
{
	unsigned points = 0;
	for (bool pulled = true; pulled; points++) {
		struct fault_disk *disk = fault_disk_new();
		struct fixture f = { .backend = simstore_backend(S("sim")) };
		cr_assert(store_sim_open_on(disk, &f.store, &f.error), "%s", f.error.text);
		unsigned runs = fill(&f, 60000);
		struct draft normal = heavy_of(500, 0, false), cancel = heavy_of(0, 1, true);
		struct draft *batch[] = { &normal, &cancel };
		fault_disk_pull_at(disk, points + 1);
		bool told = drafts_commit(&f, batch, COUNT(batch)) &&
			    cancel.append.outcome == STORE_COMMITTED;
		pulled = fault_disk_pulled(disk);
		fault_disk_pull_at(disk, 0);
		f.backend->close(f.store);
		fault_disk_lose_power(disk, FAULT_MIXED, points);
		fault_disk_limit(disk, 0);
		cr_assert(store_sim_open_on(disk, &f.store, &f.error), "%s", f.error.text);
		cr_assert(f.backend->open_reader(f.store, &f.reader, &f.error), "%s", f.error.text);
		for (unsigned run = 1; run < runs; run++)
			cr_assert_eq(run_of(&f, run).seq, 1);
		cr_assert_not(run_exists(&f, 500));
		cr_assert_leq(run_of(&f, 0).seq, 2);
		if (told)
			cr_assert_eq(run_of(&f, 0).seq, 2, "change %u", points + 1);
		f.backend->close_reader(f.reader);
		f.backend->close(f.store);
		arena_done(&f.arena);
		fault_disk_drop(disk);
	}
	cr_assert_gt(points, 5);
}

Test(reserve, the_memory_store_plays_the_same)
{
	struct fixture f;
	fixture_open(&f, simstore_backend(S("memory")));
	struct draft first = heavy_of(0, 0, false);
	draft_commit(&f, &first);
	store_memory_fill(f.store, true);
	struct draft normal = heavy_of(500, 0, false), cancel = heavy_of(0, 1, true);
	struct draft *batch[] = { &normal, &cancel };
	cr_assert(drafts_commit(&f, batch, COUNT(batch)), "%s", f.error.text);
	cr_assert_eq(normal.append.outcome, STORE_FULL);
	cr_assert_eq(cancel.append.outcome, STORE_COMMITTED);
	int64_t seq = 2;
	for (enum store_outcome outcome = STORE_COMMITTED; outcome == STORE_COMMITTED; seq++) {
		struct draft more = heavy_of(0, seq, true);
		outcome = draft_try(&f, &more);
	}
	cr_assert_eq(run_of(&f, 0).seq, seq - 1);
	cr_assert_lt(seq, 100, "it ends");
	store_memory_fill(f.store, false);
	struct draft again = heavy_of(0, seq - 1, false);
	draft_commit(&f, &again);
	fixture_close(&f);
}

static off_t reserve_of(struct fixture *f, off_t *out_blocks)
{
	char name[112];
	struct stat status;
	snprintf(name, sizeof(name), "%s-reserve", f->path);
	cr_assert_eq(stat(name, &status), 0);
	cr_assert_eq(status.st_mode & 0777, 0600);
	*out_blocks = status.st_blocks * 512;
	return status.st_size;
}

Test(reserve, is_really_allocated_beside_the_file)
{
	struct fixture f;
	off_t blocks;
	fixture_open(&f, simstore_backend(S("sqlite")));
	cr_assert_eq(reserve_of(&f, &blocks), LIMIT_STORE_RESERVE_BYTES);
	cr_assert_geq(blocks, LIMIT_STORE_RESERVE_BYTES);
	/* A failpoint makes the first attempt of the second batch find the disk full. */
	setenv("BATON_POINTS", "store.before_commit=full@2", 1);
	failpoint_setup();
	struct draft one = draft_of(1, 0, 1), two = draft_of(2, 0, 1), cancel = draft_of(1, 1, 1);
	draft_commit(&f, &one);
	cancel.append.urgent = true;
	struct draft *batch[] = { &two, &cancel };
	cr_assert(drafts_commit(&f, batch, COUNT(batch)), "%s", f.error.text);
	cr_assert_eq(two.append.outcome, STORE_FULL);
	cr_assert_eq(cancel.append.outcome, STORE_COMMITTED);
	cr_assert_eq(reserve_of(&f, &blocks),
		     LIMIT_STORE_RESERVE_BYTES - LIMIT_STORE_RESERVE_SLICE);
	cr_assert_eq(f.store->writer->stats(f.store).refusals, 1);
	cr_assert_eq(f.store->writer->stats(f.store).commits, 2);
	draft_commit(&f, &two);
	cr_assert_eq(reserve_of(&f, &blocks), LIMIT_STORE_RESERVE_BYTES);
	/* A reserve file that was removed or truncated is created again. */
	char name[112];
	snprintf(name, sizeof(name), "%s-reserve", f.path);
	cr_assert_eq(unlink(name), 0);
	fixture_reopen(&f);
	cr_assert_eq(reserve_of(&f, &blocks), LIMIT_STORE_RESERVE_BYTES);
	fixture_close(&f);
}
