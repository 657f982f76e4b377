/* sim/sim.h -- the simulator: the real server, engine and writer on one thread, driven by one random
 * seed.
 *
 * A world is everything that outlives a crash: the store, the folders of runs, lingering child
 * processes, the ledger of tools that were really started, and the acknowledgments that callers got.
 * A life is one process on top of the world, until it stops or crashes.  A crash is a longjmp out of
 * the program; sim_memory.c frees all memory of the life, so that nothing leaks into the next one.
 *
 * All nondeterminism is drawn from the world's random number generator, so the same seed gives the
 * same bytes in the store.
 *
 *	sim_memory.c       the memory of a life
 *	sim_platform.c     simulated clock, timers and worker threads
 *	sim_workspace.c    simulated folders, git trees and locks
 *	sim_tools.c        scripted tools and their child processes
 *	sim_definition.c   runs and their inputs; flat definitions
 *	sim_graph.c        random definitions that use every feature of the engine
 *	sim_driver.c       callers: their requests and the timing of them
 *	sim_people.c       people: answers, signals, pauses, cancels
 *	sim_schedules.c    schedules, changes of them, and the checks of each commit to one
 *	sim_disk.c         the store, and a record of everything ever committed
 *	sim_refusals.c     appends that the store refuses
 *	sim_budgets.c      a budget of all runs, and turns that its guard refuses
 *	sim_check.c        invariants of the store after every life
 *	sim_cells.c        the transitions of an active run that were visited
 *	sim_story.c        invariants of the events; the end compared with that of a calm world
 *	sim.c              the main program: seeds, worlds, lives, crashes
 */
#ifndef SIM_SIM_H
#define SIM_SIM_H

#include <setjmp.h>

#include "contract/run_class_types.h"
#include "llm/llm.h"
#include "active/executor.h"
#include "engine/decide.h"
#include "simstore/simstore.h"
#include "simstore/store_memory.h"
#include "tool/tool.h"

enum {
	SIM_JUMPS = 64,
	SIM_RUNS = 4,
	SIM_KNOWN = 512,     /* including those that steps start */
	SIM_DEFINITIONS = 4, /* each may start sub-runs of those before it */
	SIM_CHILDREN = 4096,
	SIM_ANSWERS = 4096,
	SIM_TOLD = 4096,
	SIM_READERS = 3,
	SIM_LIVES = 64,
};

struct sim;

/* ---- dice --------------------------------------------------------------------------- */

struct sim_dice {
	uint64_t state;
};

uint64_t sim_roll(struct sim_dice *dice);
uint64_t sim_below(struct sim_dice *dice, uint64_t limit);
bool sim_chance(struct sim_dice *dice, unsigned percent);
/* A number that depends on the id alone; scripted tools and people decide by it. */
uint64_t sim_fate(const struct uuid *id, unsigned salt);

/* ---- memory ------------------------------------------------------------------------- */

/* Between begin and end, every allocated block belongs to the life, except between outside and
 * inside. */
void sim_memory_begin(void);
void sim_memory_outside(void);
void sim_memory_inside(void);
size_t sim_memory_end(void); /* frees the remaining blocks and returns their number */

/* ---- the system --------------------------------------------------------------------- */

struct sim_timer {
	int64_t due;
	uint64_t id;
	platform_callback *callback;
	void *context;
	uint64_t argument;
};

struct sim_jobs {
	struct job **at;
	size_t count, room;
};

struct sim_platform {
	struct platform base;
	struct sim *sim;
	struct sim_timer *timers; /* a heap, earliest first */
	size_t timer_count, timer_room;
	uint64_t timer_ids;
	struct sim_jobs waiting[2], ran[2]; /* by lane */
};

void sim_system_init(struct sim_platform *platform, struct sim *sim);
/* Executes one event: a job runs or completes, or a timer fires.  False when there is none. */
bool sim_system_step(struct sim_platform *platform);
/* Whether the writer has a job. */
bool sim_system_writes(const struct sim_platform *platform);
/* The loop has ended: no timer fires any more, and jobs in flight complete. */
void sim_system_drain(struct sim_platform *platform);
/* A crash: data that the writer has may still reach the disk. */
void sim_system_crash(struct sim_platform *platform);
void sim_system_done(struct sim_platform *platform);

/* ---- children and the workspace ----------------------------------------------------- */

