/* views/view_agent.h -- a registered agent as AgentInfo (runtime) or Agent (graph).
 *
 * A required member that the agent does not have is empty: for example the endpoint of a graph
 * agent whose driver has its own endpoint.  The results borrow from the agent and live in the
 * arena.
 */
#ifndef VIEWS_VIEW_AGENT_H
#define VIEWS_VIEW_AGENT_H

#include "contract/contract.h"

struct graph_agent;
struct run_agent;
struct runtime_agent_info;

const struct runtime_agent_info *view_agent_info(const struct run_agent *agent,
						 struct arena *arena);
const struct graph_agent *view_agent_graph(const struct run_agent *agent, struct arena *arena);

#endif
