/* document/agent_registry.c -- agents of the registry by name, read when they are needed. */
#include "document/agent_registry.h"

#include "base/limits.h"
#include "contract/pipeline_agent.h"
#include "contract/run_agent_types.h"
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
	struct str word = run_driver_name(agent->driver);
	enum pipeline_driver_type driver;
	if (!pipeline_driver_type_from(word, &driver))
		return fail(error, ERROR_CONFLICT,
			    "agent " STR_FMT " is driven by " STR_FMT
			    ", which no agent of a profile can be",
			    STR_ARG(agent->name), STR_ARG(word));
	struct pipeline_agent_config *config = pipeline_agent_config_new(arena);
	SET(config, driver, driver);
	SET(config, model, agent->llm_config->model);
	SET(config, options, agent->options);
	SET(config, sandbox, profile->sandbox);
	SET(config, profile_name, profile->name);
	*out_config = config;
	return true;
}
