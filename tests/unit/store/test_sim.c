/* tests/unit/store/test_sim.c -- the SQLite store on a failing disk loses no acknowledged commit.
 *
 * The workload is that of crash_scene.h.  A loop injects the fault at the 1st, the 2nd, … operation
 * until the workload ends before the fault.
 */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "crash_scene.h"

TestSuite(sim, .init = stories_make, .fini = stories_drop, .timeout = 600);

/* ---- crashes ---------------------------------------------------------------------------- */

/* Loses power at every nth change of the disk; returns the number of crash points. */
static unsigned crash_everywhere(enum fault_fate fate, uint64_t seed, unsigned nth)
{
	unsigned count = 0;
	bool pulled = true;
	for (unsigned change = 1 + (unsigned)fate % nth; pulled; change += nth, count++) {
		char what[64];
		struct scene scene;
		snprintf(what, sizeof(what), "%s, seed %llu, change %u", fates[fate],
			 (unsigned long long)seed, change);
		scene_begin(&scene);
		fault_disk_pull_at(scene.disk, change);
		scene_play(&scene);
		pulled = fault_disk_pulled(scene.disk);
		fault_disk_lose_power(scene.disk, fate, seed + change);
		scene_go_on(&scene, scene_recover(&scene, what), what);
		scene_end(&scene);
	}
	printf("%u crash points, %s\n", count - 1, fates[fate]);
	return count - 1;
}

/* One test for each fate, so that they run in parallel. */
Test(sim, no_crash_loses_what_was_acknowledged)
{
	cr_assert_geq(crash_everywhere(FAULT_MIXED, 1000, stride(2)), 250);
}

Test(sim, no_crash_loses_what_was_acknowledged_when_all_is_kept)
{
	cr_assert_geq(crash_everywhere(FAULT_KEEP, 1000, stride(9)), 50);
}

Test(sim, no_crash_loses_what_was_acknowledged_when_the_rest_is_dropped)
{
	cr_assert_geq(crash_everywhere(FAULT_DROP, 1000, stride(9)), 50);
}

Test(sim, no_crash_loses_what_was_acknowledged_when_sectors_are_torn)
{
	cr_assert_geq(crash_everywhere(FAULT_TEAR, 1000, stride(9)), 50);
}

Test(sim, no_crash_loses_what_was_acknowledged_when_sectors_are_garbled)
{
	cr_assert_geq(crash_everywhere(FAULT_GARBLE, 1000, stride(9)), 50);
}

Test(sim, a_second_crash_in_the_recovery_loses_nothing_either)
{
	unsigned points = 0;
	bool first_pulled = true;
	for (unsigned first = 20; first_pulled; first += 17 * stride(6)) {
		bool pulled = true;
		for (unsigned second = 1; pulled; second++, points++) {
			char what[64];
			struct scene scene;
			snprintf(what, sizeof(what), "change %u and then %u", first, second);
			scene_begin(&scene);
			fault_disk_pull_at(scene.disk, first);
			scene_play(&scene);
			first_pulled = fault_disk_pulled(scene.disk);
			fault_disk_lose_power(scene.disk, FAULT_MIXED, first);
			fault_disk_pull_at(scene.disk, second);
			if (scene_open(&scene))
				scene_close(&scene);
			pulled = fault_disk_pulled(scene.disk);
			fault_disk_lose_power(scene.disk, FAULT_MIXED, second);
			scene_go_on(&scene, scene_recover(&scene, what), what);
			scene_end(&scene);
		}
	}
	printf("%u double crash points\n", points);
	cr_assert_geq(points, 50);
}

