/* store/log_file.c -- collects the writes of a commit and grows the WAL in steps. */
#include "store/log_file.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "store/inner_file.h"

struct log {
	struct inner_file file; /* first: SQLite's file */
	int step;
	sqlite3_int64 size; /* of the file */
	sqlite3_int64 at;   /* offset of the collected bytes */
	int collected;
	char *bytes; /* LIMIT_LOG_GATHER_BYTES; NULL until the first write */
};

static struct log *self_of(sqlite3_file *file)
{
	return (struct log *)file;
}

/* Writes zeros up to the next step.  A full disk is not an error: the zeros are optional. */
static int grow(struct log *self, sqlite3_int64 end)
{
	static const char zeros[LIMIT_LOG_STEP_BYTES];
	sqlite3_int64 size = (end / self->step + 1) * self->step;
	int code = inner_file_write(&self->file.base, zeros, (int)(size - end), end);
	self->size = code == SQLITE_OK ? size : end;
	return code == SQLITE_FULL ? SQLITE_OK : code;
}

static int write_out(struct log *self, const void *bytes, int size, sqlite3_int64 at)
{
	int code = inner_file_write(&self->file.base, bytes, size, at);
	return code == SQLITE_OK && at + size > self->size ? grow(self, at + size) : code;
}

/* Discards the collected bytes even when the write fails: then the transaction fails, and the next
 * one starts at the same offset. */
static int flush(struct log *self)
{
	int size = self->collected;
	self->collected = 0;
	return size == 0 ? SQLITE_OK : write_out(self, self->bytes, size, self->at);
}

static int log_write(sqlite3_file *file, const void *bytes, int size, sqlite3_int64 at)
{
	struct log *self = self_of(file);
	if (self->collected > 0 &&
	    (at != self->at + self->collected || size > LIMIT_LOG_GATHER_BYTES - self->collected)) {
		int code = flush(self);
		if (code != SQLITE_OK)
			return code;
	}
	if (size > LIMIT_LOG_GATHER_BYTES)
		return write_out(self, bytes, size, at);
	if (self->bytes == NULL)
		self->bytes = malloc(LIMIT_LOG_GATHER_BYTES);
	require(self->bytes != NULL);
	if (self->collected == 0)
		self->at = at;
	memcpy(self->bytes + self->collected, bytes, (size_t)size);
	self->collected += size;
	return SQLITE_OK;
}

static int log_read(sqlite3_file *file, void *out, int size, sqlite3_int64 at)
{
	int code = flush(self_of(file));
	return code == SQLITE_OK ? inner_file_read(file, out, size, at) : code;
}

static int log_sync(sqlite3_file *file, int flags)
{
	int code = flush(self_of(file));
	return code == SQLITE_OK ? inner_file_sync(file, flags) : code;
}

static int log_truncate(sqlite3_file *file, sqlite3_int64 size)
{
	struct log *self = self_of(file);
	int code = flush(self);
	if (code != SQLITE_OK)
		return code;
	self->size = size;
	return inner_file_truncate(file, size);
}

static int log_size(sqlite3_file *file, sqlite3_int64 *out_size)
{
	int code = flush(self_of(file));
	return code == SQLITE_OK ? inner_file_size(file, out_size) : code;
}

/* Bytes that are still collected belong to a transaction that was not committed. */
static int log_close(sqlite3_file *file)
{
	struct log *self = self_of(file);
	free(self->bytes);
	self->bytes = NULL;
	self->collected = 0;
	return inner_file_close(file);
}

static const sqlite3_io_methods methods = {
	.iVersion = 1,
	.xClose = log_close,
	.xRead = log_read,
	.xWrite = log_write,
	.xTruncate = log_truncate,
	.xSync = log_sync,
	.xFileSize = log_size,
	.xLock = inner_file_lock,
	.xUnlock = inner_file_unlock,
	.xCheckReservedLock = inner_file_check_reserved,
	.xFileControl = inner_file_control,
	.xSectorSize = inner_file_sector_size,
	.xDeviceCharacteristics = inner_file_characteristics,
};

int log_file_bytes(void)
{
	return (int)sizeof(struct log);
}

int log_file_open(sqlite3_file *file, int own, int step, sqlite3_vfs *vfs, sqlite3_filename name,
		  int flags, int *out_flags)
{
	struct log *self = self_of(file);
	*self = (struct log){ .step = step };
	int code = inner_file_open(&self->file, (size_t)own, &methods, vfs, name, flags, out_flags);
	if (code != SQLITE_OK)
		return code;
	code = inner_file_size(file, &self->size);
	if (code != SQLITE_OK) {
		inner_file_close(file);
		self->file.base.pMethods = NULL;
	}
	return code;
}
