/* runtime/inside.h -- what the files of this room share; nobody else includes it.
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
#ifndef RUNTIME_INSIDE_H
#define RUNTIME_INSIDE_H

#include <pthread.h>
#include <stddef.h>

#include "base/limits.h"
#include "base/map.h"
#include "base/slots.h"
#include "definition/compile.h"
#include "engine/decide.h"
#include "engine/snapshot.h"
#include "runtime/runtime.h"
#include "store/writer.h"

/* ---- graphs -------------------------------------------------------------------------- */

/* A loaded graph with its memory; `uses` counts runs and the cache itself. */
struct graph_use {
	struct arena arena;
	const struct graph *graph;
	struct str text;    /* the canonical JSON */
	struct hash source; /* of the YAML it was compiled from; zero when loaded */
	int uses;
};

/* The newest few, found by their hash or by their source's; a lock, because reader threads compile
 * and load. */
enum { GRAPHS_KEPT = 64 };
struct graphs {
	pthread_mutex_t lock;
	struct graph_use *kept[GRAPHS_KEPT];
	size_t next;
};

struct graph_use *graphs_find(struct graphs *graphs, const struct hash *hash, bool by_source);
/* Loads the text; NULL with an error when it is no graph. */
struct graph_use *graphs_load(struct graphs *graphs, struct str text, const struct hash *source,
			      struct error *error);
void graphs_release(struct graphs *graphs, struct graph_use *use);
void graphs_done(struct graphs *graphs);

/* ---- live runs ----------------------------------------------------------------------- */

/* The right to use an idempotency key: one item has it, the others wait behind it. */
struct claim {
	struct runtime *runtime; /* NULL: it has none and waits for none */
	struct runtime_key key;
	struct item *next;
	void (*go)(struct item *item);
};

/* A command on its way to a run, with its own memory. */
struct item {
	struct item *next;
	struct arena arena;
	struct command command;
	struct error *refusal;    /* why it was refused, while that waits to be told */
	bool bare;                /* no command at all: whatever can start is started */
	int64_t not_before;       /* DUE: the time that has come, whatever the wall clock says */
	runtime_replied *replied; /* NULL when nobody waits */
	void *context;
	uint64_t argument;
	struct claim claim;
	/* What begins with it once it has its claim, and how that is freed when it never does. */
	struct runtime_read *waiting;
	void (*waiting_done)(struct item *item);
};

struct item_queue {
	struct item *first, *last;
};

enum live_phase {
	LIVE_LOADING, /* its events are being read */
	LIVE_READY,
	LIVE_FETCHING, /* advance() waits for values or the tree */
};

struct turn {
	struct writer_ticket ticket; /* first: done() gets it back as a turn */
	struct runtime *runtime;
	uint64_t live;
	struct turn *next; /* in live->flying */
	struct item *item;
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
	int64_t turn_taking; /* 1: the run takes a place under way; -1: it gives it back */
	struct uuid parent;  /* the run's; zero = none */
	struct runtime_notice notice;
};

struct fetching;

