/* tests/unit/store/test_log_file.c -- the writes, syncs and sizes of the file under a log_file. */
#include "store/log_file.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "base/attributes.h"
#include "base/limits.h"

enum { STEP = 4096, MOST = 1 << 20, NEVER = 1000 };

/* The file of the base VFS: stores its bytes, counts calls, fails on request. */
struct kept {
	sqlite3_file base;
	char *bytes;
	sqlite3_int64 size;
	int writes, syncs, closes;
	int good_writes, then; /* after so many writes they return this code */
};

static struct kept *kept_of(sqlite3_file *file)
{
	return (struct kept *)file;
}

static int kept_close(sqlite3_file *file)
{
	free(kept_of(file)->bytes);
	kept_of(file)->closes++;
	return SQLITE_OK;
}

static int kept_read(sqlite3_file *file, void *out, int size, sqlite3_int64 at)
{
	if (at + size > kept_of(file)->size)
		return SQLITE_IOERR_SHORT_READ;
	memcpy(out, kept_of(file)->bytes + at, (size_t)size);
	return SQLITE_OK;
}

static int kept_write(sqlite3_file *file, const void *bytes, int size, sqlite3_int64 at)
{
	struct kept *kept = kept_of(file);
	cr_assert_leq(at + size, MOST);
	if (kept->good_writes-- <= 0)
		return kept->then;
	kept->writes++;
	memcpy(kept->bytes + at, bytes, (size_t)size);
	kept->size = at + size > kept->size ? at + size : kept->size;
	return SQLITE_OK;
}

static int kept_truncate(sqlite3_file *file, sqlite3_int64 size)
{
	kept_of(file)->size = size;
	return SQLITE_OK;
}

static int kept_sync(sqlite3_file *file, int flags)
{
	(void)flags;
	kept_of(file)->syncs++;
	return SQLITE_OK;
}

static int kept_size(sqlite3_file *file, sqlite3_int64 *out_size)
{
	*out_size = kept_of(file)->size;
	return SQLITE_OK;
}

static const sqlite3_io_methods kept_methods = { .iVersion = 1,
						 .xClose = kept_close,
						 .xRead = kept_read,
						 .xWrite = kept_write,
						 .xTruncate = kept_truncate,
						 .xSync = kept_sync,
						 .xFileSize = kept_size };

static int kept_open(sqlite3_vfs *vfs, sqlite3_filename name, sqlite3_file *file, int flags,
		     int *out_flags)
{
	(void)vfs, (void)name, (void)flags, (void)out_flags;
	*kept_of(file) = (struct kept){ .base.pMethods = &kept_methods,
					.bytes = calloc(1, MOST),
					.good_writes = NEVER };
	return SQLITE_OK;
}

struct log_scene {
	sqlite3_file *file;
	struct kept *kept;
};

static struct log_scene scene_open(void)
{
	static sqlite3_vfs vfs = { .szOsFile = sizeof(struct kept), .xOpen = kept_open };
	int own = (log_file_bytes() + 15) / 16 * 16;
	struct log_scene scene = { .file = calloc(1, (size_t)own + sizeof(struct kept)) };
	cr_assert_eq(log_file_open(scene.file, own, STEP, &vfs, "log", 0, NULL), SQLITE_OK);
	scene.kept = (struct kept *)(void *)((char *)scene.file + own);
	return scene;
}

static int put(struct log_scene *scene, const char *text, sqlite3_int64 at)
{
	return scene->file->pMethods->xWrite(scene->file, text, (int)strlen(text), at);
}

static int sync_now(struct log_scene *scene)
{
	return scene->file->pMethods->xSync(scene->file, SQLITE_SYNC_NORMAL);
}

static void scene_end(struct log_scene *scene)
{
	cr_assert_eq(scene->file->pMethods->xClose(scene->file), SQLITE_OK);
	cr_assert_eq(scene->kept->closes, 1);
	free(scene->file);
}

Test(log_file, a_commit_is_one_write_and_a_step_is_another)
{
	struct log_scene scene = scene_open();
	put(&scene, "header", 0);
	put(&scene, "frame1", 6);
	put(&scene, "frame2", 12);
	cr_assert_eq(scene.kept->writes, 0);
	cr_assert_eq(sync_now(&scene), SQLITE_OK);
	cr_assert_eq(scene.kept->writes, 2); /* the commit, and zeros */
	cr_assert_eq(scene.kept->size, STEP);
	cr_assert_arr_eq(scene.kept->bytes, "headerframe1frame2\0", 19);
	put(&scene, "frame3", 18);
	put(&scene, "frame4", 24);
	cr_assert_eq(sync_now(&scene), SQLITE_OK);
	cr_assert_eq(scene.kept->writes, 3); /* the blocks are allocated */
	cr_assert_eq(scene.kept->size, STEP);
	cr_assert_eq(scene.kept->syncs, 2);
	put(&scene, "frame5", STEP - 3);
	cr_assert_eq(sync_now(&scene), SQLITE_OK);
	cr_assert_eq(scene.kept->size, 2 * STEP);
	cr_assert_arr_eq(scene.kept->bytes + STEP - 3, "frame5\0", 7);
	scene_end(&scene);
}

