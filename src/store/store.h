/* store/store.h -- durable event streams and the tables that change with them.
 *
 * A run is a stream of events with seq 1, 2, 3 …; `position` numbers the events of all runs in
 * commit order.  A commit changes streams and tables in one transaction:
 *
 *   values      content-addressed by SHA-256, with a count of the events and snapshots that refer
 *               to each; a value without references is deleted (R17)
 *   runs        one row a run, for lists, counts and recovery (R12)
 *   effects     the open ones; an effect that is closed has no row
 *   snapshots   a run's folded state at a seq; the newest two are kept.  To load a run, read its
 *               newest snapshot and the events after it (R8)
 *   floors      per run: older events are deleted, life-cycle events excepted (R8)
 *   documents   everything that is not a run, by kind and name.  Each change adds 1 to the
 *               revision, deletion and re-creation included.  Changes are events of the system
 *               stream: the run with the zero id, which has a seq but is in no list and no count
 *   usage       tokens and money by run, day, agent, provider and model
 *   budgets     money that the turns of each run have spent of named budgets, and hold of them
 *   guards      named counters with limits, checked and moved by an append (R13)
 *   requests    idempotency keys: which run or document a request with this key has made
 *   epoch       of the process that opened the store last; commits of earlier ones are refused
 *
 * The interfaces, each with its own manual:
 *
 *   store_writer.h   commit batches of appends                 the writer's thread
 *   store_reader.h   read pages, rows and counts               any number of reader threads
 *   store_admin.h    check, back up, shrink, purge, rebuild    a reader's or the writer's thread
 *
 * They assume nothing about the storage: no file, page or log appears in them.  A number that only
 * one backend has is a named detail (struct store_detail).
 *
 *	const struct store_backend *backend = store_backend_find(S("sqlite"), &error);
 *	backend->open(location, &store, &error);
 *	store->writer->commit(store, appends, count, &error);
 *	backend->open_reader(store, &reader, &error);
 *	reader->ops->read_events(reader, &run, 0, 100, &arena, &page, &error);
 *	backend->close_reader(reader);
 *	backend->close(store);
 *
 * Everything that a reader sees is durable: what a killed process had written and not synced is
 * synced before open() returns.
 *
 * The store creates no events and does not look into bodies.  Shipped backends are rows of
 * stores.def, those for tests rows of simstore/simstores.def; tests/unit/store runs one
 * conformance suite over all of them.
 */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include "store/store_admin.h"
#include "store/store_reader.h"
#include "store/store_rows.h"
#include "store/store_writer.h"

struct store_backend {
	const char *name;
	const char *text; /* for people */
	/* `location` is the backend's: the path of a file, a connection string. */
	bool (*open)(const char *location, struct store **out_store, struct error *error);
	/* Lets open() succeed where it fails with ERROR_LOST_DATA.  *out_report says what was
	 * accepted, "" when nothing is lost; what is lost stays lost.  NULL = never necessary. */
	bool (*accept_loss)(const char *location, struct arena *arena, struct str *out_report,
			    struct error *error);
	/* After all readers have been closed.  NULL does nothing. */
	void (*close)(struct store *store);
	bool (*open_reader)(struct store *store, struct store_reader **out_reader,
			    struct error *error);
	void (*close_reader)(struct store_reader *reader);
};

/* The beginning of every backend's store and reader.  A test may replace an interface of an open
 * store by its own. */
struct store {
	const struct store_backend *backend;
	const struct store_writer_ops *writer;
	const struct store_admin_ops *admin;
};

struct store_reader {
	const struct store_reader_ops *ops;
	const struct store_admin_ops *admin;
};

/* The rows of stores.def. */
extern const struct store_backend *const store_backends[];
extern const size_t store_backend_count;
/* NULL when no shipped store has this name; the error lists those that do. */
const struct store_backend *store_backend_find(struct str name, struct error *error);
/* For bug reports: the version of the SQLite library. */
const char *store_sqlite_version(void);

#endif
