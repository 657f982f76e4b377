/* active/executor_internal.h -- what the files of this room share; nobody else includes it.
 *
 *	admit.c     how much is under way, whether more may come, leaving
 *	start.c     definition -> graph -> a new live run
 *	item.c      commands on their way
 *	keyed.c     those with an idempotency key, one at a time
 *	live.c      runs in memory: coming, loading, going
 *	load.c      a run from its snapshot and the events behind it
 *	turn.c      decide, commit, act
 *	rows.c      a turn as the store takes it
 *	fetch.c     values and trees the engine needs to see
 *	documents.c changes of documents, one after the other
 *	settings.c  what the documents say about the runtime itself
 *	agents.c    agents of the registry by their names
 *	schedules.c definitions that are run by themselves; schedule_change.c, schedule_read.c
 *	recover.c   what was open when the program ended
 *	house.c     which housekeeping is under way, and what waits for it
 *	retention.c events that may go
 *	rebuild.c   what is made from events, made again
 *	effect_*.c  one kind of effect each, rows of effects.def
 *	command.c   pause, resume, cancel, signals
 *	queue.c     who waits for a turn
 *	alarm.c     what is due: near times in memory, far ones on the disk
 *	bus.c       who is told when something is committed
 *	graphs.c    compiled graphs, shared by runs
 */
#ifndef ACTIVE_EXECUTOR_INTERNAL_H
#define ACTIVE_EXECUTOR_INTERNAL_H

#include <pthread.h>
#include <stddef.h>

#include "base/limits.h"
#include "base/map.h"
#include "base/slots.h"
#include "definition/definition_compile.h"
#include "engine/decide.h"
#include "engine/snapshot.h"
#include "active/executor.h"
#include "store/writer.h"

/* ---- graphs -------------------------------------------------------------------------- */

/* A loaded graph with its memory; `uses` counts runs and the cache itself. */
struct cached_graph {
	struct arena arena;
	const struct graph *graph;
	struct str text;    /* the canonical JSON */
	struct hash source; /* of the YAML it was compiled from; zero when loaded */
	int uses;
};

/* The newest few, found by their hash or by their source's; a lock, because reader threads compile
 * and load. */
enum { GRAPH_CACHE_SIZE = 64 };
struct graph_cache {
	pthread_mutex_t lock;
	struct cached_graph *kept[GRAPH_CACHE_SIZE];
	size_t next;
};

struct cached_graph *graph_cache_find(struct graph_cache *graphs, const struct hash *hash,
				      bool by_source);
/* Loads the text; NULL with an error when it is no graph. */
struct cached_graph *graph_cache_load(struct graph_cache *graphs, struct str text,
				      const struct hash *source, struct error *error);
void graph_cache_release(struct graph_cache *graphs, struct cached_graph *use);
void graph_cache_done(struct graph_cache *graphs);

/* ---- live runs ----------------------------------------------------------------------- */

/* The right to use an idempotency key: one item has it, the others wait behind it. */
struct idempotency_claim {
	struct executor *executor; /* NULL: it has none and waits for none */
	struct idempotency_key key;
	struct pending_command *next;
	void (*go)(struct pending_command *pending);
};

/* A command on its way to a run, with its own memory. */
struct pending_command {
	struct pending_command *next;
	struct arena arena;
	struct command command;
	struct error *refusal;     /* why it was refused, while that waits to be told */
	bool is_wakeup;            /* no command at all: whatever can start is started */
	int64_t not_before;        /* DUE: the time that has come, whatever the wall clock says */
	executor_replied *replied; /* NULL when nobody waits */
	void *context;
	uint64_t argument;
	struct idempotency_claim claim;
	/* What begins with it once it has its claim, and how that is freed when it never does. */
	struct executor_read *waiting;
	void (*waiting_done)(struct pending_command *pending);
};

struct command_list {
	struct pending_command *first, *last;
};

enum active_run_phase {
	ACTIVE_RUN_LOADING, /* its events are being read */
	ACTIVE_RUN_READY,
	ACTIVE_RUN_FETCHING, /* advance() waits for values or the tree */
};

