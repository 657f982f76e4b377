/* llm/llm.h -- models: one file llm_<name>.c and one row in drivers.def for each way to ask one.
 *
 * A driver takes a turn: a system prompt and a transcript go out, one reply comes back.
 *
 *	check   whether the model's name and the options are ones it takes.  Pure, on any thread,
 *	        when a definition is compiled; each problem has a pointer from the options
 *	start   begins the turn and gives it an id; done() is called once, on the loop, with the
 *	        reply or with why there is none, and never from inside start() or stop()
 *	stop    the turn is told to end: done() is called soon, with the error it was told
 *	        (CANCELLED) or with its reply when that was faster; an id whose turn is over is
 *	        harmless
 *
 * Asking again costs money and changes nothing else, so a turn is of class idempotent: after a
 * crash the same request, byte for byte, is asked again as the next attempt.  A driver remembers
 * nothing between two calls; whatever makes a reply another one stands in the call.
 *
 * A turn fails with a code that is a word of run_turn_fault, so that a definition's `retry.on`
 * means the same whatever the driver; start() itself also with UNAVAILABLE while every place is
 * taken: the same call is then made again in a moment.
 *
 * Whoever gives `piece` is told the reply while it comes: in order, on the loop, never from inside
 * start(), and what done() then gives is all of them in one.  A turn that is told to stop or fails
 * may leave pieces behind that belong to no reply.  Texts are UTF-8 and never cut within a
 * character.
 */
#ifndef LLM_LLM_H
#define LLM_LLM_H

#include "base/error.h"
#include "base/slots.h"
#include "base/uuid.h"
#include "contract/run_types.h"
#include "os/platform.h"

struct llm_result {
	struct str text;                    /* the reply; borrowed for the call */
	const struct run_turn_usage *usage; /* likewise, of a failure too; NULL = not counted */
	struct error error;                 /* code NONE when it has answered */
};

typedef void llm_done(void *context, uint64_t argument, const struct llm_result *result);
typedef void llm_piece(void *context, uint64_t argument, struct str delta);

struct llm_call {
	struct str model;
	const struct run_turn *turn; /* borrowed for the call of start() */
	struct uuid run, effect;     /* the effect is the same for every attempt */
	struct str step;             /* path of the activation */
	int64_t attempt;
	llm_done *done;
	llm_piece *piece; /* NULL: nobody listens */
	void *context;
	uint64_t argument;
};

/* What drivers need of the world; `{ .system = system }` to begin with.  One for a program, on the
 * loop thread. */
struct llm_host {
	struct platform *platform;
	struct slots calls; /* under way, each a struct llm_running of calls.h */
};

/* Turns under way are forgotten without a word; the system's timers must not fire any more. */
void llm_host_done(struct llm_host *host);

struct llm_driver {
	const char *name, *text;
	void (*check)(struct str model, const struct json *options, struct arena *arena,
		      struct problems *problems);
	bool (*start)(struct llm_host *host, const struct llm_call *call, uint64_t *out_running,
		      struct error *error);
	void (*stop)(struct llm_host *host, uint64_t running, const struct error *why);
};

struct llm_table {
	const struct llm_driver *const *at;
	size_t count;
};

extern const struct llm_table llm_table; /* the rows of drivers.def */
/* NULL when there is none; a NULL table has none. */
const struct llm_driver *llm_find(const struct llm_table *table, struct str name);

/* Whether the agent's driver is there and takes it.  Pointers of problems are from the agent. */
void llm_check(const struct llm_table *table, const struct run_graph_agent *agent,
	       struct arena *arena, struct problems *problems);

/* What a turn gives as the output of its step: run.TurnResult as a tree, in the arena. */
const struct json *llm_output(struct str reply, struct arena *arena);

#endif
