/* runtime/runtime.h -- the shell around the engine: it loads, commits and acts; it decides nothing.
 *
 * A live run has one state in this process.  Commands for it (start, a finished effect, an answer)
 * enter one inbox and are decided in arrival order; the events are queued for the writer, and only
 * when their commit is done do replies, notices and effects leave (architecture R2).  Recovery is
 * the same path with an empty memory: the runs that have an open effect or a step to compute are
 * loaded, and what is open goes on by its class (R6).
 *
 * Everything is asynchronous and on the loop thread.  Callbacks get what they need by value;
 * borrowed pointers are good for the call only.
 */
#ifndef RUNTIME_RUNTIME_H
#define RUNTIME_RUNTIME_H

#include "contract/run.h"
#include "os/system.h"
#include "store/store.h"
#include "tool/tool.h"
#include "workspace/workspace.h"

struct runtime;

struct runtime_settings {
	struct system *system;
	struct store *store;
	struct workspace *workspace;
	const struct tool_table *tools;
	struct tool_host host;
	bool contained; /* the isolation keeps contained tools contained */
	/* Text of the definition called `name`; called on a reader thread. */
	bool (*definition)(void *context, struct str name, struct arena *arena,
			   struct str *out_yaml, struct error *error);
	/* The store failed: nothing is acknowledged any more and the process should end. */
	void (*fatal)(void *context, const struct error *error);
	void *context;
};

MUST_CHECK bool runtime_new(const struct runtime_settings *settings, struct runtime **out_runtime,
			    struct error *error);
/* Only when no job is in flight any more (after the loop has ended). */
void runtime_free(struct runtime *runtime);

/* Finds every run that is not finished and goes on with it; `done` is called when they are loaded
 * and on their way, with their number. */
void runtime_recover(struct runtime *runtime, system_callback *done, void *context);

/* ---- commands ------------------------------------------------------------------------ */

struct runtime_reply {
	const struct error *error;       /* NULL: done and on the disk */
	const struct problems *problems; /* of the document, NULL when it is not about one */
	struct uuid run;
	bool repeated;    /* this idempotency key was here before: nothing was done again */
	int64_t revision; /* of a document, as it now is; 0 when it is gone */
	struct str body;  /* likewise; "" when it is gone, or the change is a repeated one */
	bool created;     /* a document that was not there before */
};

/* An idempotency key: the same key with the same words does nothing twice, for 24 hours and across
 * restarts; with other words it is a CONFLICT. */
struct runtime_key {
	struct str key;   /* "" = none */
	struct hash said; /* of method, path and body */
};

typedef void runtime_replied(void *context, uint64_t argument, const struct runtime_reply *reply);

struct runtime_start {
	struct str workflow; /* its name */
	struct str yaml;     /* the definition itself, or "" */
	struct str inputs;   /* JSON object */
	struct uuid run;     /* zero = made here */
	struct runtime_key key;
	struct str trace; /* W3C traceparent of who asked, recorded with the run; "" = none */
};

void runtime_start(struct runtime *runtime, const struct runtime_start *start,
		   runtime_replied *replied, void *context, uint64_t argument);

struct runtime_answer {
	struct uuid request;
	enum run_decision decision;
	struct str comment, by;
	const struct hash *revision; /* NULL = whatever is open */
	struct runtime_key key;
};

void runtime_answer(struct runtime *runtime, const struct runtime_answer *answer,
		    runtime_replied *replied, void *context, uint64_t argument);

/* A document as it shall be (profiles, keys, settings …); an event of the system stream.  Kinds are
 * rows of contracts/documents.def. */
struct runtime_change {
	struct str kind, name;
	int64_t revision; /* the one it must have; 0 = it must be new; -1 = whatever is there, or
			   * nothing; -2 = whatever is there */
	struct str body;  /* JSON; "" = delete it */
	struct str by;    /* who changes it */
	struct runtime_key key;
};

/* NOT_FOUND: there is nothing to delete.  CONFLICT: it exists already, or a rule between documents
 * is in the way.  PRECONDITION_FAILED: its revision is another one.  STORAGE_FULL: there is no
 * room.  The reply has the document's revision and body as they now are. */
void runtime_change(struct runtime *runtime, const struct runtime_change *change,
		    runtime_replied *replied, void *context, uint64_t argument);

