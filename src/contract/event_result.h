/* contract/event_result.h -- what the bodies of several event types have in common: requests of a
 * call, and results.
 *
 * The macros take the body of such an event; whoever uses them includes contract/run_event_types.h.
 */
#ifndef CONTRACT_EVENT_RESULT_H
#define CONTRACT_EVENT_RESULT_H

#include "contract/event.h"
#include "contract/run_outcome_types.h"

struct run_fault;
struct run_next;

/* A call is asked for: of a tool, a turn or a sub-run. */
struct event_request {
	struct str step;
	struct uuid effect;
	const struct run_value *inputs;
	int64_t attempt; /* from 1 */
	int64_t due_at;  /* 0 = never */
};

/* From the body of such an event; `given` is its member that has what the call is given. */
#define EVENT_REQUEST(body, given)                                                    \
	((struct event_request){ .step = (body)->step,                                \
				 .effect = (body)->effect,                            \
				 .inputs = (body)->given,                             \
				 .attempt = has(body, attempt) ? (body)->attempt : 1, \
				 .due_at = has(body, due_at) ? (body)->due_at : 0 })

/* A step, a call or a wait has its result; NULL is what the event does not say. */
struct event_result {
	enum run_outcome outcome;
	bool settled; /* an unknown outcome is the end: what version 1 wrote had nobody asked */
	const struct run_value *output;
	const struct run_fault *fault;
	const struct run_next *next;
};

/* From the body of such an event; step.computed has no outcome, its fault says how it ended. */
#define EVENT_RESULT(body) EVENT_RESULT_AS(body, (body)->outcome)
#define EVENT_COMPUTED(body) \
	EVENT_RESULT_AS(body, has(body, fault) ? RUN_OUTCOME_FAILED : RUN_OUTCOME_OK)
#define EVENT_RESULT_AS(body, came_to)                                               \
	((struct event_result){ .outcome = (came_to),                                \
				.settled = (body)->v < 2,                            \
				.output = has(body, output) ? (body)->output : NULL, \
				.fault = has(body, fault) ? (body)->fault : NULL,    \
				.next = has(body, next) ? (body)->next : NULL })

/* False: it is no such event.  A person's answer is none, either: it has a decision. */
bool event_result(const struct event *event, struct event_result *out_result);

#endif
