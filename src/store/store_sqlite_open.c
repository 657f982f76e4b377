/* store/store_sqlite_open.c -- the file: whose it is, its tables, and whether it can be trusted.
 *
 * A file is looked at before anything is written to it.  One that is ours and small is checked for
 * damage (LIMIT_STORE_CHECK_BYTES); a larger one is checked when a person asks, and everywhere the
 * settings let SQLite check what it reads.  Neither sees a bit that has changed inside the text of
 * an event; values are kept under their hash and are checked whenever they are read.
 *
 * A killed process leaves a WAL that may be written and not synced.  What is in it will be seen by
 * readers and acted on, so it is synced first, by the checkpoint that ends the opening.
 */
#include "store/store_sqlite.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/limits.h"
#include "store/store_sqlite_schema.h"

static bool execute(struct store_sqlite *self, const char *sql, const char *doing,
		    struct error *error)
{
	if (sqlite3_exec(self->database, sql, NULL, NULL, NULL) != SQLITE_OK)
		return store_sqlite_fail(self->database, self->path, doing, error);
	return true;
}

static bool number_read(struct store_sqlite *self, const char *sql, int64_t *out_number,
			struct error *error)
{
	sqlite3_stmt *statement = NULL;
	bool read = sqlite3_prepare_v2(self->database, sql, -1, &statement, NULL) == SQLITE_OK &&
		    sqlite3_step(statement) == SQLITE_ROW;
	if (read)
		*out_number = sqlite3_column_int64(statement, 0);
	else
		store_sqlite_fail(self->database, self->path, "read the database", error);
	sqlite3_finalize(statement);
	return read;
}

/* Is the file ours, empty, or somebody else's?  Reads only. */
static bool identify(struct store_sqlite *self, bool *out_empty, struct error *error)
{
	int64_t application, version, objects;
	if (!number_read(self, "PRAGMA application_id", &application, error) ||
	    !number_read(self, "PRAGMA user_version", &version, error) ||
	    !number_read(self, "SELECT count(*) FROM sqlite_schema", &objects, error))
		return false;
	*out_empty = application == 0 && version == 0 && objects == 0;
	if (*out_empty)
		return true;
	if (application != STORE_SQLITE_APPLICATION_ID)
		return fail(error, ERROR_STORAGE,
			    "%s is another program's database (application id %lld): move it away"
			    " or name another data folder",
			    self->path, (long long)application);
	if (version > STORE_SQLITE_VERSION)
		return fail(error, ERROR_NEWER_STORE,
			    "%s has version %lld, this Baton reads up to version %d: start the"
			    " newer Baton that wrote it, or name another data folder",
			    self->path, (long long)version, STORE_SQLITE_VERSION);
	if (version < STORE_SQLITE_VERSION)
		return fail(error, ERROR_STORAGE,
			    "%s has version %lld, which no Baton ever wrote: restore the data"
			    " folder from a copy",
			    self->path, (long long)version);
	return true;
}

/* The file says WAL only once the statement is done: its row comes before its commit. */
static bool wal_enter(struct store_sqlite *self, struct error *error)
{
	sqlite3_stmt *statement = NULL;
	bool stepped = sqlite3_prepare_v2(self->database, "PRAGMA journal_mode = WAL", -1,
					  &statement, NULL) == SQLITE_OK &&
		       sqlite3_step(statement) == SQLITE_ROW;
	bool entered =
		stepped && strcmp((const char *)sqlite3_column_text(statement, 0), "wal") == 0;
	stepped = stepped && sqlite3_step(statement) == SQLITE_DONE;
	if (!stepped)
		store_sqlite_fail(self->database, self->path, "switch to WAL", error);
	else if (!entered)
		fail(error, ERROR_STORAGE,
		     "%s: this file system cannot hold a WAL (shared memory is missing): put the"
		     " data folder on a local disk",
		     self->path);
	sqlite3_finalize(statement);
	return stepped && entered;
}