/* Several, all or none, worked out from what is stored.  compose() runs on a reader thread while
 * nobody else changes a document, and again when the append was refused; it may refuse with an
 * error and problems.  `context` is the caller's memory until the reply; what compose() gives lives
 * in its arena.  `by` and `key` of the single changes do not count.  The reply is about the first
 * one, or has `run` = subject when it is repeated. */
struct runtime_changes {
	const struct runtime_change *at;
	size_t count; /* 0 = nothing is to be done, which is fine */
};

typedef bool runtime_compose(void *context, struct store_reader *reader, struct arena *arena,
			     struct runtime_changes *out_changes, struct problems *problems,
			     struct error *error);

struct runtime_composition {
	runtime_compose *compose;
	void *context;
	struct str by;
	struct runtime_key key;
	struct uuid subject; /* remembered with the key; zero = derived from kind and name */
};

void runtime_change_composed(struct runtime *runtime, const struct runtime_composition *how,
			     runtime_replied *replied, void *context, uint64_t argument);

/* A document as it is on the disk now; body "" = it is gone. */
struct runtime_document {
	struct str kind, name, body;
	int64_t revision;
};

/* Calls `changed` for every document of the kind, then `loaded` with their number, and from then on
 * `changed` for every further change: behind its commit and before its reply; those who watch are
 * told in the order in which they began.  There is no way to unwatch: whoever watches lives as long
 * as the runtime. */
typedef void runtime_document_changed(void *context, const struct runtime_document *document);
void runtime_watch_documents(struct runtime *runtime, struct str kind,
			     runtime_document_changed *changed, system_callback *loaded,
			     void *context);

/* The server's settings as they are now: what somebody has set (PATCH /api/server); 0 = nobody has.
 * Known once runtime_open_documents() has called back. */
struct runtime_server_settings {
	int64_t log_retention_days, log_retention_max_events, max_concurrent;
	int64_t websocket_idle_us, workflow_start_us;
};

void runtime_open_documents(struct runtime *runtime, system_callback *done, void *context);
struct runtime_server_settings runtime_server_settings(const struct runtime *runtime);
/* ---- leaving ------------------------------------------------------------------------- */

/* The program is about to end: new commands are refused (UNAVAILABLE) and nothing new begins, while
 * what is under way may finish and is recorded.  A step that could start stays where it is and is
 * started by the next recovery.  There is no way back. */
void runtime_drain(struct runtime *runtime);
bool runtime_draining(const struct runtime *runtime);
/* Nothing is under way any more whose result could still be recorded. */
bool runtime_drained(const struct runtime *runtime);

/* ---- notices ------------------------------------------------------------------------- */

struct runtime_notice {
	struct uuid run;
	int64_t seq, position; /* committed up to here */
	bool ended;            /* the run is final */
	bool waiting;          /* the run waits for a person */
};

typedef void runtime_noticed(void *context, uint64_t argument, const struct runtime_notice *notice);

/* `run` zero = every run.  The id is never 0. */
uint64_t runtime_watch(struct runtime *runtime, const struct uuid *run, runtime_noticed *noticed,
		       void *context, uint64_t argument);
void runtime_unwatch(struct runtime *runtime, uint64_t id);

/* ---- reading ------------------------------------------------------------------------- */

/* A job with a reader: embed it, fill work and done, submit.  work() runs on a reader thread with
 * the job's arena; done() on the loop.  The job is the caller's memory until done(). */
struct runtime_read {
	struct job job;
	struct runtime *runtime;
	struct arena arena;
	void (*work)(struct runtime_read *read, struct store_reader *reader);
	void (*done)(struct runtime_read *read);
};

void runtime_read(struct runtime *runtime, struct runtime_read *read);

/* The same with the store itself, on the writer's thread between two commits. */
struct runtime_care {
	struct job job;
	struct runtime *runtime;
	void (*work)(struct runtime_care *care, struct store *store);
	void (*done)(struct runtime_care *care);
};

void runtime_care(struct runtime *runtime, struct runtime_care *care);
struct store_stats runtime_store_stats(const struct runtime *runtime);

struct runtime_counts {
	size_t live_runs, open_tools, waiting_appends, watches;
	bool full;                /* the newest commit found no room on the disk */
	struct store_stats store; /* since the start */
};
struct runtime_counts runtime_counts(const struct runtime *runtime);

#endif
