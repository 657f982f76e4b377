/* store/store_sqlite_admin.c -- admin: check, measure, backup, vacuum.
 *
 * All but the vacuum use a reader's connection in one read transaction: they see one state of the
 * store, and the writer does not wait.  The WAL cannot be reset while they last.  A backup copies
 * page by page inside such a transaction.  Without it SQLite would restart the copy at every commit,
 * and under load the copy would never end.
 */
#include "store/store_sqlite_read.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/limits.h"
#include "store/page_vfs.h"
#include "store/store_sqlite_mark.h"
#include "store/store_sqlite_schema.h"
#include "store/store_sqlite_vfs.h"
#include "store/store_sqlite_write.h"

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

/* BEGIN alone does not start a read transaction; the first SELECT does. */
bool store_sqlite_read_begin(struct store_sqlite_reader *self, struct error *error)
{
	return execute(self, "BEGIN; SELECT count(*) FROM marks", error);
}

void store_sqlite_read_end(struct store_sqlite_reader *self)
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

static bool measure(struct store_reader *reader, struct store_size *out_size, struct error *error)
{
	struct store_sqlite_reader *self = self_of(reader);
	struct store_size size = { 0 };
	int64_t page_bytes = 0, pages = 0, free_pages = 0;
	const struct {
		const char *sql;
		int64_t *out;
	} questions[] = { { "SELECT count(*) FROM runs WHERE key > 0", &size.runs },
			  { "SELECT count(*) FROM events", &size.events },
			  { "SELECT count(*) FROM effects", &size.effects },
			  { "SELECT count(*) FROM blobs", &size.blobs },
			  { "PRAGMA page_size", &page_bytes },
			  { "PRAGMA page_count", &pages },
			  { "PRAGMA freelist_count", &free_pages } };
	if (!store_sqlite_read_begin(self, error))
		return false;
	bool read = true;
	for (size_t i = 0; i < COUNT(questions) && read; i++)
		read = number_read(self, questions[i].sql, questions[i].out, error);
	size.bytes = pages * page_bytes;
	size.free_bytes = free_pages * page_bytes;
	size.details = (struct store_details){ .at = { { "pages", pages },
						       { "free_pages", free_pages },
						       { "wal_bytes", wal_bytes(self) } },
					       .count = 3 };
	store_sqlite_read_end(self);
	if (read)
		*out_size = size;
	return read;
}

/* ---- checking ------------------------------------------------------------------------ */

#define RUN "'run ' || lower(hex(id))"

