/* definition/agent_driver.h -- the driver of an agent, and what its name says about the options.
 *
 * `driver: api:openai` is the driver api with options.provider openai.  Pure.
 */
#ifndef DEFINITION_AGENT_DRIVER_H
#define DEFINITION_AGENT_DRIVER_H

#include "base/json.h"
#include "contract/run_graph_types.h"

/* Sets driver and options of the agent.  False: the options name another provider than the driver;
 * then the options stand. */
bool agent_driver_set(struct run_graph_agent *agent, struct str driver, const struct json *options,
		      struct arena *arena);
/* The options with this member, unless they have it already. */
const struct json *agent_driver_option(const struct json *options, struct str key, struct str value,
				       struct arena *arena);
/* Connects an agent whose driver is api to a cassette: `record` keeps its replies there, `replay`
 * answers from there in place of the model; "" = neither.  Other agents stay as they are. */
void agent_driver_set_cassette(struct run_graph_agent *agent, struct str record, struct str replay,
			       struct arena *arena);

#endif