struct sim_child {
	struct uuid run, effect;
	int64_t attempt;
	enum run_effect_class class;
	size_t folder;         /* index in the workspace's folders */
	bool alive, lingering; /* lingering: its program has crashed */
	bool told;             /* to stop */
	bool happened;         /* its work is done */
	int64_t dies_at;       /* of one that lingers */
	unsigned life;
	uint64_t fate, seen; /* seen: hash of what it was given */
	tool_done *done;
	void *context;
	uint64_t argument;
};

struct sim_lock {
	struct uuid effect;
	bool held; /* by the program */
};

/* A folder is the list of writes into it. */
struct sim_content {
	uint64_t *at;
	size_t count, room;
};

struct sim_folder {
	struct uuid run;
	char branch[96]; /* "" = the run's own */
	struct sim_content content;
};

struct sim_tree {
	char name[41];
	struct sim_content content;
};

struct sim_workspace {
	struct workspace base;
	struct sim *sim;
	struct sim_folder *folders;
	size_t folder_count, folder_room;
	struct sim_tree *trees;
	size_t tree_count, tree_room;
	struct sim_lock *locks;
	size_t lock_count, lock_room;
};

void sim_workspace_init(struct sim_workspace *workspace, struct sim *sim);
void sim_workspace_done(struct sim_workspace *workspace);
void sim_workspace_write(struct sim_workspace *workspace, size_t folder, uint64_t what);
void sim_workspace_crash(struct sim_workspace *workspace);
/* The index of a folder, which is made if missing. */
size_t sim_workspace_folder(struct sim_workspace *workspace, const struct uuid *run,
			    struct str branch);

extern const struct tool_table sim_tool_table;
/* The current world, because the tool interface has no context parameter. */
void sim_tools_use(struct sim *sim);
void sim_children_crash(struct sim *sim);
void sim_children_tick(struct sim *sim); /* lingering children die eventually */
bool sim_child_lives(const struct sim *sim, const struct uuid *effect);

/* ---- what is to be run -------------------------------------------------------------- */

struct sim_run {
	struct uuid id;
	size_t definition;
	struct str inputs;
	char key[24]; /* idempotency key of the newest request; "" = none */
	bool forged;  /* the disk reported it as repeated although it was never done */
	bool hurried; /* it got a command before it was stored */
	bool stolen;  /* the disk reported a conflict for its creation */
	bool alone;   /* has a concurrency key: one run with the key is active at a time */
	bool asked;   /* in this life */
	bool acknowledged;
};

struct sim_plan {
	struct arena arena;
	struct str yaml[SIM_DEFINITIONS]; /* of w0, w1 … */
	bool steady[SIM_DEFINITIONS];     /* see sim_graph.c */
	struct sim_run runs[SIM_RUNS];
	size_t run_count;
	bool budgets; /* the turns of the runs have a budget */
};

void sim_plan_make(struct sim_plan *plan, uint64_t seed);
/* A random definition that uses every feature of the engine. */
struct str sim_graph_make(struct sim_plan *plan, size_t number, struct sim_dice *dice);

/* ---- the world ---------------------------------------------------------------------- */

/* A person's answer to an open question. */
struct sim_answer {
	struct uuid request;
	enum run_decision decision;
	bool acknowledged;
	bool must_fail; /* another revision, or closed already */
};

/* A person's command to a run. */
struct sim_told {
	enum command_kind kind;
	struct uuid run;
	const char *name; /* of a signal */
	char by[16];      /* a unique word, to find it among the events */
	char key[16];     /* "" = none */
	int64_t at;       /* the latest time there had been */
	bool acknowledged;
	bool forged;    /* the disk called it repeated, and nobody has done it */
	bool impatient; /* said before the run was stored */
};

enum sim_mode {
	SIM_CALM, /* nothing fails: the baseline that the other modes are compared with */
	SIM_CRASHES,
	SIM_COMMIT_FAILS, /* additionally, a commit fails, perhaps after it was written */
	SIM_DISK_DIES,    /* a commit fails, and so does every later one */
	SIM_DISK_FULL,    /* additionally, the disk is full for a while, repeatedly */
	SIM_REFUSALS,     /* additionally, appends are refused for every other reason */
};

