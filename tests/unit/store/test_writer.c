/* tests/unit/store/test_writer.c -- group commit on a system that is advanced step by step.
 *
 * `struct steps` queues jobs; steps_run() is the part of the writer thread, steps_done() that of the
 * loop.  So a test controls exactly what is queued when the writer thread is free.
 */
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "store_fixture.h"
#include "simstore/store_memory.h"
#include "store/writer.h"

struct steps {
	struct platform system;
	struct job *queued;
	bool ran;
	size_t submitted;
	int64_t now_us, commit_us; /* the clock, and how long a job takes */
	int64_t append_us;         /* and in addition for each append */
};

static int64_t steps_mono(struct platform *system)
{
	return ((struct steps *)system)->now_us;
}

static void steps_submit(struct platform *system, enum platform_lane lane, struct job *job)
{
	struct steps *steps = (struct steps *)system;
	cr_assert_eq(lane, LANE_WRITER);
	cr_assert_null(steps->queued, "one batch at a time");
	steps->queued = job;
	steps->ran = false;
	steps->submitted++;
}

static const struct platform_ops steps_ops = { .submit = steps_submit, .mono_us = steps_mono };

static void steps_run(struct steps *steps)
{
	cr_assert_not_null(steps->queued);
	steps->queued->run(steps->queued, 0);
	steps->ran = true;
}

static void steps_done(struct steps *steps)
{
	struct job *job = steps->queued;
	cr_assert(steps->ran);
	steps->queued = NULL;
	job->done(job);
}

static void steps_all(struct steps *steps)
{
	while (steps->queued != NULL) {
		steps_run(steps);
		steps_done(steps);
	}
}

struct item {
	struct writer_ticket ticket; /* first */
	struct store_event event;
	struct scene *scene;
	unsigned number;
	bool follow; /* queue `more` from done() */
	struct item *more;
};

struct scene {
	struct steps steps;
	struct fixture fixture;
	struct writer *writer;
	unsigned answered[4096];
	enum store_outcome outcomes[4096];
	size_t count;
	size_t failures;
	enum error_code failure;
};

static void failed(void *context, const struct error *error)
{
	struct scene *scene = context;
	scene->failures++;
	scene->failure = error->code;
}

/* A store whose commits take time on the clock of the scene. */
static struct store_writer_ops timed_ops;
static const struct store_writer_ops *plain_ops;
static struct scene *timed_scene;

static bool timed_commit(struct store *store, struct store_append *const *appends, size_t count,
			 struct error *error)
{
	struct steps *steps = &timed_scene->steps;
	steps->now_us += steps->commit_us + steps->append_us * (int64_t)count;
	return plain_ops->commit(store, appends, count, error);
}

static void scene_open(struct scene *scene)
{
	memset(scene, 0, sizeof(*scene));
	scene->steps.system.ops = &steps_ops;
	fixture_open(&scene->fixture, simstore_backend(S("memory")));
	timed_scene = scene;
	plain_ops = scene->fixture.store->writer;
	timed_ops = *plain_ops;
	timed_ops.commit = timed_commit;
	scene->fixture.store->writer = &timed_ops;
	scene->writer = writer_new(&scene->steps.system, scene->fixture.store, failed, scene);
}

static void scene_close(struct scene *scene)
{
	writer_free(scene->writer);
	fixture_close(&scene->fixture);
}

static void answered(struct writer_ticket *ticket)
{
	struct item *item = (struct item *)ticket;
	struct scene *scene = item->scene;
	scene->outcomes[scene->count] = ticket->append.outcome;
	scene->answered[scene->count++] = item->number;
	if (item->follow)
		writer_append(scene->writer, &item->more->ticket);
	free(item);
}

static struct item *pending_command_new(struct scene *scene, unsigned number, unsigned run,
					int64_t seq)
{
	struct item *item = calloc(1, sizeof(*item));
	cr_assert_not_null(item);
	item->scene = scene;
	item->number = number;
	item->event = (struct store_event){ .type = S("t"), .at = number, .body = S("{}") };
	item->ticket.done = answered;
	item->ticket.append = (struct store_append){ .expected_seq = seq,
						     .run = { .id = id_of(run) },
						     .events = &item->event,
						     .event_count = 1 };
	return item;
}

static void queue(struct scene *scene, unsigned number, unsigned run, int64_t seq)
{
	writer_append(scene->writer, &pending_command_new(scene, number, run, seq)->ticket);
}