struct live {
	uint64_t id; /* in runtime->lives */
	struct runtime *runtime;
	struct uuid run_id;
	char key[16]; /* in runtime->by_run */
	enum live_phase phase;
	bool pumping;
	bool resuming;   /* go on with what is open once loaded */
	bool stale;      /* what was decided on this state is not stored: it must be read again */
	bool starved;    /* for want of room on the disk, so not at once */
	bool renewed;    /* its creation was not stored and is tried again */
	bool recovering; /* recovery waits for it */
	bool uncounted;  /* its place under way was never counted, so it gives none back */
	struct arena arena;
	struct graph_use *graph;
	struct run *run;
	size_t copied_bytes;  /* that the state took when it was last copied */
	size_t weight;        /* of the bodies of the events behind the newest snapshot */
	size_t snapshot_size; /* of that snapshot; 0 = there is none */
	struct item_queue inbox;
	struct item_queue redo;    /* their append was refused: decided again after a reload */
	struct item_queue refused; /* told once what they were measured against is on the disk */
	struct turn *turn;         /* the one that is being decided */
	struct turn *flying;       /* those at the writer, the oldest first */
	struct turn *last_flying;  /* the newest of them, while there is one */
	size_t in_flight;          /* turns at the writer */
	size_t holds;              /* computations and effects that will come back */
	struct uuid *missed_stops; /* effects that were told to end before they had begun */
	size_t missed_count, missed_room;
	/* How appends came to the disk, oldest first, until an event tells it. */
	struct run_commit commits[LIMIT_COMMITS_TOLD];
	size_t commit_count;
	bool reading;            /* values for a pure step */
	uint64_t computations;   /* pure steps that wait for that, the newest first; 0 = none */
	struct fetching *loaded; /* values read by hash, kept while a decision needs them */
	struct str tree;         /* taken for this turn; "" = not */
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
struct queue_entry;
struct queue {
	struct queue_entry *first;
	size_t count;
	struct map under_way; /* guard -> how many, as far as this process knows */
};

struct runtime {
	struct runtime_settings settings;
	struct writer *writer;
	struct store_reader **readers;
	struct slots lives, watches, fetches;
	struct slots effects; /* each begins with its arena */
	struct map by_run;
	struct graphs graphs;
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
	struct queue queue;
	struct map claims; /* idempotency key -> the item that has it */
	bool closing;      /* runtime_free() is at work */
	int64_t forgot_at; /* when old keys were last forgotten, us UTC */
	struct runtime_server_settings server;
	system_callback *opened; /* of runtime_open_documents() */
	void *opened_context;
	uint64_t snapshots, loaded_events;
	struct schedules *schedules; /* NULL until they are opened */
	struct schedule_job *schedule_jobs;
	struct chore *chores; /* the first is under way */
	uint64_t chore_count; /* ever begun: the number of one is its id */
	struct uuid folding;  /* the run that a rebuild reads from the disk */
	bool folding_is_old;  /* something was appended to it since that began */
};

struct live *live_find(struct runtime *runtime, const struct uuid *run);
/* A run that does not exist yet. */
struct live *live_new(struct runtime *runtime, struct uuid run, struct graph_use *graph);
/* The run in memory, being loaded when it is not there. */
struct live *live_get(struct runtime *runtime, const struct uuid *run);
struct item *item_new(enum command_kind kind);
void item_free(struct item *item);
void item_begin(struct item *item); /* submits what waits with it */
void item_reply(struct item *item, const struct uuid *run, const struct error *error);
/* Its key was here before: it did that, or, with other words, it is a conflict. */
void item_reply_repeated(struct item *item, const struct store_request *known);
/* Calls go(item) when no other item has the key any more: at once when there is no key.  The claim
 * goes with the item. */
void claim_take(struct runtime *runtime, struct item *item, const struct runtime_key *key,
		void (*go)(struct item *item));
void claim_release(struct item *item);
/* On a reader's thread: what the store knows of the item's key.  CONFLICT for other words. */
MUST_CHECK bool claim_look(const struct item *item, struct store_reader *reader,
			   struct arena *arena, struct store_request *out_known, bool *out_repeated,
			   struct error *error);
/* What the store is to remember with the item's append. */
void claim_fill(const struct item *item, const struct uuid *subject, int64_t now,
		struct store_request *out_request);
void queue_add(struct item_queue *queue, struct item *item);
struct item *queue_take(struct item_queue *queue);
/* Queues the command and decides as far as possible.  The item is the live run's now. */
void live_command(struct live *live, struct item *item);
void live_pump(struct live *live);
/* Starts what could start: a program that was leaving may have held it back. */
void live_go_on(struct live *live);
void live_load(struct live *live);
/* An effect is told to end that is not under way: its request, or its restart after a crash, may
 * still be on its way to the disk, and then it must not begin.  True: it was told so. */
void live_miss_stop(struct live *live, const struct uuid *effect);
bool live_take_missed_stop(struct live *live, const struct uuid *effect);
void live_drop_state(struct live *live);
/* A run that works for long leaves behind what it needs no more, when nothing of it is under way.
 * The old state, to be freed once nobody looks at it; empty when it stays as it is. */
MUST_CHECK struct arena live_renew(struct live *live);
void turn_rows(struct turn *turn, struct live *live);
void turn_free(struct turn *turn);
/* Leaves memory when it is over and nothing is under way. */
void live_settle(struct live *live);
/* The program ends and this run is not over. */
void live_discard(struct live *live);
/* A value that was decided and is not on the disk yet; false when there is none. */
bool live_unwritten(const struct live *live, const struct hash *hash, struct str *out_bytes);
const struct json *json_copy(struct arena *arena, const struct json *json);

/* ---- loading ------------------------------------------------------------------------- */

struct loaded {
	struct arena arena; /* the run's */
	struct graph_use *graph;
	struct run *run; /* NULL: there is no such run */
	size_t events, weight, snapshot_size;
};

/* The run from its newest snapshot that can be read and the events behind it; on a reader's
 * thread.  On failure `out` is empty. */
MUST_CHECK bool load_run(struct runtime *runtime, struct store_reader *reader,
			 const struct uuid *run, struct loaded *out, struct error *error);
void loaded_discard(struct runtime *runtime, struct loaded *loaded);

/* ---- rows ---------------------------------------------------------------------------- */

struct store_run run_row(const struct run *run, struct arena *arena);
/* Everything that is open, as rows. */
struct store_effect *run_open_rows(const struct run *run, struct arena *arena, size_t *out_count);
struct uuid run_deadline_id(const struct run *run);
struct uuid run_place_id(const struct run *run);
struct str run_kind(const struct run *run); /* which queue it belongs to */
/* Counts runs that carry their own retention and are not compacted: a guard. */
#define RETENTION_OWN S("retention.own")

/* ---- housekeeping -------------------------------------------------------------------- */

/* One chore at a time; the others wait.  Embed it, first.  Nothing points to a chore that could
 * outlive it: callbacks carry its number. */
struct chore {
	struct runtime_read read;
	struct runtime_care care;
	struct chore *next;
	struct runtime *runtime;
	uint64_t number;
	void (*begin)(struct chore *chore);
	void (*free)(struct chore *chore);
};

void chore_add(struct runtime *runtime, struct chore *chore);
struct chore *chore_find(struct runtime *runtime, uint64_t number); /* NULL: it is over */
/* Frees it and begins the next one. */
void chore_end(struct chore *chore);
static inline struct chore *chore_of_care(struct runtime_care *care)
{
	return (struct chore *)(void *)((char *)care - offsetof(struct chore, care));
}

/* ---- fetching ------------------------------------------------------------------------ */

struct engine_values live_values(struct live *live);
/* Reads what the decision needs to see, then calls back on the loop; an error means that the store
 * lost something.  A tree that cannot be taken is WORKSPACE_NO_TREE. */
typedef void fetch_done(struct runtime *runtime, uint64_t live, uint64_t argument,
			const struct error *error);
void fetch(struct live *live, const struct decision *decision, fetch_done *done, uint64_t argument);
/* What an effect is given, read into the arena; NULL: it is stored, and `done` is called once
 * live_values() has it. */
const struct json *fetch_given(struct live *live, const struct value *given, struct arena *arena,
			       fetch_done *done, uint64_t argument);
void live_forget_loaded(struct live *live);
/* A decision is over: what it read may go, the newest few excepted. */
void live_let_go(struct live *live);
struct fetching;
void fetch_discard(struct fetching *fetching);

/* ---- effects ------------------------------------------------------------------------- */

struct effect_kind {
	const char *name;
	enum run_node_kind node;
	/* Its request is committed: do it. */
	void (*begin)(struct live *live, struct activation *activation);
	/* It was open when the program ended. */
	void (*resume)(struct live *live, struct activation *activation);
	/* It shall end: what it then says closes it.  One that is over is not found. */
	void (*stop)(struct live *live, const struct uuid *effect);
};

const struct effect_kind *effect_kind_of(enum run_node_kind node);
void effect_begin(struct live *live, struct str step);
/* The program leaves and the effect has not begun: may it stay open until the next start?  One that
 * cannot be repeated may not, because nobody could tell then that it never began. */
bool effect_can_wait(const struct runtime *runtime, enum run_effect_class class);
/* The step runs and its effect is under way, or should be. */
void effect_resume(struct live *live, struct activation *activation);
void effect_stop(struct live *live, const struct decision_stop *stop);
void compute_begin(struct live *live, struct str step);
/* The command with a pure step's result, in seen->arena; false when values are needed first. */
bool compute_command(struct live *live, const struct activation *activation, struct decision *seen,
		     struct command *command);
/* The command that closes an effect. */
struct item *effect_closing(struct str step, const struct uuid *effect, enum run_outcome outcome,
			    const struct json *output, const struct error *error);
/* The same, sent. */
void effect_finish(struct live *live, struct str step, const struct uuid *effect,
		   enum run_outcome outcome, const struct json *output, const struct error *error);

/* The command that records that an effect left open by a crash begins once more; its commit begins
 * it. */
void effect_restart(struct live *live, struct str step, const struct uuid *effect);

/* A run that is part of another one has ended: the other one is told. */
void subrun_ended(struct runtime *runtime, const struct uuid *child);

/* ---- the queue ----------------------------------------------------------------------- */

/* Sub-runs take no turn of their own, nor do runs without a kind and a key. */
bool queue_counts(const struct run *run);
int64_t queue_limit(const struct runtime *runtime, struct str kind); /* -1 = any number */
struct str queue_guard(struct str kind, struct arena *arena);
struct str queue_key_guard(struct str key, struct arena *arena);
/* A commit is done: who waits from now on, who no longer, who may go. */
void queue_committed(struct turn *turn, const struct live *live);
/* Its start was refused by a guard: it waits on. */
void queue_refused(struct runtime *runtime, const struct uuid *run);
/* It waits no more: what was read of it was of before. */
void queue_gone(struct runtime *runtime, const struct uuid *run);
/* On a reader's thread and on the loop: what was waiting when the program ended; `done` is called
 * when all of it waits again. */
void queue_recover(struct runtime *runtime, system_callback *done, void *context,
		   uint64_t argument);
/* The limit may be another one. */
void queue_go_on(struct runtime *runtime);
void queue_discard(struct runtime *runtime);

/* ---- alarms -------------------------------------------------------------------------- */

/* Something of this step of the run is due at this time; an alarm that is set is moved.  Only what
 * is near is held in memory. */
void alarm_set(struct runtime *runtime, const struct uuid *run, const struct uuid *effect,
	       struct str step, int64_t due_at);
void alarm_clear(struct runtime *runtime, const struct uuid *effect);
/* Looks at the disk for what is due soon and sets its alarms. */
void alarms_look(struct runtime *runtime);
void alarms_discard(struct runtime *runtime);

/* ---- the rest ------------------------------------------------------------------------ */

void documents_discard(struct runtime *runtime);
void schedules_discard(struct runtime *runtime);
void schedule_jobs_discard(struct runtime *runtime);
/* No start of the schedule is under way any more: whoever waits to hear of a change is told. */
void schedule_jobs_tell(struct runtime *runtime, struct str name);
bool schedules_start(struct runtime *runtime, struct str name); /* a run of it, at this moment */
int64_t schedules_opened_at(struct runtime *runtime);           /* 0 while they are not opened */
/* How long starting a run may take; 0 = as long as it takes. */
int64_t runtime_start_us(const struct runtime *runtime);
/* The newest commit found room on the disk, or none; a change of that is worth a line. */
void runtime_note_room(struct runtime *runtime, bool full);
void bus_notify(struct runtime *runtime, const struct runtime_notice *notice);
#define RUNTIME_LEAVES "the server is stopping and takes nothing new; try again in a moment"
/* May a new command come in?  Not while the program leaves, nor while the disk is behind.  What
 * closes an effect and what cancels is never asked. */
MUST_CHECK bool runtime_admits(struct runtime *runtime, struct error *error);
void runtime_fail(struct runtime *runtime, const struct error *error);
int64_t runtime_now(struct runtime *runtime);
void recovery_loaded(struct runtime *runtime);

#endif
