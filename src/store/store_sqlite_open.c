/* store/store_sqlite_open.c -- opens the database file: identity, version, integrity, ownership.
 *
 * The file is identified before anything is written to it, on a connection that does not verify
 * checksums: a version 1 file has none and is upgraded first (store_sqlite_upgrade.c).  After that
 * the checksum of every page is verified when the page is read (page_vfs.h).  A file of up to
 * LIMIT_STORE_CHECK_BYTES is checked as a whole at every opening, a larger one by `baton db check`.
 *
 * Before that, a folder that has lost files or acknowledged events is refused (store_sqlite_lost.c).
 *
 * The WAL is scanned before SQLite writes to it, because SQLite does not report which commits it
 * ignores (store_sqlite_wal_scan.c).  A killed process can leave a WAL that is written but not
 * synced.  Readers would see its content and effects would start on it, so the checkpoint at the
 * end of the opening syncs it first.
 */
#include "store/store_sqlite.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/limits.h"
#include "store/page_vfs.h"
#include "store/store_sqlite_mark.h"
#include "store/store_sqlite_schema.h"

bool store_sqlite_execute_sql(struct store_sqlite *self, const char *sql, const char *doing,
			      struct error *error)
{
	if (sqlite3_exec(self->database, sql, NULL, NULL, NULL) != SQLITE_OK)
		return store_sqlite_fail(self->database, self->path, doing, error);
	return true;
}

bool store_sqlite_read_number(struct store_sqlite *self, const char *sql, int64_t *out_number,
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

/* `version` is 0 for a file without tables. */
struct identity {
	int64_t version, pages;
};

/* Refuses a file of another program or of a newer version.  Writes nothing. */
static bool identify(struct store_sqlite *self, struct identity *out_identity, struct error *error)
{
	int64_t application, version, objects;
	if (!store_sqlite_read_number(self, "PRAGMA application_id", &application, error) ||
	    !store_sqlite_read_number(self, "PRAGMA user_version", &version, error) ||
	    !store_sqlite_read_number(self, "SELECT count(*) FROM sqlite_schema", &objects,
				      error) ||
	    !store_sqlite_read_number(self, "PRAGMA page_count", &out_identity->pages, error))
		return false;
	out_identity->version = version;
	if (application == 0 && version == 0 && objects == 0)
		return true;
	if (application != STORE_SQLITE_APPLICATION_ID)
		return fail(error, ERROR_STORAGE,
			    "%s is another program's database (application id %lld): move it away"
			    " or use another data folder",
			    self->path, (long long)application);
	if (version > STORE_SQLITE_VERSION)
		return fail(error, ERROR_NEWER_STORE,
			    "%s has version %lld, this Baton reads up to version %d: start the"
			    " newer Baton that wrote it, or use another data folder",
			    self->path, (long long)version, STORE_SQLITE_VERSION);
	if (version < 1)
		return fail(error, ERROR_STORAGE,
			    "%s has version %lld, which no Baton has ever written: restore the data"
			    " folder from a backup",
			    self->path, (long long)version);
	return true;
}

/* The mode is stored only when the statement is done: SQLite returns the row before it commits. */
bool store_sqlite_wal_enter(struct store_sqlite *self, struct error *error)
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
		     "%s: this file system does not support a WAL (no shared memory): put the data"
		     " folder on a local disk",
		     self->path);
	sqlite3_finalize(statement);
	return stepped && entered;
}

/* Creates the file readable by its owner only; SQLite creates the WAL with the same mode. */
static bool file_make(const char *path, struct error *error)
{
	int descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (descriptor >= 0)
		close(descriptor);
	else if (errno != EEXIST)
		return fail(error, ERROR_STORAGE,
			    "%s: cannot create the database: %s; check that the folder exists and"
			    " belongs to you",
			    path, strerror(errno));
	return true;
}

/* Runs quick_check on a file that is small enough to be read at every start. */
static bool examine(struct store_sqlite *self, struct error *error)
{
	int64_t pages, page_bytes;
	if (!store_sqlite_read_number(self, "PRAGMA page_count", &pages, error) ||
	    !store_sqlite_read_number(self, "PRAGMA page_size", &page_bytes, error))
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
	else if (!good && page_vfs_damage(self->database) > 0)
		fail(error, ERROR_STORAGE,
		     "%s: page %u is damaged; restore the data folder from a backup", self->path,
		     page_vfs_damage(self->database));
	else if (!good)
		fail(error, ERROR_STORAGE,
		     "%s is damaged: %s; restore the data folder from a backup", self->path,
		     found != NULL ? found : "out of memory");
	sqlite3_finalize(statement);
	return good;
}

/* A checkpoint syncs the WAL before it copies pages, so a full disk does no harm here.  What a damaged
 * WAL hides is emptied out of it, or the next opening would report it again. */
static bool settle(struct store_sqlite *self, struct error *error)
{
	int frames = 0, copied = 0;
	int mode = self->lost_commits > 0 ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_PASSIVE;
	int code = sqlite3_wal_checkpoint_v2(self->database, NULL, mode, &frames, &copied);
	self->can_mark = self->can_mark || (code == SQLITE_OK && frames == copied);
	if (code == SQLITE_OK || code == SQLITE_BUSY || store_sqlite_is_full(self->database))
		return true;
	return store_sqlite_fail(self->database, self->path, "sync the WAL", error);
}