/* Makes the file readable by its owner only; SQLite gives its side files the same mode. */
static bool file_make(const char *path, struct error *error)
{
	int descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (descriptor >= 0)
		close(descriptor);
	else if (errno != EEXIST)
		return fail(error, ERROR_STORAGE,
			    "%s: cannot make the database: %s; check that the folder is there and"
			    " yours",
			    path, strerror(errno));
	return true;
}

/* `PRAGMA quick_check` of a file that is small enough to read while somebody waits. */
static bool examine(struct store_sqlite *self, struct error *error)
{
	int64_t pages, page_bytes;
	if (!number_read(self, "PRAGMA page_count", &pages, error) ||
	    !number_read(self, "PRAGMA page_size", &page_bytes, error))
		return false;
	if (pages > LIMIT_STORE_CHECK_BYTES / page_bytes)
		return true;
	sqlite3_stmt *statement = NULL;
	bool stepped = sqlite3_prepare_v2(self->database, "PRAGMA quick_check(1)", -1, &statement,
					  NULL) == SQLITE_OK &&
		       sqlite3_step(statement) == SQLITE_ROW;
	const char *found = stepped ? (const char *)sqlite3_column_text(statement, 0) : NULL;
	bool good = found != NULL && strcmp(found, "ok") == 0;
	if (!stepped)
		store_sqlite_fail(self->database, self->path, "check the database", error);
	else if (!good)
		fail(error, ERROR_STORAGE, "%s is damaged: %s; restore the data folder from a copy",
		     self->path, found != NULL ? found : "out of memory");
	sqlite3_finalize(statement);
	return good;
}

/* No room to move the WAL is no reason to stay shut: it has been synced before that. */
static bool settle(struct store_sqlite *self, struct error *error)
{
	int code = sqlite3_wal_checkpoint_v2(self->database, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL,
					     NULL);
	if (code == SQLITE_OK || store_sqlite_is_full(self->database))
		return true;
	return store_sqlite_fail(self->database, self->path, "sync what was left in the WAL",
				 error);
}

/* From here on a commit of anybody who had the file before is refused, whatever became of the lock
 * of the data folder.  Where there is no room for it, the first commit that finds room does it. */
static bool own(struct store_sqlite *self, struct error *error)
{
	struct error full;
	self->owns = execute(self,
			     "BEGIN IMMEDIATE;"
			     "UPDATE marks SET value = value + 1 WHERE name = 'owner';"
			     "COMMIT;",
			     "become the owner", &full);
	if (!self->owns) {
		if (!sqlite3_get_autocommit(self->database))
			sqlite3_exec(self->database, "ROLLBACK", NULL, NULL, NULL);
		if (full.code != ERROR_STORAGE_FULL) {
			*error = full;
			return false;
		}
	}
	return number_read(self, "SELECT value FROM marks WHERE name = 'owner'", &self->owner,
			   error);
}

bool store_sqlite_setup(struct store_sqlite *self, struct error *error)
{
	int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
	if (self->vfs != NULL)
		flags |= SQLITE_OPEN_CREATE;
	else if (!file_make(self->path, error))
		return false;
	if (sqlite3_open_v2(self->path, &self->database, flags, self->vfs) != SQLITE_OK)
		return store_sqlite_fail(self->database, self->path, "open the database", error);
	/* Until we know it is ours, closing must not move a foreign WAL into its database. */
	sqlite3_db_config(self->database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
	sqlite3_db_config(self->database, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	bool empty;
	if (!execute(self, STORE_SQLITE_SETTINGS, "set the connection up", error) ||
	    !identify(self, &empty, error))
		return false;
	sqlite3_db_config(self->database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, NULL);
	if (!wal_enter(self, error) ||
	    !execute(self, STORE_SQLITE_WRITER_SETTINGS, "set the connection up", error))
		return false;
	if (empty && !execute(self, "BEGIN IMMEDIATE;" STORE_SQLITE_SCHEMA "COMMIT;",
			      "make the tables", error))
		return false;
	if (store_sqlite_functions(self->database) != SQLITE_OK)
		return store_sqlite_fail(self->database, self->path, "set the connection up",
					 error);
	return (empty || examine(self, error)) && own(self, error) && settle(self, error) &&
	       number_read(self, STORE_SQLITE_HIGHEST_POSITION, &self->position, error);
}
