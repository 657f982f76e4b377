/* document/agent_registry.c -- agents of the registry by name, read when they are needed. */
#include "document/agent_registry.h"

#include "base/limits.h"
#include "contract/pipeline_agent.h"
#include "contract/pipeline_types.h"
#include "contract/run_agent_types.h"
#include "contract/run_settings_types.h"
#include "document/stored_document.h"

bool agent_registry_find(struct store_reader *reader, struct str name, struct arena *arena,
			 const struct run_agent **out_agent, struct error *error)
{
	const void *agent;
	if (!stored_document_read(reader, DOCUMENT_AGENT, name, arena, &agent, NULL, error))
		return false;
	if (agent == NULL)
		return fail(error, ERROR_NOT_FOUND, "there is no agent called " STR_FMT,
			    STR_ARG(str_head(name, LIMIT_NAME_BYTES)));
	*out_agent = agent;
	return true;
}

bool agent_registry_profile(struct store_reader *reader, struct str name, struct arena *arena,
			    const struct pipeline_profile **out_profile, struct error *error)
{
	const void *value;
	if (name.size == 0) {
		if (!stored_document_read(reader, DOCUMENT_SETTINGS,
					  document_kind_name(DOCUMENT_SETTINGS), arena, &value,
					  NULL, error))
			return false;
		const struct run_selection *selection = value;
		if (selection == NULL) {
			*out_profile = NULL;
			return true;
		}
		name = selection->active_profile;
	}
	if (!stored_document_read(reader, DOCUMENT_PROFILE, name, arena, &value, NULL, error))
		return false;
	if (value == NULL)
		return fail(error, ERROR_CONFIGURATION,
			    "there is no profile called " STR_FMT "; baton profile list shows them",
			    STR_ARG(str_head(name, LIMIT_NAME_BYTES)));
	*out_profile = value;
	return true;
}

bool agent_registry_profile_agent(struct store_reader *reader,
				  const struct pipeline_profile *profile, struct str name,
				  struct arena *arena,
				  const struct pipeline_agent_config **out_config,
				  struct error *error)
{
	const void *value;
	struct error missing;
	if (pipeline_profile_agent(profile, name, arena, out_config, &missing))
		return true;
	if (!stored_document_read(reader, DOCUMENT_AGENT, name, arena, &value, NULL, error))
		return false;
	if (value == NULL) {
		*error = missing;
		return false;
	}
	const struct run_agent *agent = value;
	enum pipeline_agent_driver driver;
	bool named = pipeline_agent_driver_from(run_driver_name(agent->driver), &driver);
	require(named); /* both vocabularies have the same words */
	struct pipeline_agent_config *config = pipeline_agent_config_new(arena);
	SET(config, driver, driver);
	SET(config, model, agent->llm_config->model);
	SET(config, options, agent->options);
	SET(config, sandbox,
	    pipeline_sandbox_is_set(profile->sandbox, arena) ? profile->sandbox : agent->sandbox);
	SET(config, profile_name, profile->name);
	*out_config = config;
	return true;
}
