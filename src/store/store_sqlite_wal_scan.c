/* store/store_sqlite_wal_scan.c -- what SQLite's log has lost.
 *
 * SQLite reads the WAL up to the first frame whose checksum is wrong and takes that for its end.
 * After a power cut it is: the one commit that was being written was not acknowledged.  But a bit
 * that flipped in the middle of the log hides every later commit in the same way, and these were
 * acknowledged.  Both are told apart here, before SQLite has the file: frames carry the salts of
 * their log and a checksum that goes on from the frame before, and every commit is synced before
 * the next begins.  So a commit's last frame was acknowledged when the next frame goes on from it.
 * Without that link they may be strangers: a kill leaves frames behind that a shorter commit of the
 * next start writes over in part, and these have the same salts.
 *
 * The log is about to be written over, so a copy of it is kept as evidence; as long as it lies
 * there, check() tells of it.
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
	MAGIC = 0x377f0682, /* or one more: words of checksums are big-endian */
};

struct checksum {
	uint32_t one, two;
	bool big_endian;
};

struct log_file {
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

/* The next frame; false at the end of the file, which may be in the middle of one. */
static bool frame_read(struct log_file *log)
{
	for (size_t got = 0; got < FRAME;) {
		ssize_t piece = read(log->file, log->frame + got, FRAME - got);
		if (piece < 0 && errno == EINTR)
			continue;
		if (piece <= 0)
			return false;
		got += (size_t)piece;
	}
	return true;
}

static bool frame_of_log(const struct log_file *log)
{
	return memcmp(log->frame + 8, log->salts, SALTS) == 0;
}

static bool frame_commits(const struct log_file *log)
{
	return word(log->frame + 4, true) != 0;
}

/* As SQLite judges: the chain of checksums goes on. */
static bool frame_whole(struct log_file *log)
{
	checksum_add(&log->checksum, log->frame, 8);
	checksum_add(&log->checksum, log->frame + FRAME_HEADER, PAGE_BYTES);
	return frame_of_log(log) && checksum_is(&log->checksum, log->frame + 16);
}

/* True when the frames behind it are to be read: it is a log, whole or with a damaged header. */
static bool header_read(struct log_file *log, bool *out_whole)
{
	if (read(log->file, log->header, HEADER) != HEADER)
		return false;
	uint32_t magic = word(log->header, true);
	log->checksum.big_endian = (magic & 1) != 0;
	checksum_add(&log->checksum, log->header, 24);
	*out_whole = (magic & ~1u) == MAGIC && word(log->header + 8, true) == PAGE_BYTES &&
		     checksum_is(&log->checksum, log->header + 24);
	memcpy(log->salts, log->header + 16, SALTS);
	return true;
}

/* Acknowledged commits behind the place where SQLite stops. */
static uint64_t count_lost(struct log_file *log)
{
	bool whole;
	if (!header_read(log, &whole))
		return 0;
	bool more = frame_read(log);
	if (!whole && more)
		memcpy(log->salts, log->frame + 8, SALTS); /* whatever the header says */
	while (more && whole && frame_whole(log))
		more = frame_read(log);
	uint64_t lost = 0;
	bool committed = false; /* the frame before */
	for (; more; more = frame_read(log)) {
		lost += frame_whole(log) && committed;
		committed = frame_commits(log);
		log->checksum.one = word(log->frame + 16, true);
		log->checksum.two = word(log->frame + 20, true);
	}
	return lost;
}

/* ---- keeping it ------------------------------------------------------------------------ */

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

/* One that is there already stays: it is the older evidence.  Without room there is none, and the
 * caller's word has to do. */
static void keep_copy(int log, const char *path)
{
	int copy = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (copy < 0)
		return;
	if (lseek(log, 0, SEEK_SET) != 0 || !copy_bytes(log, copy))
		unlink(path);
	close(copy);
}

uint64_t store_sqlite_log_lost(const char *path)
{
	AUTO(arena) arena = { 0 };
	int file = open(str_format(&arena, "%s-wal", path).at, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return 0;
	struct log_file *log = calloc(1, sizeof(*log));
	require(log != NULL);
	log->file = file;
	uint64_t lost = count_lost(log);
	if (lost > 0)
		keep_copy(file, str_format(&arena, "%s" STORE_SQLITE_DAMAGED, path).at);
	free(log);
	close(file);
	return lost;
}
