/* sim/sim.h -- the simulator: the real runtime, engine and writer on one thread, from one seed.
 *
 * A world is what outlives a crash: the store, the runs' folders, children that linger, the ledger
 * of what tools were really started, and what was acknowledged to a caller.  A life is one process:
 * a runtime and a system on top of the world, until it ends or the plug is pulled.  Pulling it is a
 * longjmp out of wherever the program is; all memory of the life is given back by sim_memory.c, so
 * nothing of it can leak into the next one.
 *
 * Everything that could differ is drawn from the world's dice, so the same seed gives the same
 * bytes in the store.
 *
 *	sim_memory.c       memory of a life
 *	sim_platform.c       clock, timers, jobs: the twin of the loop
 *	sim_workspace.c    folders, trees, locks: the twin of git and flock
 *	sim_tools.c        scripted tools and their children
 *	sim_definition.c   runs and their inputs; flat definitions
 *	sim_graph.c        definitions with everything the engine has
 *	sim_driver.c       callers: what is asked of the program, and when
 *	sim_people.c       what people answer and tell runs
 *	sim_schedules.c    schedules, what people do to them, and what every commit of one must be
 *	sim_disk.c         the store, and a record of all that was ever committed
 *	sim_refusals.c     appends that are refused
 *	sim_check.c        what must hold of the store after every life
 *	sim_cells.c        which transitions of an active run were visited
 *	sim_story.c        what the events must tell, and the same end as undisturbed
 *	sim.c              lives, crashes, seeds
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
	SIM_RUNS = 4,
	SIM_KNOWN = 512,     /* with those that steps begin */
	SIM_DEFINITIONS = 4, /* each may run those before it */
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
/* A number that depends on the id alone: what scripted tools and people decide by. */
uint64_t sim_fate(const struct uuid *id, unsigned salt);

/* ---- memory ------------------------------------------------------------------------- */

/* From begin to end every block belongs to the life, except between outside and inside. */
void sim_memory_begin(void);
void sim_memory_outside(void);
void sim_memory_inside(void);
size_t sim_memory_end(void); /* frees what is left; how many blocks that was */

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
	struct sim_timer *timers; /* a heap, the next one first */
	size_t timer_count, timer_room;
	uint64_t timer_ids;
	struct sim_jobs waiting[2], ran[2]; /* by lane */
};

void sim_system_init(struct sim_platform *platform, struct sim *sim);
/* One thing happens: a job runs or is done, a timer fires.  False when nothing can. */
bool sim_system_step(struct sim_platform *platform);
/* Something is at the writer. */
bool sim_system_writes(const struct sim_platform *platform);
/* The loop has ended: no timer fires any more, jobs in flight come to their end. */
void sim_system_drain(struct sim_platform *platform);
/* The plug is pulled: what was at the writer may still reach the disk. */
void sim_system_crash(struct sim_platform *platform);
void sim_system_done(struct sim_platform *platform);

/* ---- children and the workspace ----------------------------------------------------- */