struct commit_cycle {
	struct writer_ticket ticket; /* first: done() gets it back as a turn */
	struct executor *executor;
	uint64_t active;
	struct commit_cycle *next; /* in live->flying */
	struct pending_command *pending;
	struct arena arena;
	struct decision decision;
	int64_t now, begun_us; /* the same moment by both clocks */
	bool decided;          /* the command; what follows from it may still need values */
	bool held_back;        /* the program leaves: what could start was not started */
	bool computed;         /* the first steps were computed with the run's creation */
	struct str *computing; /* pure steps that this turn started */
	size_t computing_count;
	struct str *opened_steps; /* whose effects the append opens, in its order */
	struct store_guard guards[3];
	int64_t admission_delta; /* 1: the run takes a place under way; -1: it gives it back */
	struct uuid parent;      /* the run's; zero = none */
	struct executor_notice notice;
};

struct value_fetch_state;

struct active_run {
	uint64_t id; /* in runtime->lives */
	struct executor *executor;
	struct uuid run_id;
	char key[16]; /* in runtime->by_run */
	enum active_run_phase phase;
	bool pumping;
	bool resuming;   /* go on with what is open once loaded */
	bool stale;      /* what was decided on this state is not stored: it must be read again */
	bool starved;    /* for want of room on the disk, so not at once */
	bool renewed;    /* its creation was not stored and is tried again */
	bool recovering; /* recovery waits for it */
	bool uncounted;  /* its place under way was never counted, so it gives none back */
	struct arena arena;
	struct cached_graph *graph;
	struct run *run;
	size_t copied_bytes;  /* that the state took when it was last copied */
	size_t weight;        /* of the bodies of the events behind the newest snapshot */
	size_t snapshot_size; /* of that snapshot; 0 = there is none */
	struct command_list inbox;
	struct command_list redo;    /* their append was refused: decided again after a reload */
	struct command_list refused; /* told once what they were measured against is on the disk */
	struct commit_cycle *cycle;  /* the one that is being decided */
	struct commit_cycle *flying; /* those at the writer, the oldest first */
	struct commit_cycle *last_flying; /* the newest of them, while there is one */
	size_t in_flight;                 /* turns at the writer */
	size_t holds;                     /* computations and effects that will come back */
	struct uuid *early_stops;         /* effects that were told to end before they had begun */
	size_t early_stop_count, early_stop_room;
	/* How appends came to the disk, oldest first, until an event tells it. */
	struct run_commit commits[LIMIT_COMMITS_TOLD];
	size_t commit_count;
	bool reading;          /* values for a pure step */
	uint64_t computations; /* pure steps that wait for that, the newest first; 0 = none */
	struct value_fetch_state
		*loaded; /* values read by hash, kept while a decision needs them */
	struct str tree; /* taken for this turn; "" = not */
	char tree_text[96];
};

/* Changes of documents that wait for their turn, the first of them under way. */
struct document_job;
struct document_watch;
struct documents {
	struct document_job *first, *last;
	size_t waiting;
	struct document_watch *watches;
};

/* Runs that wait for their turn, in memory by priority and age; each also has a row of kind "queue"
 * among the open effects.  Guards of the store decide (R13); what is counted here only saves asking
 * in vain. */
struct admission_entry;
struct admission {
	struct admission_entry *first;
	size_t count;
	struct map under_way; /* guard -> how many, as far as this process knows */
};

