/* active/executor.h -- the shell around the engine: it loads, commits and acts; it decides nothing.
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
#ifndef ACTIVE_EXECUTOR_H
#define ACTIVE_EXECUTOR_H

#include "base/histogram.h"
#include "contract/event.h"
#include "contract/graph_types.h"
#include "contract/run_types.h"
#include "engine/decide.h"
#include "llm/llm.h"
#include "os/platform.h"
#include "store/store.h"
#include "tool/custom_tools.h"
#include "tool/tool.h"
#include "workspace/workspace.h"

struct executor;

/* How long events are kept.  Only what somebody has set competes: of the run's own days, the
 * settings' and the policy's the smallest counts; where nobody has said anything `days` does. */
struct executor_retention {
	int64_t days;
	bool days_set;                               /* somebody has said so */
	int64_t max_events;                          /* of one run; 0 = any number */
	const struct graph_retention_policy *policy; /* S4's file; NULL = there is none */
};

struct executor_settings {
	struct platform *platform;
	struct store *store;
	struct workspace *workspace;
	const struct tool_table *tools;
	struct tool_host host;
	struct artifacts *artifacts;     /* what runs keep; NULL = nothing is swept */
	const struct llm_table *drivers; /* what agents can be driven by; NULL = nothing */
	struct llm_host *models;
	struct custom_tools *customs; /* tools of the owner's own; NULL = there are none */
	bool contained;               /* the isolation keeps contained tools contained */
	/* Text of the definition called `name`; called on a reader thread. */
	bool (*definition)(void *context, struct str name, struct arena *arena,
			   struct str *out_yaml, struct error *error);
	/* The store failed: nothing is acknowledged any more and the process should end. */
	void (*fatal)(void *context, const struct error *error);
	void *context;
	struct executor_retention retention;
	size_t snapshot_bytes; /* instead of SNAPSHOT_LEAST_BYTES; 0 = that */
};

MUST_CHECK bool executor_new(const struct executor_settings *settings,
			     struct executor **out_runtime, struct error *error);
/* Only when no job is in flight any more (after the loop has ended). */
void executor_free(struct executor *executor);

/* Finds every run that is not finished and goes on with it; `done` is called when they are loaded
 * and on their way, with their number. */
void executor_recover(struct executor *executor, platform_callback *done, void *context);

/* ---- commands ------------------------------------------------------------------------ */

struct executor_reply {
	const struct error *error;       /* NULL: done and on the disk */
	const struct problems *problems; /* of the document, NULL when it is not about one */
	struct uuid run;
	struct uuid request; /* of an answer */
	bool repeated;       /* this idempotency key was here before: nothing was done again */
	int64_t revision;    /* of a document, as it now is; 0 when it is gone */
	struct str body;     /* likewise; "" when it is gone, or the change is a repeated one */
	bool created;        /* a document that was not there before */
};

/* An idempotency key: the same key with the same words does nothing twice, for 24 hours and across
 * restarts; with other words it is a CONFLICT. */
struct idempotency_key {
	struct str key;   /* "" = none */
	struct hash said; /* of method, path and body */
};

typedef void executor_replied(void *context, uint64_t argument, const struct executor_reply *reply);

struct executor_start {
	struct str workflow; /* its name */
	struct str yaml;     /* the definition itself, or "" */
	struct str inputs;   /* JSON object */
	struct uuid run;     /* zero = made here */
	struct idempotency_key key;
	const int64_t *retention_days; /* S4's; NULL = not said */
	struct str trace; /* W3C traceparent of who asked, recorded with the run; "" = none */
	struct str by;    /* who asked */
	struct str alone; /* of the runs with this word one at a time is under way; "" = none */
	int64_t priority; /* higher ones leave the queue first */
};

void executor_start(struct executor *executor, const struct executor_start *start,
		    executor_replied *replied, void *context, uint64_t argument);

struct executor_answer {
	struct uuid request; /* zero: the one question that `run` waits with */
	struct uuid run;
	enum run_decision decision;
	struct str comment, by;
	const struct hash *revision; /* NULL = whatever is open */
	struct str value;            /* JSON that goes with it: modify, happened; "" = none */
	struct idempotency_key key;
};

void executor_answer(struct executor *executor, const struct executor_answer *answer,
		     executor_replied *replied, void *context, uint64_t argument);

/* Pause, resume, cancel, signal. */
struct executor_command {
	enum command_kind kind;
	struct uuid run;
	struct str by, reason;
	struct str name, data; /* SIGNAL: its name, its data as JSON ("" = null) */
	struct idempotency_key key;
};