/* Effects start on what a reader sees, so it must be durable. */
Test(sim, what_is_seen_after_a_kill_outlives_the_power)
{
	unsigned points = 0, unsynced = 0;
	bool pulled = true;
	for (unsigned change = 1; pulled; change += stride(2), points++) {
		char what[64];
		struct scene scene;
		snprintf(what, sizeof(what), "killed at change %u", change);
		scene_begin(&scene);
		fault_disk_pull_at(scene.disk, change);
		scene_play(&scene);
		pulled = fault_disk_pulled(scene.disk);
		fault_disk_lose_process(scene.disk);
		unsigned told = scene_recover(&scene, what);
		unsynced += told > scene.acknowledged;
		fault_disk_pull_at(scene.disk, 0);
		scene_close(&scene);
		fault_disk_lose_power(scene.disk, FAULT_DROP, 1);
		scene.acknowledged = told;
		cr_assert_eq(scene_recover(&scene, what), told, "%s", what);
		scene_go_on(&scene, told, what);
		scene_end(&scene);
	}
	printf("%u kills, %u of them left a commit that was not synced\n", points - 1, unsynced);
	cr_assert_geq(unsynced, COMMITS / 2, "every commit's sync is such a place");
}

Test(sim, the_same_seed_crashes_the_same_way)
{
	struct str told[2];
	struct arena arena = { 0 };
	for (int i = 0; i < 2; i++) {
		struct scene scene;
		scene_begin(&scene);
		fault_disk_pull_at(scene.disk, 77);
		scene_play(&scene);
		cr_assert(fault_disk_pulled(scene.disk));
		fault_disk_lose_power(scene.disk, FAULT_MIXED, 5);
		size_t size = fault_disk_size(scene.disk, "-wal");
		cr_assert_gt(size, 0);
		char *bytes = arena_take_array(&arena, size, 1);
		fault_disk_read(scene.disk, "-wal", 0, bytes, size);
		told[i] = (struct str){ bytes, size };
		scene_end(&scene);
	}
	cr_assert(str_equal(told[0], told[1]));
	arena_done(&arena);
}

Test(sim, a_store_of_its_own_can_be_crashed_in_place)
{
	struct fixture f;
	fixture_open(&f, simstore_backend(S("sim")));
	enum store_outcome outcome;
	for (unsigned i = 0; i < 5; i++)
		cr_assert(commit_number(&f, i, &outcome));
	for (uint64_t seed = 1; seed <= 3; seed++) {
		f.backend->close_reader(f.reader);
		cr_assert(store_sim_crash(&f.store, FAULT_GARBLE, seed, &f.error), "%s",
			  f.error.text);
		cr_assert(f.backend->open_reader(f.store, &f.reader, &f.error), "%s", f.error.text);
		cr_assert_str(timeline_of(&f), timeline_cache[5]);
	}
	fixture_close(&f);
}

/* ---- disk errors --------------------------------------------------------------------------- */

struct tally {
	unsigned places, at_open, refused, unseen;
};

/* One operation fails: from then on nothing is acknowledged. */
static bool fail_once(enum fault_kind kind, unsigned place, bool sticky, struct tally *tally)
{
	char what[64];
	struct scene scene;
	snprintf(what, sizeof(what), "kind %d, operation %u%s", (int)kind, place,
		 sticky ? " and all later" : "");
	scene_begin(&scene);
	fault_disk_order(scene.disk, kind, place, sticky);
	bool opened = scene_open(&scene), good = opened;
	enum store_outcome outcome;
	bool more;
	while (good && scene.acknowledged < COMMITS) {
		good = commit_number(&scene.f, scene.acknowledged, &outcome);
		scene.acknowledged += good && outcome == STORE_COMMITTED;
		good = good &&
		       scene.f.store->admin->purge(scene.f.store, 2, NULL, &more, &scene.f.error);
	}
	struct error first = scene.f.error;
	bool struck = fault_disk_heal(scene.disk);
	cr_assert(struck || good, "%s: failed without a reason: %s", what, first.text);
	if (!good)
		cr_assert_eq(first.code, ERROR_STORAGE, "%s: %s", what, first.text);
	if (opened && !good) {
		/* The disk works again, but its content is unknown. */
		cr_assert_not(commit_number(&scene.f, scene.acknowledged, &outcome), "%s", what);
		cr_assert_eq(outcome, STORE_PENDING, "%s", what);
		cr_assert_str_eq(scene.f.error.text, first.text);
	}
	tally->at_open += !opened;
	tally->refused += opened && !good;
	tally->unseen += struck && good;
	if (opened) {
		fault_disk_pull_at(scene.disk, 0);
		scene_close(&scene);
	}
	fault_disk_lose_power(scene.disk, FAULT_DROP, place);
	scene_go_on(&scene, scene_recover(&scene, what), what);
	scene_end(&scene);
	return struck;
}

