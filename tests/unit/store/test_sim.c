/* tests/unit/store/test_sim.c -- SQLite on a disk that fails: whatever was acknowledged is there.
 *
 * The workload is a list of commits.  The memory store plays it once and tells its story after each
 * of them; after every fault the disk's store must tell the story of as many commits as were
 * acknowledged, or of one more when a commit was cut off, and nothing else.  A loop goes over every
 * place where the fault can strike: the 1st, the 2nd, … until it does not strike any more.
 */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "fixture.h"
#include "store/store_sim.h"

enum { COMMITS = 14, BATCH = 3, VALUE = 1500, CHECKPOINT_FRAMES = 12 };

static struct str stories[COMMITS + 1];
static struct arena stories_arena;
static char text[3 * VALUE];

/* ---- the workload --------------------------------------------------------------------- */

static struct str value_of(unsigned number)
{
	return (struct str){ text + number * 31, VALUE };
}

/* Commit number `number`: one to three runs go on; values, effects and long bodies now and then. */
static bool commit_number(struct fixture *f, unsigned number, enum store_outcome *out_outcome)
{
	static struct draft drafts[BATCH];
	struct draft *batch[BATCH];
	size_t count = 1 + number % BATCH;
	for (unsigned i = 0; i < count; i++) {
		/* Every run takes part in each commit that is large enough for it. */
		int64_t seq = 0;
		for (unsigned before = 0; before < number; before++)
			if (i < 1 + before % BATCH)
				seq += 1 + before % 2;
		drafts[i] = draft_of(i, seq, 1 + number % 2);
		batch[i] = &drafts[i];
		drafts[i].append.run.stepping = number % 4 == i;
	}
	if (number % 3 == 0) {
		drafts[0].blob = (struct store_blob){ hash_of(value_of(number)), value_of(number) };
		drafts[0].append.blob_count = 1;
	}
	if (number % 2 == 0) {
		drafts[0].effect = (struct store_effect){ .id = id_of(100 + number),
							  .kind = S("tool"),
							  .due_at = number };
		drafts[0].append.opened_count = 1;
	} else {
		drafts[0].closed = id_of(99 + number);
		drafts[0].append.closed_count = number % 4 == 1;
	}
	if (number == 5)
		drafts[0].events[0].body = (struct str){ text, sizeof(text) };
	bool answered = drafts_commit(f, batch, count);
	*out_outcome = batch[0]->append.outcome;
	for (size_t i = 1; i < count && answered; i++)
		cr_assert_eq(batch[i]->append.outcome, *out_outcome, "a batch has one outcome");
	return answered;
}

static void stories_make(void)
{
	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = (char)('a' + (i * i + i / 7) % 26);
	struct fixture f;
	fixture_open(&f, store_backend(S("memory")));
	stories[0] = str_copy(&stories_arena, story_of(&f));
	for (unsigned i = 0; i < COMMITS; i++) {
		enum store_outcome outcome;
		cr_assert(commit_number(&f, i, &outcome));
		cr_assert_eq(outcome, STORE_COMMITTED);
		stories[i + 1] = str_copy(&stories_arena, story_of(&f));
	}
	fixture_close(&f);
}

static void stories_drop(void)
{
	arena_done(&stories_arena);
}

TestSuite(sim, .init = stories_make, .fini = stories_drop, .timeout = 110);

/* ---- a store on a disk of the test's ----------------------------------------------------- */

struct scene {
	struct fixture f;
	struct fault_disk *disk;
	unsigned acknowledged;
};

static void scene_begin(struct scene *scene)
{
	*scene = (struct scene){ .f.ops = store_backend(S("sim")), .disk = fault_disk_new() };
	/* The salts of a WAL come from SQLite's dice, which all its users share. */
	cr_assert_eq(sqlite3_test_control(SQLITE_TESTCTRL_PRNG_SEED, 47, NULL), SQLITE_OK);
}

static void scene_end(struct scene *scene)
{
	fault_disk_drop(scene->disk);
	arena_done(&scene->f.arena);
}

static bool scene_open(struct scene *scene)
{
	struct fixture *f = &scene->f;
	f->store = NULL;
	f->reader = NULL;
	f->error = (struct error){ 0 };
	if (!store_sim_open_on(scene->disk, &f->store, &f->error))
		return false;
	store_sim_checkpoint_after(f->store, CHECKPOINT_FRAMES);
	return true;
}

static bool scene_look(struct scene *scene)
{
	return scene->f.ops->reader_open(scene->f.store, &scene->f.reader, &scene->f.error);
}

static void scene_close(struct scene *scene)
{
	scene->f.ops->reader_close(scene->f.reader);
	scene->f.ops->close(scene->f.store);
	scene->f.reader = NULL;
	scene->f.store = NULL;
}

