/* document/agent_registry.h -- the registry of agents: documents of kind `agent`.
 *
 * A run reads its agents once, when it starts, and keeps what it read: a later change of an agent
 * does not affect runs that have begun.
 *
 * On a reader thread; results live in the arena.
 */
#ifndef DOCUMENT_AGENT_REGISTRY_H
#define DOCUMENT_AGENT_REGISTRY_H

#include "contract/contract.h"
#include "store/store.h"

struct pipeline_agent_config;
struct pipeline_profile;
struct run_agent;
struct run_tier;

/* ERROR_NOT_FOUND when there is no agent of this name.  tierN_ROLE that is not registered itself is the agent ROLE;
 * INVALID, with the choices, when there is no such tier or role. */
MUST_CHECK bool agent_registry_find(struct store_reader *reader, struct str name,
				    struct arena *arena, const struct run_agent **out_agent,
				    struct error *error);

/* The tier of an agent called tierN_ROLE; *out_tier is NULL when the name is no such one, or is registered itself. */
MUST_CHECK bool agent_registry_tier(struct store_reader *reader, struct str name,
				    struct arena *arena, const struct run_tier **out_tier,
				    struct error *error);

/* The profile `name`, or the active profile if the name is empty; *out_profile is NULL when no profile
 * is active.  CONFIGURATION when the named one does not exist. */
MUST_CHECK bool agent_registry_profile(struct store_reader *reader, struct str name,
				       struct arena *arena,
				       const struct pipeline_profile **out_profile,
				       struct error *error);

/* The configuration that an agent of a profile runs with: the profile's own entry, else the registry's
 * agent of that name; the profile's name and a sandbox that is set there take precedence.  NOT_FOUND,
 * naming the profile's agents, when neither has it. */
MUST_CHECK bool agent_registry_profile_agent(struct store_reader *reader,
					     const struct pipeline_profile *profile,
					     struct str name, struct arena *arena,
					     const struct pipeline_agent_config **out_config,
					     struct error *error);

#endif