Test(log_file, what_was_gathered_is_read_and_measured)
{
	struct log_scene scene = scene_open();
	char out[4];
	sqlite3_int64 size;
	put(&scene, "abcdef", 0);
	cr_assert_eq(scene.file->pMethods->xRead(scene.file, out, 4, 1), SQLITE_OK);
	cr_assert_arr_eq(out, "bcde", 4);
	put(&scene, "XY", 2); /* SQLite rewrites a frame header within a transaction */
	cr_assert_eq(scene.file->pMethods->xFileSize(scene.file, &size), SQLITE_OK);
	cr_assert_eq(size, STEP);
	cr_assert_arr_eq(scene.kept->bytes, "abXYef", 6);
	put(&scene, "gh", 6);
	put(&scene, "-", 0); /* does not continue the collected bytes: flushes them first */
	put(&scene, "ij", 1);
	cr_assert_eq(sync_now(&scene), SQLITE_OK);
	cr_assert_arr_eq(scene.kept->bytes, "-ijYefgh", 8);
	scene_end(&scene);
}

Test(log_file, a_large_commit_goes_through_in_pieces)
{
	struct log_scene scene = scene_open();
	enum { LARGE = LIMIT_LOG_GATHER_BYTES + 5 };
	char *large = malloc(LARGE + 1);
	memset(large, 'x', LARGE);
	large[LARGE] = '\0';
	put(&scene, "before", 0);
	put(&scene, large, 6);
	put(&scene, large + 10, 6 + LARGE);
	put(&scene, large + 10, 6 + 2 * LARGE - 10);
	cr_assert_eq(sync_now(&scene), SQLITE_OK);
	cr_assert_arr_eq(scene.kept->bytes, "before", 6);
	for (int i = 6; i < 6 + 3 * LARGE - 20; i++)
		cr_assert_eq(scene.kept->bytes[i], 'x', "byte %d", i);
	cr_assert_eq(scene.kept->bytes[6 + 3 * LARGE - 20], '\0');
	free(large);
	scene_end(&scene);
}

Test(log_file, a_commit_that_cannot_be_written_is_told_by_its_sync_and_forgotten)
{
	static const int codes[] = { SQLITE_FULL, SQLITE_IOERR_WRITE };
	for (size_t i = 0; i < COUNT(codes); i++) {
		struct log_scene scene = scene_open();
		scene.kept->good_writes = 0;
		scene.kept->then = codes[i];
		cr_assert_eq(put(&scene, "lost", 0), SQLITE_OK);
		cr_assert_eq(sync_now(&scene), codes[i]);
		cr_assert_eq(scene.kept->syncs, 0);
		scene.kept->good_writes = NEVER;
		cr_assert_eq(put(&scene, "kept", 0), SQLITE_OK);
		cr_assert_eq(sync_now(&scene), SQLITE_OK);
		cr_assert_arr_eq(scene.kept->bytes, "kept\0", 5);
		scene_end(&scene);
	}
}

Test(log_file, without_room_for_a_step_it_grows_as_far_as_it_must)
{
	struct log_scene scene = scene_open();
	scene.kept->good_writes = 1;
	scene.kept->then = SQLITE_FULL;
	put(&scene, "first", 0);
	cr_assert_eq(sync_now(&scene), SQLITE_OK);
	cr_assert_eq(scene.kept->size, 5);
	scene.kept->good_writes = 1;
	put(&scene, "second", 5);
	cr_assert_eq(sync_now(&scene), SQLITE_OK);
	cr_assert_eq(scene.kept->size, 11);
	scene.kept->good_writes = 1;
	scene.kept->then = SQLITE_IOERR_WRITE; /* a failing disk is an error, unlike a full one */
	put(&scene, "third", 11);
	cr_assert_eq(sync_now(&scene), SQLITE_IOERR_WRITE);
	scene_end(&scene);
}

Test(log_file, a_log_that_was_cut_grows_again)
{
	struct log_scene scene = scene_open();
	put(&scene, "long ago", 0);
	cr_assert_eq(sync_now(&scene), SQLITE_OK);
	cr_assert_eq(scene.file->pMethods->xTruncate(scene.file, 0), SQLITE_OK);
	cr_assert_eq(scene.kept->size, 0);
	put(&scene, "now", 0);
	cr_assert_eq(sync_now(&scene), SQLITE_OK);
	cr_assert_eq(scene.kept->size, STEP);
	scene_end(&scene);
}
