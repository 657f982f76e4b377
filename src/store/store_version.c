/* store/store_version.c -- which SQLite this is; for people who report what went wrong. */
#include <sqlite3.h>

#include "store/store.h"

const char *store_sqlite_version(void)
{
	return sqlite3_libversion();
}
