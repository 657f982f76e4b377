/* engine/document_rules.h -- from a change of documents to events of the system stream.
 *
 * A command changes one document or several, all or none.  document_decide() measures it against
 * what is stored (the revisions it expects, the rules of documents.def as they would hold
 * afterwards) and refuses it, or gives one event document.changed a document that becomes another.
 * A document that would stay as it is makes no event and keeps its revision.
 *
 * Beyond what is asked for: the first profile becomes the active one, in the same decision.
 *
 * Like decide(), it may answer ENGINE_NEED: `needs` lists documents that it must see.  The shell
 * loads them and asks again; nothing else may be decided for the system stream in between.
 *
 * Pure: no clock, no dice, no I/O; `now` comes with the command.
 */
#ifndef ENGINE_SYSTEM_H
#define ENGINE_SYSTEM_H

#include "contract/document_kind.h"
#include "contract/event.h"
#include "engine/decide.h"

enum {
	DOCUMENT_ANY_REVISION = -1,  /* whatever is there, or nothing */
	DOCUMENT_SOME_REVISION = -2, /* whatever is there, but something */
};

/* As it is stored.  Revisions go on where a document of that name has been deleted before. */
struct document_state {
	enum document_kind kind;
	struct str name;
	int64_t revision; /* the last one; 0 = there never was one */
	struct str body;  /* JSON; "" = there is none */
};

struct document_change {
	struct str kind, name;
	int64_t revision; /* the one it must have; 0 = it must be new; or one of the above */
	struct str body;  /* JSON; "" = delete it */
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

/* A document as it will be. */
struct document_result {
	enum document_kind kind;
	struct str name;
	int64_t before;   /* the revision it has now; 0 = it is not there */
	int64_t revision; /* the one it will have */
	struct str body;  /* printed by its entity; "" = gone */
	bool changed;     /* false: it stays as it is, there is nothing to store */
};

struct document_decision {
	struct arena *arena; /* everything below lives here */
	struct event *events;
	size_t event_count;
	struct document_result *results; /* the command's first, in its order; then what follows */
	size_t result_count;
	struct document_need *needs; /* ENGINE_NEED */
	size_t need_count;
	struct problems problems; /* of a body, when the refusal is about one */
};

struct document_view {
	/* NULL when it is not loaded. */
	const struct document_state *(*look)(void *context, enum document_kind kind,
					     struct str name);
	void *context;
};

/* Refusals: NOT_FOUND (nothing there to delete), CONFLICT (it exists already; a rule between
 * documents), PRECONDITION_FAILED (another revision), INVALID, TOO_LARGE.  `*out_answer` is set
 * when it is true. */
MUST_CHECK bool document_decide(const struct document_command *command,
				const struct document_view *view,
				struct document_decision *decision, enum engine_answer *out_answer,
				struct error *error);

/* ---- for the rules --------------------------------------------------------------------- */

/* The world as it would be after the command. */
struct document_after;

struct document_subject {
	enum document_kind kind;
	struct str name;
	const void *value; /* the entity; NULL = it is gone */
};

typedef bool document_rule(const struct document_after *after,
			   const struct document_subject *subject,
			   struct document_decision *decision, struct error *error);

/* The body a document would have: "" when there would be none, and also while it is not loaded,
 * which is noted as a need. */
struct str document_body_after(const struct document_after *after, enum document_kind kind,
			       struct str name);

#define DOCUMENT(constant, kind, entity, rules, text) document_rule document_rule_##rules;
#include "contracts/documents.def"
#undef DOCUMENT

/* The profile in use after the command, "" when there is none (or it is not loaded yet). */
struct str document_active_profile(const struct document_after *after, struct arena *arena);

/* Adds a problem for every member of the tree that is called like a secret and is a plain text
 * instead of a reference. */
void document_check_secrets(const struct json *tree, struct str pointer, struct problems *problems);

#endif
