/* store/store_sqlite_care.c -- what a person asks for now and then: is it whole, how large is it,
 * copy it, make it smaller.
 *
 * All but the last work on a reader's connection, within one read transaction, so they see one
 * moment and the writer does not wait; the WAL cannot begin anew while they last.  The copy is made
 * page by page under such a transaction: without one, SQLite would begin the copy again whenever
 * the writer commits, and under load it would never end.
 */
#include "store/store_sqlite.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/limits.h"
#include "store/page_vfs.h"
#include "store/store_sqlite_schema.h"

static struct store_sqlite_reader *self_of(struct store_reader *reader)
{
	return (struct store_sqlite_reader *)reader;
}

static bool execute(struct store_sqlite_reader *self, const char *sql, struct error *error)
{
	if (sqlite3_exec(self->database, sql, NULL, NULL, NULL) == SQLITE_OK)
		return true;
	return store_sqlite_fail(self->database, self->path, "read the database", error);
}

/* From the first statement that reads, it is one moment. */
bool store_sqlite_moment_begin(struct store_sqlite_reader *self, struct error *error)
{
	return execute(self, "BEGIN; SELECT count(*) FROM marks", error);
}

void store_sqlite_moment_end(struct store_sqlite_reader *self)
{
	sqlite3_exec(self->database, "ROLLBACK", NULL, NULL, NULL);
}

