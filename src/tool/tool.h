/* tool/tool.h -- the interface of tools: one file tool_<name>.c and one line in tools.def each.
 *
 * A tool has a name, an effect class, which determines what recovery may do with a call, and either
 * compute() or start():
 *
 *	compute   for class pure: computes the output from the inputs; no I/O, no clock
 *	start     starts the work and returns its id; done() is called once with the result,
 *	          on the loop thread, never from inside start() or stop()
 *	stop      asks the call to end.  Within LIMIT_TOOL_KILL_MS its done() is called with the
 *	          given error (CANCELLED or TIMEOUT), or with its result if that came first.
 *	          Stopping a call that has ended is harmless.
 *	probe     for class probe: finds out after a crash whether the effect of a call happened;
 *	          `asked` is called once, on the loop thread, never from inside probe()
 *
 * Every tool except a pure one has start and stop; every tool of class probe has probe.
 *
 * A call whose effect may or may not have happened ends with OUTCOME_UNKNOWN, and then a person
 * decides.  This includes every call of class once that has begun and has no answer, even if it was
 * asked to stop.
 *
 * The effect's id is the idempotency key: all attempts of one call have the same id, and no other
 * call has it.  A tool of class keyed sends it with the request; a tool of class probe stores it
 * where its probe can find it.
 *
 * Inputs are checked against the type `inputs` before the work begins; NULL accepts any mapping.
 * Without isolation (tools.isolation = off) a contained tool has class once.
 */
#ifndef TOOL_TOOL_H
#define TOOL_TOOL_H

#include "base/error.h"
#include "base/uuid.h"
#include "contract/run_class_types.h"
#include "tool/tool_host.h"

struct run_call_figures;

struct tool_result {
	const struct json *output;              /* valid during done(); NULL = the call failed */
	const struct run_call_figures *figures; /* of its processes, valid during done(); or NULL */
	struct error error;                     /* code NONE = the call succeeded */
	int64_t retry_after_us; /* on failure: a retry waits at least so long; 0 = no wish */
};

typedef void tool_done(void *context, uint64_t argument, const struct tool_result *result);

enum tool_answer {
	TOOL_UNKNOWN,      /* the probe could not find out */
	TOOL_HAPPENED,     /* with the output that the call would have returned */
	TOOL_NOT_HAPPENED, /* and will not happen later */
};

typedef void tool_asked(void *context, uint64_t argument, enum tool_answer answer,
			const struct json *output);

struct output_log;
struct secret_mask;
struct tool;

struct tool_call {
	const struct tool *tool;
	struct str name;             /* of the tool; a custom tool's own name */
	enum run_effect_class class; /* as recorded with the effect's request */
	struct uuid run, effect;
	int64_t attempt;
	int64_t run_created_at;         /* us UTC; the same for all attempts and replays */
	struct str plan_path_pattern;   /* of the run; "" = the usual one */
	const struct json *inputs;      /* valid during start() or probe() */
	struct str step;                /* path of the step, for messages */
	struct str repository, tracker; /* of the run's profile; "" = none */
	const char *workspace;          /* the folder it works in */
	bool read_only;                 /* it only reads the workspace */
	int lock;                       /* descriptor of the effect's lock, inherited by every
				    * child process; -1 if the tool starts none */
	const struct secret_mask *mask; /* of the run's secrets; NULL = it has none */
	struct output_log *log;         /* gets what the tool's processes write; NULL = dropped */
	tool_done *done;                /* of start() */
	tool_asked *asked;              /* of probe() */
	void *context;
	uint64_t argument;
};

struct tool {
	const char *name;
	const char *text; /* one or two sentences: what it does, and when a model should use it */
	enum run_effect_class class;
	enum run_risk risk;
	double timeout_seconds; /* of a call; 0 = LIMIT_TOOL_SECONDS */
	bool child; /* starts processes, which may outlive this one and hold the effect's lock */
	/* A first call gets no lock: the tool takes it itself if it starts a process for this call
	 * alone (a process for many calls holds a lock of its own). */
	bool locks_itself;
	struct str_list secrets; /* top-level inputs that may contain secrets */
	const struct type *(*inputs)(void);
	const struct type *(*outputs)(void); /* NULL = any mapping */
	bool (*compute)(const struct json *inputs, struct arena *arena,
			const struct json **out_output, struct error *error);
	/* Fails with UNAVAILABLE when no process can be started now; the caller tries again. */
	bool (*start)(const struct tool_host *host, const struct tool_call *call,
		      uint64_t *out_running, struct error *error);
	void (*stop)(const struct tool_host *host, uint64_t running, const struct error *why);
	bool (*probe)(const struct tool_host *host, const struct tool_call *call,
		      struct error *error);
};

struct tool_table {
	const struct tool *const *at;
	size_t count;
	const struct tool *other; /* serves all other names; NULL = unknown names fail */
};

extern const struct tool_table tool_table; /* tools.def, and custom tools */
const struct tool *tool_find(const struct tool_table *table, struct str name);

#endif
