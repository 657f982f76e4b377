/* contract/event_result.h -- the fields that several event types share: requests of a call, results.
 *
 * The macros take the body of such an event; their users include contract/run_event_types.h.
 */
#ifndef CONTRACT_EVENT_RESULT_H
#define CONTRACT_EVENT_RESULT_H

#include "contract/event.h"
#include "contract/run_outcome_types.h"

struct run_fault;
struct run_next;

/* The common fields of events that request a call of a tool, a turn or a sub-run. */
struct event_request {
	struct str step;
	struct uuid effect;
	const struct run_value *inputs;
	int64_t attempt; /* from 1 */
	int64_t due_at;  /* 0 = never */
};

/* Reads the common fields from the body of such an event; `given` is the member with the inputs. */
#define EVENT_REQUEST(body, given)                                                    \
	((struct event_request){ .step = (body)->step,                                \
				 .effect = (body)->effect,                            \
				 .inputs = (body)->given,                             \
				 .attempt = has(body, attempt) ? (body)->attempt : 1, \
				 .due_at = has(body, due_at) ? (body)->due_at : 0 })

/* The common fields of events that carry the result of a step, a call or a wait; NULL = absent. */
struct event_result {
	enum run_outcome outcome;
	bool settled; /* an unknown outcome is final: version 1 did not ask a person to settle it */
	const struct run_value *output;
	const struct run_call_figures *figures; /* of a tool call */
	const struct run_value *log;            /* of a tool call */
	const struct run_value *files;          /* of a tool call, with their number: */
	int64_t file_count;
	const struct run_fault *fault;
	const struct run_next *next;
};

/* Reads the common fields from the body of such an event.  step.computed has no outcome field: it
 * failed when it has a fault. */
#define EVENT_RESULT(body) EVENT_RESULT_AS(body, (body)->outcome)
#define EVENT_COMPUTED(body) \
	EVENT_RESULT_AS(body, has(body, fault) ? RUN_OUTCOME_FAILED : RUN_OUTCOME_OK)
#define EVENT_RESULT_AS(body, came_to)                                               \
	((struct event_result){ .outcome = (came_to),                                \
				.settled = (body)->v < 2,                            \
				.output = has(body, output) ? (body)->output : NULL, \
				.fault = has(body, fault) ? (body)->fault : NULL,    \
				.next = has(body, next) ? (body)->next : NULL })

/* False when the event carries no result.  A person's answer carries a decision, not a result. */
bool event_result(const struct event *event, struct event_result *out_result);

#endif
