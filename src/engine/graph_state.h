/* engine/graph_state.h -- the state that the nodes of a graph share, and how results change it.
 *
 * A graph whose rows have `state` has one value beside the outputs of its steps: a mapping with
 *
 *	messages        what was said: {role, content}, only ever appended
 *	next_action     the newest reply's, or null
 *	current_agent   the agent that replied last; "" = none yet
 *	routing_key     what selects among the edges of a routing map, or null
 *	metadata        a mapping; an update replaces members of the same name
 *	NAME            the declared fields, each with its reducer
 *
 * When a node of the root succeeds, its result is merged into the state before its edges are
 * decided, and the new state is recorded with the result (run.Next), so that two nodes that end at
 * the same time are merged one after the other.  Everything here is pure.
 */
#ifndef ENGINE_GRAPH_STATE_H
#define ENGINE_GRAPH_STATE_H

#include "engine/engine_internal.h"

struct run_graph_state;

/* A field of the state by its own name, or `state` itself.  False: there is no such name. */
bool graph_state_variable(struct eval_context *eval_context, struct str name,
			  const struct json **out);
/* Merges the result of a node; *out is NULL when the graph has no state.  From then on the context
 * reads the new state.  False: values are missing. */
MUST_CHECK bool graph_state_update(struct eval_context *eval_context,
				   const struct activation *activation, const struct json *output,
				   struct run_value **out, struct failure *out_fault);
/* Reduces a value; NULL after setting *out_fault. */
const struct json *graph_state_reduce(enum run_reducer reducer, const struct json *old,
				      const struct json *update, struct arena *arena,
				      struct failure *out_fault);

#endif