struct executor {
	struct executor_settings settings;
	struct writer *writer;
	struct store_reader **readers;
	struct slots active_runs, watches, fetches;
	struct slots effects; /* each begins with its arena */
	struct map by_run;
	struct graph_cache graphs;
	struct definition_tool *catalogue;
	struct map calls; /* effect -> the call that is under way */
	struct map turns; /* effect -> the agent's turn that is under way */
	size_t open_tools, open_turns;
	struct map alarms; /* effect -> its alarm */
	struct slots alarm_slots;
	uint64_t look_ahead;   /* the timer of the next look at what is due later; 0 = none */
	int64_t look_ahead_at; /* us, monotonic */
	bool failed;
	bool draining;
	bool full; /* the newest commit found no room on the disk */
	bool recovered;
	struct recovery *recovery;
	struct documents documents;
	struct admission admission;
	struct map claims; /* idempotency key -> the item that has it */
	bool closing;      /* executor_free() is at work */
	int64_t forgot_at; /* when old keys were last forgotten, us UTC */
	struct executor_server_settings server;
	platform_callback *opened; /* of executor_open_documents() */
	void *opened_context;
	uint64_t snapshots, loaded_events;
	struct schedules *schedules; /* NULL until they are opened */
	struct schedule_job *schedule_jobs;
	struct maintenance_job *chores; /* the first is under way */
	uint64_t maintenance_job_count; /* ever begun: the number of one is its id */
	struct uuid folding;            /* the run that a rebuild reads from the disk */
	bool folding_is_old;            /* something was appended to it since that began */
};

struct active_run *active_run_find(struct executor *executor, const struct uuid *run);
/* A run that does not exist yet. */
struct active_run *active_run_new(struct executor *executor, struct uuid run,
				  struct cached_graph *graph);
/* The run in memory, being loaded when it is not there. */
struct active_run *active_run_get(struct executor *executor, const struct uuid *run);
struct pending_command *pending_command_new(enum command_kind kind);
void pending_command_free(struct pending_command *pending);
void pending_command_begin(struct pending_command *pending); /* submits what waits with it */
void pending_command_reply(struct pending_command *pending, const struct uuid *run,
			   const struct error *error);
/* Its key was here before: it did that, or, with other words, it is a conflict. */
void pending_command_reply_repeated(struct pending_command *pending,
				    const struct store_request *known);
/* Calls go(item) when no other item has the key any more: at once when there is no key.  The claim
 * goes with the item. */
void idempotency_claim_take(struct executor *executor, struct pending_command *pending,
			    const struct idempotency_key *key,
			    void (*go)(struct pending_command *pending));
void idempotency_claim_release(struct pending_command *pending);
/* On a reader's thread: what the store knows of the item's key.  CONFLICT for other words. */
MUST_CHECK bool idempotency_claim_look_up(const struct pending_command *pending,
					  struct store_reader *reader, struct arena *arena,
					  struct store_request *out_known, bool *out_repeated,
					  struct error *error);
/* What the store is to remember with the item's append. */
void idempotency_claim_fill(const struct pending_command *pending, const struct uuid *subject,
			    int64_t now, struct store_request *out_request);
void command_list_push(struct command_list *queue, struct pending_command *pending);
struct pending_command *command_list_pop(struct command_list *queue);
/* Queues the command and decides as far as possible.  The item is the live run's now. */
void active_run_command(struct active_run *active, struct pending_command *pending);
void active_run_pump(struct active_run *active);
/* Starts what could start: a program that was leaving may have held it back. */
void active_run_wake(struct active_run *active);
void active_run_load(struct active_run *active);
/* An effect is told to end that is not under way: its request, or its restart after a crash, may
 * still be on its way to the disk, and then it must not begin.  True: it was told so. */
void active_run_note_early_stop(struct active_run *active, const struct uuid *effect);
bool active_run_take_early_stop(struct active_run *active, const struct uuid *effect);
void active_run_drop_state(struct active_run *active);
/* A run that works for long leaves behind what it needs no more, when nothing of it is under way.
 * The old state, to be freed once nobody looks at it; empty when it stays as it is. */
MUST_CHECK struct arena active_run_renew(struct active_run *active);
void append_build(struct commit_cycle *cycle, struct active_run *active);
void commit_cycle_free(struct commit_cycle *cycle);
/* Leaves memory when it is over and nothing is under way. */
void active_run_settle(struct active_run *active);
/* The program ends and this run is not over. */
void active_run_discard(struct active_run *active);
/* A value that was decided and is not on the disk yet; false when there is none. */
bool active_run_find_unwritten(const struct active_run *active, const struct hash *hash,
			       struct str *out_bytes);