struct sim_counts {
	unsigned active_runs, crashes, stops, starts, restarts, unknown, answers, refused,
		failed_commits;
	unsigned full_commits, full_replies, drains, not_now, passes, compacted, snapshots;
	unsigned told, asked, compared, jumps, punctual;
	unsigned ticks, skipped_ticks, wishes; /* of schedules */
	unsigned messages, readings;           /* between agents */
	unsigned cancels, pauses, signals, escalations, subruns, retries, settled, timeouts, queued;
	unsigned refused_appends, stolen, spoiled, asks;
	uint64_t purged;
	uint64_t events;
};

/* A committed event; compaction may have removed it from the store since. */
struct sim_recorded {
	struct store_event_row row;
	struct event event;
	size_t next; /* of the same run, in the record; 0 = none */
	bool kept;
	unsigned life;     /* that committed it */
	int64_t mono;      /* when */
	int64_t jumped_at; /* when the wall clock had been set last */
};

/* A stored run. */
struct sim_known {
	struct uuid id, parent;
	size_t first, last; /* in the record */
	bool tick;          /* a schedule has started it */
};

/* A graph that runs are pinned to, by hash. */
struct sim_graph {
	struct sim_graph *next;
	struct hash hash;
	const struct graph *graph;
};

struct sim {
	uint64_t seed;
	enum sim_mode mode;
	bool trace, failed;
	struct sim_dice dice;
	struct sim_plan plan;
	int64_t mono, wall_offset;
	int64_t latest;           /* the latest time that the wall clock has shown */
	int64_t jumped_at;        /* when it was set last, monotonic */
	int64_t jumps[SIM_JUMPS]; /* when it was set, the newest SIM_JUMPS times */
	struct store *store;
	struct store_reader *reader; /* the world's own reader */
	struct sim_workspace workspace;
	struct sim_child children[SIM_CHILDREN]; /* the ledger: every real start of a tool */
	size_t child_count;
	struct sim_answer answers[SIM_ANSWERS];
	size_t answer_count;
	struct sim_told told[SIM_TOLD];
	size_t told_count;
	struct sim_counts counts;
	int64_t life_ends[SIM_LIVES]; /* newest position at the end of each life */
	unsigned crashes_left;
	uint64_t full_left; /* commits that fail because the disk is full */
	struct arena record_arena;
	struct sim_recorded *record;
	size_t record_count, record_room;
	struct sim_known known[SIM_KNOWN];
	size_t known_count;
	struct sim_graph *graphs;
	struct sim_schedules *schedules;
	bool tidy; /* every run has ended and a complete compaction pass has run since */
	/* this life */
	struct sim_platform platform;
	struct effects *effects;
	struct executor *executor;
	struct documents *documents;
	struct maintenance *maintenance;
	struct llm_host models;
	jmp_buf plug;
	uint64_t points_left;  /* to the crash; 0 = none is planned */
	uint64_t commits_left; /* to the failing one; 0 = none */
	uint64_t turns_left;   /* to an orderly stop; 0 = none is planned */
	struct arena scratch;  /* memory of the simulated platform for this life */
	int64_t budget;        /* of all runs; 0 = none (every life) */
	bool hides_budget;     /* the ledger does not tell what is used */
	int64_t queue_limit;   /* of runs that wait for admission; -1 = the default */
	bool slow_writer;      /* many appends are in flight at once */
	bool stops_fetching;   /* it stops in order when a decision waits for values */
	bool calls_off; /* a run that waits for a sub-run which cannot be created is cancelled */
	bool talks;     /* a person sends a command to a run at the next event */
	unsigned retries, retries_before; /* of failed runs by people; before the newest pass */
	bool stops_at_once;               /* an orderly stop without a drain */
	unsigned fetching;                /* decisions that wait for values */
	unsigned impatience;              /* callers that do not wait until their run is stored */
	bool broken, fatal, recovered, hung, tidying, stopping;
};

/* Reports the first failure together with the seed. */
void sim_fail(struct sim *sim, const char *format, ...) PRINTF_LIKE(2, 3);
void sim_trace(struct sim *sim, const char *format, ...) PRINTF_LIKE(2, 3);
/* The program could die here. */
void sim_point(struct sim *sim);

/* The text as a value of a command, its memory given up or not. */
struct executor_value sim_value(struct sim *sim, struct str text, struct arena *arena);

/* ---- the disk ----------------------------------------------------------------------- */

