/* views/view_agent.h -- an agent of the registry in the vocabularies that have agents: S2's
 * AgentInfo and S4's Agent.
 *
 * What a seed requires and the agent does not say is empty: S4's endpoint, when the driver knows
 * it.  The results borrow from the agent and live in the arena.
 */
#ifndef VIEWS_AGENT_H
#define VIEWS_AGENT_H

#include "contract/run_types.h"

const struct runtime_agent_info *view_agent_info(const struct run_agent *agent,
						 struct arena *arena);
const struct graph_agent *view_agent_graph(const struct run_agent *agent, struct arena *arena);

#endif