const struct json *json_copy(struct arena *arena, const struct json *json);

/* ---- loading ------------------------------------------------------------------------- */

struct loaded_run {
	struct arena arena; /* the run's */
	struct cached_graph *graph;
	struct run *run; /* NULL: there is no such run */
	size_t events, weight, snapshot_size;
};

/* The run from its newest snapshot that can be read and the events behind it; on a reader's
 * thread.  On failure `out` is empty. */
MUST_CHECK bool run_load(struct executor *executor, struct store_reader *reader,
			 const struct uuid *run, struct loaded_run *out, struct error *error);
void loaded_run_discard(struct executor *executor, struct loaded_run *loaded);

/* ---- rows ---------------------------------------------------------------------------- */

struct store_run projection_run_row(const struct run *run, struct arena *arena);
/* Everything that is open, as rows. */
struct store_effect *projection_open_effects(const struct run *run, struct arena *arena,
					     size_t *out_count);
struct uuid projection_deadline_id(const struct run *run);
struct uuid projection_admission_id(const struct run *run);
struct str projection_kind(const struct run *run); /* which queue it belongs to */
/* Counts runs that carry their own retention and are not compacted: a guard. */
#define RETENTION_OWN S("retention.own")

/* ---- housekeeping -------------------------------------------------------------------- */

/* One chore at a time; the others wait.  Embed it, first.  Nothing points to a chore that could
 * outlive it: callbacks carry its number. */
struct maintenance_job {
	struct executor_read read;
	struct executor_admin_job care;
	struct maintenance_job *next;
	struct executor *executor;
	uint64_t number;
	void (*begin)(struct maintenance_job *chore);
	void (*free)(struct maintenance_job *chore);
};

void maintenance_job_add(struct executor *executor, struct maintenance_job *chore);
struct maintenance_job *maintenance_job_find(struct executor *executor,
					     uint64_t number); /* NULL: it is over */
/* Frees it and begins the next one. */
void maintenance_job_end(struct maintenance_job *chore);
static inline struct maintenance_job *maintenance_job_of_admin(struct executor_admin_job *care)
{
	return (struct maintenance_job *)(void *)((char *)care -
						  offsetof(struct maintenance_job, care));
}

/* ---- fetching ------------------------------------------------------------------------ */

struct engine_values active_run_values(struct active_run *active);
/* Reads what the decision needs to see, then calls back on the loop; an error means that the store
 * lost something.  A tree that cannot be taken is WORKSPACE_NO_TREE. */
typedef void value_fetch_done(struct executor *executor, uint64_t active, uint64_t argument,
			      const struct error *error);
void value_fetch(struct active_run *active, const struct decision *decision, value_fetch_done *done,
		 uint64_t argument);
/* What an effect is given, read into the arena; NULL: it is stored, and `done` is called once
 * active_run_values() has it. */
const struct json *value_fetch_given(struct active_run *active, const struct value *given,
				     struct arena *arena, value_fetch_done *done,
				     uint64_t argument);
void active_run_forget_loaded(struct active_run *active);
/* A decision is over: what it read may go, the newest few excepted. */
void active_run_release_loaded(struct active_run *active);
struct value_fetch_state;
void value_fetch_discard(struct value_fetch_state *value_fetch_state);

/* ---- effects ------------------------------------------------------------------------- */

struct effect_kind {
	const char *name;
	enum run_node_kind node;
	/* Its request is committed: do it. */
	void (*begin)(struct active_run *active, struct activation *activation);
	/* It was open when the program ended. */
	void (*resume)(struct active_run *active, struct activation *activation);
	/* It shall end: what it then says closes it.  One that is over is not found. */
	void (*stop)(struct active_run *active, const struct uuid *effect);
};

const struct effect_kind *effect_kind_of(enum run_node_kind node);
void effect_begin(struct active_run *active, struct str step);
/* The program leaves and the effect has not begun: may it stay open until the next start?  One that
 * cannot be repeated may not, because nobody could tell then that it never began. */
