/* llm/model_gate.h -- how many requests a provider gets at once, and whether a model is asked at all.
 *
 * Two rules, for the driver api:
 *
 *	lane     of a provider's address: at most `most` requests at once; further ones wait, first in,
 *	         first out
 *	breaker  of a model at that address: after LIMIT_BREAKER_FAILURES failures in a row it opens,
 *	         and nothing is asked for LIMIT_BREAKER_OPEN_MS; then one request probes the model.  If
 *	         that succeeds, the breaker closes; if not, it stays open as long again.
 *
 * A turn has a ticket, zeroed at first.  It enters the lane, passes the breaker, asks, and leaves;
 * whoever has entered must leave.  On the loop thread only.
 */
#ifndef LLM_MODEL_GATE_H
#define LLM_MODEL_GATE_H

#include "base/str.h"
#include "os/platform.h"

struct model_gates;
struct model_lane;
struct model_breaker;

struct model_ticket {
	/* Called from the loop when a ticket that waited has its place. */
	platform_callback *entered;
	void *context;
	uint64_t argument;
	/* Private: */
	struct model_lane *lane;
	struct model_breaker *breaker;
	struct model_ticket *next;
	bool waits, probes;
};

enum model_outcome {
	MODEL_ANSWERED, /* with a reply or a refusal: the model is there */
	MODEL_FAILED,   /* it is not there, or cannot answer now */
	MODEL_UNASKED,  /* nothing is known: it was not asked, or the turn was stopped */
};

struct model_gates *model_gates_new(struct platform *platform, size_t most);
void model_gates_free(struct model_gates *gates);

/* True: the ticket has its place.  False: it waits, and entered() is called later. */
bool model_gate_enter(struct model_gates *gates, struct model_ticket *ticket, struct str url,
		      struct str model);
/* False: the model is not asked; *out_rest_us is the time until it may be tried again. */
bool model_gate_pass(struct model_gates *gates, struct model_ticket *ticket, int64_t *out_rest_us);
/* Harmless for a ticket that has not entered. */
void model_gate_leave(struct model_gates *gates, struct model_ticket *ticket,
		      enum model_outcome outcome);

struct model_counts {
	size_t inside, waiting; /* requests */
	size_t open;            /* breakers that are open now */
	uint64_t opened;        /* times that one opened */
};
struct model_counts model_gates_counts(const struct model_gates *gates);

#endif