static void fail_everywhere(enum fault_kind kind, const char *name)
{
	for (int sticky = 0; sticky < 2; sticky++) {
		struct tally tally = { 0 };
		unsigned nth = stride(kind == FAULT_WRITE ? 11 : 3);
		for (unsigned place = 1; fail_once(kind, place, sticky, &tally); place += nth)
			tally.places++;
		printf("%s%s: %u places, %u at open, %u ended a store, %u made good\n", name,
		       sticky ? " and all later" : "", tally.places, tally.at_open, tally.refused,
		       tally.unseen);
		cr_assert_gt(tally.places, 5);
		cr_assert_gt(tally.at_open, 0);
		/* A failure in the checkpoint after the last commit is not reported, and SQLite may
		 * ignore a failed read. */
		if (kind != FAULT_READ) {
			cr_assert_geq(tally.refused, COMMITS / 2);
			cr_assert_leq(tally.unseen, 2 * CHECKPOINT_FRAMES);
		}
	}
}

Test(sim, a_failed_read_ends_the_acknowledgements)
{
	fail_everywhere(FAULT_READ, "read");
}

Test(sim, a_failed_write_ends_the_acknowledgements)
{
	fail_everywhere(FAULT_WRITE, "write");
}

Test(sim, an_error_of_the_disk_ends_the_acknowledgements)
{
	fail_everywhere(FAULT_SYNC, "sync");
}

/* ---- full disk ---------------------------------------------------------------------------- */

/* A purge on a full disk changes nothing, and the store remains usable.  True when the fault struck. */
static bool purge_or_full(struct scene *scene, const char *what)
{
	bool more;
	if (scene->f.store->admin->purge(scene->f.store, 2, NULL, &more, &scene->f.error))
		return false;
	cr_assert_eq(scene->f.error.code, ERROR_STORAGE_FULL, "%s: %s", what, scene->f.error.text);
	cr_assert_str(timeline_of(&scene->f), timeline_cache[scene->acknowledged]);
	return fault_disk_heal(scene->disk);
}

/* On a full disk the batch is refused and nothing else happens. */
static bool fill_once(enum fault_kind kind, unsigned place, bool sticky, struct tally *tally)
{
	char what[64];
	struct scene scene;
	snprintf(what, sizeof(what), "kind %d, write %u%s", (int)kind, place,
		 sticky ? " and all later" : "");
	scene_begin(&scene);
	fault_disk_order(scene.disk, kind, place, sticky);
	bool struck = false;
	if (!scene_open(&scene)) {
		cr_assert_eq(scene.f.error.code, ERROR_STORAGE_FULL, "%s: %s", what,
			     scene.f.error.text);
		struck = fault_disk_heal(scene.disk);
		tally->at_open++;
		cr_assert(scene_open(&scene), "%s: %s", what, scene.f.error.text);
	}
	cr_assert(scene_look(&scene), "%s: %s", what, scene.f.error.text);
	while (scene.acknowledged < COMMITS) {
		enum store_outcome outcome;
		cr_assert(commit_number(&scene.f, scene.acknowledged, &outcome), "%s: %s", what,
			  scene.f.error.text);
		if (outcome == STORE_COMMITTED) {
			scene.acknowledged++;
			struck = purge_or_full(&scene, what) || struck;
			continue;
		}
		cr_assert_eq(outcome, STORE_FULL, "%s", what);
		tally->refused++;
		cr_assert_eq(scene.f.store->writer->stats(scene.f.store).refusals, 1);
		cr_assert_str(timeline_of(&scene.f), timeline_cache[scene.acknowledged]);
		struck = fault_disk_heal(scene.disk) || struck;
	}
	struck = fault_disk_heal(scene.disk) || struck;
	cr_assert_str(timeline_of(&scene.f), timeline_cache[COMMITS]);
	fault_disk_pull_at(scene.disk, 0);
	scene_close(&scene);
	fault_disk_lose_power(scene.disk, FAULT_DROP, place);
	scene_go_on(&scene, scene_recover(&scene, what), what);
	scene_end(&scene);
	return struck;
}

