/* contract/pipeline_agent.c -- merges an agent's entry with the settings of its profile.
 *
 * A run uses the copy made here, so a later change of the stored profile does not affect a run that
 * has begun.
 */
#include "contract/pipeline_agent.h"

#include "base/buf.h"

static struct str agent_names(const struct pipeline_profile *profile, struct arena *arena)
{
	AUTO(buf) names = { 0 };
	for (size_t i = 0; i < profile->agents.count; i++) {
		buf_add(&names, i == 0 ? S("it has ") : S(", "));
		buf_add(&names, profile->agents.at[i].key);
	}
	if (profile->agents.count == 0)
		buf_add(&names, S("it has no agents"));
	return str_copy(arena, buf_str(&names));
}

bool pipeline_sandbox_is_set(const struct pipeline_sandbox_config *sandbox, struct arena *arena)
{
	static const struct json nothing = { .kind = JSON_OBJECT };
	const struct contract_source source = { .json = &nothing };
	struct problems problems = { .arena = arena };
	const struct pipeline_sandbox_config *usual =
		pipeline_sandbox_config_parse(&source, arena, &problems);
	require(usual != NULL);
	return !str_equal(pipeline_sandbox_config_text(sandbox, arena),
			  pipeline_sandbox_config_text(usual, arena));
}

bool pipeline_profile_agent(const struct pipeline_profile *profile, struct str agent,
			    struct arena *arena, const struct pipeline_agent_config **out_config,
			    struct error *error)
{
	for (size_t i = 0; i < profile->agents.count; i++) {
		if (!str_equal(profile->agents.at[i].key, agent))
			continue;
		struct pipeline_agent_config *config =
			arena_copy(arena, &profile->agents.at[i].value, sizeof(*config));
		if (pipeline_sandbox_is_set(profile->sandbox, arena))
			SET(config, sandbox, profile->sandbox);
		SET(config, profile_name, profile->name);
		*out_config = config;
		return true;
	}
	struct str names = agent_names(profile, arena);
	return fail(error, ERROR_NOT_FOUND,
		    "profile " STR_FMT " has no agent " STR_FMT "; " STR_FMT,
		    STR_ARG(profile->name), STR_ARG(agent), STR_ARG(names));
}