/* Opens and commits until something fails; then closes. */
static void scene_play(struct scene *scene)
{
	enum store_outcome outcome;
	if (!scene_open(scene))
		return;
	while (scene->acknowledged < COMMITS &&
	       commit_number(&scene->f, scene->acknowledged, &outcome) &&
	       outcome == STORE_COMMITTED)
		scene->acknowledged++;
	scene_close(scene);
}

static void check_sound(struct scene *scene, const char *what)
{
	struct fixture *f = &scene->f;
	struct store_check check;
	cr_assert(f->ops->check(f->reader, &f->arena, &check, &f->error), "%s: %s", what,
		  f->error.text);
	if (check.count > 0)
		cr_assert_fail("%s: " STR_FMT, what, STR_ARG(check.problems[0]));
	for (unsigned i = 0; i < scene->acknowledged; i += 3) {
		struct hash hash = hash_of(value_of(i));
		struct str bytes;
		bool found = false;
		cr_assert(
			f->ops->read_blob(f->reader, &hash, &f->arena, &bytes, &found, &f->error));
		cr_assert(found, "%s: the value of commit %u is gone", what, i);
	}
}

/* Opens what is left; how many commits its story tells. */
static unsigned scene_recover(struct scene *scene, const char *what)
{
	cr_assert(scene_open(scene), "%s: %s", what, scene->f.error.text);
	cr_assert(scene_look(scene), "%s: %s", what, scene->f.error.text);
	struct str story = story_of(&scene->f);
	unsigned told = 0;
	while (told <= COMMITS && !str_equal(story, stories[told]))
		told++;
	cr_assert_leq(told, COMMITS, "%s: a story that nobody told:\n" STR_FMT, what,
		      STR_ARG(story));
	cr_assert_geq(told, scene->acknowledged, "%s: %u commits acknowledged, %u there", what,
		      scene->acknowledged, told);
	cr_assert_leq(told, scene->acknowledged + 1, "%s: %u commits acknowledged, %u there", what,
		      scene->acknowledged, told);
	check_sound(scene, what);
	return told;
}

/* The store that was recovered goes on as if nothing had been. */
static void scene_go_on(struct scene *scene, unsigned told, const char *what)
{
	enum store_outcome outcome;
	for (unsigned i = told; i < COMMITS && i < told + 2; i++) {
		cr_assert(commit_number(&scene->f, i, &outcome), "%s: %s", what,
			  scene->f.error.text);
		cr_assert_eq(outcome, STORE_COMMITTED, "%s", what);
		cr_assert_str(story_of(&scene->f), stories[i + 1]);
	}
	scene_close(scene);
}

/* ---- crashes ---------------------------------------------------------------------------- */

static const char *const fates[] = { "keep", "drop", "tear", "garble", "mixed" };

/* Every place where the plug can be pulled, once with each fate; how many there are. */
static unsigned crash_everywhere(enum fault_fate fate, uint64_t seed)
{
	unsigned points = 0;
	for (bool pulled = true; pulled; points++) {
		char what[64];
		struct scene scene;
		snprintf(what, sizeof(what), "%s, seed %llu, change %u", fates[fate],
			 (unsigned long long)seed, points + 1);
		scene_begin(&scene);
		fault_disk_pull_at(scene.disk, points + 1);
		scene_play(&scene);
		pulled = fault_disk_pulled(scene.disk);
		fault_disk_lose_power(scene.disk, fate, seed + points);
		scene_go_on(&scene, scene_recover(&scene, what), what);
		scene_end(&scene);
	}
	return points - 1;
}

