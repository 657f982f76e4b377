/* views/view_agent.c -- a registered agent as AgentInfo or Agent: selects members; a missing
 * description is taken from the role. */
#include "views/view_agent.h"

#include "contract/field_copy.h"
#include "contract/graph_types.h"
#include "contract/run_agent_types.h"
#include "contract/runtime_types.h"

const struct runtime_agent_info *view_agent_info(const struct run_agent *agent, struct arena *arena)
{
	struct runtime_agent_info *info = runtime_agent_info_new(arena);
	SET(info, name, agent->name);
	SET(info, description, has(agent, description) ? agent->description : agent->role);
	SET(info, capabilities, agent->capabilities);
	SET(info, model_tier, agent->model_tier);
	return info;
}

const struct graph_agent *view_agent_graph(const struct run_agent *agent, struct arena *arena)
{
	const struct run_agent_model *model = agent->llm_config;
	struct graph_llm_config *config = graph_llm_config_new(arena);
	SET(config, endpoint, S(""));
	COPY_FIELDS(run_agent_model, model, graph_llm_config, config, NULL);
	struct graph_agent *out = graph_agent_new(arena);
	SET(out, name, agent->name);
	SET(out, role, agent->role);
	SET(out, system_prompt, agent->system_prompt);
	SET(out, tools, agent->tools);
	SET(out, max_iterations, agent->max_iterations);
	SET(out, llm_config, config);
	SET(out, temperature, agent->temperature);
	if (agent->allow_human_input)
		SET(out, allow_human_input, true);
	return out;
}