static bool number_read(struct store_sqlite_reader *self, const char *sql, int64_t *out_number,
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

/* ---- measuring ----------------------------------------------------------------------- */

static int64_t wal_bytes(struct store_sqlite_reader *self)
{
	sqlite3_file *file = NULL;
	sqlite3_int64 bytes = 0;
	if (sqlite3_file_control(self->database, "main", SQLITE_FCNTL_JOURNAL_POINTER, &file) ==
		    SQLITE_OK &&
	    file != NULL && file->pMethods != NULL)
		file->pMethods->xFileSize(file, &bytes);
	return bytes;
}

bool store_sqlite_measure(struct store_reader *reader, struct store_size *out_size,
			  struct error *error)
{
	struct store_sqlite_reader *self = self_of(reader);
	struct store_size size = { 0 };
	const struct {
		const char *sql;
		int64_t *out;
	} questions[] = { { "SELECT count(*) FROM runs WHERE key > 0", &size.runs },
			  { "SELECT count(*) FROM events", &size.events },
			  { "SELECT count(*) FROM effects", &size.effects },
			  { "SELECT count(*) FROM blobs", &size.blobs },
			  { "PRAGMA page_size", &size.page_bytes },
			  { "PRAGMA page_count", &size.pages },
			  { "PRAGMA freelist_count", &size.free_pages } };
	if (!store_sqlite_moment_begin(self, error))
		return false;
	bool read = true;
	for (size_t i = 0; i < COUNT(questions) && read; i++)
		read = number_read(self, questions[i].sql, questions[i].out, error);
	size.wal_bytes = wal_bytes(self);
	store_sqlite_moment_end(self);
	if (read)
		*out_size = size;
	return read;
}

/* ---- checking ------------------------------------------------------------------------ */

#define RUN "'run ' || lower(hex(id))"

/* Each gives a sentence for every row that breaks the rule.  Of events only what a floor hides may
 * be missing, and what it hides and is not kept is still there only until it is purged. */
static const char *const rules[] = {
	"SELECT " RUN " || ' has row seq ' || runs.seq || ' and newest event ' ||"
	" coalesce(newest, 0) FROM runs LEFT JOIN"
	" (SELECT run, max(seq) AS newest FROM events GROUP BY run) ON run = key"
	" WHERE runs.seq <> coalesce(newest, 0)",
	"SELECT 'the events of run ' || lower(hex(id)) || ' have a gap: ' || seen || ' rows from seq"
	" ' || max(floor, 1) || ' to ' || seq FROM runs JOIN"
	" (SELECT run, count(*) AS seen FROM events JOIN runs ON key = run"
	"  WHERE events.seq >= floor GROUP BY run) ON run = key"
	" WHERE seen <> seq - max(floor, 1) + 1",
	"SELECT count(*) || ' events belong to no run, the first at position ' || min(position)"
	" FROM events WHERE run NOT IN (SELECT key FROM runs) HAVING count(*) > 0",
	"SELECT " RUN " || ' has ' || count(*) || ' events below its floor that nobody will purge'"
	" FROM events JOIN runs ON key = events.run LEFT JOIN purges ON purges.run = key"
	" WHERE events.seq < floor AND NOT kept AND (upto IS NULL OR events.seq < next"
	" OR events.seq >= upto) GROUP BY key",
	"SELECT " RUN " || ' has floor ' || floor || ' and newest snapshot ' || coalesce(newest, 0)"
	" FROM runs LEFT JOIN (SELECT run, max(seq) AS newest FROM snapshots GROUP BY run)"
	" ON run = key WHERE floor > coalesce(newest, 0)",
	"SELECT 'a snapshot at seq ' || snapshots.seq || ' is beyond its run'"
	" FROM snapshots LEFT JOIN runs ON key = run WHERE snapshots.seq > coalesce(runs.seq, 0)",
	"SELECT 'effect ' || lower(hex(effects.id)) || ' is open and its run has ended'"
	" FROM effects JOIN runs ON key = run WHERE ended_at <> 0",
	"SELECT 'effect ' || lower(hex(id)) || ' is open and belongs to no run'"
	" FROM effects WHERE run NOT IN (SELECT key FROM runs)",
	"SELECT " RUN " || ' has ended and is to be computed'"
	" FROM runs WHERE stepping AND ended_at <> 0",
	"SELECT 'value ' || lower(hex(names.hash)) || ' is named and not stored' FROM names"
	" LEFT JOIN blobs ON key = blob WHERE names.hash IS NOT blobs.hash",
	"SELECT 'value ' || lower(hex(blobs.hash)) || ' is stored and has no name' FROM blobs"
	" LEFT JOIN names ON names.hash = blobs.hash WHERE blob IS NOT key",
	"SELECT 'value ' || lower(hex(hash)) || ' has ' || names.uses || ' uses and is named by ' ||"
	" coalesce(counted.uses, 0) || ' rows' FROM names"
	" LEFT JOIN (" STORE_SQLITE_COUNT_NAMES ") AS counted ON counted.blob = names.blob"
	" WHERE names.uses <> coalesce(counted.uses, 0)",
	"SELECT 'value number ' || counted.blob || ' is named by ' || counted.uses ||"
	" ' rows and not stored' FROM (" STORE_SQLITE_COUNT_NAMES ") AS counted"
	" WHERE counted.blob NOT IN (SELECT key FROM blobs)",
	"SELECT 'state ' || state || ' of ' || name || ' is counted ' || coalesce(told.runs, 0) ||"
	" ' times and ' || coalesce(seen.runs, 0) || ' runs are in it, or they took another time'"
	" FROM (SELECT * FROM tallies WHERE runs <> 0) AS told"
	" FULL JOIN (" STORE_SQLITE_TALLY ") AS seen USING (name, state)"
	" WHERE told.runs IS NOT seen.runs OR told.ended IS NOT seen.ended"
	" OR told.took IS NOT seen.took",
	"SELECT waiting.kind || ' is counted ' || effects || ' times among what waits and ' || seen ||"
	" ' are open' FROM waiting JOIN (SELECT waiting.kind, count(effects.id) AS seen FROM waiting"
	"  LEFT JOIN effects ON effects.kind = waiting.kind GROUP BY 1) AS open"
	" ON open.kind = waiting.kind WHERE effects <> seen",
	"SELECT 'document ' || kind || ' ' || name || ' has revision ' || revision ||"
	" ' and the system stream no event of it' FROM documents"
	" WHERE revision < 1 OR NOT EXISTS (SELECT 1 FROM runs WHERE key = 0 AND seq > 0)",
	"SELECT 'counter ' || name || ' is at ' || value FROM counters WHERE value < 0",
	"SELECT 'request ' || key || ' is damaged' FROM requests"
	" WHERE length(said) <> 32 OR length(subject) <> 16",
};

struct findings {
	struct arena *arena;
	struct str *at;
	size_t count;
};

static void find(struct findings *findings, const char *text)
{
	if (findings->count < LIMIT_PROBLEMS)
		findings->at[findings->count++] =
			str_copy(findings->arena, str_from_c(text != NULL ? text : ""));
}

/* Every row of the statement is a sentence; `good` is one that means nothing is wrong. */
static bool find_rows(struct store_sqlite_reader *self, const char *sql, const char *good,
		      struct findings *findings, struct error *error)
{
	sqlite3_stmt *statement = NULL;
	int step = sqlite3_prepare_v2(self->database, sql, -1, &statement, NULL);
	while (step == SQLITE_OK || step == SQLITE_ROW) {
		step = sqlite3_step(statement);
		const char *text =
			step == SQLITE_ROW ? (const char *)sqlite3_column_text(statement, 0) : NULL;
		if (text != NULL && (good == NULL || strcmp(text, good) != 0))
			find(findings, text);
	}
	sqlite3_finalize(statement);
	if (step == SQLITE_DONE)
		return true;
	/* Damage that keeps the question from being answered is an answer. */
	struct error problem;
	store_sqlite_fail(self->database, self->path, "check the database", &problem);
	if (store_sqlite_is_damaged(self->database)) {
		find(findings, problem.text);
		return true;
	}
	*error = problem;
	return false;
}

bool store_sqlite_check(struct store_reader *reader, struct arena *arena,
			struct store_check *out_check, struct error *error)
{
	struct store_sqlite_reader *self = self_of(reader);
	struct findings findings = { .arena = arena };
	findings.at = arena_array(arena, struct str, LIMIT_PROBLEMS);
	const char *integrity = str_format(arena, "PRAGMA integrity_check(%d)", LIMIT_PROBLEMS).at;
	if (!store_sqlite_moment_begin(self, error))
		return false;
	bool asked = find_rows(self, integrity, "ok", &findings, error);
	for (size_t i = 0; i < COUNT(rules) && asked; i++)
		asked = find_rows(self, rules[i], NULL, &findings, error);
	store_sqlite_moment_end(self);
	const char *damaged = str_format(arena, "%s" STORE_SQLITE_DAMAGED, self->path).at;
	if (access(damaged, F_OK) == 0)
		find(&findings,
		     str_format(arena,
				"the log was damaged, and commits behind the damage that had been"
				" acknowledged are lost: restore the data folder from a copy, or"
				" remove %s to go on without them",
				damaged)
			     .at);
	if (asked && page_vfs_damage(self->database) > 0) {
		atomic_store(&self->writer->damaged, true);
		find(&findings,
		     str_format(arena, "page %u is damaged", page_vfs_damage(self->database)).at);
	}
	if (asked)
		*out_check = (struct store_check){ findings.at, findings.count };
	return asked;
}

/* ---- copying ------------------------------------------------------------------------- */

static bool folder_sync(const char *path, struct arena *arena, struct error *error)
{
	const char *slash = strrchr(path, '/');
	size_t length = slash == NULL ? 0 : slash == path ? 1 : (size_t)(slash - path);
	const char *folder = length == 0 ? "." : str_c(arena, (struct str){ path, length });
	int descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool synced = descriptor >= 0 && fsync(descriptor) == 0;
	if (!synced)
		fail(error, ERROR_IO, "%s: cannot sync the folder: %s", folder, strerror(errno));
	if (descriptor >= 0)
		close(descriptor);
	return synced;
}

static bool copy_pages(struct store_sqlite_reader *self, sqlite3 *copy, const char *path,
		       struct error *error)
{
	sqlite3_backup *backup = sqlite3_backup_init(copy, "main", self->database, "main");
	if (backup == NULL)
		return store_sqlite_fail(copy, path, "begin the copy", error);
	int step;
	do {
		step = sqlite3_backup_step(backup, LIMIT_BACKUP_PAGES);
	} while (step == SQLITE_OK);
	/* The error, if any, is the copy's now. */
	if (sqlite3_backup_finish(backup) != SQLITE_OK || step != SQLITE_DONE)
		return store_sqlite_fail(copy, path, "copy the database", error);
	return true;
}

static bool copy_write(struct store_sqlite_reader *self, const char *path, struct error *error)
{
	sqlite3 *copy = NULL;
	int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
	bool written = sqlite3_open_v2(path, &copy, flags, page_vfs_name()) == SQLITE_OK ||
		       store_sqlite_fail(copy, path, "open the copy", error);
	written = written && store_sqlite_moment_begin(self, error);
	if (written) {
		written = copy_pages(self, copy, path, error);
		store_sqlite_moment_end(self);
	}
	sqlite3_close(copy);
	return written;
}

/* SQLite syncs what it commits; this is for the file as a whole, whatever SQLite's settings are. */
static bool copy_sync(const char *path, int64_t *out_bytes, struct error *error)
{
	int descriptor = open(path, O_RDONLY | O_CLOEXEC);
	off_t bytes = descriptor >= 0 ? lseek(descriptor, 0, SEEK_END) : -1;
	bool synced = bytes >= 0 && fsync(descriptor) == 0;
	if (!synced)
		fail(error, ERROR_IO, "%s: cannot sync the copy: %s", path, strerror(errno));
	else
		*out_bytes = bytes;
	if (descriptor >= 0)
		close(descriptor);
	return synced;
}

/* Written under another name, so that the name asked for is a whole copy or nothing. */
bool store_sqlite_backup(struct store_reader *reader, const char *path, int64_t *out_bytes,
			 struct error *error)
{
	struct store_sqlite_reader *self = self_of(reader);
	AUTO(arena) arena = { 0 };
	const char *part = str_format(&arena, "%s.part", path).at;
	if (access(path, F_OK) == 0)
		return fail(error, ERROR_CONFLICT, "%s exists already; name another file", path);
	int descriptor = open(part, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (descriptor < 0)
		return fail(error, errno == EEXIST ? ERROR_CONFLICT : ERROR_IO,
			    "%s: cannot make the copy: %s", part, strerror(errno));
	close(descriptor);
	int64_t bytes = 0;
	bool done = copy_write(self, part, error) && copy_sync(part, &bytes, error);
	/* link() and not rename(): it never replaces what came there meanwhile. */
	if (done && link(part, path) != 0)
		done = fail(error, errno == EEXIST ? ERROR_CONFLICT : ERROR_IO,
			    "%s: cannot name the copy: %s", path, strerror(errno));
	unlink(part);
	if (!done || !folder_sync(path, &arena, error))
		return false;
	*out_bytes = bytes;
	return true;
}

/* ---- making it smaller ---------------------------------------------------------------- */

/* The whole file goes through the WAL, which is then moved and emptied, so that neither file has
 * anything left of what was deleted.  Readers may hold the emptying back; then the checkpoint
 * behind the next commit does it.  An empty transaction before it tells whether the file is still
 * ours. */
bool store_sqlite_vacuum(struct store *store, struct error *error)
{
	struct store_sqlite *self = (struct store_sqlite *)store;
	if (!store_sqlite_begin(self, error) || !store_sqlite_end(self, true, error))
		return false;
	self->empty_wal = true;
	if (sqlite3_exec(self->database, STORE_SQLITE_VACUUM, NULL, NULL, NULL) != SQLITE_OK ||
	    !store_sqlite_checkpoint_now(self) || store_sqlite_is_full(self->database)) {
		store_sqlite_fail(self->database, self->path, "vacuum the database", error);
		sqlite3_exec(self->database, STORE_SQLITE_SETTINGS, NULL, NULL, NULL);
		if (error->code != ERROR_STORAGE_FULL)
			store_sqlite_latch(self, error);
		return false;
	}
	return true;
}