/* NOT_FOUND: no such run.  CONFLICT: it has ended, or is not in a state for this.  A cancel is
 * always taken, whatever else waits and however full the disk is. */
void executor_command(struct executor *executor, const struct executor_command *command,
		      executor_replied *replied, void *context, uint64_t argument);

/* Where a run that waits for its turn stands: 1 = it is next; 0 = it waits for none. */
struct admission_place {
	struct str kind; /* the queue; borrowed until the loop's next turn */
	int64_t position, length;
};

struct admission_place admission_place(const struct executor *executor, const struct uuid *run);

/* A document as it shall be (profiles, keys, settings …); an event of the system stream.  Kinds are
 * rows of contracts/documents.def. */
struct executor_change {
	struct str kind, name;
	int64_t revision; /* the one it must have; 0 = it must be new; -1 = whatever is there, or
			   * nothing; -2 = whatever is there */
	struct str body;  /* JSON; "" = delete it */
	struct str by;    /* who changes it */
	struct idempotency_key key;
};

/* NOT_FOUND: there is nothing to delete.  CONFLICT: it exists already, or a rule between documents
 * is in the way.  PRECONDITION_FAILED: its revision is another one.  STORAGE_FULL: there is no
 * room.  The reply has the document's revision and body as they now are. */
void executor_change(struct executor *executor, const struct executor_change *change,
		     executor_replied *replied, void *context, uint64_t argument);

/* Several, all or none, worked out from what is stored.  compose() runs on a reader thread while
 * nobody else changes a document, and again when the append was refused; it may refuse with an
 * error and problems.  `context` is the caller's memory until the reply; what compose() gives lives
 * in its arena.  `by` and `key` of the single changes do not count.  The reply is about the first
 * one, or has `run` = subject when it is repeated. */
struct executor_changes {
	const struct executor_change *at;
	size_t count; /* 0 = nothing is to be done, which is fine */
};

typedef bool executor_compose(void *context, struct store_reader *reader, struct arena *arena,
			      struct executor_changes *out_changes, struct problems *problems,
			      struct error *error);

struct executor_composition {
	executor_compose *compose;
	void *context;
	struct str by;
	struct idempotency_key key;
	struct uuid subject; /* remembered with the key; zero = derived from kind and name */
};

void executor_change_composed(struct executor *executor, const struct executor_composition *how,
			      executor_replied *replied, void *context, uint64_t argument);

/* A document as it is on the disk now; body "" = it is gone. */
struct executor_document {
	struct str kind, name, body;
	int64_t revision;
};

/* Calls `changed` for every document of the kind, then `loaded` with their number, and from then on
 * `changed` for every further change: behind its commit and before its reply; those who watch are
 * told in the order in which they began.  There is no way to unwatch: whoever watches lives as long
 * as the runtime. */
typedef void executor_document_changed(void *context, const struct executor_document *document);
void executor_watch_documents(struct executor *executor, struct str kind,
			      executor_document_changed *changed, platform_callback *loaded,
			      void *context);

/* The server's settings as they are now: what somebody has set (PATCH /api/server); 0 = nobody has.
 * Known once executor_open_documents() has called back. */
struct executor_server_settings {
	int64_t log_retention_days, log_retention_max_events, max_concurrent;
	int64_t websocket_idle_us, workflow_start_us;
};

void executor_open_documents(struct executor *executor, platform_callback *done, void *context);
struct executor_server_settings executor_server_settings(const struct executor *executor);
/* ---- leaving ------------------------------------------------------------------------- */

/* The program is about to end: new commands are refused (UNAVAILABLE) and nothing new begins, while
 * what is under way may finish and is recorded.  A step that could start stays where it is and is
 * started by the next recovery.  There is no way back. */
void executor_drain(struct executor *executor);
bool executor_is_draining(const struct executor *executor);
/* Nothing is under way any more whose result could still be recorded. */
bool executor_is_drained(const struct executor *executor);

/* ---- notices ------------------------------------------------------------------------- */

struct executor_notice {
	struct uuid run;
	int64_t seq, position; /* committed up to here */
	bool ended;            /* the run is final */
	bool waiting;          /* the run waits for a person */
};

typedef void executor_noticed(void *context, uint64_t argument,
			      const struct executor_notice *notice);

/* `run` zero = every run.  The id is never 0. */
uint64_t executor_watch(struct executor *executor, const struct uuid *run,
			executor_noticed *noticed, void *context, uint64_t argument);
void executor_unwatch(struct executor *executor, uint64_t id);

