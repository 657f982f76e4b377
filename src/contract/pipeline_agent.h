/* contract/pipeline_agent.h -- the settings one agent of a profile really runs with.
 *
 * A profile says per agent what drives it; two things are only known when they are put together:
 * the profile's sandbox replaces the agent's own, and profile_name is the profile's name.
 *
 * The result borrows from the profile and lives in the arena.
 */
#ifndef CONTRACT_PIPELINE_AGENT_H
#define CONTRACT_PIPELINE_AGENT_H

#include "contract/pipeline_types.h"

/* ERROR_NOT_FOUND, naming the agents there are, when the profile has no such agent. */
MUST_CHECK bool pipeline_profile_agent(const struct pipeline_profile *profile, struct str agent,
				       struct arena *arena,
				       const struct pipeline_agent_config **out_config,
				       struct error *error);

#endif
