/* store/store_sqlite_mark.h -- what was acknowledged, in a small file beside the database.
 *
 * Private to the SQLite store.  After every commit the store writes a mark: the id of the database,
 * its epoch, the position of the newest event, and the salts of the WAL.  The write is not synced,
 * so it costs a commit one system call.  A commit is synced before its mark is written, so a mark
 * never promises more than the disk has, whatever a crash does to it.  Opening compares: a database
 * that ends before its mark has lost acknowledged events.  Decision 0041.
 *
 * The file BATON.DB-mark has two slots of STORE_SQLITE_MARK_SLOT bytes, written in turn; a slot that
 * is torn or garbled is not valid and is ignored.
 */
#ifndef STORE_STORE_SQLITE_MARK_H
#define STORE_STORE_SQLITE_MARK_H

#include "store/store_sqlite.h"

#define STORE_SQLITE_MARK "-mark"
/* A WAL without its database, moved out of the way by accept_loss(). */
#define STORE_SQLITE_LOST "-wal.lost"

enum { STORE_SQLITE_MARK_SLOT = 512, STORE_SQLITE_MARK_SLOTS = 2 };

/* The valid slots of the file. */
struct store_sqlite_marks {
	struct store_sqlite_mark at[STORE_SQLITE_MARK_SLOTS];
	size_t count;
};

/* ---- the file ------------------------------------------------------------------------- */

/* No valid slot is not an error. */
bool store_sqlite_marks_read(const char *vfs, const char *path,
			     struct store_sqlite_marks *out_marks, struct error *error);
/* Creates the file and writes both slots.  A full disk is not an error: a later commit tries again. */
bool store_sqlite_mark_begin(struct store_sqlite *self, struct error *error);
/* Records what has just been committed. */
bool store_sqlite_mark_set(struct store_sqlite *self, struct error *error);
void store_sqlite_mark_close(struct store_sqlite *self);
/* Writes `mark` to both slots and syncs the file. */
bool store_sqlite_mark_store(const char *vfs, const char *path,
			     const struct store_sqlite_mark *mark, struct error *error);

/* ---- comparing ------------------------------------------------------------------------ */

enum store_sqlite_loss {
	STORE_SQLITE_NO_LOSS,
	STORE_SQLITE_NO_DATABASE, /* it is missing, empty or has no tables */
	STORE_SQLITE_OTHER_WAL,   /* the WAL belongs to the database that was here before */
	STORE_SQLITE_SHORT,       /* events that were acknowledged are missing */
};

/* Both return false with what was found, what was expected and what to do, and write nothing;
 * *out_loss is STORE_SQLITE_NO_LOSS when the folder could not be read. */

/* Before anything is opened or created: is there a WAL or a mark, but no database? */
bool store_sqlite_files_admit(const struct store_sqlite *self,
			      const struct store_sqlite_marks *marks,
			      enum store_sqlite_loss *out_loss, struct error *error);
/* On the open connection of self, which has written nothing.  `version` is that of the database, 0
 * without tables.  Sets self->accepted, self->other_mark and self->can_mark. */
bool store_sqlite_events_admit(struct store_sqlite *self, const struct store_sqlite_marks *marks,
			       int64_t version, enum store_sqlite_loss *out_loss,
			       struct error *error);

/* Remembers which files are open; later store_sqlite_file_is_gone(self, "" or "-wal") is true when
 * the folder has another file in its place, or none. */
void store_sqlite_files_remember(struct store_sqlite *self);
bool store_sqlite_file_is_gone(const struct store_sqlite *self, const char *ending);

/* Lets the next open succeed without what is lost; a WAL that belongs to no database is renamed.
 * *out_report says what was accepted; "" when nothing is lost, and then nothing is changed.  The
 * caller owns the data folder, and no store is open. */
bool store_sqlite_accept_loss(const char *path, struct arena *arena, struct str *out_report,
			      struct error *error);

#endif