/* Each statement returns a sentence for every row that breaks a rule.  Only events below the floor
 * may be missing; those that are not kept exist only until they are purged. */
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
	"SELECT " RUN
	" || ' has ' || count(*) || ' events below its floor that no purge will delete'"
	" FROM events JOIN runs ON key = events.run LEFT JOIN purges ON purges.run = key"
	" WHERE events.seq < floor AND NOT kept AND (upto IS NULL OR events.seq < next"
	" OR events.seq >= upto) GROUP BY key",
	"SELECT " RUN " || ' has floor ' || floor || ' and newest snapshot ' || coalesce(newest, 0)"
	" FROM runs LEFT JOIN (SELECT run, max(seq) AS newest FROM snapshots GROUP BY run)"
	" ON run = key WHERE floor > coalesce(newest, 0)",
	"SELECT 'a snapshot at seq ' || snapshots.seq || ' is above the seq of its run'"
	" FROM snapshots LEFT JOIN runs ON key = run WHERE snapshots.seq > coalesce(runs.seq, 0)",
	"SELECT 'effect ' || lower(hex(effects.id)) || ' is open, but its run has ended'"
	" FROM effects JOIN runs ON key = run WHERE ended_at <> 0",
	"SELECT 'effect ' || lower(hex(id)) || ' is open, but belongs to no run'"
	" FROM effects WHERE run NOT IN (SELECT key FROM runs)",
	"SELECT " RUN " || ' has ended, but is marked for recovery'"
	" FROM runs WHERE stepping AND ended_at <> 0",
	"SELECT 'value ' || lower(hex(names.hash)) || ' has a reference count, but is not stored' FROM names"
	" LEFT JOIN blobs ON key = blob WHERE names.hash IS NOT blobs.hash",
	"SELECT 'value ' || lower(hex(blobs.hash)) || ' is stored, but has no reference count' FROM blobs"
	" LEFT JOIN names ON names.hash = blobs.hash WHERE blob IS NOT key",
	"SELECT 'value ' || lower(hex(hash)) || ' has reference count ' || names.uses || ', but ' ||"
	" coalesce(counted.uses, 0) || ' rows refer to it' FROM names"
	" LEFT JOIN (" STORE_SQLITE_COUNT_NAMES ") AS counted ON counted.blob = names.blob"
	" WHERE names.uses <> coalesce(counted.uses, 0)",
	"SELECT counted.uses || ' rows refer to value number ' || counted.blob ||"
	" ', which is not stored' FROM (" STORE_SQLITE_COUNT_NAMES ") AS counted"
	" WHERE counted.blob NOT IN (SELECT key FROM blobs)",
	"SELECT 'the tally of ' || name || ' in state ' || state || ' has ' || coalesce(told.runs, 0) ||"
	" ' runs and the table of runs ' || coalesce(seen.runs, 0) || ', or their durations differ'"
	" FROM (SELECT * FROM tallies WHERE runs <> 0) AS told"
	" FULL JOIN (" STORE_SQLITE_TALLY ") AS seen USING (name, state)"
	" WHERE told.runs IS NOT seen.runs OR told.ended IS NOT seen.ended"
	" OR told.took IS NOT seen.took",
	"SELECT 'label ' || label || ' of run number ' || run || ' is listed with state ' || labels.state ||"
	" ', but the run has state ' || coalesce(runs.state, 'none')"
	" FROM labels LEFT JOIN runs ON key = run WHERE labels.state IS NOT runs.state",
	"SELECT 'usage of agent ' || agent || ' on day ' || day || ' belongs to no run'"
	" FROM usage WHERE run NOT IN (SELECT key FROM runs WHERE key > 0)",
	"SELECT 'budget ' || name || ' belongs to no run'"
	" FROM budgets WHERE run NOT IN (SELECT key FROM runs WHERE key > 0)",
	"SELECT 'counter ' || name || ' has ' || coalesce(told.value, 0) || ', but the runs have ' ||"
	" coalesce(seen.value, 0) FROM (SELECT * FROM counters WHERE value <> 0"
	"  AND (name GLOB '" STORE_BUDGET_USED "*' OR name GLOB '" STORE_BUDGET_RESERVED
	"*')) AS told FULL JOIN (SELECT * FROM (" STORE_SQLITE_BUDGET_SUMS
	") WHERE value <> 0) AS seen USING (name) WHERE told.value IS NOT seen.value",
	"SELECT effects || ' waiting effects of kind ' || waiting.kind || ' are counted, but ' || seen ||"
	" ' are open' FROM waiting JOIN (SELECT waiting.kind, count(effects.id) AS seen FROM waiting"
	"  LEFT JOIN effects ON effects.kind = waiting.kind GROUP BY 1) AS open"
	" ON open.kind = waiting.kind WHERE effects <> seen",
	"SELECT 'document ' || kind || ' ' || name || ' has revision ' || revision ||"
	" ', but the system stream has no event of it' FROM documents"
	" WHERE revision < 1 OR NOT EXISTS (SELECT 1 FROM runs WHERE key = 0 AND seq > 0)",
	"SELECT 'counter ' || name || ' is negative: ' || value FROM counters WHERE value < 0",
	"SELECT 'the row of idempotency key ' || key || ' is damaged' FROM requests"
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

/* Adds every row of the statement as a problem, except the text `good`. */
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
	/* Damage that makes the check fail is a problem, not an error. */
	struct error problem;
	store_sqlite_fail(self->database, self->path, "check the database", &problem);
	if (store_sqlite_is_damaged(self->database)) {
		find(findings, problem.text);
		return true;
	}
	*error = problem;
	return false;
}

static void find_gone(struct store_sqlite_reader *self, const char *ending,
		      struct findings *findings)
{
	if (store_sqlite_file_is_gone(self->writer, ending))
		find(findings,
		     str_format(findings->arena,
				"%s%s was removed or replaced while Baton was running: what is"
				" recorded now is lost when Baton stops; run `baton db backup"
				" FILE`, stop Baton, and restore that copy",
				self->path, ending)
			     .at);
}

