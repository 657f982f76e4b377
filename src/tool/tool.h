/* tool/tool.h -- what a step can do: one file tool_<name>.c and one row in tools.def each.
 *
 * A tool has a name, an effect class (what recovery may do with it) and either compute() or
 * start():
 *
 *	compute   class pure: inputs to output, in process, no time, no world
 *	start     begins the work and returns; done() is called once, on the loop, with the result
 *
 * `inputs` is the contract the inputs are checked against before the tool sees them; NULL takes
 * any mapping.  Under an isolation that does not contain (tools.isolation = off) a contained tool
 * counts as `once`.
 */
#ifndef TOOL_TOOL_H
#define TOOL_TOOL_H

#include "base/error.h"
#include "base/uuid.h"
#include "contract/run.h"

struct tool_result {
	const struct json *output; /* borrowed for the call; NULL when it failed */
	struct error error;        /* code NONE when it did not */
};

typedef void tool_done(void *context, uint64_t argument, const struct tool_result *result);

struct tool_call {
	struct uuid run, effect;
	int64_t attempt;
	const struct json *inputs; /* borrowed for the call of start() */
	const char *workspace;     /* the run's folder */
	int lock;                  /* the effect's flocked descriptor; every child inherits it */
	tool_done *done;
	void *context;
	uint64_t argument;
};

struct loop;
struct sandbox;

/* What tools that start something need of the world. */
struct tool_host {
	struct loop *loop;
	const struct sandbox *sandbox;
};

struct tool {
	const char *name, *text;
	enum run_effect_class class;
	const struct type *(*inputs)(void);
	bool (*compute)(const struct json *inputs, struct arena *arena,
			const struct json **out_output, struct error *error);
	bool (*start)(const struct tool_host *host, const struct tool_call *call,
		      struct error *error);
};

struct tool_table {
	const struct tool *const *at;
	size_t count;
};

extern const struct tool_table tool_table; /* the rows of tools.def */
const struct tool *tool_find(const struct tool_table *table, struct str name);

#endif
