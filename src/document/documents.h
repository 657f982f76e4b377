/* document/documents.h -- documents: profiles, agents, keys, settings, schedules.
 *
 * A document is JSON with a kind, a name and a revision.  A change is an event of the system stream
 * (run id zero), decided by the rules of its kind (engine/document_rules.h) and committed like any
 * other event.  Kinds are rows of contracts/documents.def.
 *
 *	struct documents *documents = documents_new(executor);
 *	struct documents_change change = { .kind = S("profile"), .name = S("night"),
 *					   .revision = DOCUMENTS_ANY, .body = text, .by = who };
 *	documents_change(documents, &change, changed, context, 0);
 *
 * On the loop thread, except where noted.
 */
#ifndef DOCUMENT_DOCUMENTS_H
#define DOCUMENT_DOCUMENTS_H

#include "active/run_commands.h"
#include "os/platform.h"
#include "store/store.h"

struct documents;
struct executor;

struct documents *documents_new(struct executor *executor);
/* Before executor_free(), after the loop has ended.  Nobody is answered any more. */
void documents_free(struct documents *documents);

/* ---- changing ------------------------------------------------------------------------ */

/* Special values of `revision`. */
#define DOCUMENTS_NEW        0    /* the document must not exist */
#define DOCUMENTS_ANY        (-1) /* any revision, or none */
#define DOCUMENTS_ANY_STORED (-2) /* any revision; the document must exist */

struct documents_change {
	struct str kind, name;
	int64_t revision; /* that the document must have now */
	struct str body;  /* JSON; "" = delete the document */
	struct str by;    /* who changes it */
	struct idempotency_key key;
};

/* The reply has the document's revision and body as they are now.  INVALID with problems: the body
 * breaks a rule.  NOT_FOUND: there is nothing to delete.  CONFLICT: the document exists already, or
 * other documents forbid the change.  PRECONDITION_FAILED: its revision is another one.
 * TOO_LARGE: too many documents of the kind.  STORAGE_FULL: nothing was changed. */
void documents_change(struct documents *documents, const struct documents_change *change,
		      executor_replied *replied, void *context, uint64_t argument);

/* Several changes in one commit: all of them or none. */
struct documents_changes {
	const struct documents_change *at; /* `by` and `key` of the single changes are ignored */
	size_t count;                      /* 0 = nothing has to be changed, which is a success */
};

/* Derives the changes from what is stored.  Runs on a reader thread while no document changes, and
 * again when the append was refused.  The changes live in the arena.  False: the change is refused
 * with the error and the problems. */
typedef bool documents_compose(void *context, struct store_reader *reader, struct arena *arena,
			       struct documents_changes *out_changes, struct problems *problems,
			       struct error *error);

struct documents_composition {
	documents_compose *compose;
	void *context; /* the caller's memory until the reply */
	struct str by;
	struct idempotency_key key;
	struct uuid subject; /* remembered with the key; zero = derived from kind and name */
};

/* The reply is about the first change; a repeated one has run = subject. */
void documents_change_composed(struct documents *documents,
			       const struct documents_composition *composition,
			       executor_replied *replied, void *context, uint64_t argument);

/* ---- watching ------------------------------------------------------------------------ */

/* A document as it is stored now; body "" = it was deleted. */
struct watched_document {
	struct str kind, name, body;
	int64_t revision;
};

typedef void documents_changed(void *context, const struct watched_document *document);

/* Calls `changed` for every document of the kind, then `loaded` with their number, and from then on
 * `changed` for every later change: after its commit and before its reply.  Watchers are called in
 * the order in which they began.  A watch lasts as long as the documents. */
void documents_watch(struct documents *documents, struct str kind, documents_changed *changed,
		     platform_callback *loaded, void *context);

#endif
