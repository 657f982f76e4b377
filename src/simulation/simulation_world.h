/* simulation/simulation_world.h -- the state of a simulated world; private to simulation.
 *
 * A world is what outlives a crash: the store, folders, and the ledger of calls.  A life is one process in it.
 * A crash is a longjmp out of the program; the memory of the life is left behind.
 */
#ifndef SIMULATION_WORLD_H
#define SIMULATION_WORLD_H

#include <setjmp.h>

#include "active/executor.h"
#include "llm/llm.h"
#include "simulation/simulation.h"
#include "store/store.h"
#include "workspace/workspace.h"

enum {
	SIMULATED_READERS = 2,
	SIMULATED_FAULTS = 16, /* in one plan */
	SIMULATED_LIVES = 64,  /* more: the world does not end */
	SIMULATED_STEPS = 400000,
	SIMULATED_EVENTS = 100000, /* that one world is read back */
};

struct simulated_world;
struct tool;
struct tool_table;

struct simulated_timer {
	int64_t due;
	uint64_t id;
	platform_callback *callback;
	void *context;
	uint64_t argument;
};

struct simulated_jobs {
	struct job **at;
	size_t count, room;
};

struct simulated_platform {
	struct platform base;
	struct simulated_world *world;
	struct simulated_timer *timers; /* in no order */
	size_t timer_count, timer_room;
	uint64_t timer_ids;
	struct simulated_jobs waiting[2], ran[2]; /* by lane */
};

/* A fault of a plan: it happens when the nth of its kind comes along. */
struct simulated_fault {
	enum simulation_fault kind;
	uint64_t at; /* from 1: point, call, turn or answer */
	enum error_code code;
	bool happened;
};

struct simulated_plan {
	struct simulated_fault at[SIMULATED_FAULTS];
	size_t count;
};

/* A real start of a call, or a turn. */
struct simulated_call {
	struct uuid effect;
	struct str step;
	const struct tool *tool;
	bool happened; /* its effect */
};

struct simulated_folder {
	struct uuid run;
	struct str branch;
	struct str content; /* hash of all that was written, in order */
};

struct simulated_workspace {
	struct workspace base;
	struct simulated_world *world;
	struct simulated_folder *folders;
	size_t count, room;
};

struct simulated_world {
	const struct simulation_spec *spec;
	uint64_t dice;
	struct simulated_plan plan;
	struct arena arena; /* of the world; lives leave theirs behind */
	int64_t mono;
	struct store *store;
	struct store_reader *reader;
	struct simulated_workspace workspace;
	struct simulated_call *calls; /* the ledger */
	size_t call_count, call_room;
	uint64_t points, turns, answers, signals; /* counted over all lives */
	unsigned lives;
	struct uuid run;
	bool started;       /* the start was acknowledged, or is stored */
	bool asked;         /* in this life */
	struct error fatal; /* why the definition could not be started */
	struct problems *problems;
	struct str failure; /* why the world fails; "" = it does not */
	/* this life */
	struct simulated_platform platform;
	struct executor *executor;
	struct effects *effects;
	struct llm_host models;
	jmp_buf plug;
	bool living;
};

/* ---- chance and faults ------------------------------------------------------------------------- */

uint64_t simulated_roll(struct simulated_world *world, uint64_t limit); /* below the limit */
/* The fault of this kind that is due at the nth occasion; NULL = none. */
struct simulated_fault *simulated_fault_at(struct simulated_world *world,
					   enum simulation_fault kind, uint64_t at);
/* The process could die here. */
void simulated_point(struct simulated_world *world);
void simulated_fail(struct simulated_world *world, const char *format, ...) PRINTF_LIKE(2, 3);
/* How long a result takes. */
int64_t simulated_delay(struct simulated_world *world, uint64_t occasion);

/* ---- the parts --------------------------------------------------------------------------------- */

void simulated_platform_init(struct simulated_platform *platform, struct simulated_world *world);
/* Executes one event: a job runs or ends, or a timer fires.  False when there is none. */
bool simulated_platform_step(struct simulated_platform *platform);
/* The loop has ended: no timer fires any more, and jobs in flight complete. */
void simulated_platform_drain(struct simulated_platform *platform);
void simulated_platform_done(struct simulated_platform *platform);

void simulated_workspace_init(struct simulated_workspace *workspace, struct simulated_world *world);
void simulated_workspace_write(struct simulated_world *world, const char *folder,
			       const struct uuid *effect);

/* The tables that the executor works with; the world is the current one. */
const struct tool_table *simulated_tools(struct simulated_world *world);
const struct llm_table *simulated_drivers(struct simulated_world *world);
/* A value that fits the outputs of the tool. */
const struct json *simulated_output(struct simulated_world *world, const struct tool *tool,
				    struct str step, struct arena *arena);

/* A person or another program does what the run waits for.  False when it waits for nothing that can be
 * done. */
bool simulated_people_act(struct simulated_world *world);

/* Plays a world until its run has ended or it fails. */
void simulated_world_play(struct simulated_world *world);
struct simulated_world *simulated_world_new(const struct simulation_spec *spec, uint64_t seed,
					    const struct simulated_plan *plan);
void simulated_world_free(struct simulated_world *world);

#endif