static void fill_everywhere(enum fault_kind kind, bool sticky, const char *name)
{
	struct tally tally = { 0 };
	unsigned nth = stride(sticky || kind == FAULT_SHORT ? 11 : 5);
	for (unsigned place = 1; fill_once(kind, place, sticky, &tally); place += nth)
		tally.places++;
	printf("%s: %u places, %u at open, %u batches refused\n", name, tally.places, tally.at_open,
	       tally.refused);
	cr_assert_gt(tally.at_open, 2);
	cr_assert_gt(tally.refused, COMMITS);
}

Test(sim, a_full_disk_refuses_and_then_goes_on)
{
	fill_everywhere(FAULT_FULL, false, "full");
}

Test(sim, a_disk_that_is_full_for_a_while_refuses_and_then_goes_on)
{
	fill_everywhere(FAULT_FULL, true, "full for a while");
}

Test(sim, a_short_write_refuses_and_then_goes_on)
{
	fill_everywhere(FAULT_SHORT, false, "short write");
}

Test(sim, short_writes_for_a_while_refuse_and_then_go_on)
{
	fill_everywhere(FAULT_SHORT, true, "short writes for a while");
}

Test(sim, a_crash_while_the_disk_is_full_loses_nothing)
{
	for (unsigned place = 25; place < 125; place += 3 * stride(3))
		for (enum fault_fate fate = FAULT_KEEP; fate < FAULT_FATES; fate++) {
			struct scene scene;
			scene_begin(&scene);
			fault_disk_order(scene.disk, FAULT_SHORT, place, true);
			scene_play(&scene); /* ends at the first refused batch */
			fault_disk_heal(scene.disk);
			fault_disk_lose_power(scene.disk, fate, place);
			unsigned told = scene_recover(&scene, fates[fate]);
			cr_assert_eq(told, scene.acknowledged, "a refused batch came back");
			scene_go_on(&scene, told, fates[fate]);
			scene_end(&scene);
		}
}

/* ---- the WAL's tail ---------------------------------------------------------------------------- */

struct wal {
	size_t size;
	size_t ends[COMMITS + 1]; /* of the last frame of that many commits */
};

static size_t wal_bytes(const struct store *store)
{
	struct store_stats stats = store->writer->stats(store);
	return (size_t)store_detail(&stats.details, "wal_bytes");
}

/* All commits are synced in the WAL, and the process was killed. */
static void wal_make(struct scene *scene, struct wal *wal)
{
	enum store_outcome outcome;
	scene_begin(scene);
	cr_assert(scene_open(scene), "%s", scene->f.error.text);
	scene_close(scene); /* removes the commit of the schema from the WAL */
	cr_assert(scene_open(scene), "%s", scene->f.error.text);
	store_sim_checkpoint_after(scene->f.store, 1000);
	wal->ends[0] = 0;
	for (unsigned i = 0; i < COMMITS; i++) {
		cr_assert(commit_number(&scene->f, i, &outcome));
		wal->ends[i + 1] = wal_bytes(scene->f.store);
	}
	wal->size = wal->ends[COMMITS];
	fault_disk_pull_at(scene->disk, 0);
	scene_close(scene);
	fault_disk_lose_power(scene->disk, FAULT_DROP, 1);
	cr_assert_geq(fault_disk_size(scene->disk, "-wal"), wal->size); /* zeros follow */
}

static unsigned whole_until(const struct wal *wal, size_t at)
{
	unsigned whole = 0;
	while (whole < COMMITS && wal->ends[whole + 1] <= at)
		whole++;
	return whole;
}

Test(sim, a_cut_wal_keeps_every_commit_before_the_cut)
{
	unsigned cuts = 0;
	struct wal wal = { .size = SIZE_MAX };
	for (size_t at = 1; at < wal.size; at += 1021 * stride(5), cuts++) {
		struct scene scene;
		wal_make(&scene, &wal);
		fault_disk_cut(scene.disk, "-wal", wal.size - at);
		unsigned whole = scene.acknowledged = whole_until(&wal, wal.size - at);
		unsigned told = scene_recover(&scene, "cut");
		cr_assert_eq(told, whole, "cut at %zu", wal.size - at);
		scene_go_on(&scene, told, "cut");
		scene_end(&scene);
	}
	cr_assert_geq(cuts, 60);
}

