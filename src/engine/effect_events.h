/* engine/effect_events.h -- the events that ask for a call and that close it.
 *
 * Calls are what can be told to stop: tools, turns and sub-runs.  Each has events of its own, whose
 * bodies say almost the same; here they are made from one form, for a decision as well as for a
 * story told again.  The time of the event is the caller's to fill in.  This room's.
 */
#ifndef ENGINE_CALL_H
#define ENGINE_CALL_H

#include "contract/event.h"
#include "contract/run_outcome_types.h"

struct run_fault;
struct run_graph_node;
struct run_next;

/* Since version 2 a person settles an outcome nobody knows. */
enum { EVENT_VERSION = 2 };

struct call_request {
	struct str step;
	struct uuid effect;
	const struct run_value *inputs; /* of a turn the whole request */
	int64_t attempt;                /* from 1 */
	int64_t due_at;                 /* 0 = never */
	struct str tree;                /* of a contained tool; "" = none */
	struct hash definition;         /* of a sub-run */
};

/* NULL is what is not said. */
struct call_end {
	struct str step;
	struct uuid effect;
	enum run_outcome outcome;
	const struct run_value *output;
	const struct run_fault *fault;
	const struct run_next *next;
	const struct json *usage; /* of a turn */
};

struct event call_requested(const struct run_graph_node *node, const struct call_request *from,
			    struct arena *arena);
struct event call_finished(const struct run_graph_node *node, const struct call_end *from,
			   struct arena *arena);

#endif
