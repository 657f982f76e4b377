/* tool/tool.h -- what a step can do: one file tool_<name>.c and one row in tools.def each.
 *
 * A tool has a name, an effect class (what recovery may do with it) and either compute() or
 * start():
 *
 *	compute   class pure: inputs to output, in process, no time, no world
 *	start     begins the work and gives it an id; done() is called once, on the loop, with the
 *	          result, and never from inside start() or stop()
 *	stop      the call is told to end: within LIMIT_TOOL_KILL_MS its done() is called with the
 *	          error it was told (CANCELLED or TIMEOUT), or with its result when that was faster;
 *	          an id whose call is over is harmless
 *	probe     class probe: after a crash, has the effect of this call happened?  Only then is it
 *	          asked; `asked` is called once, on the loop, never from inside probe()
 *
 * Every row but a pure one has start and stop, and every row of class probe has probe.
 *
 * A call whose effect may or may not have happened ends with OUTCOME_UNKNOWN: a person is asked.
 * So does one of class once that has begun and has no answer, whatever it was told to end with.
 *
 * The effect's id is the idempotency key: the same for every attempt of a call and for no other
 * one.  A tool of class keyed hands it to whoever does the work; one of class probe leaves it where
 * its probe will look.
 *
 * `inputs` is the contract the inputs are checked against before the work begins; NULL takes any
 * mapping.  Under an isolation that does not contain (tools.isolation = off) a contained tool
 * counts as `once`.
 */
#ifndef TOOL_TOOL_H
#define TOOL_TOOL_H

#include "base/error.h"
#include "base/uuid.h"
#include "contract/run_types.h"

struct tool_result {
	const struct json *output; /* borrowed for the call; NULL when it failed */
	struct error error;        /* code NONE when it did not */
};

typedef void tool_done(void *context, uint64_t argument, const struct tool_result *result);

enum tool_answer {
	TOOL_UNKNOWN,      /* nobody can say */
	TOOL_HAPPENED,     /* with the output it would have given */
	TOOL_NOT_HAPPENED, /* and will not by itself any more */
};

typedef void tool_asked(void *context, uint64_t argument, enum tool_answer answer,
			const struct json *output);

struct tool;

struct tool_call {
	const struct tool *tool;     /* the row it was found in */
	struct str name;             /* the one it was found by */
	enum run_effect_class class; /* the one that was recorded with the request */
	struct uuid run, effect;
	int64_t attempt;
	const struct json *inputs; /* borrowed for the call of start() or probe() */
	const char *workspace;     /* the run's folder */
	int lock;                  /* the effect's flocked descriptor, which every child
				    * inherits; -1 for a tool that starts none */
	tool_done *done;           /* of start() */
	tool_asked *asked;         /* of probe() */
	void *context;
	uint64_t argument;
};

struct loop;
struct sandbox;
struct tool_context;

/* What tools that start something need of the world. */
struct tool_host {
	struct loop *loop;
	const struct sandbox *sandbox;
	struct tool_context *tool_context; /* works.h: what calls share */
};

struct tool {
	const char *name, *text;
	enum run_effect_class class;
	bool child; /* it starts processes: they may outlive ours, and hold the effect's lock */
	const struct type *(*inputs)(void);
	const struct type *(*outputs)(void); /* NULL: whatever the inputs make of it */
	bool (*compute)(const struct json *inputs, struct arena *arena,
			const struct json **out_output, struct error *error);
	/* UNAVAILABLE: every place is taken; the same call is made again in a moment. */
	bool (*start)(const struct tool_host *host, const struct tool_call *call,
		      uint64_t *out_running, struct error *error);
	void (*stop)(const struct tool_host *host, uint64_t running, const struct error *why);
	bool (*probe)(const struct tool_host *host, const struct tool_call *call,
		      struct error *error);
};

struct tool_table {
	const struct tool *const *at;
	size_t count;
	const struct tool *other; /* serves every other name; NULL = nobody does */
};

extern const struct tool_table tool_table; /* the rows of tools.def, and custom tools */
const struct tool *tool_find(const struct tool_table *table, struct str name);

#endif
