/* store/store_sqlite_connection.c -- errors, statements and parameters of any connection. */
#include "store/store_sqlite.h"

#include <errno.h>

#include "store/page_vfs.h"

static const char *advice(int code)
{
	switch (code & 0xff) {
	case SQLITE_FULL:
		return "; make room on the disk";
	case SQLITE_NOTADB:
	case SQLITE_CORRUPT:
		return "; restore the data folder from a backup, or use another data folder";
	case SQLITE_CANTOPEN:
	case SQLITE_PERM:
	case SQLITE_READONLY:
		return "; check the owner and permissions of the data folder";
	case SQLITE_BUSY:
		return "; stop the other program that has the file open";
	default:
		return "";
	}
}

bool store_sqlite_is_full(sqlite3 *database)
{
	int code = sqlite3_extended_errcode(database);
	int number = sqlite3_system_errno(database);
	return (code & 0xff) == SQLITE_FULL ||
	       ((code == SQLITE_IOERR_WRITE || code == SQLITE_IOERR_SHMSIZE) &&
		(number == ENOSPC || number == EDQUOT));
}

bool store_sqlite_is_damaged(sqlite3 *database)
{
	int code = sqlite3_extended_errcode(database);
	return code == SQLITE_IOERR_DATA || (code & 0xff) == SQLITE_CORRUPT ||
	       (code & 0xff) == SQLITE_NOTADB;
}

bool store_sqlite_fail(sqlite3 *database, const char *path, const char *doing, struct error *error)
{
	int code = sqlite3_extended_errcode(database);
	enum error_code kind = store_sqlite_is_full(database) ? ERROR_STORAGE_FULL : ERROR_STORAGE;
	if (code == SQLITE_IOERR_DATA)
		return fail(
			error, kind,
			"%s: cannot %s: page %u is damaged; restore the data folder from a backup",
			path, doing, page_vfs_damage(database));
	return fail(error, kind, "%s: cannot %s: %s (SQLite code %d)%s", path, doing,
		    sqlite3_errmsg(database), code, advice(code));
}

sqlite3_stmt *store_sqlite_prepared(sqlite3 *database, sqlite3_stmt **statement, const char *text)
{
	if (*statement == NULL)
		sqlite3_prepare_v3(database, text, -1, SQLITE_PREPARE_PERSISTENT, statement, NULL);
	return *statement;
}

void store_sqlite_finalize(sqlite3_stmt **statements, size_t count)
{
	for (size_t i = 0; i < count; i++)
		sqlite3_finalize(statements[i]);
}

int store_sqlite_bind_text(sqlite3_stmt *statement, int index, struct str text)
{
	/* A NULL pointer would bind NULL, not "". */
	return sqlite3_bind_text64(statement, index, text.at != NULL ? text.at : "", text.size,
				   SQLITE_STATIC, SQLITE_UTF8);
}

int store_sqlite_bind_bytes(sqlite3_stmt *statement, int index, const void *bytes, size_t size)
{
	return sqlite3_bind_blob64(statement, index, bytes != NULL ? bytes : "", size,
				   SQLITE_STATIC);
}
