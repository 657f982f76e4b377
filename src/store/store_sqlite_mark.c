/* store/store_sqlite_mark.c -- reads and writes the file with the marks.
 *
 * The file is opened through the VFS of the store, so that the simulated disk drops, tears and
 * garbles it like any other file.  A slot is 56 bytes in little-endian order: a magic word, the id,
 * the epoch, the position, the salts, the flags, and the first 8 bytes of the SHA-256 of all that.
 */
#include "store/store_sqlite_mark.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/sha256.h"

enum { BODY = 48, RECORD = BODY + 8, ACCEPTED = 1, WAL_SALTS_AT = 16 };

static const char magic[8] = { 'b', 'a', 't', 'm', 'a', 'r', 'k', '1' };

static void put_number(uint8_t *out, uint64_t number)
{
	for (int i = 0; i < 8; i++)
		out[i] = (uint8_t)(number >> (8 * i));
}

static uint64_t number_at(const uint8_t *bytes)
{
	uint64_t number = 0;
	for (int i = 0; i < 8; i++)
		number |= (uint64_t)bytes[i] << (8 * i);
	return number;
}

static void encode(const struct store_sqlite_mark *mark, uint8_t out[RECORD])
{
	memcpy(out, magic, sizeof(magic));
	put_number(out + 8, (uint64_t)mark->database);
	put_number(out + 16, (uint64_t)mark->epoch);
	put_number(out + 24, (uint64_t)mark->position);
	memcpy(out + 32, mark->salts, sizeof(mark->salts));
	put_number(out + 40, mark->accepted ? ACCEPTED : 0);
	struct hash hash = hash_of((struct str){ (const char *)out, BODY });
	memcpy(out + BODY, hash.bytes, RECORD - BODY);
}

static bool decode(const uint8_t record[RECORD], struct store_sqlite_mark *out_mark)
{
	struct hash hash = hash_of((struct str){ (const char *)record, BODY });
	if (memcmp(record, magic, sizeof(magic)) != 0 ||
	    memcmp(record + BODY, hash.bytes, RECORD - BODY) != 0)
		return false;
	*out_mark =
		(struct store_sqlite_mark){ .database = (int64_t)number_at(record + 8),
					    .epoch = (int64_t)number_at(record + 16),
					    .position = (int64_t)number_at(record + 24),
					    .accepted = (number_at(record + 40) & ACCEPTED) != 0 };
	memcpy(out_mark->salts, record + 32, sizeof(out_mark->salts));
	return true;
}

/* ---- the file ------------------------------------------------------------------------- */

/* Creates a file of the operating system, readable by its owner only; SQLite would not say that the
 * disk is full. */
static int file_make(const char *name)
{
	int descriptor = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (descriptor < 0)
		return errno == ENOSPC || errno == EDQUOT ? SQLITE_FULL : SQLITE_CANTOPEN;
	close(descriptor);
	return SQLITE_OK;
}

/* A VFS keeps the name until the file is closed, so it is in the same memory, behind the file. */
static int file_open(const char *vfs_name, const char *path, bool create, sqlite3_file **out_file)
{
	sqlite3_vfs *vfs = sqlite3_vfs_find(vfs_name);
	size_t length = strlen(path);
	sqlite3_file *file = calloc(1, (size_t)vfs->szOsFile + length + sizeof(STORE_SQLITE_MARK));
	require(file != NULL);
	char *name = (char *)file + vfs->szOsFile;
	memcpy(name, path, length);
	memcpy(name + length, STORE_SQLITE_MARK, sizeof(STORE_SQLITE_MARK));
	int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_SUBJOURNAL;
	if (create && vfs_name != NULL)
		flags |= SQLITE_OPEN_CREATE;
	int code = create && vfs_name == NULL ? file_make(name) : SQLITE_OK;
	if (code == SQLITE_OK)
		code = vfs->xOpen(vfs, name, file, flags, NULL);
	if (code == SQLITE_OK) {
		*out_file = file;
		return code;
	}
	if (file->pMethods != NULL)
		file->pMethods->xClose(file);
	free(file);
	return code;
}

static void file_close(sqlite3_file *file)
{
	file->pMethods->xClose(file);
	free(file);
}

static bool is_full(int code)
{
	return (code & 0xff) == SQLITE_FULL;
}

static bool file_fail(const char *path, const char *doing, int code, struct error *error)
{
	if (is_full(code))
		return fail(error, ERROR_STORAGE_FULL, "%s" STORE_SQLITE_MARK ": the disk is full",
			    path);
	return fail(error, ERROR_STORAGE, "%s" STORE_SQLITE_MARK ": cannot %s: %s", path, doing,
		    sqlite3_errstr(code));
}

static int slot_write(sqlite3_file *file, unsigned slot, const struct store_sqlite_mark *mark)
{
	uint8_t record[RECORD];
	encode(mark, record);
	return file->pMethods->xWrite(file, record, RECORD,
				      (sqlite3_int64)slot * STORE_SQLITE_MARK_SLOT);
}