/* ---- reading ------------------------------------------------------------------------- */

/* A job with a reader: embed it, fill work and done, submit.  work() runs on a reader thread with
 * the job's arena; done() on the loop.  The job is the caller's memory until done(). */
struct executor_read {
	struct job job;
	struct executor *executor;
	struct arena arena;
	void (*work)(struct executor_read *read, struct store_reader *reader);
	void (*done)(struct executor_read *read);
};

void executor_read(struct executor *executor, struct executor_read *read);

/* A run's graph by its hash, read once for all who look at it.  On a reader's thread; given back on
 * any, while the runtime is there. */
struct executor_graph {
	struct executor *executor;
	struct cached_graph *use;
	const struct run_graph *rows;
};

MUST_CHECK bool executor_graph(struct executor *executor, struct store_reader *reader,
			       const struct hash *hash, struct executor_graph *out_graph,
			       struct error *error);
void executor_graph_done(struct executor_graph *graph);

/* The run's state as run.Snapshot, on a reader's thread.  NOT_FOUND: no such run. */
MUST_CHECK bool executor_state_text(struct executor *executor, struct store_reader *reader,
				    const struct uuid *run, struct arena *arena,
				    struct str *out_text, struct error *error);

/* The same with the store itself, on the writer's thread between two commits. */
struct executor_admin_job {
	struct job job;
	struct executor *executor;
	void (*work)(struct executor_admin_job *care, struct store *store);
	void (*done)(struct executor_admin_job *care);
};

void executor_admin_job(struct executor *executor, struct executor_admin_job *care);
struct store_stats executor_store_stats(const struct executor *executor);

/* The events of a compacted run that are gone, made again from its newest snapshot for showing
 * (engine/history_synthesis.h); on a reader's thread. */
struct executor_history {
	const struct event *events;
	const int64_t *seqs; /* growing */
	size_t count;
};

MUST_CHECK bool executor_synthesize_history(struct store_reader *reader,
					    const struct store_run *run,
					    const struct run_graph *graph, struct arena *arena,
					    struct executor_history *out_retold,
					    struct error *error);

/* ---- housekeeping -------------------------------------------------------------------- */

/* From now on old runs are looked for by themselves, again and again (RETENTION_EVERY_MS). */
void executor_start_maintenance(struct executor *executor);

/* One pass: events of runs that are old enough or have too many go, keys that are too old are
 * forgotten, and what is left behind is taken off the disk a slice at a time, between commits.  A
 * run that is not over is compacted only where it is in memory. */
struct executor_compaction {
	int64_t days, max_events; /* -1 = as the settings have it */
	bool counts_values;       /* reads everything there is before and after */
};

struct executor_compacted {
	const struct error *error; /* NULL: done */
	int64_t runs, compacted, events, values, free_bytes, artifacts;
};

typedef void executor_compact_done(void *context, uint64_t argument,
				   const struct executor_compacted *result);
/* Passes and rebuilds wait for each other. */
void executor_compact(struct executor *executor, const struct executor_compaction *compaction,
		      executor_compact_done *done, void *context, uint64_t argument);

/* Makes again from events what was made from them (R12), a run at a time while work goes on.  Runs
 * that turn out not to be over and that nobody has taken up go on then, if this program has
 * recovered. */
struct executor_rebuilt {
	const struct error *error;
	int64_t runs, effects, busy, resumed, documents;
	const struct str *problems; /* at most LIMIT_PROBLEMS */
	size_t problem_count;
};

typedef void executor_rebuild_done(void *context, uint64_t argument,
				   const struct executor_rebuilt *result);
void executor_rebuild(struct executor *executor, executor_rebuild_done *done, void *context,
		      uint64_t argument);

struct executor_counts {
	size_t active_runs, open_tools, open_turns, waiting_appends, watches;
	size_t alarms; /* due soon, and so in memory */
	size_t queued; /* runs that wait for their turn */
	bool full;     /* the newest commit found no room on the disk */
	int64_t oldest_append_us, append_work_us;
	const struct histogram *commit_sizes, *commit_times; /* seconds */
	uint64_t snapshots, loaded_events;                   /* since the start */
	struct store_stats store;                            /* since the start */
};
struct executor_counts executor_counts(const struct executor *executor);

/* Effects that are requested and not finished: tools by their class, then timers and questions. */
struct executor_effects {
	struct {
		struct str class;
		size_t open;
		int64_t oldest_us; /* since the oldest was requested */
	} at[8];
};
struct executor_effects executor_effects(struct executor *executor);

#endif
