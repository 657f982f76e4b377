/* store/store_sqlite_lost.c -- refuses a data folder that has lost files or acknowledged events.
 *
 * SQLite cannot notice such a loss: without its WAL a database is an older, sound database, and
 * beside an empty database SQLite deletes the WAL.  So these checks come first, they write nothing,
 * and only accept_loss() lets the store go on without what is lost.
 *
 * They compare what the files contain with the mark, never the files with each other: the length of
 * the WAL and its salts change in ways that a power failure can reorder with the mark, but a commit
 * is on the disk before its mark is written, so its position is there or it is lost.  A position
 * never becomes smaller: not by a purge, a vacuum, an upgrade or a checkpoint.
 */
#include "store/store_sqlite_mark.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "store/page_vfs.h"
#include "store/store_sqlite_schema.h"

#define WHAT_TO_DO                                                                        \
	"; nothing was changed.  Put the missing file back or restore a backup; to go on" \
	" without what is lost, run `baton db accept-loss`"

/* Like SQLite, takes an empty file for a missing one. */
static bool has_bytes(const struct store_sqlite *self, const char *ending)
{
	AUTO(arena) arena = { 0 };
	sqlite3_vfs *vfs = sqlite3_vfs_find(self->vfs);
	int found = 0;
	const char *name = str_format(&arena, "%s%s", self->path, ending).at;
	return vfs->xAccess(vfs, name, SQLITE_ACCESS_EXISTS, &found) == SQLITE_OK && found;
}

/* The newest mark that is not accepted yet, of the given database; id 0 = of any.  NULL = none. */
static const struct store_sqlite_mark *newest(const struct store_sqlite_marks *marks, int64_t id)
{
	const struct store_sqlite_mark *best = NULL;
	for (size_t i = 0; i < marks->count; i++) {
		const struct store_sqlite_mark *mark = &marks->at[i];
		if (!mark->accepted && id != 0 && mark->database != id)
			continue;
		if (best == NULL || mark->epoch > best->epoch ||
		    (mark->epoch == best->epoch && mark->position > best->position) ||
		    (mark->epoch == best->epoch && mark->position == best->position &&
		     mark->accepted))
			best = mark;
	}
	return best;
}

/* True when something was acknowledged that nobody has given up. */
static bool promises(const struct store_sqlite_mark *mark)
{
	return mark != NULL && !mark->accepted && mark->position > 0;
}

/* ---- a missing database ---------------------------------------------------------------- */

static bool database_missing(const struct store_sqlite *self, const struct store_sqlite_mark *mark,
			     bool has_wal, struct error *error)
{
	AUTO(arena) arena = { 0 };
	struct str acknowledged = S("");
	if (promises(mark))
		acknowledged =
			str_format(&arena, ", and events up to position %lld were acknowledged",
				   (long long)mark->position);
	return fail(error, ERROR_LOST_DATA,
		    "%s is missing or empty, but the data folder was in use: its WAL %s" STR_FMT
			    WHAT_TO_DO,
		    self->path, has_wal ? "is still there" : "is missing too",
		    STR_ARG(acknowledged));
}

bool store_sqlite_files_admit(const struct store_sqlite *self,
			      const struct store_sqlite_marks *marks,
			      enum store_sqlite_loss *out_loss, struct error *error)
{
	const struct store_sqlite_mark *mark = newest(marks, 0);
	bool has_wal = has_bytes(self, "-wal");
	*out_loss = STORE_SQLITE_NO_LOSS;
	if (has_bytes(self, "") || (!has_wal && !promises(mark)))
		return true;
	*out_loss = STORE_SQLITE_NO_DATABASE;
	return database_missing(self, mark, has_wal, error);
}

/* ---- a WAL of another database ---------------------------------------------------------- */

/* False when the WAL has no header. */
static bool wal_salts(const struct store_sqlite *self, uint8_t out_salts[8])
{
	AUTO(arena) arena = { 0 };
	sqlite3_vfs *vfs = sqlite3_vfs_find(self->vfs);
	sqlite3_file *file = arena_take_array(&arena, (size_t)vfs->szOsFile, 1);
	memset(file, 0, (size_t)vfs->szOsFile);
	const char *name = str_format(&arena, "%s-wal", self->path).at;
	if (!has_bytes(self, "-wal") ||
	    vfs->xOpen(vfs, name, file, SQLITE_OPEN_READONLY | SQLITE_OPEN_SUBJOURNAL, NULL) !=
		    SQLITE_OK)
		return false;
	bool read = file->pMethods->xRead(file, out_salts, 8, 16) == SQLITE_OK;
	file->pMethods->xClose(file);
	return read;
}

static void add_escaped(struct buf *out, const char *path)
{
	for (; *path != '\0'; path++)
		if (*path == '%' || *path == '?' || *path == '#')
			buf_add_format(out, "%%%02x", (unsigned char)*path);
		else
			buf_add_char(out, *path);
}