struct sim_child {
	struct uuid run, effect;
	int64_t attempt;
	enum run_effect_class class;
	bool alive, lingering; /* lingering: its program is gone */
	bool told;             /* to stop */
	bool happened;         /* what it is for has been done */
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

/* A folder is the list of what was written into it. */
struct sim_content {
	uint64_t *at;
	size_t count, room;
};

struct sim_folder {
	struct uuid run;
	struct sim_content content;
};

struct sim_tree {
	char name[41];
	struct sim_content content;
};

struct sim_workspace {
	struct workspace base;
	struct sim *sim;
	struct sim_folder folders[SIM_KNOWN];
	size_t folder_count;
	struct sim_tree *trees;
	size_t tree_count, tree_room;
	struct sim_lock *locks;
	size_t lock_count, lock_room;
};

void sim_workspace_init(struct sim_workspace *workspace, struct sim *sim);
void sim_workspace_done(struct sim_workspace *workspace);
void sim_workspace_write(struct sim_workspace *workspace, const struct uuid *run, uint64_t what);
void sim_workspace_crash(struct sim_workspace *workspace);
struct sim_folder *sim_workspace_folder(struct sim_workspace *workspace, const struct uuid *run);

extern const struct tool_table sim_tool_table;
/* Tools have no context of their own: whose children they start. */
void sim_tools_use(struct sim *sim);
void sim_children_crash(struct sim *sim);
void sim_children_tick(struct sim *sim); /* those that linger die in their time */
bool sim_child_lives(const struct sim *sim, const struct uuid *effect);

/* ---- what is to be run -------------------------------------------------------------- */

struct sim_run {
	struct uuid id;
	size_t definition;
	struct str inputs;
	char key[24]; /* idempotency key of the newest ask; "" = none */
	bool forged;  /* the disk called it repeated, and nobody has done it */
	bool hurried; /* somebody told it something before it was stored */
	bool stolen;  /* the disk called its creation a conflict */
	bool alone;   /* of the runs that say so one is under way at a time */
	bool asked;   /* in this life */
	bool acknowledged;
};

struct sim_plan {
	struct arena arena;
	struct str yaml[SIM_DEFINITIONS]; /* of w0, w1 … */
	bool steady[SIM_DEFINITIONS];     /* sim_graph.c says what that is */
	struct sim_run runs[SIM_RUNS];
	size_t run_count;
};

void sim_plan_make(struct sim_plan *plan, uint64_t seed);
/* One with everything the engine has. */
struct str sim_graph_make(struct sim_plan *plan, size_t number, struct sim_dice *dice);

/* ---- the world ---------------------------------------------------------------------- */

/* Something a person said to an open question. */
struct sim_answer {
	struct uuid request;
	enum run_decision decision;
	bool acknowledged;
	bool must_fail; /* another revision, or closed already */
};

/* Something a person told a run. */
struct sim_told {
	enum command_kind kind;
	struct uuid run;
	const char *name; /* of a signal */
	char by[16];      /* a word of its own */
	char key[16];     /* "" = none */
	int64_t at;       /* the latest time there had been */
	bool acknowledged;
	bool forged;    /* the disk called it repeated, and nobody has done it */
	bool impatient; /* said before the run was stored */
};

enum sim_mode {
	SIM_CALM, /* nothing goes wrong: what the others are compared with */
	SIM_CRASHES,
	SIM_COMMIT_FAILS, /* and a commit fails, perhaps after it was written */
	SIM_DISK_DIES,    /* a commit fails and every later one does too */
	SIM_DISK_FULL,    /* and there is no room for a while, again and again */
	SIM_REFUSALS,     /* and appends are refused for every other reason */
};

struct sim_counts {
	unsigned active_runs, crashes, stops, starts, restarts, unknown, answers, refused,
		failed_commits;
	unsigned full_commits, full_replies, drains, not_now, passes, compacted, snapshots;
	unsigned told, asked, compared, jumps, punctual;
	unsigned ticks, skipped_ticks, wishes; /* of schedules */
	unsigned cancels, pauses, signals, escalations, subruns, retries, settled, timeouts, queued;
	unsigned refused_appends, stolen, spoiled, asks;
	uint64_t purged;
	uint64_t events;
};

/* An event as it was committed: the store may have let it go since. */
struct sim_recorded {
	struct store_event_row row;
	struct event event;
	size_t next; /* of the same run, in the record; 0 = none */
	bool kept;
	unsigned life;     /* that committed it */
	int64_t mono;      /* when */
	int64_t jumped_at; /* when the wall clock had been set last */
};

/* A run that is stored. */
struct sim_known {
	struct uuid id, parent;
	size_t first, last; /* in the record */
	bool tick;          /* a schedule has started it */
};

/* One that runs are pinned to, by its hash. */
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
	int64_t latest;    /* that the wall clock has ever shown */
	int64_t jumped_at; /* when it was set last, monotonic */
	struct store *store;
	struct store_reader *reader; /* the world's own eyes */
	struct sim_workspace workspace;
	struct sim_child children[SIM_CHILDREN]; /* every real start: the ledger */
	size_t child_count;
	struct sim_answer answers[SIM_ANSWERS];
	size_t answer_count;
	struct sim_told told[SIM_TOLD];
	size_t told_count;
	struct sim_counts counts;
	int64_t life_ends[SIM_LIVES]; /* newest position when each life was over */
	unsigned crashes_left;
	uint64_t full_left; /* commits that find no room */
	struct arena record_arena;
	struct sim_recorded *record;
	size_t record_count, record_room;
	struct sim_known known[SIM_KNOWN];
	size_t known_count;
	struct sim_graph *graphs;
	struct sim_schedules *schedules;
	bool tidy; /* every run has ended and a whole pass has been made since */
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
	struct arena scratch;  /* the twins' own memory of this life */
	int64_t queue_limit;   /* of runs that wait for admission; -1 = as it is */
	bool slow_writer;      /* much is in flight at once */
	bool stops_fetching;   /* it stops in order when a decision waits for values */
	bool calls_off;      /* a run that waits for a part which cannot be created is cancelled */
	bool talks;          /* somebody tells a run something at the next turn */
	bool stops_at_once;  /* an orderly stop that lets nothing finish */
	unsigned fetching;   /* decisions that wait for values */
	unsigned impatience; /* callers who do not wait until their run is stored */
	bool broken, fatal, recovered, hung, tidying, stopping;
};

