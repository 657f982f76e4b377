/* store/store_version.c -- the version of the SQLite library, for bug reports. */
#include <sqlite3.h>

#include "store/store.h"

const char *store_sqlite_version(void)
{
	return sqlite3_libversion();
}
