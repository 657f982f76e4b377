/* llm/llm_calls.h -- turns under way: what every driver would write again; private to this room.
 *
 * A driver's own structure begins with a struct llm_running, made by calloc(); it is found by its
 * id and freed by llm_calls_done(), with its arena.
 */
#ifndef LLM_CALLS_H
#define LLM_CALLS_H

#include "llm/llm.h"

struct llm_running {
	struct arena arena;
	struct llm_host *host;
	uint64_t id;
	struct error told; /* what it was told to end with; code NONE: nothing yet */
	llm_done *done;
	llm_piece *piece;
	void *context;
	uint64_t argument;
	/* Ends it early, once, behind `told`. */
	void (*end)(struct llm_running *running);
};

/* UNAVAILABLE: every place is taken; the structure stays the caller's. */
MUST_CHECK bool llm_calls_begin(struct llm_running *running, struct llm_host *host,
				const struct llm_call *call, struct error *error);
struct llm_running *llm_calls_find(const struct llm_host *host, uint64_t id); /* NULL when over */
void llm_calls_piece(const struct llm_running *running, struct str delta);
/* Gives the id back, calls done() with what it was told to end with, if it was and has no reply,
 * else with the result, and frees it. */
void llm_calls_done(struct llm_running *running, const struct llm_result *result);
/* The stop() of every driver. */
void llm_calls_stop(struct llm_host *host, uint64_t id, const struct error *why);

#endif