Test(sim, a_changed_bit_ends_the_wal_before_its_commit)
{
	unsigned flips = 0;
	struct wal wal = { .size = SIZE_MAX };
	for (size_t at = 0; at < wal.size; at += 997 * stride(5), flips++) {
		struct scene scene;
		wal_make(&scene, &wal);
		fault_disk_flip(scene.disk, "-wal", at, flips % 8);
		unsigned whole = scene.acknowledged = whole_until(&wal, at);
		unsigned told = scene_recover(&scene, "flip");
		cr_assert_eq(told, whole, "bit flipped at %zu", at);
		scene_go_on(&scene, told, "flip");
		scene_end(&scene);
	}
	cr_assert_geq(flips, 60);
}

/* ---- the database's pages --------------------------------------------------------------- */

struct flips {
	unsigned count, refused, read_failed, harmless;
};

/* Reads everything; false when the store reports an error. */
static bool tell_all(struct scene *scene, struct str *out_story)
{
	return scene_look(scene) && timeline_try(&scene->f, out_story) &&
	       values_try(scene, COMMITS);
}

/* A flipped bit is reported when the store is opened or read, or it changes nothing that can be read. */
static void flip_once(struct scene *scene, size_t at, unsigned bit, bool behind,
		      struct flips *flips)
{
	struct str timeline;
	flips->count++;
	if (behind)
		cr_assert(scene_open(scene), "%s", scene->f.error.text);
	fault_disk_flip(scene->disk, "", at, bit);
	if (!behind && !scene_open(scene)) {
		flips->refused++;
		cr_assert(scene->f.error.code == ERROR_STORAGE ||
				  scene->f.error.code == ERROR_LOST_DATA ||
				  scene->f.error.code == ERROR_NEWER_STORE,
			  "byte %zu: %s", at, scene->f.error.text);
	} else if (!tell_all(scene, &timeline)) {
		flips->read_failed++;
		cr_assert_eq(scene->f.error.code, ERROR_STORAGE);
		/* A store that knows of damage acknowledges nothing. */
		struct draft draft = draft_of(1000, 0, 1), *batch[] = { &draft };
		cr_assert_not(drafts_commit(&scene->f, batch, 1), "byte %zu", at);
	} else {
		cr_assert_str(timeline, timeline_cache[COMMITS]);
		flips->harmless++;
	}
	/* Opening has stored an epoch; the next store on this disk must continue from it. */
	fault_disk_pull_at(scene->disk, 0);
	scene_close(scene);
	fault_disk_lose_process(scene->disk);
	fault_disk_flip(scene->disk, "", at, bit);
	arena_reset(&scene->f.arena);
}

/* The bit flips before the store is opened, or while it is open. */
static void flip_many(size_t step, bool behind)
{
	struct flips flips = { 0 };
	struct scene scene;
	scene_begin(&scene);
	scene_play(&scene);
	cr_assert_eq(scene.acknowledged, COMMITS);
	scene_go_on(&scene, scene_recover(&scene, "before"), "before");
	size_t size = fault_disk_size(scene.disk, "");
	for (size_t at = 0; at < size; at += step)
		flip_once(&scene, at, (unsigned)(at / step) % 8, behind, &flips);
	printf("%u bits of %zu bytes: %u refused at open, %u failed reads, %u harmless\n",
	       flips.count, size, flips.refused, flips.read_failed, flips.harmless);
	cr_assert_gt(behind ? flips.read_failed : flips.refused, flips.count / 2);
	cr_assert_eq(scene_recover(&scene, "after"), COMMITS);
	scene_close(&scene);
	scene_end(&scene);
}

Test(sim, no_changed_bit_of_the_database_is_silent)
{
	flip_many(9 * stride(8), false);
}

Test(sim, no_bit_that_changes_behind_an_open_store_is_silent)
{
	flip_many(37 * stride(5), true);
}