/* The id in the database file itself: an immutable connection does not read the WAL.  A crash during
 * a checkpoint leaves pages of two states in the file, some of them torn.  Those have wrong checksums;
 * a whole page that is not the one of the marks has no id.  Both mean that the id is unknown. */
static bool file_id(const struct store_sqlite *self, int64_t *out_id)
{
	AUTO(buf) name = { 0 };
	sqlite3 *database = NULL;
	sqlite3_stmt *statement = NULL;
	buf_add(&name, S("file:"));
	add_escaped(&name, self->path);
	buf_add(&name, S("?immutable=1"));
	buf_add_char(&name, '\0');
	int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI;
	const char *vfs = self->vfs != NULL ? self->pages_vfs : page_vfs_name();
	bool read =
		sqlite3_open_v2(buf_str(&name).at, &database, flags, vfs) == SQLITE_OK &&
		sqlite3_prepare_v2(database, STORE_SQLITE_ID, -1, &statement, NULL) == SQLITE_OK &&
		sqlite3_step(statement) == SQLITE_ROW;
	if (read)
		*out_id = sqlite3_column_int64(statement, 0);
	sqlite3_finalize(statement);
	sqlite3_close(database);
	return read && *out_id != 0;
}

/* The database of a mark had its id in the file before the mark was written. */
static bool wal_is_foreign(const struct store_sqlite *self, const struct store_sqlite_marks *marks,
			   struct error *error)
{
	uint8_t salts[8];
	int64_t id;
	if (marks->count == 0 || !wal_salts(self, salts) || !file_id(self, &id))
		return false;
	for (size_t i = 0; i < marks->count; i++)
		if (!marks->at[i].accepted && marks->at[i].database != id &&
		    memcmp(marks->at[i].salts, salts, sizeof(salts)) == 0) {
			fail(error, ERROR_LOST_DATA,
			     "%s was replaced, and the WAL beside it belongs to the database that"
			     " was here before; nothing was changed.  After restoring a backup,"
			     " remove baton.db-wal and baton.db-shm, or let `baton db accept-loss`"
			     " move the WAL away",
			     self->path);
			return true;
		}
	return false;
}

/* ---- missing events --------------------------------------------------------------------- */

static bool read_contents(struct store_sqlite *self, struct store_sqlite_mark *out_contents,
			  struct error *error)
{
	int64_t marks_tables;
	*out_contents = (struct store_sqlite_mark){ 0 };
	/* A file of another program has no marks; identify() refuses it. */
	if (!store_sqlite_read_number(self,
				      "SELECT count(*) FROM sqlite_schema WHERE name IN"
				      " ('marks', 'events')",
				      &marks_tables, error))
		return false;
	return marks_tables < 2 ||
	       (store_sqlite_read_number(self, STORE_SQLITE_ID, &out_contents->database, error) &&
		store_sqlite_read_number(
			self, "SELECT coalesce(max(value), 0) FROM marks WHERE name = 'owner'",
			&out_contents->epoch, error) &&
		store_sqlite_read_number(self, STORE_SQLITE_HIGHEST_POSITION,
					 &out_contents->position, error));
}

static bool contents_fail(const struct store_sqlite *self, const struct store_sqlite_mark *contents,
			  const struct store_sqlite_mark *mark, struct error *error)
{
	const char *wal = has_bytes(self, "-wal") ? "ends too early" : "is missing or empty";
	if (contents->position < mark->position)
		return fail(
			error, ERROR_LOST_DATA,
			"%s has lost %lld acknowledged events: the newest one found has position"
			" %lld, and position %lld was acknowledged; its WAL %s, or it is an"
			" older copy" WHAT_TO_DO,
			self->path, (long long)(mark->position - contents->position),
			(long long)contents->position, (long long)mark->position, wal);
	return fail(error, ERROR_LOST_DATA,
		    "%s is older than what was acknowledged: it counts %lld starts, and the mark"
		    " %lld; its WAL %s, or it is an older copy" WHAT_TO_DO,
		    self->path, (long long)contents->epoch, (long long)mark->epoch, wal);
}

/* `own` is the newest mark of this database; the caller has handled a mark that is accepted. */
static bool contents_admit(struct store_sqlite *self, const struct store_sqlite_mark *own,
			   const struct store_sqlite_mark *contents,
			   enum store_sqlite_loss *out_loss, struct error *error)
{
	self->other_mark = own == NULL;
	if (own == NULL)
		return true;
	self->can_mark = true;
	if (contents->position >= own->position && contents->epoch >= own->epoch)
		return true;
	*out_loss = STORE_SQLITE_SHORT;
	return contents_fail(self, contents, own, error);
}