/* The run's events tell the rest: says what broke, with the seed, once. */
void sim_fail(struct sim *sim, const char *format, ...) PRINTF_LIKE(2, 3);
void sim_trace(struct sim *sim, const char *format, ...) PRINTF_LIKE(2, 3);
/* The program could die here. */
void sim_point(struct sim *sim);

/* The text as a value of a command, its memory given up or not. */
struct executor_value sim_value(struct sim *sim, struct str text, struct arena *arena);

/* ---- the disk ----------------------------------------------------------------------- */

void sim_disk_open(struct sim *sim);
void sim_disk_close(struct sim *sim);
/* Stores have no context of their own: whose commits they are. */
void sim_disk_use(struct sim *sim);
const struct store_writer_ops *sim_disk_memory(void); /* the store below */
void sim_disk_record(struct sim *sim, struct store_append *const *appends, size_t count);
/* Commits, or refuses for a reason that another owner of the file could have caused. */
bool sim_refusals_commit(struct sim *sim, struct store *store, struct store_append *const *appends,
			 size_t count, struct error *error);
/* Which of the known runs; SIZE_MAX = none. */
size_t sim_known(const struct sim *sim, const struct uuid *run);
/* The run's events as they were committed; NULL at the end. */
const struct sim_recorded *sim_first(const struct sim *sim, const struct uuid *run);
const struct sim_recorded *sim_next(const struct sim *sim, const struct sim_recorded *after);

/* A caller does something, or nothing; `must` when nothing else can happen. */
bool sim_drive(struct sim *sim, bool must);
bool sim_all_ended(struct sim *sim);
/* The workflows of the plan by their names. */
bool sim_definition(void *context, struct str name, struct arena *arena, struct str *out_yaml,
		    struct error *error);

/* People; each does one thing or nothing. */
bool sim_answer_one(struct sim *sim, bool must);
bool sim_answer_again(struct sim *sim);
bool sim_resume_one(struct sim *sim);
bool sim_signal_one(struct sim *sim);
bool sim_disturb_one(struct sim *sim);
bool sim_tell_again(struct sim *sim);
bool sim_hurry_one(struct sim *sim);
bool sim_talk_to_one(struct sim *sim);
bool sim_call_off_one(struct sim *sim);
void sim_check_told(struct sim *sim);
/* Whoever asked may ask again. */
bool sim_not_now(struct sim *sim, const struct error *error);

/* Schedules: the world's, then this life's. */
void sim_schedules_new(struct sim *sim);
void sim_schedules_free(struct sim *sim);
bool sim_schedules_definition(struct str name, struct str *out_yaml);
void sim_schedules_begin(struct sim *sim);
void sim_schedules_open(struct sim *sim);       /* behind recovery */
bool sim_schedule_one(struct sim *sim);         /* the next thing that somebody wishes */
bool sim_schedules_over(const struct sim *sim); /* nobody wishes anything any more */
void sim_schedules_still(struct sim *sim);      /* nothing would ever happen by itself */
/* Behind each commit. */
void sim_schedule_changed(struct sim *sim, const struct sim_recorded *recorded);
bool sim_schedule_started(struct sim *sim, const struct uuid *run); /* false: it is no tick */
void sim_check_schedules(struct sim *sim);

void sim_check(struct sim *sim);
/* What the events tell, with every known run's state. */
void sim_check_story(struct sim *sim, struct run *const *folds);
/* The end of a calm world against the end of this one. */
void sim_check_same_end(struct sim *sim, struct sim *calm);
/* How often what is rare came about, into the counts. */
void sim_count_story(struct sim *sim);
/* A tool is being started: is its request on the disk? */
void sim_check_start(struct sim *sim, const struct tool_call *call);
/* How many attempts at the effect have failed. */
size_t sim_failures(const struct sim *sim, const struct uuid *run, const struct uuid *effect);
struct str sim_blob(struct sim *sim, const struct hash *hash, struct arena *arena);
/* The run as every event that was ever committed makes it, NULL when there are none. */
struct run *sim_fold(struct sim *sim, const struct uuid *run, struct arena *arena);

/* An active run gets an input: some lives wait for a rare moment. */
void sim_entered(unsigned state, unsigned input);
/* Prints the legal cells of contracts/active_run.def and how often each was visited, or only those
 * that never were; returns the number of the latter. */
size_t sim_cells_print(bool all);

#endif
