/* engine/document_rules.h -- decides changes of documents: from a command to events of the system
 * stream.
 *
 * A command changes one or several documents, all or none.  document_decide() checks the expected
 * revisions against the stored documents, and the rules of documents.def against the documents as
 * they would be afterwards.  It refuses the command, or returns one event document.changed for each
 * document that changes.  An unchanged document has no event and keeps its revision.
 *
 * The first profile becomes the active profile in the same decision.
 *
 * Like decide(), document_decide() may answer ENGINE_NEED: `needs` lists documents that it must
 * read.  The caller loads them and calls again; nothing else may be decided for the system stream in
 * between.
 *
 * Pure: no clock, no dice, no I/O; `now` comes with the command.
 */
#ifndef ENGINE_SYSTEM_H
#define ENGINE_SYSTEM_H

#include "contract/document_kind.h"
#include "contract/event.h"
#include "engine/decide.h"

enum {
	DOCUMENT_ANY_REVISION = -1,  /* any revision; the document may be missing */
	DOCUMENT_SOME_REVISION = -2, /* any revision, but the document must exist */
};

/* A stored document.  After a deletion, a new document of the same name continues its revisions. */
struct document_state {
	enum document_kind kind;
	struct str name;
	int64_t revision; /* the last one; 0 = the document never existed */
	struct str body;  /* JSON; "" = the document does not exist */
};

struct document_change {
	struct str kind, name;
	int64_t revision; /* expected revision; 0 = must be new; or a constant above */
	struct str body;  /* JSON; "" = delete the document */
};

struct document_command {
	int64_t now;
	struct str by; /* who changes it */
	const struct document_change *changes;
	size_t count; /* from 1 to LIMIT_DOCUMENT_CHANGES */
};

struct document_need {
	enum document_kind kind;
	struct str name;
};

/* A document after the command. */
struct document_result {
	enum document_kind kind;
	struct str name;
	int64_t before;   /* revision before the command; 0 = the document does not exist */
	int64_t revision; /* revision after the command */
	struct str body;  /* printed by its entity; "" = deleted */
	bool changed;     /* false: nothing to store */
};

struct document_decision {
	struct arena *arena; /* everything below lives here */
	struct event *events;
	size_t event_count;
	struct document_result *results; /* those of the command, in its order; then derived ones */
	size_t result_count;
	struct document_need *needs; /* ENGINE_NEED */
	size_t need_count;
	struct problems problems; /* of a body, when it is the reason of a refusal */
};

struct document_view {
	/* NULL when the document is not loaded. */
	const struct document_state *(*look)(void *context, enum document_kind kind,
					     struct str name);
	void *context;
};

/* Returns false when the command is refused: NOT_FOUND (no such document to delete), CONFLICT (the
 * document exists already, or a rule between documents), PRECONDITION_FAILED (another revision),
 * INVALID, TOO_LARGE.  Sets `*out_answer` only when it returns true. */
MUST_CHECK bool document_decide(const struct document_command *command,
				const struct document_view *view,
				struct document_decision *decision, enum engine_answer *out_answer,
				struct error *error);

/* ---- for the rules --------------------------------------------------------------------- */

/* The documents as they would be after the command. */
struct document_after;

struct document_subject {
	enum document_kind kind;
	struct str name;
	const void *value; /* the entity; NULL = deleted */
};

typedef bool document_rule(const struct document_after *after,
			   const struct document_subject *subject,
			   struct document_decision *decision, struct error *error);

/* The body of a document after the command; "" when it would not exist.  If it is not loaded, also
 * "", and the document becomes a need. */
struct str document_body_after(const struct document_after *after, enum document_kind kind,
			       struct str name);

#define DOCUMENT(constant, kind, entity, rules, text) document_rule document_rule_##rules;
#include "contracts/documents.def"
#undef DOCUMENT

/* The active profile after the command; "" when there is none or it is not loaded yet. */
struct str document_active_profile(const struct document_after *after, struct arena *arena);

/* Adds a problem for every member of the tree that is named like a secret but contains plain text
 * instead of a reference. */
void document_check_secrets(const struct json *tree, struct str pointer, struct problems *problems);

#endif