bool store_sqlite_events_admit(struct store_sqlite *self, const struct store_sqlite_marks *marks,
			       int64_t version, enum store_sqlite_loss *out_loss,
			       struct error *error)
{
	struct store_sqlite_mark contents;
	*out_loss = STORE_SQLITE_NO_LOSS;
	if (marks->count == 0)
		return true;
	if (wal_is_foreign(self, marks, error)) {
		*out_loss = STORE_SQLITE_OTHER_WAL;
		return false;
	}
	if (!read_contents(self, &contents, error))
		return false;
	const struct store_sqlite_mark *own =
		newest(marks, contents.database > 0 ? contents.database : -1);
	if (own != NULL && own->accepted) {
		self->accepted = *own;
		return true;
	}
	if (version == 0 && promises(newest(marks, 0))) {
		*out_loss = STORE_SQLITE_NO_DATABASE;
		return database_missing(self, newest(marks, 0), has_bytes(self, "-wal"), error);
	}
	return contents_admit(self, own, &contents, out_loss, error);
}

/* ---- files removed from under an open store ---------------------------------------------- */

static bool identify_file(const struct store_sqlite *self, const char *ending,
			  struct file_identity *out_identity)
{
	AUTO(arena) arena = { 0 };
	return file_identify(str_format(&arena, "%s%s", self->path, ending).at, out_identity);
}

/* SQLite neither deletes nor replaces a file of an open connection. */
void store_sqlite_files_remember(struct store_sqlite *self)
{
	if (self->vfs == NULL && (!identify_file(self, "", &self->files[0]) ||
				  !identify_file(self, "-wal", &self->files[1])))
		memset(self->files, 0, sizeof(self->files));
}

bool store_sqlite_file_is_gone(const struct store_sqlite *self, const char *ending)
{
	const struct file_identity *opened = &self->files[ending[0] != '\0'];
	struct file_identity now;
	return opened->number != 0 &&
	       (!identify_file(self, ending, &now) || now.number != opened->number ||
		now.device != opened->device);
}

/* ---- accepting --------------------------------------------------------------------------- */

static bool wal_move(const struct store_sqlite *self, struct arena *arena, struct error *error)
{
	const char *wal = str_format(arena, "%s-wal", self->path).at;
	const char *lost = str_format(arena, "%s" STORE_SQLITE_LOST, self->path).at;
	/* link() instead of rename(): it does not replace an older one. */
	if (!has_bytes(self, "-wal") || (link(wal, lost) == 0 && unlink(wal) == 0))
		return true;
	return fail(error, errno == EEXIST ? ERROR_CONFLICT : ERROR_IO,
		    "%s cannot be moved to %s: %s; move the latter away first", wal, lost,
		    strerror(errno));
}

/* True when nothing is lost; else *out_loss says what, or the folder could not be read. */
static bool admit(struct store_sqlite *self, struct store_sqlite_marks *marks,
		  enum store_sqlite_loss *out_loss, struct error *error)
{
	int64_t version = 0;
	*out_loss = STORE_SQLITE_NO_LOSS;
	if (!store_sqlite_marks_read(self->vfs, self->path, marks, error) ||
	    !store_sqlite_files_admit(self, marks, out_loss, error))
		return false;
	if (!has_bytes(self, ""))
		return true;
	bool admitted = store_sqlite_connect(self, self->vfs, error) &&
			store_sqlite_read_number(self, "PRAGMA user_version", &version, error) &&
			store_sqlite_events_admit(self, marks, version, out_loss, error);
	store_sqlite_disconnect(self);
	return admitted;
}

bool store_sqlite_accept_loss(const char *path, struct arena *arena, struct str *out_report,
			      struct error *error)
{
	struct store_sqlite *self = arena_new(arena, struct store_sqlite);
	char *name = arena_array(arena, char, strlen(path) + 1);
	struct store_sqlite_marks marks;
	enum store_sqlite_loss found;
	struct error loss;
	memcpy(name, path, strlen(path) + 1);
	*self = (struct store_sqlite){ .path = name };
	*out_report = S("");
	if (admit(self, &marks, &found, &loss))
		return true;
	if (found == STORE_SQLITE_NO_LOSS) {
		*error = loss;
		return false;
	}
	/* Positions and epochs of the lost part are not used again. */
	struct store_sqlite_mark accepted = { .accepted = true };
	for (size_t i = 0; i < marks.count; i++) {
		if (accepted.epoch < marks.at[i].epoch)
			accepted.epoch = marks.at[i].epoch;
		if (accepted.position < marks.at[i].position)
			accepted.position = marks.at[i].position;
	}
	if (found != STORE_SQLITE_SHORT && !wal_move(self, arena, error))
		return false;
	if (!store_sqlite_mark_store(NULL, path, &accepted, error))
		return false;
	*out_report = str_format(arena, "accepted: %s", loss.text);
	return true;
}
