/* simulation/simulation.h -- runs a user's definition many times in a simulated world with faults.
 *
 * The world is the real engine, executor and effects on one thread, with a store in memory and simulated clock, threads,
 * folders, tools, models and people.  Pure tools compute; all other tools and models return what the script says, or a
 * value that fits their contract.  Everything random comes from the seed, so a seed gives the same bytes each time.
 *
 * Each seed has a plan of faults: the process dies here, this call fails, that result comes late.  A seed fails when the
 * run does not end, when a call that must happen once happens twice, or when it ends differently from the calm
 * world without faults (or, if a check is given, when the check does not hold).  A failing plan is shrunk: faults are
 * left out and moved to the front as long as it still fails.
 *
 * A crash leaves the memory of that life behind, so a process should simulate some hundred seeds and end.
 */
#ifndef SIMULATION_SIMULATION_H
#define SIMULATION_SIMULATION_H

#include "base/error.h"
#include "base/json.h"

enum simulation_fault {
	SIMULATION_CRASH = 1 << 0,     /* the process dies and is started again */
	SIMULATION_TOOL = 1 << 1,      /* a call of a tool fails */
	SIMULATION_MODEL = 1 << 2,     /* a turn of an agent fails */
	SIMULATION_LATE = 1 << 3,      /* a result comes an hour later */
	SIMULATION_DUPLICATE = 1 << 4, /* a person's answer arrives twice */
	SIMULATION_ALL = (1 << 5) - 1,
};

struct run_simulation_script;
struct problems;

struct simulation_spec {
	struct str yaml; /* the definition */
	/* Other definitions by name; NULL = there are none. */
	bool (*definition)(void *context, struct str name, struct arena *arena,
			   struct str *out_yaml, struct error *error);
	void *context;
	const struct json *inputs;                  /* NULL = {} */
	const struct run_simulation_script *script; /* NULL = everything succeeds */
	unsigned faults;                            /* of enum simulation_fault */
	struct str check; /* an expression; "" = the end equals the calm one */
};

/* What one seed came to. */
struct simulation_outcome {
	bool failed;
	struct str reason;  /* why it failed */
	struct str status;  /* ok, failed, cancelled */
	struct str outputs; /* JSON */
	struct str faults;  /* the faults that happened, one per line */
	struct str history; /* the events, one per line */
	struct str store;   /* everything that was stored: equal for equal worlds */
	unsigned crashes, calls, turns, fault_count;
};

/* The calm world: fails when the definition cannot be started; the problems say why. */
MUST_CHECK bool simulation_calm(const struct simulation_spec *spec, struct arena *arena,
				struct simulation_outcome *out, struct problems *problems,
				struct error *error);
/* The world of a seed, compared with the calm one. */
void simulation_seed(const struct simulation_spec *spec, const struct simulation_outcome *calm,
		     uint64_t seed, struct arena *arena, struct simulation_outcome *out);
/* The same with the fewest and earliest faults that still fail; `out` is a failed outcome of the seed and is
 * replaced.  Returns the number of worlds that were tried. */
unsigned simulation_shrink(const struct simulation_spec *spec,
			   const struct simulation_outcome *calm, uint64_t seed,
			   struct arena *arena, struct simulation_outcome *out);

#endif