/* A test a fate, so that they run side by side. */
#define CRASH_TEST(name, fate, seeds)                                  \
	Test(sim, no_crash_loses_what_was_acknowledged_##name)         \
	{                                                              \
		unsigned points = 0;                                   \
		for (uint64_t seed = 1; seed <= (seeds); seed++)       \
			points += crash_everywhere(fate, seed * 1000); \
		printf("%u crash points, " #name "\n", points);        \
		cr_assert_geq(points, 300);                            \
	}

CRASH_TEST(kept, FAULT_KEEP, 1)
CRASH_TEST(dropped, FAULT_DROP, 1)
CRASH_TEST(torn, FAULT_TEAR, 1)
CRASH_TEST(garbled, FAULT_GARBLE, 1)
CRASH_TEST(mixed, FAULT_MIXED, 2)

Test(sim, a_second_crash_in_the_recovery_loses_nothing_either)
{
	unsigned points = 0;
	bool first_pulled = true;
	for (unsigned first = 20; first_pulled; first += 17) {
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

/* A reader's word is a promise: effects are begun on it. */
Test(sim, what_is_seen_after_a_kill_outlives_the_power)
{
	unsigned points = 0, unsynced = 0;
	for (bool pulled = true; pulled; points++) {
		char what[64];
		struct scene scene;
		snprintf(what, sizeof(what), "killed at change %u", points + 1);
		scene_begin(&scene);
		fault_disk_pull_at(scene.disk, points + 1);
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
	cr_assert_geq(unsynced, COMMITS, "every commit's sync is such a place");
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
	fixture_open(&f, store_backend(S("sim")));
	enum store_outcome outcome;
	for (unsigned i = 0; i < 5; i++)
		cr_assert(commit_number(&f, i, &outcome));
	for (uint64_t seed = 1; seed <= 3; seed++) {
		f.ops->reader_close(f.reader);
		cr_assert(store_sim_crash(&f.store, FAULT_GARBLE, seed, &f.error), "%s",
			  f.error.text);
		cr_assert(f.ops->reader_open(f.store, &f.reader, &f.error), "%s", f.error.text);
		cr_assert_str(story_of(&f), stories[5]);
	}
	fixture_close(&f);
}

/* ---- errors of the disk -------------------------------------------------------------------- */

struct tally {
	unsigned places, at_open, refused, unseen;
};

/* One failing operation: where it strikes, nothing is acknowledged any more. */
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
	while (good && scene.acknowledged < COMMITS) {
		good = commit_number(&scene.f, scene.acknowledged, &outcome);
		scene.acknowledged += good && outcome == STORE_COMMITTED;
	}
	struct error first = scene.f.error;
	bool struck = fault_disk_heal(scene.disk);
	cr_assert(struck || good, "%s: failed without a reason: %s", what, first.text);
	if (!good)
		cr_assert_eq(first.code, ERROR_STORAGE, "%s: %s", what, first.text);
	if (opened && !good) {
		/* The disk is well again; nobody knows what it holds. */
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

Test(sim, an_error_of_the_disk_ends_the_acknowledgements)
{
	static const enum fault_kind kinds[] = { FAULT_READ, FAULT_WRITE, FAULT_SYNC };
	static const char *const names[] = { "read", "write", "sync" };
	for (size_t i = 0; i < COUNT(kinds); i++)
		for (int sticky = 0; sticky < 2; sticky++) {
			struct tally tally = { 0 };
			while (fail_once(kinds[i], tally.places + 1, sticky, &tally))
				tally.places++;
			printf("%s%s: %u places, %u at open, %u ended a store, %u made good\n",
			       names[i], sticky ? " and all later" : "", tally.places,
			       tally.at_open, tally.refused, tally.unseen);
			cr_assert_gt(tally.places, 5);
			cr_assert_gt(tally.at_open, 0);
			/* What fails behind the last commit, in its checkpoint, is seen by nobody;
			 * a read that fails is another matter, SQLite may do without it. */
			if (kinds[i] != FAULT_READ) {
				cr_assert_geq(tally.refused, COMMITS);
				cr_assert_leq(tally.unseen, 2 * CHECKPOINT_FRAMES);
			}
		}
}

/* ---- no room ------------------------------------------------------------------------------ */

/* Where there is no room the batch is refused and nothing else happens. */
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
			continue;
		}
		cr_assert_eq(outcome, STORE_FULL, "%s", what);
		tally->refused++;
		cr_assert_eq(scene.f.ops->stats(scene.f.store).refusals, 1);
		cr_assert_str(story_of(&scene.f), stories[scene.acknowledged]);
		struck = fault_disk_heal(scene.disk) || struck;
	}
	struck = fault_disk_heal(scene.disk) || struck;
	cr_assert_str(story_of(&scene.f), stories[COMMITS]);
	fault_disk_pull_at(scene.disk, 0);
	scene_close(&scene);
	fault_disk_lose_power(scene.disk, FAULT_DROP, place);
	scene_go_on(&scene, scene_recover(&scene, what), what);
	scene_end(&scene);
	return struck;
}

Test(sim, a_full_disk_refuses_and_then_goes_on)
{
	static const enum fault_kind kinds[] = { FAULT_FULL, FAULT_SHORT };
	for (size_t i = 0; i < COUNT(kinds); i++)
		for (int sticky = 0; sticky < 2; sticky++) {
			struct tally tally = { 0 };
			while (fill_once(kinds[i], tally.places + 1, sticky, &tally))
				tally.places++;
			printf("%s%s: %u places, %u at open, %u batches refused\n",
			       kinds[i] == FAULT_FULL ? "full" : "short write",
			       sticky ? " for a while" : "", tally.places, tally.at_open,
			       tally.refused);
			cr_assert_gt(tally.at_open, 5);
			cr_assert_gt(tally.refused, 2 * COMMITS);
		}
}

Test(sim, a_crash_while_the_disk_is_full_loses_nothing)
{
	for (unsigned place = 25; place < 125; place += 3)
		for (enum fault_fate fate = FAULT_KEEP; fate < FAULT_FATES; fate++) {
			struct scene scene;
			scene_begin(&scene);
			fault_disk_order(scene.disk, FAULT_SHORT, place, true);
			scene_play(&scene); /* ends at the first refusal */
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

/* All commits are in the WAL and synced, and the process is gone. */
static void wal_make(struct scene *scene, struct wal *wal)
{
	enum store_outcome outcome;
	scene_begin(scene);
	cr_assert(scene_open(scene), "%s", scene->f.error.text);
	scene_close(scene); /* the tables' own commit is out of the WAL */
	cr_assert(scene_open(scene), "%s", scene->f.error.text);
	store_sim_checkpoint_after(scene->f.store, 1000);
	wal->ends[0] = 0;
	for (unsigned i = 0; i < COMMITS; i++) {
		cr_assert(commit_number(&scene->f, i, &outcome));
		wal->ends[i + 1] = fault_disk_size(scene->disk, "-wal");
	}
	wal->size = wal->ends[COMMITS];
	fault_disk_pull_at(scene->disk, 0);
	scene_close(scene);
	fault_disk_lose_power(scene->disk, FAULT_DROP, 1);
	cr_assert_eq(fault_disk_size(scene->disk, "-wal"), wal->size);
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
	for (size_t at = 1; at < wal.size; at += 1021, cuts++) {
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
	for (size_t at = 0; at < wal.size; at += 997, flips++) {
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
	unsigned refused, read_failed, harmless;
};

/* Reads everything; false when the store says that something is wrong. */
static bool tell_all(struct scene *scene, struct str *out_story)
{
	struct fixture *f = &scene->f;
	if (!scene_look(scene) || !story_try(f, out_story))
		return false;
	for (unsigned i = 0; i < COMMITS; i += 3) {
		struct hash hash = hash_of(value_of(i));
		struct str bytes;
		bool found = false;
		if (!f->ops->read_blob(f->reader, &hash, &f->arena, &bytes, &found, &f->error))
			return false;
		if (!found)
			return fail(&f->error, ERROR_STORAGE, "a value is missing");
		cr_assert_str(bytes, value_of(i));
	}
	return true;
}

static void flip_once(struct scene *scene, size_t at, unsigned bit, struct flips *flips)
{
	struct str story;
	fault_disk_flip(scene->disk, "", at, bit);
	if (!scene_open(scene)) {
		flips->refused++;
		cr_assert(scene->f.error.code == ERROR_STORAGE ||
				  scene->f.error.code == ERROR_NEWER_STORE,
			  "byte %zu: %s", at, scene->f.error.text);
	} else if (!tell_all(scene, &story)) {
		flips->read_failed++;
		cr_assert_eq(scene->f.error.code, ERROR_STORAGE);
		/* Whoever knows of damage acknowledges nothing more. */
		struct draft draft = draft_of(1000, 0, 1), *batch[] = { &draft };
		bool missing = strstr(scene->f.error.text, "missing") != NULL;
		cr_assert(missing || !drafts_commit(&scene->f, batch, 1), "byte %zu", at);
	} else {
		/* All that can be read is what was written. */
		cr_assert_str(story, stories[COMMITS]);
		flips->harmless++;
	}
	scene_close(scene);
	fault_disk_flip(scene->disk, "", at, bit);
	arena_reset(&scene->f.arena);
}

/* A database of its own, with pages that are free. */
static void damage_begin(struct scene *scene)
{
	scene_begin(scene);
	scene_play(scene);
	cr_assert_eq(scene->acknowledged, COMMITS);
	cr_assert_eq(scene_recover(scene, "before"), COMMITS);
	scene_close(scene);
}

/* Every flip is told by opening or reading, or nothing that can be read is another. */
Test(sim, no_changed_bit_of_the_database_is_silent)
{
	struct flips flips = { 0 };
	struct scene scene;
	damage_begin(&scene);
	size_t size = fault_disk_size(scene.disk, "");
	unsigned count = 0;
	for (size_t at = 0; at < size; at += 37, count++)
		flip_once(&scene, at, count % 8, &flips);
	printf("%u bits: %u refused at open, %u failed reads, %u harmless\n", count, flips.refused,
	       flips.read_failed, flips.harmless);
	cr_assert_gt(flips.refused, 100);
	cr_assert_eq(scene_recover(&scene, "after"), COMMITS);
	scene_close(&scene);
	scene_end(&scene);
}
