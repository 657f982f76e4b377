/* One version per effect, contents by hash, and a sweep that removes only unused contents. */
#include <criterion/criterion.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "artifact/artifact.h"
#include "base/limits.h"
#include "tests/unit/folder.h"

static char folder[TEST_FOLDER_SIZE];
static struct artifacts *artifacts;
static struct arena arena;
static const struct uuid one_run = { { 1 } };

static void open_folder(void)
{
	test_folder_make(folder);
	artifacts = artifacts_new(folder);
}

static void close_folder(void)
{
	artifacts_free(artifacts);
	arena_done(&arena);
	test_folder_drop(folder);
}

TestSuite(artifact, .init = open_folder, .fini = close_folder);

static struct uuid effect_of(unsigned number)
{
	struct uuid id = { { 0 } };
	memcpy(&id, &number, sizeof(number));
	return id;
}

static bool put(const char *name, const char *bytes, unsigned effect, struct run_artifact *out,
		struct error *error)
{
	const struct artifact_write write = { .run = one_run,
					      .effect = effect_of(effect),
					      .name = str_from_c(name),
					      .media_type = S("text/plain"),
					      .bytes = str_from_c(bytes),
					      .at = 1 };
	return artifact_write(artifacts, &write, &arena, out, error);
}

static void expect(const char *name, int64_t version, const char *bytes)
{
	struct run_artifact_list list;
	const struct run_artifact *artifact;
	struct str there;
	struct error error;
	cr_assert(artifact_list(artifacts, &one_run, &arena, &list, &error), "%s", error.text);
	cr_assert(artifact_find(&list, str_from_c(name), version, &artifact, &error), "%s",
		  error.text);
	cr_assert(artifact_read(artifacts, artifact, &arena, &there, &error), "%s", error.text);
	cr_assert(str_equal(there, str_from_c(bytes)));
}

/* Of the runs that have artifacts, only `one_run` exists. */
static bool exists(void *context, const struct uuid *run, bool *out_exists, struct error *error)
{
	(void)context, (void)error;
	*out_exists = uuid_equal(run, &one_run);
	return true;
}

static struct artifact_runs all_runs = { .exists = exists };

static int64_t swept(void)
{
	int64_t removed = -1;
	struct error error;
	cr_assert(artifacts_sweep(artifacts, &all_runs, &removed, &error), "%s", error.text);
	return removed;
}

Test(artifact, every_write_of_a_name_is_a_version)
{
	struct run_artifact first, second, other;
	struct error error;
	cr_assert(put("a", "one", 1, &first, &error), "%s", error.text);
	cr_assert(put("b", "one", 2, &other, &error));
	cr_assert(put("a", "two", 3, &second, &error));
	cr_assert_eq(first.version, 1);
	cr_assert_eq(second.version, 2);
	cr_assert_eq(other.version, 1);
	cr_assert(hash_equal(&first.sha256, &other.sha256));
	expect("a", 1, "one");
	expect("a", 0, "two");
	expect("b", 1, "one");
	cr_assert_eq(swept(), 0);
	expect("a", 1, "one");
}

Test(artifact, an_effect_writes_once)
{
	struct run_artifact first, again;
	struct run_artifact_list list;
	struct error error;
	cr_assert(put("a", "one", 7, &first, &error));
	cr_assert(put("a", "other bytes, as a file may have changed", 7, &again, &error));
	cr_assert_eq(again.version, 1);
	cr_assert(hash_equal(&first.sha256, &again.sha256));
	cr_assert(artifact_list(artifacts, &one_run, &arena, &list, &error));
	cr_assert_eq(list.count, 1);
	struct uuid same = effect_of(7), another = effect_of(8);
	cr_assert_not_null(artifact_of_effect(&list, &same));
	cr_assert_null(artifact_of_effect(&list, &another));
}