static struct store_stats stats_of(struct scene *scene)
{
	return scene->fixture.store->writer->stats(scene->fixture.store);
}

Test(writer, commits_a_lone_append_at_once)
{
	static struct scene scene;
	scene_open(&scene);
	queue(&scene, 1, 1, 0);
	cr_assert_eq(scene.steps.submitted, 1);
	cr_assert_eq(writer_waiting(scene.writer), 1);
	steps_run(&scene.steps);
	cr_assert_eq(scene.count, 0, "answered only on the loop");
	steps_done(&scene.steps);
	cr_assert_eq(scene.count, 1);
	cr_assert_eq(scene.outcomes[0], STORE_COMMITTED);
	cr_assert_eq(writer_waiting(scene.writer), 0);
	cr_assert_null(scene.steps.queued);
	scene_close(&scene);
}

Test(writer, commits_together_what_waited)
{
	static struct scene scene;
	scene_open(&scene);
	for (unsigned i = 0; i < 10; i++)
		queue(&scene, i, i, 0);
	steps_all(&scene.steps);
	/* The first was committed alone; the other nine waited for it. */
	cr_assert_eq(stats_of(&scene).commits, 2);
	cr_assert_eq(stats_of(&scene).appends, 10);
	cr_assert_eq(scene.count, 10);
	for (unsigned i = 0; i < 10; i++)
		cr_assert_eq(scene.answered[i], i);
	scene_close(&scene);
}

Test(writer, submits_the_next_batch_before_it_answers)
{
	static struct scene scene;
	scene_open(&scene);
	for (unsigned i = 0; i < 3; i++)
		queue(&scene, i, i, 0);
	steps_run(&scene.steps);
	steps_done(&scene.steps);
	cr_assert_eq(scene.count, 1);
	cr_assert_eq(scene.steps.submitted, 2);
	cr_assert_not_null(scene.steps.queued);
	cr_assert_eq(writer_waiting(scene.writer), 2);
	steps_all(&scene.steps);
	scene_close(&scene);
}

Test(writer, takes_no_more_than_a_batch)
{
	static struct scene scene;
	scene_open(&scene);
	unsigned total = 2 * LIMIT_WRITER_BATCH + 1 + 5;
	for (unsigned i = 0; i < total; i++)
		queue(&scene, i, i, 0);
	cr_assert_eq(writer_waiting(scene.writer), total);
	steps_all(&scene.steps);
	cr_assert_eq(stats_of(&scene).commits, 4);
	cr_assert_eq(scene.count, total);
	for (unsigned i = 0; i < total; i++)
		cr_assert_eq(scene.answered[i], i);
	scene_close(&scene);
}

Test(writer, delivers_conflicts_in_their_place)
{
	static struct scene scene;
	scene_open(&scene);
	queue(&scene, 0, 1, 0);
	queue(&scene, 1, 1, 0);
	queue(&scene, 2, 1, 1);
	queue(&scene, 3, 1, 2);
	queue(&scene, 4, 1, 2);
	steps_all(&scene.steps);
	static const enum store_outcome expected[] = { STORE_COMMITTED, STORE_CONFLICT,
						       STORE_COMMITTED, STORE_COMMITTED,
						       STORE_CONFLICT };
	cr_assert_eq(scene.count, COUNT(expected));
	for (unsigned i = 0; i < COUNT(expected); i++) {
		cr_assert_eq(scene.answered[i], i);
		cr_assert_eq(scene.outcomes[i], expected[i]);
	}
	cr_assert_eq(events_of(&scene.fixture, 1).count, 3);
	scene_close(&scene);
}

Test(writer, takes_appends_from_within_done)
{
	static struct scene scene;
	scene_open(&scene);
	struct item *first = pending_command_new(&scene, 0, 1, 0);
	first->follow = true;
	first->more = pending_command_new(&scene, 2, 1, 1);
	writer_append(scene.writer, &first->ticket);
	queue(&scene, 1, 2, 0);
	steps_all(&scene.steps);
	cr_assert_eq(scene.count, 3);
	for (unsigned i = 0; i < 3; i++)
		cr_assert_eq(scene.answered[i], i);
	cr_assert_eq(stats_of(&scene).commits, 3);
	scene_close(&scene);
}