void sim_disk_open(struct sim *sim);
void sim_disk_close(struct sim *sim);
/* The current world, because the store interface has no context parameter. */
void sim_disk_use(struct sim *sim);
const struct store_writer_ops *sim_disk_memory(void); /* the store below */
void sim_disk_record(struct sim *sim, struct store_append *const *appends, size_t count);
/* Commits, or refuses for a reason that another owner of the file could have caused. */
bool sim_refusals_commit(struct sim *sim, struct store *store, struct store_append *const *appends,
			 size_t count, struct error *error);
/* Moves the count of a guard, with an append that has no events. */
void sim_move_count(struct sim *sim, struct store *store, struct str guard, int64_t change);
/* The index of a known run; SIZE_MAX = none. */
size_t sim_known(const struct sim *sim, const struct uuid *run);
/* Iterates over the committed events of a run; NULL at the end. */
const struct sim_recorded *sim_first(const struct sim *sim, const struct uuid *run);
const struct sim_recorded *sim_next(const struct sim *sim, const struct sim_recorded *after);

/* A caller may send a request; with `must` it does, because nothing else can happen. */
bool sim_drive(struct sim *sim, bool must);
bool sim_all_ended(struct sim *sim);
/* The workflows of the plan by their names. */
bool sim_definition(void *context, struct store_reader *reader, struct str name,
		    struct arena *arena, struct str *out_yaml, struct error *error);

/* People; each call does at most one thing. */
bool sim_answer_one(struct sim *sim, bool must);
bool sim_answer_again(struct sim *sim);
bool sim_resume_one(struct sim *sim);
bool sim_signal_one(struct sim *sim);
bool sim_disturb_one(struct sim *sim);
bool sim_tell_again(struct sim *sim);
bool sim_hurry_one(struct sim *sim);
bool sim_retry_one(struct sim *sim);
bool sim_talk_to_one(struct sim *sim);
bool sim_call_off_one(struct sim *sim);
void sim_check_told(struct sim *sim);
/* The caller may repeat the request. */
bool sim_not_now(struct sim *sim, const struct error *error);

/* Schedules: first those of the world, then the state of this life. */
void sim_schedules_new(struct sim *sim);
void sim_schedules_free(struct sim *sim);
bool sim_schedules_definition(struct str name, struct str *out_yaml);
void sim_schedules_begin(struct sim *sim);
void sim_schedules_open(struct sim *sim);       /* after recovery */
bool sim_schedule_one(struct sim *sim);         /* the next requested change */
bool sim_schedules_over(const struct sim *sim); /* all changes are done */
void sim_schedules_still(struct sim *sim);      /* nothing would ever become due */
/* Called after each commit. */
void sim_schedule_changed(struct sim *sim, const struct sim_recorded *recorded);
bool sim_schedule_started(
	struct sim *sim, const struct uuid *run); /* false: the run was not started by a schedule */
void sim_check_schedules(struct sim *sim);
/* ---- a budget of all runs ---- */
void sim_budgets_begin(struct sim *sim);
void sim_budgets_limit(struct sim *sim);
bool sim_top_up(struct sim *sim);
/* Commits, perhaps while another owner has reserved all that is left. */
bool sim_budgets_commit(struct sim *sim, struct store *store, struct store_append *const *appends,
			size_t count, struct error *error);
void sim_check_budgets(struct sim *sim, struct run *const *folds);

void sim_check(struct sim *sim);
/* Checks the events and the state of every known run. */
void sim_check_story(struct sim *sim, struct run *const *folds);
/* Compares the end of a calm world with the end of this one. */
void sim_check_same_end(struct sim *sim, struct sim *calm);
/* Adds the number of rare situations to the counts. */
void sim_count_story(struct sim *sim);
/* A tool is being started: checks that its request is on the disk. */
void sim_check_start(struct sim *sim, const struct tool_call *call);
/* The number of failed attempts at the effect. */
size_t sim_failures(const struct sim *sim, const struct uuid *run, const struct uuid *effect);
struct str sim_blob(struct sim *sim, const struct hash *hash, struct arena *arena);
/* The state of the run from all events ever committed; NULL when there are none. */
struct run *sim_fold(struct sim *sim, const struct uuid *run, struct arena *arena);

/* An active run gets an input: some lives wait for a rare moment. */
void sim_entered(unsigned state, unsigned input);
/* Prints the legal cells of contracts/active_run.def and how often each was visited, or only those
 * that never were; returns the number of the latter. */
size_t sim_cells_print(bool all);

#endif