static int slots_write(sqlite3_file *file, const struct store_sqlite_mark *mark)
{
	int code = SQLITE_OK;
	for (unsigned slot = 0; slot < STORE_SQLITE_MARK_SLOTS && code == SQLITE_OK; slot++)
		code = slot_write(file, slot, mark);
	return code;
}

bool store_sqlite_marks_read(const char *vfs_name, const char *path,
			     struct store_sqlite_marks *out_marks, struct error *error)
{
	AUTO(arena) arena = { 0 };
	sqlite3_vfs *vfs = sqlite3_vfs_find(vfs_name);
	sqlite3_file *file = NULL;
	int found = 0, code;
	*out_marks = (struct store_sqlite_marks){ 0 };
	code = vfs->xAccess(vfs, str_format(&arena, "%s" STORE_SQLITE_MARK, path).at,
			    SQLITE_ACCESS_EXISTS, &found);
	if (code == SQLITE_OK && !found)
		return true;
	if (code == SQLITE_OK)
		code = file_open(vfs_name, path, false, &file);
	if (code != SQLITE_OK)
		return file_fail(path, "open the mark", code, error);
	for (unsigned slot = 0; slot < STORE_SQLITE_MARK_SLOTS && code == SQLITE_OK; slot++) {
		uint8_t record[RECORD];
		code = file->pMethods->xRead(file, record, RECORD,
					     (sqlite3_int64)slot * STORE_SQLITE_MARK_SLOT);
		if (code == SQLITE_IOERR_SHORT_READ)
			code = SQLITE_OK; /* the rest is zeros */
		else if (code != SQLITE_OK)
			break;
		if (decode(record, &out_marks->at[out_marks->count]))
			out_marks->count++;
	}
	file_close(file);
	return code == SQLITE_OK || file_fail(path, "read the mark", code, error);
}

bool store_sqlite_mark_store(const char *vfs, const char *path,
			     const struct store_sqlite_mark *mark, struct error *error)
{
	sqlite3_file *file = NULL;
	int code = file_open(vfs, path, true, &file);
	if (code == SQLITE_OK) {
		code = slots_write(file, mark);
		if (code == SQLITE_OK)
			code = file->pMethods->xSync(file, SQLITE_SYNC_NORMAL);
		file_close(file);
	}
	return code == SQLITE_OK || file_fail(path, "write the mark", code, error);
}

/* ---- an open store -------------------------------------------------------------------- */

/* The salts change only when the WAL starts again, and that follows a checkpoint. */
static int salts_read(struct store_sqlite *self)
{
	sqlite3_file *wal = NULL;
	if (self->wal_salts_known)
		return SQLITE_OK;
	memset(self->wal_salts, 0, sizeof(self->wal_salts));
	int code = sqlite3_file_control(self->database, "main", SQLITE_FCNTL_JOURNAL_POINTER, &wal);
	if (code != SQLITE_OK || wal == NULL || wal->pMethods == NULL)
		return code;
	code = wal->pMethods->xRead(wal, self->wal_salts, sizeof(self->wal_salts), WAL_SALTS_AT);
	self->wal_salts_known = code == SQLITE_OK;
	return code == SQLITE_IOERR_SHORT_READ ? SQLITE_OK : code;
}

static struct store_sqlite_mark mark_of(const struct store_sqlite *self)
{
	struct store_sqlite_mark mark = { .database = self->database_id,
					  .epoch = self->owner,
					  .position = self->position };
	memcpy(mark.salts, self->wal_salts, sizeof(mark.salts));
	return mark;
}

bool store_sqlite_mark_begin(struct store_sqlite *self, struct error *error)
{
	if (!self->can_mark || self->database_id <= 0)
		return true;
	int code = salts_read(self);
	self->wal_salts_known = false; /* the next commit may start the WAL again */
	if (code == SQLITE_OK)
		code = file_open(self->vfs, self->path, true, &self->mark_file);
	if (code == SQLITE_OK) {
		struct store_sqlite_mark mark = mark_of(self);
		code = slots_write(self->mark_file, &mark);
	}
	if (code == SQLITE_OK)
		return true;
	store_sqlite_mark_close(self);
	return is_full(code) || file_fail(self->path, "write the mark", code, error);
}

bool store_sqlite_mark_set(struct store_sqlite *self, struct error *error)
{
	if (self->mark_file == NULL)
		return store_sqlite_mark_begin(self, error);
	int code = salts_read(self);
	if (code == SQLITE_OK) {
		struct store_sqlite_mark mark = mark_of(self);
		code = slot_write(self->mark_file, self->mark_slot, &mark);
		self->mark_slot = (self->mark_slot + 1) % STORE_SQLITE_MARK_SLOTS;
	}
	return code == SQLITE_OK || is_full(code) ||
	       file_fail(self->path, "write the mark", code, error);
}

void store_sqlite_mark_close(struct store_sqlite *self)
{
	if (self->mark_file != NULL)
		file_close(self->mark_file);
	self->mark_file = NULL;
}
