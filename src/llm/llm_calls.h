/* llm/llm_calls.h -- running turns: code that all drivers share; private to llm.
 *
 * The struct of a driver begins with a struct llm_running and is allocated with calloc().  It is
 * found by its id; llm_calls_done() frees it and its arena.
 */
#ifndef LLM_CALLS_H
#define LLM_CALLS_H

#include "llm/llm.h"

struct llm_running {
	struct arena arena;
	struct llm_host *host;
	uint64_t id;
	struct error stop_error; /* the error given to stop(); code NONE = not stopped */
	llm_done *done;
	llm_piece *piece;
	void *context;
	uint64_t argument;
	/* Ends the turn early; called at most once, after stop_error is set. */
	void (*end)(struct llm_running *running);
	/* Frees what is not in the arena; may be NULL. */
	void (*release)(struct llm_running *running);
};

/* Assigns an id.  Fails with UNAVAILABLE when LIMIT_TURNS turns are running; the caller then still
 * owns the struct. */
MUST_CHECK bool llm_calls_begin(struct llm_running *running, struct llm_host *host,
				const struct llm_call *call, struct error *error);
struct llm_running *llm_calls_find(const struct llm_host *host, uint64_t id); /* NULL = ended */
void llm_calls_piece(const struct llm_running *running, enum llm_part part, struct str delta);
/* Releases the id, calls done(), and frees the turn. done() gets stop_error if the turn was stopped
 * and has no reply, else the result. */
void llm_calls_done(struct llm_running *running, const struct llm_result *result);
/* The stop() of every driver. */
void llm_calls_stop(struct llm_host *host, uint64_t id, const struct error *why);

#endif
