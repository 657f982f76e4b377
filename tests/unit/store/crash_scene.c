/* tests/unit/store/crash_scene.c -- see crash_scene.h. */
#include "crash_scene.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 3, VALUE = 1500 };

struct str timeline_cache[COMMITS + 1];
const char *const fates[] = { "keep", "drop", "tear", "garble", "mixed" };

static bool values_there[COMMITS + 1]
			[COMMITS]; /* [n][i]: after n commits, is the value of commit i stored? */
static struct arena stories_arena;
static char text[3 * VALUE];

unsigned stride(unsigned nth)
{
	return getenv("BATON_TEST_FULL") != NULL ? 1 : nth;
}

/* ---- the workload --------------------------------------------------------------------- */

static struct str value_of(unsigned number)
{
	return (struct str){ text + number * 31, VALUE };
}

/* The run's seq before commit `number`. */
static int64_t seq_before(unsigned run, unsigned number)
{
	int64_t seq = 0;
	for (unsigned before = 0; before < number; before++)
		if (run < 1 + before % BATCH)
			seq += 1 + before % 2;
	return seq;
}

/* Run 0 takes snapshots in commits 4, 8, 11 and 13; each raises the floor to the one before. */
static void snapshot_add(struct draft *draft, unsigned number)
{
	static const unsigned with[] = { 4, 8, 11, 13 };
	for (size_t i = 0; i < COUNT(with); i++) {
		if (number != with[i])
			continue;
		draft->append.snapshot.body = (struct str){ text, 100 + number };
		draft->names[1] = hash_of(value_of(3));
		draft->append.snapshot.names = &draft->names[1];
		draft->append.snapshot.name_count = i == 0;
		if (i > 0)
			draft->append.floor = seq_before(0, with[i - 1] + 1);
	}
}

static void effects_add(struct draft *draft, unsigned number)
{
	if (number % 2 == 0) {
		draft->effect = (struct store_effect){ .id = id_of(100 + number),
						       .kind = S("tool"),
						       .due_at = number };
		draft->append.opened_count = 1;
	} else {
		draft->closed = id_of(99 + number);
		draft->append.closed_count = number % 4 == 1;
	}
}

static void beside_add(struct draft *draft, unsigned number)
{
	static const char *const keys[] = { "a", "b", "c" };
	draft->guards[0] = (struct store_guard){ S("a"), 1, 100 };
	draft->append.guard_count = number % 2;
	if (number % 4 == 2)
		draft->append.request =
			(struct store_request){ .key = str_from_c(keys[number / 4 % 3]),
						.said = hash_of(S("said")),
						.subject = id_of(number),
						.at = 100 + number };
}

/* Creates, changes and deletes a profile, again and again. */
static struct draft document_of(unsigned number)
{
	int64_t changes = number / 2;
	struct draft draft = draft_of(0, changes, 1);
	draft.append.run = (struct store_run){ 0 };
	draft.document =
		(struct store_document){ .kind = S("profile"),
					 .name = S("ann"),
					 .revision = changes % 3 == 0 ? 0 : changes,
					 .changed_at = number,
					 .body = changes % 3 == 2 ? S("") : S("{\"a\":1}") };
	draft.append.document_count = 1;
	return draft;
}

bool commit_number(struct fixture *f, unsigned number, enum store_outcome *out_outcome)
{
	static struct draft drafts[BATCH + 1];
	struct draft *batch[BATCH + 1];
	size_t count = 1 + number % BATCH;
	for (unsigned i = 0; i < count; i++) {
		drafts[i] = draft_of(i, seq_before(i, number), 1 + number % 2);
		drafts[i].append.run.needs_recovery = number % 4 == i;
		drafts[i].append.run.state = number % 5 == i ? S("waiting") : S("running");
		drafts[i].events[0].kept = number == 0;
	}
	if (number % 3 == 0) {
		drafts[0].blob = (struct store_blob){ hash_of(value_of(number)), value_of(number) };
		drafts[0].append.blob_count = 1;
		drafts[0].names[0] = drafts[0].blob.hash;
		drafts[0].events[0].name_count = 1;
	}
	effects_add(&drafts[0], number);
	snapshot_add(&drafts[0], number);
	beside_add(&drafts[0], number);
	if (number == 5)
		drafts[0].events[0].body = (struct str){ text, sizeof(text) };
	if (number % 2 == 0)
		drafts[count++] = document_of(number);
	for (size_t i = 0; i < count; i++)
		batch[i] = &drafts[i];
	bool answered = drafts_commit(f, batch, count);
	*out_outcome = batch[0]->append.outcome;
	for (size_t i = 1; i < count && answered; i++)
		cr_assert_eq(batch[i]->append.outcome, *out_outcome, "a batch has one outcome");
	return answered;
}

static bool value_read(struct fixture *f, unsigned number, bool *out_found)
{
	struct hash hash = hash_of(value_of(number));
	struct str bytes;
	if (!f->reader->ops->read_blob(f->reader, &hash, &f->arena, &bytes, out_found, &f->error))
		return false;
	if (*out_found)
		cr_assert_str(bytes, value_of(number));
	return true;
}

