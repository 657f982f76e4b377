/* contract/pipeline_agent.h -- the effective settings of one agent of a profile.
 *
 * The effective settings are the agent's own entry with two members replaced: `sandbox` is the
 * sandbox of the profile, if one is set there, and `profile_name` is the name of the profile.
 *
 * The result lives in the arena and borrows from the profile.
 */
#ifndef CONTRACT_PIPELINE_AGENT_H
#define CONTRACT_PIPELINE_AGENT_H

#include "contract/pipeline_types.h"

/* ERROR_NOT_FOUND, with a list of the profile's agents, when the profile has no such agent. */
MUST_CHECK bool pipeline_profile_agent(const struct pipeline_profile *profile, struct str agent,
				       struct arena *arena,
				       const struct pipeline_agent_config **out_config,
				       struct error *error);

/* Whether the sandbox differs from the default one, which a profile or an agent without any has. */
bool pipeline_sandbox_is_set(const struct pipeline_sandbox_config *sandbox, struct arena *arena);

#endif
