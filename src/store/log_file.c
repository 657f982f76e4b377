/* store/log_file.c -- see log_file.h. */
#include "store/log_file.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "store/inner_file.h"

struct log {
	struct inner_file file; /* first: SQLite's file */
	int step;
	sqlite3_int64 size; /* of the file, as far as we have seen it */
	sqlite3_int64 at;   /* where the gathered bytes belong */
	int gathered;
	char *bytes; /* LIMIT_LOG_GATHER_BYTES; NULL until something is written */
};

static struct log *self_of(sqlite3_file *file)
{
	return (struct log *)file;
}

/* Zeros up to the next step.  Nothing is lost when there is no room for them. */
static int grow(struct log *self, sqlite3_int64 end)
{
	static const char zeros[LIMIT_LOG_STEP_BYTES];
	sqlite3_int64 size = (end / self->step + 1) * self->step;
	int code = inner_write(&self->file.base, zeros, (int)(size - end), end);
	self->size = code == SQLITE_OK ? size : end;
	return code == SQLITE_FULL ? SQLITE_OK : code;
}

static int write_out(struct log *self, const void *bytes, int size, sqlite3_int64 at)
{
	int code = inner_write(&self->file.base, bytes, size, at);
	return code == SQLITE_OK && at + size > self->size ? grow(self, at + size) : code;
}

/* What cannot be written is forgotten: its transaction fails with this, and the next one begins
 * where this one began. */
static int flush(struct log *self)
{
	int size = self->gathered;
	self->gathered = 0;
	return size == 0 ? SQLITE_OK : write_out(self, self->bytes, size, self->at);
}

static int log_write(sqlite3_file *file, const void *bytes, int size, sqlite3_int64 at)
{
	struct log *self = self_of(file);
	if (self->gathered > 0 &&
	    (at != self->at + self->gathered || size > LIMIT_LOG_GATHER_BYTES - self->gathered)) {
		int code = flush(self);
		if (code != SQLITE_OK)
			return code;
	}
	if (size > LIMIT_LOG_GATHER_BYTES)
		return write_out(self, bytes, size, at);
	if (self->bytes == NULL)
		self->bytes = malloc(LIMIT_LOG_GATHER_BYTES);
	require(self->bytes != NULL);
	if (self->gathered == 0)
		self->at = at;
	memcpy(self->bytes + self->gathered, bytes, (size_t)size);
	self->gathered += size;
	return SQLITE_OK;
}

static int log_read(sqlite3_file *file, void *out, int size, sqlite3_int64 at)
{
	int code = flush(self_of(file));
	return code == SQLITE_OK ? inner_read(file, out, size, at) : code;
}

static int log_sync(sqlite3_file *file, int flags)
{
	int code = flush(self_of(file));
	return code == SQLITE_OK ? inner_sync(file, flags) : code;
}

static int log_truncate(sqlite3_file *file, sqlite3_int64 size)
{
	struct log *self = self_of(file);
	int code = flush(self);
	if (code != SQLITE_OK)
		return code;
	self->size = size;
	return inner_truncate(file, size);
}

static int log_size(sqlite3_file *file, sqlite3_int64 *out_size)
{
	int code = flush(self_of(file));
	return code == SQLITE_OK ? inner_size(file, out_size) : code;
}

/* What is still gathered belongs to a transaction that was never committed. */
static int log_close(sqlite3_file *file)
{
	struct log *self = self_of(file);
	free(self->bytes);
	self->bytes = NULL;
	self->gathered = 0;
	return inner_close(file);
}

static const sqlite3_io_methods methods = {
	.iVersion = 1,
	.xClose = log_close,
	.xRead = log_read,
	.xWrite = log_write,
	.xTruncate = log_truncate,
	.xSync = log_sync,
	.xFileSize = log_size,
	.xLock = inner_lock,
	.xUnlock = inner_unlock,
	.xCheckReservedLock = inner_check_reserved,
	.xFileControl = inner_control,
	.xSectorSize = inner_sector_size,
	.xDeviceCharacteristics = inner_characteristics,
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
	code = inner_size(file, &self->size);
	if (code != SQLITE_OK) {
		inner_close(file);
		self->file.base.pMethods = NULL;
	}
	return code;
}
