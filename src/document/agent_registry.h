/* document/agent_registry.h -- the registry of agents, for whoever has a name and needs the agent.
 *
 * An agent is a document (kind `agent`); whoever begins something with it reads it once and keeps
 * what it read, so that a later change does not reach into what has begun.
 *
 * On a reader's thread.  What comes out lives in the arena.
 */
#ifndef DOCUMENT_AGENT_REGISTRY_H
#define DOCUMENT_AGENT_REGISTRY_H

#include "contract/run_types.h"
#include "store/store.h"

/* ERROR_NOT_FOUND when there is no agent of this name. */
MUST_CHECK bool agent_registry_find(struct store_reader *reader, struct str name,
				    struct arena *arena, const struct run_agent **out_agent,
				    struct error *error);

/* What an agent of a profile really runs with: the profile's own words for it, else the registry's
 * agent of that name; the profile's sandbox and name go before the agent's.  ERROR_NOT_FOUND,
 * naming the profile's agents, when neither knows it; ERROR_CONFLICT when its driver is one that
 * S0 has no word for. */
MUST_CHECK bool agent_registry_profile_agent(struct store_reader *reader,
					     const struct pipeline_profile *profile,
					     struct str name, struct arena *arena,
					     const struct pipeline_agent_config **out_config,
					     struct error *error);

#endif