Test(writer, answers_nothing_after_a_failure)
{
	static struct scene scene;
	static struct item *items[4];
	scene_open(&scene);
	queue(&scene, 0, 0, 0);
	steps_all(&scene.steps);
	store_memory_fail_after(scene.fixture.store, 1);
	for (unsigned i = 0; i < 3; i++) {
		items[i] = pending_command_new(&scene, i, 10 + i, 0);
		writer_append(scene.writer, &items[i]->ticket);
	}
	steps_all(&scene.steps);
	cr_assert_eq(scene.failures, 1);
	cr_assert_eq(scene.failure, ERROR_STORAGE);
	items[3] = pending_command_new(&scene, 3, 20, 0);
	writer_append(scene.writer, &items[3]->ticket);
	cr_assert_null(scene.steps.queued, "nothing is tried again");
	cr_assert_eq(scene.steps.submitted, 2);
	cr_assert_eq(scene.count, 1, "only what came before is answered");
	cr_assert_eq(scene.failures, 1);
	cr_assert_eq(writer_waiting(scene.writer), 4);
	for (size_t i = 0; i < COUNT(items); i++)
		free(items[i]);
	scene_close(&scene);
}

Test(writer, delivers_want_of_room_and_goes_on)
{
	static struct scene scene;
	scene_open(&scene);
	queue(&scene, 0, 1, 0);
	steps_run(&scene.steps);
	store_memory_fill(scene.fixture.store, true);
	queue(&scene, 1, 1, 1);
	queue(&scene, 2, 2, 0);
	steps_done(&scene.steps);
	steps_run(&scene.steps);
	store_memory_fill(scene.fixture.store, false);
	queue(&scene, 3, 1, 2); /* follows an append that is refused */
	queue(&scene, 4, 3, 0);
	steps_done(&scene.steps);
	steps_all(&scene.steps);
	static const enum store_outcome expected[] = { STORE_COMMITTED, STORE_FULL, STORE_FULL,
						       STORE_CONFLICT, STORE_COMMITTED };
	cr_assert_eq(scene.count, COUNT(expected));
	for (unsigned i = 0; i < COUNT(expected); i++) {
		cr_assert_eq(scene.answered[i], i);
		cr_assert_eq(scene.outcomes[i], expected[i]);
	}
	cr_assert_eq(scene.failures, 0);
	cr_assert_eq(stats_of(&scene).refusals, 1);
	cr_assert_eq(events_all(&scene.fixture).count, 2);
	scene_close(&scene);
}

/* Two batches: one append alone, then `more` appends that waited for it. */
static void queue_batches(struct scene *scene, unsigned first_run, unsigned more)
{
	for (unsigned i = 0; i <= more; i++)
		queue(scene, i, first_run + i, 0);
	steps_all(&scene->steps);
}

Test(writer, knows_what_the_queue_will_cost)
{
	static struct scene scene;
	scene_open(&scene);
	scene.steps.commit_us = 5000;
	scene.steps.append_us = 100;
	cr_assert_eq(writer_work_us(scene.writer), 0);
	for (unsigned i = 0; i < 8; i++)
		queue_batches(&scene, 1000 * i, 5 + i);
	cr_assert_eq(writer_work_us(scene.writer), 0);
	cr_assert_eq(writer_oldest_us(scene.writer), 0);
	for (unsigned i = 0; i < 40; i++)
		queue(&scene, i, 20000 + i, 0);
	int64_t work = writer_work_us(scene.writer);
	cr_assert(work > 8500 && work < 9500, "%lld", (long long)work);
	/* More appends than one batch holds need more than one commit. */
	for (unsigned i = 0; i < 2 * LIMIT_WRITER_BATCH; i++)
		queue(&scene, i, 30000 + i, 0);
	work = writer_work_us(scene.writer);
	cr_assert(work > 220000 && work < 230000, "%lld", (long long)work);
	steps_all(&scene.steps);
	cr_assert_eq(writer_work_us(scene.writer), 0);
	scene_close(&scene);
}

Test(writer, a_burst_shares_a_commit_and_is_no_backlog)
{
	static struct scene scene;
	scene_open(&scene);
	scene.steps.commit_us = 5000;
	for (unsigned i = 0; i < 20; i++)
		queue_batches(&scene, i, 0);
	for (unsigned i = 0; i < 200; i++)
		queue(&scene, i, 1000 + i, 0);
	int64_t work = writer_work_us(scene.writer);
	cr_assert(work > 4900 && work < 5100, "%lld", (long long)work);
	steps_all(&scene.steps);
	scene_close(&scene);
}

