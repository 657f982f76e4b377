/* runtime/agents.c -- agents by name: the registry's documents, read where they are needed.
 *
 * Nothing is kept in memory: a name is looked up once for each thing that begins, on the thread
 * that reads its definition anyway.
 */
#include "runtime/agents.h"

#include "base/limits.h"
#include "contract/document.h"
#include "contract/pipeline_agent.h"

static bool find(struct store_reader *reader, struct str name, struct arena *arena,
		 const struct run_agent **out_agent, struct error *error)
{
	struct store_document row;
	bool found;
	const struct run_agent *agent = NULL;
	if (!reader->ops->read_document(reader, document_kind_name(DOCUMENT_AGENT), name, arena,
					&row, &found, error))
		return false;
	if (found) {
		agent = document_read_stored(DOCUMENT_AGENT, row.body, arena, error);
		if (agent == NULL)
			return false;
	}
	*out_agent = agent;
	return true;
}

bool runtime_agent(struct store_reader *reader, struct str name, struct arena *arena,
		   const struct run_agent **out_agent, struct error *error)
{
	const struct run_agent *agent;
	if (!find(reader, name, arena, &agent, error))
		return false;
	if (agent == NULL)
		return fail(error, ERROR_NOT_FOUND, "there is no agent called " STR_FMT,
			    STR_ARG(str_head(name, LIMIT_NAME_BYTES)));
	*out_agent = agent;
	return true;
}

bool runtime_profile_agent(struct store_reader *reader, const struct pipeline_profile *profile,
			   struct str name, struct arena *arena,
			   const struct pipeline_agent_config **out_config, struct error *error)
{
	const struct run_agent *agent;
	struct error missing;
	if (pipeline_profile_agent(profile, name, arena, out_config, &missing))
		return true;
	if (!find(reader, name, arena, &agent, error))
		return false;
	if (agent == NULL) {
		*error = missing;
		return false;
	}
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