static bool check(struct store_reader *reader, struct arena *arena, struct store_check *out_check,
		  struct error *error)
{
	struct store_sqlite_reader *self = self_of(reader);
	struct findings findings = { .arena = arena };
	findings.at = arena_array(arena, struct str, LIMIT_PROBLEMS);
	const char *integrity = str_format(arena, "PRAGMA integrity_check(%d)", LIMIT_PROBLEMS).at;
	if (!store_sqlite_read_begin(self, error))
		return false;
	bool asked = find_rows(self, integrity, "ok", &findings, error);
	for (size_t i = 0; i < COUNT(rules) && asked; i++)
		asked = find_rows(self, rules[i], NULL, &findings, error);
	store_sqlite_read_end(self);
	find_gone(self, "", &findings);
	find_gone(self, "-wal", &findings);
	const char *damaged = str_format(arena, "%s" STORE_SQLITE_DAMAGED, self->path).at;
	if (access(damaged, F_OK) == 0)
		find(&findings,
		     str_format(arena,
				"the WAL was damaged, and acknowledged commits behind the damage"
				" are lost: restore the data folder from a backup, or remove %s"
				" to continue without them",
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

/* ---- backup -------------------------------------------------------------------------- */

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
		return store_sqlite_fail(copy, path, "begin the backup", error);
	int step;
	do {
		step = sqlite3_backup_step(backup, LIMIT_BACKUP_PAGES);
	} while (step == SQLITE_OK);
	/* An error is reported on the connection of the copy. */
	if (sqlite3_backup_finish(backup) != SQLITE_OK || step != SQLITE_DONE)
		return store_sqlite_fail(copy, path, "copy the database", error);
	return true;
}

/* A copy is another database: restored here, it is older than what was acknowledged.  It gets an id
 * when it is opened.  Closing it deletes its WAL. */
static bool copy_disown(sqlite3 *copy, const char *path, struct error *error)
{
	if (sqlite3_exec(copy, "UPDATE marks SET value = -1 WHERE name = 'database'", NULL, NULL,
			 NULL) == SQLITE_OK &&
	    sqlite3_wal_checkpoint_v2(copy, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL) ==
		    SQLITE_OK)
		return true;
	return store_sqlite_fail(copy, path, "take the id from the copy", error);
}

static bool copy_write(struct store_sqlite_reader *self, const char *path, struct error *error)
{
	sqlite3 *copy = NULL;
	int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
	bool written = sqlite3_open_v2(path, &copy, flags, page_vfs_name()) == SQLITE_OK ||
		       store_sqlite_fail(copy, path, "open the copy", error);
	written = written && store_sqlite_read_begin(self, error);
	if (written) {
		written = copy_pages(self, copy, path, error);
		store_sqlite_read_end(self);
	}
	written = written && copy_disown(copy, path, error);
	sqlite3_close(copy);
	return written;
}

/* Syncs the whole file, independently of SQLite's settings. */
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

/* Writes to PATH.part first, so that PATH is a complete copy or does not exist. */
static bool backup(struct store_reader *reader, const char *path, int64_t *out_bytes,
		   struct error *error)
{
	struct store_sqlite_reader *self = self_of(reader);
	AUTO(arena) arena = { 0 };
	const char *part = str_format(&arena, "%s.part", path).at;
	if (access(path, F_OK) == 0)
		return fail(error, ERROR_CONFLICT, "%s already exists; choose another file name",
			    path);
	int descriptor = open(part, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (descriptor < 0)
		return fail(error, errno == EEXIST ? ERROR_CONFLICT : ERROR_IO,
			    "%s: cannot create the copy: %s", part, strerror(errno));
	close(descriptor);
	int64_t bytes = 0;
	bool done = copy_write(self, part, error) && copy_sync(part, &bytes, error);
	/* link() instead of rename(): it never replaces a file that was created meanwhile. */
	if (done && link(part, path) != 0)
		done = fail(error, errno == EEXIST ? ERROR_CONFLICT : ERROR_IO,
			    "%s: cannot link the copy: %s", path, strerror(errno));
	unlink(part);
	if (!done || !folder_sync(path, &arena, error))
		return false;
	*out_bytes = bytes;
	return true;
}

/* ---- vacuum --------------------------------------------------------------------------- */

/* The vacuum writes the whole database through the WAL; a checkpoint then truncates the WAL, so that
 * neither file contains deleted data.  If a reader prevents the truncation, the checkpoint after the
 * next commit does it.  The empty transaction before it verifies our epoch. */
static bool vacuum(struct store *store, struct error *error)
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
			store_sqlite_stop_writing(self, error);
		return false;
	}
	return true;
}

/* ---- reporting ------------------------------------------------------------------------- */

static struct str recovery_report(const struct store *store, struct arena *arena)
{
	const struct store_sqlite *self = (const struct store_sqlite *)store;
	uint64_t lost = self->lost_commits;
	if (self->accepted.accepted)
		return str_format(arena,
				  "%s goes on without what was lost: positions continue after %lld",
				  self->path, (long long)self->accepted.position);
	if (self->other_mark)
		return str_format(
			arena,
			"%s is not the database that was here before, for instance a"
			" restored backup; what that one had acknowledged is not compared",
			self->path);
	if (lost == 0)
		return S("");
	return str_format(
		arena,
		"%s-wal was damaged: at least %llu acknowledged commit%s behind the damage"
		" %s lost; the log is kept as %s" STORE_SQLITE_DAMAGED "; run `baton db check`",
		self->path, (unsigned long long)lost, lost == 1 ? "" : "s",
		lost == 1 ? "is" : "are", self->path);
}

const struct store_admin_ops store_sqlite_admin_ops = {
	.measure = measure,
	.check = check,
	.backup = backup,
	.recovery_report = recovery_report,
	.vacuum = vacuum,
	.purge = store_sqlite_purge,
	.expire_requests = store_sqlite_expire_requests,
	.rebuild_run = store_sqlite_rebuild_run,
	.rebuild_end = store_sqlite_rebuild_end,
	.rebuild_documents = store_sqlite_rebuild_documents,
};