Test(writer, a_commit_that_hangs_is_work_too)
{
	static struct scene scene;
	scene_open(&scene);
	queue(&scene, 0, 1, 0);
	scene.steps.now_us += 100000;
	queue(&scene, 1, 2, 0);
	scene.steps.now_us += 200000;
	cr_assert_eq(writer_oldest_us(scene.writer), 300000);
	cr_assert_eq(writer_work_us(scene.writer), 300000);
	steps_run(&scene.steps);
	steps_done(&scene.steps);
	cr_assert_eq(writer_oldest_us(scene.writer), 200000);
	steps_all(&scene.steps);
	cr_assert_eq(writer_oldest_us(scene.writer), 0);
	scene_close(&scene);
}

Test(writer, counts_commits_by_size_and_time)
{
	static struct scene scene;
	scene_open(&scene);
	scene.steps.commit_us = 3000;
	queue_batches(&scene, 0, 9);
	const struct histogram *sizes = writer_commit_sizes(scene.writer);
	const struct histogram *times = writer_commit_times(scene.writer);
	cr_assert_eq(sizes->count, 2);
	cr_assert_eq((int)sizes->sum, 10);
	cr_assert_eq(sizes->counts[0], 1); /* at most 1 */
	cr_assert_eq(sizes->counts[4], 1); /* at most 16 */
	cr_assert_eq(times->counts[3], 2); /* at most 5 ms */
	scene_close(&scene);
}

Test(memory, refuses_what_there_is_no_room_for)
{
	struct fixture f;
	fixture_open(&f, simstore_backend(S("memory")));
	struct draft one = draft_of(1, 0, 1), late = draft_of(2, 4, 1);
	struct draft *drafts[] = { &one, &late };
	store_memory_fill(f.store, true);
	cr_assert(drafts_commit(&f, drafts, 2));
	cr_assert_eq(one.append.outcome, STORE_FULL);
	cr_assert_eq(late.append.outcome, STORE_FULL);
	cr_assert_eq(events_all(&f).count, 0);
	cr_assert_eq(f.store->writer->stats(f.store).commits, 0);
	store_memory_fill(f.store, false);
	draft_commit(&f, &one);
	fixture_close(&f);
}

Test(memory, fails_when_ordered_and_stays_broken)
{
	struct fixture f;
	fixture_open(&f, simstore_backend(S("memory")));
	store_memory_fail_after(f.store, 2);
	struct draft one = draft_of(1, 0, 1), two = draft_of(2, 0, 1), three = draft_of(3, 0, 1);
	struct draft *drafts[] = { &one, &two, &three };
	cr_assert(drafts_commit(&f, &drafts[0], 1));
	cr_assert_not(drafts_commit(&f, &drafts[1], 1));
	cr_assert_eq(f.error.code, ERROR_STORAGE);
	cr_assert_not(drafts_commit(&f, &drafts[2], 1));
	cr_assert_eq(two.append.outcome, STORE_PENDING);
	cr_assert_eq(events_all(&f).count, 1);
	fixture_close(&f);
}

static struct str dump_after(struct arena *arena, bool turned, bool other)
{
	struct fixture f;
	fixture_open(&f, simstore_backend(S("memory")));
	static const char *const values[] = { "one", "two", "three" };
	for (unsigned i = 0; i < 3; i++) {
		unsigned number = turned ? 2 - i : i;
		struct draft draft = draft_of(i, 0, 1);
		struct str value = str_from_c(values[number]);
		draft.blob = (struct store_blob){ hash_of(value), value };
		draft.append.blob_count = 1;
		draft.effect = (struct store_effect){ .id = id_of(100 + i), .kind = S("tool") };
		draft.append.opened_count = 1;
		draft.append.run.needs_recovery = other && i == 2;
		draft_commit(&f, &draft);
	}
	struct str dump = store_memory_dump(f.store, arena);
	fixture_close(&f);
	return dump;
}

Test(memory, dumps_what_was_committed_and_nothing_else)
{
	struct arena arena = { 0 };
	struct str dump = dump_after(&arena, false, false);
	cr_assert_str(dump_after(&arena, false, false), dump);
	cr_assert_str(dump_after(&arena, true, false), dump);
	cr_assert_not(str_equal(dump_after(&arena, false, true), dump));
	size_t at;
	cr_assert(str_find(dump, S("event 3 00000002-0000-4000-8000-000000000000 1 at 5000"), &at));
	cr_assert(str_find(dump, S("effect 00000064-"), &at));
	arena_done(&arena);
}