bool effect_can_wait(const struct executor *executor, enum run_effect_class class);
/* The step runs and its effect is under way, or should be. */
void effect_resume(struct active_run *active, struct activation *activation);
void effect_stop(struct active_run *active, const struct decision_stop *stop);
void pure_step_begin(struct active_run *active, struct str step);
/* The command with a pure step's result, in seen->arena; false when values are needed first. */
bool pure_step_command(struct active_run *active, const struct activation *activation,
		       struct decision *seen, struct command *command);
/* The command that closes an effect. */
struct pending_command *effect_close_command(struct str step, const struct uuid *effect,
					     enum run_outcome outcome, const struct json *output,
					     const struct error *error);
/* The same, sent. */
void effect_finish(struct active_run *active, struct str step, const struct uuid *effect,
		   enum run_outcome outcome, const struct json *output, const struct error *error);

/* The command that records that an effect left open by a crash begins once more; its commit begins
 * it. */
void effect_restart(struct active_run *active, struct str step, const struct uuid *effect);

/* A run that is part of another one has ended: the other one is told. */
void effect_subrun_ended(struct executor *executor, const struct uuid *child);

/* ---- the queue ----------------------------------------------------------------------- */

/* Sub-runs take no turn of their own, nor do runs without a kind and a key. */
bool admission_counts(const struct run *run);
int64_t admission_limit(const struct executor *executor, struct str kind); /* -1 = any number */
struct str admission_guard(struct str kind, struct arena *arena);
struct str admission_key_guard(struct str key, struct arena *arena);
/* A commit is done: who waits from now on, who no longer, who may go. */
void admission_committed(struct commit_cycle *cycle, const struct active_run *active);
/* Its start was refused by a guard: it waits on. */
void admission_refused(struct executor *executor, const struct uuid *run);
/* It waits no more: what was read of it was of before. */
void admission_forget(struct executor *executor, const struct uuid *run);
/* On a reader's thread and on the loop: what was waiting when the program ended; `done` is called
 * when all of it waits again. */
void admission_recover(struct executor *executor, platform_callback *done, void *context,
		       uint64_t argument);
/* The limit may be another one. */
void admission_try_next(struct executor *executor);
void admission_discard(struct executor *executor);

/* ---- alarms -------------------------------------------------------------------------- */

/* Something of this step of the run is due at this time; an alarm that is set is moved.  Only what
 * is near is held in memory. */
void alarm_set(struct executor *executor, const struct uuid *run, const struct uuid *effect,
	       struct str step, int64_t due_at);
void alarm_clear(struct executor *executor, const struct uuid *effect);
/* Looks at the disk for what is due soon and sets its alarms. */
void alarm_scan(struct executor *executor);
void alarm_discard_all(struct executor *executor);

/* ---- the rest ------------------------------------------------------------------------ */

void documents_discard(struct executor *executor);
void schedules_discard(struct executor *executor);
void schedule_jobs_discard(struct executor *executor);
/* No start of the schedule is under way any more: whoever waits to hear of a change is told. */
void schedule_jobs_tell(struct executor *executor, struct str name);
bool schedules_start(struct executor *executor, struct str name); /* a run of it, at this moment */
int64_t schedules_opened_at(struct executor *executor);           /* 0 while they are not opened */
/* How long starting a run may take; 0 = as long as it takes. */
int64_t executor_start_us(const struct executor *executor);
/* The newest commit found room on the disk, or none; a change of that is worth a line. */
void executor_note_disk_space(struct executor *executor, bool full);
void bus_notify(struct executor *executor, const struct executor_notice *notice);
#define EXECUTOR_DRAINING_TEXT "the server is stopping and takes nothing new; try again in a moment"
/* May a new command come in?  Not while the program leaves, nor while the disk is behind.  What
 * closes an effect and what cancels is never asked. */
MUST_CHECK bool executor_admits(struct executor *executor, struct error *error);
void executor_fail(struct executor *executor, const struct error *error);
int64_t executor_now(struct executor *executor);
void recovery_loaded(struct executor *executor);

#endif
