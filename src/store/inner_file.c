/* store/inner_file.c -- passes calls to the base VFS. */
#include "store/inner_file.h"

#include <string.h>

sqlite3_file *inner_file_of(sqlite3_file *file)
{
	return ((struct inner_file *)file)->inner;
}

int inner_file_open(struct inner_file *self, size_t own, const sqlite3_io_methods *methods,
		    sqlite3_vfs *vfs, sqlite3_filename name, int flags, int *out_flags)
{
	self->base.pMethods = NULL;
	self->inner = (sqlite3_file *)(void *)((char *)self + own);
	memset(self->inner, 0, (size_t)vfs->szOsFile);
	int code = vfs->xOpen(vfs, name, self->inner, flags, out_flags);
	if (code == SQLITE_OK)
		self->base.pMethods = methods;
	else if (self->inner->pMethods != NULL)
		self->inner->pMethods->xClose(self->inner);
	return code;
}

int inner_file_close(sqlite3_file *file)
{
	sqlite3_file *inner = inner_file_of(file);
	return inner->pMethods->xClose(inner);
}

int inner_file_read(sqlite3_file *file, void *out, int size, sqlite3_int64 at)
{
	sqlite3_file *inner = inner_file_of(file);
	return inner->pMethods->xRead(inner, out, size, at);
}

int inner_file_write(sqlite3_file *file, const void *bytes, int size, sqlite3_int64 at)
{
	sqlite3_file *inner = inner_file_of(file);
	return inner->pMethods->xWrite(inner, bytes, size, at);
}

int inner_file_truncate(sqlite3_file *file, sqlite3_int64 size)
{
	sqlite3_file *inner = inner_file_of(file);
	return inner->pMethods->xTruncate(inner, size);
}

int inner_file_sync(sqlite3_file *file, int flags)
{
	sqlite3_file *inner = inner_file_of(file);
	return inner->pMethods->xSync(inner, flags);
}

int inner_file_size(sqlite3_file *file, sqlite3_int64 *out_size)
{
	sqlite3_file *inner = inner_file_of(file);
	return inner->pMethods->xFileSize(inner, out_size);
}

int inner_file_lock(sqlite3_file *file, int level)
{
	sqlite3_file *inner = inner_file_of(file);
	return inner->pMethods->xLock(inner, level);
}

int inner_file_unlock(sqlite3_file *file, int level)
{
	sqlite3_file *inner = inner_file_of(file);
	return inner->pMethods->xUnlock(inner, level);
}

int inner_file_check_reserved(sqlite3_file *file, int *out_reserved)
{
	sqlite3_file *inner = inner_file_of(file);
	return inner->pMethods->xCheckReservedLock(inner, out_reserved);
}

int inner_file_control(sqlite3_file *file, int what, void *argument)
{
	sqlite3_file *inner = inner_file_of(file);
	return inner->pMethods->xFileControl(inner, what, argument);
}

int inner_file_sector_size(sqlite3_file *file)
{
	sqlite3_file *inner = inner_file_of(file);
	return inner->pMethods->xSectorSize(inner);
}

int inner_file_characteristics(sqlite3_file *file)
{
	sqlite3_file *inner = inner_file_of(file);
	return inner->pMethods->xDeviceCharacteristics(inner);
}