/* Purges the memory store completely. */
static void stories_note(struct fixture *f, unsigned commits)
{
	bool more = true;
	while (more)
		cr_assert(f->store->admin->purge(f->store, 100, NULL, &more, &f->error));
	timeline_cache[commits] = str_copy(&stories_arena, timeline_of(f));
	for (unsigned i = 0; i < COMMITS; i++)
		cr_assert(value_read(f, i, &values_there[commits][i]));
}

void stories_make(void)
{
	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = (char)('a' + (i * i + i / 7) % 26);
	struct fixture f;
	fixture_open(&f, simstore_backend(S("memory")));
	stories_note(&f, 0);
	for (unsigned i = 0; i < COMMITS; i++) {
		enum store_outcome outcome;
		cr_assert(commit_number(&f, i, &outcome));
		cr_assert_eq(outcome, STORE_COMMITTED, "commit %u: %d", i, (int)outcome);
		stories_note(&f, i + 1);
	}
	cr_assert(values_there[COMMITS][12]);
	cr_assert(values_there[9][3], "a snapshot names it");
	cr_assert_not(values_there[COMMITS][3], "nobody names it any more");
	cr_assert_gt(f.store->writer->stats(f.store).purged, 5);
	fixture_close(&f);
}

void stories_drop(void)
{
	arena_done(&stories_arena);
}

/* ---- a store on a fault disk ------------------------------------------------------------- */

void scene_begin(struct scene *scene)
{
	*scene =
		(struct scene){ .f.backend = simstore_backend(S("sim")), .disk = fault_disk_new() };
	/* The salts of a WAL come from SQLite's random numbers, which all connections share. */
	cr_assert_eq(sqlite3_test_control(SQLITE_TESTCTRL_PRNG_SEED, 47, NULL), SQLITE_OK);
}

void scene_end(struct scene *scene)
{
	fault_disk_drop(scene->disk);
	arena_done(&scene->f.arena);
}

bool scene_open(struct scene *scene)
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

bool scene_look(struct scene *scene)
{
	return scene->f.backend->open_reader(scene->f.store, &scene->f.reader, &scene->f.error);
}

void scene_close(struct scene *scene)
{
	scene->f.backend->close_reader(scene->f.reader);
	scene->f.backend->close(scene->f.store);
	scene->f.reader = NULL;
	scene->f.store = NULL;
}

void scene_play(struct scene *scene)
{
	struct fixture *f = &scene->f;
	enum store_outcome outcome;
	bool more, good = scene_open(scene);
	bool opened = good;
	while (good && scene->acknowledged < COMMITS) {
		good = commit_number(f, scene->acknowledged, &outcome) &&
		       outcome == STORE_COMMITTED;
		scene->acknowledged += good;
		/* Slices that end between two events of a run. */
		good = good && f->store->admin->purge(f->store, 2, NULL, &more, &f->error);
	}
	if (opened)
		scene_close(scene);
}

bool values_try(struct scene *scene, unsigned told)
{
	for (unsigned i = 0; i < COMMITS; i++) {
		bool found = false;
		if (!value_read(&scene->f, i, &found))
			return false;
		if (!found && values_there[told][i])
			return fail(&scene->f.error, ERROR_STORAGE, "value %u is missing", i);
	}
	return true;
}

static void check_sound(struct scene *scene, unsigned told, const char *what)
{
	struct fixture *f = &scene->f;
	struct store_check check;
	cr_assert(f->reader->admin->check(f->reader, &f->arena, &check, &f->error), "%s: %s", what,
		  f->error.text);
	if (check.count > 0)
		cr_assert_fail("%s: " STR_FMT, what, STR_ARG(check.problems[0]));
	cr_assert(values_try(scene, told), "%s: %s", what, f->error.text);
}

unsigned scene_recover(struct scene *scene, const char *what)
{
	cr_assert(scene_open(scene), "%s: %s", what, scene->f.error.text);
	cr_assert(scene_look(scene), "%s: %s", what, scene->f.error.text);
	struct str timeline = timeline_of(&scene->f);
	unsigned told = 0;
	while (told <= COMMITS && !str_equal(timeline, timeline_cache[told]))
		told++;
	cr_assert_leq(told, COMMITS, "%s: a story that nobody told:\n" STR_FMT, what,
		      STR_ARG(timeline));
	cr_assert_geq(told, scene->acknowledged, "%s: %u commits acknowledged, %u there", what,
		      scene->acknowledged, told);
	cr_assert_leq(told, scene->acknowledged + 1, "%s: %u commits acknowledged, %u there", what,
		      scene->acknowledged, told);
	check_sound(scene, told, what);
	return told;
}

void scene_go_on(struct scene *scene, unsigned told, const char *what)
{
	struct fixture *f = &scene->f;
	enum store_outcome outcome;
	for (unsigned i = told; i < COMMITS && i < told + 2; i++) {
		cr_assert(commit_number(f, i, &outcome), "%s: %s", what, f->error.text);
		cr_assert_eq(outcome, STORE_COMMITTED, "%s", what);
		cr_assert_str(timeline_of(f), timeline_cache[i + 1]);
		told = i + 1;
	}
	bool more = true;
	while (more)
		cr_assert(f->store->admin->purge(f->store, 5, NULL, &more, &f->error), "%s: %s",
			  what, f->error.text);
	cr_assert_str(timeline_of(f), timeline_cache[told]);
	check_sound(scene, told, what);
	scene_close(scene);
}
