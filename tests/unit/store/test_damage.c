/* tests/unit/store/test_damage.c -- bits that change in the database while nobody looks: 0 silent.
 */
#include <stdio.h>
#include <string.h>

#include "scene.h"

TestSuite(damage, .init = stories_make, .fini = stories_drop, .timeout = 280);

struct flips {
	unsigned count, refused, read_failed, harmless;
};

/* Reads everything; false when the store says that something is wrong. */
static bool tell_all(struct scene *scene, struct str *out_story)
{
	return scene_look(scene) && story_try(&scene->f, out_story) && values_try(scene, COMMITS);
}

/* A flip is told by opening or by reading, or nothing that can be read is another. */
static void flip_once(struct scene *scene, size_t at, unsigned bit, bool behind,
		      struct flips *flips)
{
	struct str story;
	flips->count++;
	if (behind)
		cr_assert(scene_open(scene), "%s", scene->f.error.text);
	fault_disk_flip(scene->disk, "", at, bit);
	if (!behind && !scene_open(scene)) {
		flips->refused++;
		cr_assert(scene->f.error.code == ERROR_STORAGE ||
				  scene->f.error.code == ERROR_NEWER_STORE,
			  "byte %zu: %s", at, scene->f.error.text);
	} else if (!tell_all(scene, &story)) {
		flips->read_failed++;
		cr_assert_eq(scene->f.error.code, ERROR_STORAGE);
		/* Whoever knows of damage acknowledges nothing more. */
		struct draft draft = draft_of(1000, 0, 1), *batch[] = { &draft };
		cr_assert_not(drafts_commit(&scene->f, batch, 1), "byte %zu", at);
	} else {
		cr_assert_str(story, stories[COMMITS]);
		flips->harmless++;
	}
	/* A store that opened has written its epoch; it must not be written over by the next. */
	fault_disk_pull_at(scene->disk, 0);
	scene_close(scene);
	fault_disk_lose_process(scene->disk);
	fault_disk_flip(scene->disk, "", at, bit);
	arena_reset(&scene->f.arena);
}

/* Before the store is opened, or behind its back: a large file is not read when it is opened. */
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

Test(damage, no_changed_bit_is_silent)
{
	flip_many(9 * stride(4), false);
}

Test(damage, no_bit_that_changes_behind_an_open_store_is_silent)
{
	flip_many(37 * stride(3), true);
}