Test(artifact, what_is_not_there_is_told_from_what_is_damaged)
{
	struct run_artifact_list list;
	const struct run_artifact *artifact;
	struct run_artifact made;
	struct str there;
	struct error error;
	cr_assert(artifact_list(artifacts, &one_run, &arena, &list, &error));
	cr_assert_eq(list.count, 0);
	cr_assert_not(artifact_find(&list, S("a"), 0, &artifact, &error));
	cr_assert_eq(error.code, ERROR_NOT_FOUND);
	cr_assert(put("a", "one", 1, &made, &error));
	made.sha256.bytes[31] ^= 1;
	cr_assert_not(artifact_read(artifacts, &made, &arena, &there, &error));
	cr_assert_eq(error.code, ERROR_STORAGE);
}

Test(artifact, a_run_has_so_many_and_no_more)
{
	struct run_artifact made;
	struct error error;
	for (unsigned i = 1; i <= LIMIT_RUN_ARTIFACTS; i++)
		cr_assert(put("a", "the same bytes", i, &made, &error), "%s", error.text);
	cr_assert_eq(made.version, LIMIT_RUN_ARTIFACTS);
	cr_assert_not(put("a", "the same bytes", LIMIT_RUN_ARTIFACTS + 1, &made, &error));
	cr_assert_eq(error.code, ERROR_TOO_LARGE);
}

enum { WRITERS = 4, WRITES = 60 };
static atomic_int writers;

static void *write_many(void *argument)
{
	unsigned writer = *(unsigned *)argument;
	AUTO(arena) own = { 0 };
	for (unsigned i = 0; i < WRITES; i++) {
		char text[40];
		struct run_artifact made;
		struct error error;
		/* All threads write the same contents; some stay unused for long. */
		snprintf(text, sizeof(text), "number %u", i);
		const struct artifact_write write = { .run = effect_of(1000 + writer),
						      .effect = effect_of(i + 1),
						      .name = S("n"),
						      .media_type = S("text/plain"),
						      .bytes = str_from_c(text),
						      .at = 1 };
		cr_assert(artifact_write(artifacts, &write, &own, &made, &error), "%s", error.text);
	}
	atomic_fetch_sub(&writers, 1);
	return NULL;
}

Test(artifact, a_sweep_takes_nothing_that_is_being_written)
{
	pthread_t threads[WRITERS];
	unsigned numbers[WRITERS];
	struct error error;
	atomic_store(&writers, WRITERS);
	for (unsigned i = 0; i < WRITERS; i++) {
		numbers[i] = i;
		cr_assert_eq(pthread_create(&threads[i], NULL, write_many, &numbers[i]), 0);
	}
	do
		cr_assert_eq(swept(), 0);
	while (atomic_load(&writers) > 0);
	for (unsigned i = 0; i < WRITERS; i++)
		pthread_join(threads[i], NULL);
	for (unsigned i = 0; i < WRITERS; i++) {
		struct run_artifact_list list;
		struct str there;
		struct uuid run = effect_of(1000 + i);
		cr_assert(artifact_list(artifacts, &run, &arena, &list, &error));
		cr_assert_eq(list.count, WRITES);
		for (size_t k = 0; k < list.count; k++)
			cr_assert(artifact_read(artifacts, &list.at[k], &arena, &there, &error));
	}
}

Test(artifact, files_for_a_run_that_never_started_are_removed_after_a_while)
{
	const struct uuid other = { { 2 } };
	struct artifact_write write = { .run = other,
					.effect = effect_of(1),
					.name = S("inputs/a"),
					.media_type = S("text/plain"),
					.bytes = S("uploaded"),
					.at = 100 };
	struct run_artifact out;
	struct run_artifact_list list;
	struct error error;
	cr_assert(artifact_write(artifacts, &write, &arena, &out, &error), "%s", error.text);
	cr_assert(put("kept", "kept", 1, &out, &error));
	all_runs.before = 100; /* it was added lately */
	cr_assert_eq(swept(), 0);
	all_runs.before = 101;
	cr_assert_eq(swept(), 1);
	all_runs.before = 0;
	cr_assert(artifact_list(artifacts, &other, &arena, &list, &error));
	cr_assert_eq(list.count, 0);
	expect("kept", 1, "kept");
}
