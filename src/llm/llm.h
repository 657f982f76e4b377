/* llm/llm.h -- LLM drivers: one file llm_<name>.c and one line in drivers.def each.
 *
 * A driver executes one turn of an agent: it sends a system prompt and a transcript and returns one
 * reply.
 *
 *	check   checks the model's name and the options when a definition is compiled.  Pure, on
 *	        any thread; the pointers of its problems are relative to the options.
 *	start   starts the turn and returns its id; done() is called once with the reply or the
 *	        error, on the loop thread, never from inside start() or stop()
 *	stop    asks the turn to end: done() is called soon, with the given error (CANCELLED), or
 *	        with the reply if that came first.  Stopping a turn that has ended is harmless.
 *
 * Repeating a turn costs money but changes nothing else, so turns have class idempotent: after a
 * crash the same request, byte for byte, is sent again as the next attempt.  A driver keeps no
 * state between calls; the reply depends on the call only.
 *
 * A turn fails with a code of run_turn_fault, so that `retry.on` of a definition means the same for
 * all drivers.  start() also fails with UNAVAILABLE while too many turns are running; the caller
 * then tries again.
 *
 * A reply has a text, the model's thinking, and the calls of tools that it asks for; each may be
 * empty.  The calls have ids that are unique in the reply; a driver makes them up when the model has
 * none.  A driver never reports a reply that was cut: a stream that breaks is a failure.
 *
 * If `piece` is given, it is called with each piece of the reply as it arrives: in order, on the
 * loop thread, never from inside start().  The text in done() is the concatenation of all pieces of
 * the text, and likewise for the thinking.  Of a call, a piece is the name of the tool, once it is
 * known.  A turn that fails or is stopped may have sent pieces that belong to no reply.  Texts are
 * UTF-8 and never split inside a character.
 */
#ifndef LLM_LLM_H
#define LLM_LLM_H

#include "base/error.h"
#include "base/slots.h"
#include "base/uuid.h"
#include "contract/contract.h"
#include "contract/run_turn_types.h"
#include "os/platform.h"

struct models;
struct price_table;
struct run_graph_agent;

/* Everything is valid during done(). */
struct llm_result {
	struct str text;
	struct run_turn_thinking_list thinking;
	struct run_turn_call_list calls;
	enum run_turn_stop stop;
	const struct run_turn_usage *usage; /* also on failure; NULL = unknown */
	int64_t retry_after_us; /* on failure: how long the provider wants to be left alone; 0 */
	struct error error;     /* code NONE = success */
};

enum llm_part { LLM_PART_TEXT, LLM_PART_THINKING, LLM_PART_CALL };

typedef void llm_done(void *context, uint64_t argument, const struct llm_result *result);
typedef void llm_piece(void *context, uint64_t argument, enum llm_part part, struct str delta);

struct llm_call {
	struct str model;
	const struct run_turn *turn; /* valid during start() */
	struct uuid run, effect;     /* all attempts have the same effect */
	struct str step;             /* path of the activation */
	int64_t attempt;
	llm_done *done;
	llm_piece *piece; /* NULL = no streaming */
	void *context;
	uint64_t argument;
};

/* The environment of drivers; initialize with `{ .platform = platform }`.  A program has one, used
 * on the loop thread only. */
struct llm_host {
	struct platform *platform;
	struct slots calls;    /* running turns: struct llm_running of llm_calls.h */
	struct models *models; /* of llm/models.h, for api and replay; NULL = they cannot work */
	const struct price_table *prices; /* what models cost; NULL = unknown */
};

/* Frees running turns without calling done(); `models` is freed before.  The platform's timers must
 * not fire afterwards. */
void llm_host_done(struct llm_host *host);

/* Figures of the driver api; zero without it. */
struct llm_counts {
	size_t requests, waiting;     /* under way; waiting for a place */
	size_t open;                  /* models that are not asked for a while */
	uint64_t opened, connections; /* since the start */
};
struct llm_counts llm_counts(const struct llm_host *host);

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

extern const struct llm_table llm_table; /* drivers.def */
/* NULL = unknown; the table may be NULL. */
const struct llm_driver *llm_find(const struct llm_table *table, struct str name);

/* Checks that the agent's driver exists and accepts its options.  Pointers are relative to the
 * agent. */
void llm_check(const struct llm_table *table, const struct run_graph_agent *agent,
	       struct arena *arena, struct problems *problems);

/* Converts a good result into the output of its turn: run.TurnResult as JSON, in the arena.  If the model
 * was offered tools and asks for none, calls in its text count (llm/text_calls.h). */
const struct json *llm_output(const struct llm_result *result, bool has_tools, struct arena *arena);

#endif
