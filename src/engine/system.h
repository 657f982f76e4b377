/* engine/system.h -- from a change of documents to events of the system stream.
 *
 * A command changes one document or several, all or none.  system_decide() measures it against what
 * is stored (the revisions it expects, the rules of documents.def as they would hold afterwards)
 * and refuses it, or gives one event document.changed a document that becomes another.  A document
 * that would stay as it is makes no event and keeps its revision.
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

#include "contract/document.h"
#include "contract/event.h"
#include "engine/decide.h"

enum {
	SYSTEM_ANY_REVISION = -1,  /* whatever is there, or nothing */
	SYSTEM_SOME_REVISION = -2, /* whatever is there, but something */
};

/* As it is stored.  Revisions go on where a document of that name has been deleted before. */
struct system_document {
	enum document_kind kind;
	struct str name;
	int64_t revision; /* the last one; 0 = there never was one */
	struct str body;  /* JSON; "" = there is none */
};

struct system_change {
	struct str kind, name;
	int64_t revision; /* the one it must have; 0 = it must be new; or one of the above */
	struct str body;  /* JSON; "" = delete it */
};

struct system_command {
	int64_t now;
	struct str by; /* who changes it */
	const struct system_change *changes;
	size_t count; /* from 1 to LIMIT_DOCUMENT_CHANGES */
};

struct system_need {
	enum document_kind kind;
	struct str name;
};

/* A document as it will be. */
struct system_result {
	enum document_kind kind;
	struct str name;
	int64_t before;   /* the revision it has now; 0 = it is not there */
	int64_t revision; /* the one it will have */
	struct str body;  /* printed by its entity; "" = gone */
	bool changed;     /* false: it stays as it is, there is nothing to store */
};

struct system_decision {
	struct arena *arena; /* everything below lives here */
	struct event *events;
	size_t event_count;
	struct system_result *results; /* the command's first, in its order; then what follows */
	size_t result_count;
	struct system_need *needs; /* ENGINE_NEED */
	size_t need_count;
	struct problems problems; /* of a body, when the refusal is about one */
};

struct system_view {
	/* NULL when it is not loaded. */
	const struct system_document *(*look)(void *context, enum document_kind kind,
					      struct str name);
	void *context;
};

/* Refusals: NOT_FOUND (nothing there to delete), CONFLICT (it exists already; a rule between
 * documents), PRECONDITION_FAILED (another revision), INVALID, TOO_LARGE.  `*out_answer` is set
 * when it is true. */
MUST_CHECK bool system_decide(const struct system_command *command, const struct system_view *view,
			      struct system_decision *decision, enum engine_answer *out_answer,
			      struct error *error);

/* ---- for the rules --------------------------------------------------------------------- */

/* The world as it would be after the command. */
struct system_after;

struct system_subject {
	enum document_kind kind;
	struct str name;
	const void *value; /* the entity; NULL = it is gone */
};

typedef bool system_rule(const struct system_after *after, const struct system_subject *subject,
			 struct system_decision *decision, struct error *error);

/* The body a document would have: "" when there would be none, and also while it is not loaded,
 * which is noted as a need. */
struct str system_body_after(const struct system_after *after, enum document_kind kind,
			     struct str name);

#define DOCUMENT(constant, kind, entity, rules, text) system_rule system_rule_##rules;
#include "contracts/documents.def"
#undef DOCUMENT

/* The profile in use after the command, "" when there is none (or it is not loaded yet). */
struct str system_active_profile(const struct system_after *after, struct arena *arena);

/* Adds a problem for every member of the tree that is called like a secret and is a plain text
 * instead of a reference. */
void system_check_secrets(const struct json *tree, struct str pointer, struct problems *problems);

#endif
