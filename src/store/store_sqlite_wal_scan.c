/* store/store_sqlite_wal_scan.c -- finds acknowledged commits that a damaged WAL hides.
 *
 * SQLite reads the WAL up to the first frame with a wrong checksum and treats that as its end.
 * After a power failure this is right: the commit that was being written was not acknowledged.  But
 * a flipped bit in the middle of the WAL hides all later commits in the same way, and these were
 * acknowledged.  This scan distinguishes the two cases before SQLite writes to the file.  A frame
 * carries the salts of its WAL and a checksum that continues the one of the frame before it, and
 * every commit is synced before the next one begins.  So a commit frame was acknowledged if the
 * next frame continues its checksum.  Frames without that link may be unrelated: a killed process
 * can leave frames that a shorter commit after the restart overwrites in part, with the same salts.
 *
 * SQLite will overwrite the WAL, so a copy is kept as evidence.  While the copy exists, check()
 * reports it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store/page_vfs.h"
#include "store/store_sqlite.h"

enum {
	HEADER = 32,
	FRAME_HEADER = 24,
	FRAME = FRAME_HEADER + PAGE_BYTES,
	SALTS = 8,
	MAGIC = 0x377f0682, /* plus 1 when checksums are computed over big-endian words */
};

struct checksum {
	uint32_t one, two;
	bool big_endian;
};

struct wal {
	int file;
	uint8_t header[HEADER];
	uint8_t salts[SALTS];
	struct checksum checksum;
	uint8_t frame[FRAME];
};

static uint32_t word(const uint8_t *at, bool big_endian)
{
	return big_endian ? (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 |
				    at[3]
			  : (uint32_t)at[3] << 24 | (uint32_t)at[2] << 16 | (uint32_t)at[1] << 8 |
				    at[0];
}

static void checksum_add(struct checksum *sum, const uint8_t *bytes, size_t size)
{
	for (size_t i = 0; i < size; i += 8) {
		sum->one += word(bytes + i, sum->big_endian) + sum->two;
		sum->two += word(bytes + i + 4, sum->big_endian) + sum->one;
	}
}

static bool checksum_is(const struct checksum *sum, const uint8_t *stored)
{
	return word(stored, true) == sum->one && word(stored + 4, true) == sum->two;
}

/* Reads the next frame; false at the end of the file, also in the middle of a frame. */
static bool frame_read(struct wal *wal)
{
	for (size_t got = 0; got < FRAME;) {
		ssize_t piece = read(wal->file, wal->frame + got, FRAME - got);
		if (piece < 0 && errno == EINTR)
			continue;
		if (piece <= 0)
			return false;
		got += (size_t)piece;
	}
	return true;
}

static bool frame_has_salts(const struct wal *wal)
{
	return memcmp(wal->frame + 8, wal->salts, SALTS) == 0;
}

static bool frame_commits(const struct wal *wal)
{
	return word(wal->frame + 4, true) != 0;
}

/* SQLite's rule: the salts match and the frame continues the checksum. */
static bool frame_whole(struct wal *wal)
{
	checksum_add(&wal->checksum, wal->frame, 8);
	checksum_add(&wal->checksum, wal->frame + FRAME_HEADER, PAGE_BYTES);
	return frame_has_salts(wal) && checksum_is(&wal->checksum, wal->frame + 16);
}

/* False when the file is too short for a WAL; *out_whole when the header is undamaged. */
static bool header_read(struct wal *wal, bool *out_whole)
{
	if (read(wal->file, wal->header, HEADER) != HEADER)
		return false;
	uint32_t magic = word(wal->header, true);
	wal->checksum.big_endian = (magic & 1) != 0;
	checksum_add(&wal->checksum, wal->header, 24);
	*out_whole = (magic & ~1u) == MAGIC && word(wal->header + 8, true) == PAGE_BYTES &&
		     checksum_is(&wal->checksum, wal->header + 24);
	memcpy(wal->salts, wal->header + 16, SALTS);
	return true;
}

/* Counts the acknowledged commits after the frame where SQLite stops. */
static uint64_t count_lost(struct wal *wal)
{
	bool whole;
	if (!header_read(wal, &whole))
		return 0;
	bool more = frame_read(wal);
	if (!whole && more)
		memcpy(wal->salts, wal->frame + 8, SALTS); /* the header may be damaged */
	while (more && whole && frame_whole(wal))
		more = frame_read(wal);
	uint64_t lost = 0;
	bool committed = false; /* the frame before */
	for (; more; more = frame_read(wal)) {
		lost += frame_whole(wal) && committed;
		committed = frame_commits(wal);
		wal->checksum.one = word(wal->frame + 16, true);
		wal->checksum.two = word(wal->frame + 20, true);
	}
	return lost;
}

/* ---- evidence -------------------------------------------------------------------------- */

static bool copy_bytes(int from, int to)
{
	uint8_t bytes[65536];
	for (;;) {
		ssize_t got = read(from, bytes, sizeof(bytes));
		if (got <= 0)
			return got == 0 && fsync(to) == 0;
		for (ssize_t put = 0; put < got;) {
			ssize_t piece = write(to, bytes + put, (size_t)(got - put));
			if (piece <= 0)
				return false;
			put += piece;
		}
	}
}

/* Does not replace an existing copy, which is the older evidence.  On a full disk there is no copy,
 * and only the log message reports the loss. */
static void keep_copy(int log, const char *path)
{
	int copy = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (copy < 0)
		return;
	if (lseek(log, 0, SEEK_SET) != 0 || !copy_bytes(log, copy))
		unlink(path);
	close(copy);
}

uint64_t store_sqlite_wal_scan(const char *path)
{
	AUTO(arena) arena = { 0 };
	int file = open(str_format(&arena, "%s-wal", path).at, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return 0;
	struct wal *wal = calloc(1, sizeof(*wal));
	require(wal != NULL);
	wal->file = file;
	uint64_t lost = count_lost(wal);
	if (lost > 0)
		keep_copy(file, str_format(&arena, "%s" STORE_SQLITE_DAMAGED, path).at);
	free(wal);
	close(file);
	return lost;
}