/* Takes the next epoch: from now on commits of processes that opened the file earlier are refused,
 * even if the lock file was deleted.  After an accepted loss, epochs and positions continue behind
 * those that are lost. */
static bool own_now(struct store_sqlite *self, struct error *error)
{
	AUTO(arena) arena = { 0 };
	const char *sql =
		str_format(
			&arena,
			"BEGIN IMMEDIATE;"
			"UPDATE marks SET value = max(value, %lld) WHERE name = 'highest_deleted';"
			"UPDATE marks SET value = max(value, %lld) + 1 WHERE name = 'owner';"
			"INSERT OR IGNORE INTO marks VALUES ('database', -1);"
			"UPDATE marks SET value = " STORE_SQLITE_NEW_ID
			" WHERE name = 'database' AND value < 0;"
			"COMMIT;",
			(long long)self->accepted.position, (long long)self->accepted.epoch)
			.at;
	if (store_sqlite_execute_sql(self, sql, "store the epoch", error))
		return true;
	if (!sqlite3_get_autocommit(self->database))
		sqlite3_exec(self->database, "ROLLBACK", NULL, NULL, NULL);
	return false;
}

/* On a full disk the first commit that finds space stores the epoch. */
static bool own(struct store_sqlite *self, struct error *error)
{
	struct error full;
	self->owns = own_now(self, &full);
	if (!self->owns && (full.code != ERROR_STORAGE_FULL || self->accepted.accepted)) {
		*error = full;
		return false;
	}
	return store_sqlite_read_number(self, STORE_SQLITE_ID, &self->database_id, error) &&
	       store_sqlite_read_number(self, "SELECT value FROM marks WHERE name = 'owner'",
					&self->owner, error);
}

bool store_sqlite_connect(struct store_sqlite *self, const char *vfs, struct error *error)
{
	int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
	/* file_make() creates files of the operating system only. */
	if (self->vfs != NULL)
		flags |= SQLITE_OPEN_CREATE;
	if (sqlite3_open_v2(self->path, &self->database, flags, vfs) != SQLITE_OK)
		return store_sqlite_fail(self->database, self->path, "open the database", error);
	/* The file may be another program's: closing it must not checkpoint a foreign WAL. */
	sqlite3_db_config(self->database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
	sqlite3_db_config(self->database, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	return store_sqlite_execute_sql(self, STORE_SQLITE_SETTINGS, "set the connection up",
					error);
}

void store_sqlite_disconnect(struct store_sqlite *self)
{
	sqlite3_close(self->database);
	self->database = NULL;
}

/* Opens the connection that writes, with checksums. */
static bool connect(struct store_sqlite *self, const struct identity *identity, struct error *error)
{
	int reserve = PAGE_RESERVED;
	if (!store_sqlite_connect(self, self->pages_vfs, error))
		return false;
	if (identity->pages == 0)
		sqlite3_file_control(self->database, "main", SQLITE_FCNTL_RESERVE_BYTES, &reserve);
	sqlite3_db_config(self->database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, NULL);
	if (!store_sqlite_wal_enter(self, error) ||
	    !store_sqlite_execute_sql(self, STORE_SQLITE_WRITER_SETTINGS, "set the connection up",
				      error))
		return false;
	if (store_sqlite_functions(self->database) != SQLITE_OK)
		return store_sqlite_fail(self->database, self->path, "set the connection up",
					 error);
	return true;
}

static bool tables(struct store_sqlite *self, const struct identity *identity, struct error *error)
{
	if (identity->version == 0)
		return store_sqlite_execute_sql(self,
						"BEGIN IMMEDIATE;" STORE_SQLITE_SCHEMA "COMMIT;",
						"create the tables", error);
	return examine(self, error) && store_sqlite_upgrade(self, identity->version, error);
}

/* Opens the connection that identifies the file; refuses a folder that has lost something. */
static bool look(struct store_sqlite *self, struct identity *out_identity, struct error *error)
{
	struct store_sqlite_marks marks;
	enum store_sqlite_loss loss;
	if (!store_sqlite_marks_read(self->vfs, self->path, &marks, error) ||
	    !store_sqlite_files_admit(self, &marks, &loss, error))
		return false;
	if (self->vfs == NULL && !file_make(self->path, error))
		return false;
	if (!store_sqlite_connect(self, self->vfs, error) || !identify(self, out_identity, error) ||
	    !store_sqlite_events_admit(self, &marks, out_identity->version, &loss, error))
		return false;
	if (self->vfs == NULL)
		self->lost_commits = store_sqlite_wal_scan(self->path);
	return true;
}

bool store_sqlite_setup(struct store_sqlite *self, struct error *error)
{
	struct identity identity;
	if (!look(self, &identity, error))
		return false;
	/* Version 1 has no checksums. */
	if (identity.pages > 0 && identity.version < 2 && !store_sqlite_add_checksums(self, error))
		return false;
	store_sqlite_disconnect(self);
	return connect(self, &identity, error) && tables(self, &identity, error) &&
	       own(self, error) && settle(self, error) &&
	       store_sqlite_read_number(self, STORE_SQLITE_HIGHEST_POSITION, &self->position,
					error) &&
	       store_sqlite_mark_begin(self, error);
}
