/* active/definition_reading.c -- definitions by name, and what they are compiled with. */
#include "active/definition_reading.h"

#include "active/executor_state.h"
#include "contract/run_agent_types.h"
#include "contract/run_graph_types.h"
#include "definition/agent_driver.h"
#include "definition/definition_compile.h"
#include "llm/llm.h"
#include "tool/tool_schema.h"

/* Another workflow that this one runs as a sub-run.  The graph then depends on more than the text of
 * this definition, so it must not be found by the text. */
static bool other_workflow(void *context, struct str name, struct arena *arena,
			   struct str *out_yaml, struct error *error)
{
	struct definition_reading *reading = context;
	reading->others = true;
	return definition_reading_text(reading, name, arena, out_yaml, error);
}

/* What the registry says about the model, beside its name. */
static void set_model(struct run_graph_agent *out_agent, const struct run_agent *agent,
		      struct arena *arena)
{
	const struct run_agent_model *model = agent->llm_config;
	if (!str_equal(out_agent->driver, S("api")))
		return;
	SET(out_agent, temperature, agent->temperature);
	if (has(model, endpoint))
		SET(out_agent, options,
		    agent_driver_option(out_agent->options, S("base_url"), model->endpoint, arena));
	if (has(model, api_key))
		SET(out_agent, options,
		    agent_driver_option(out_agent->options, S("api_key"), model->api_key.reference,
					arena));
}

/* An agent of the registry, as it is now. */
static bool registered_agent(void *context, struct str name, struct arena *arena,
			     struct run_graph_agent *out_agent, struct error *error)
{
	struct definition_reading *reading = context;
	const struct executor *executor = reading->executor;
	const struct run_agent *agent;
	reading->others = true;
	if (executor->settings.agent == NULL)
		return fail(error, ERROR_NOT_FOUND, "there is no agent called " STR_FMT,
			    STR_ARG(name));
	if (!executor->settings.agent(reading->reader, name, arena, &agent, error))
		return false;
	SET(out_agent, name, agent->name);
	SET(out_agent, model, agent->llm_config->model);
	SET(out_agent, system, agent->system_prompt);
	if (!agent_driver_set(out_agent, run_driver_name(agent->driver), agent->options, arena))
		return fail(error, ERROR_INVALID,
			    "agent " STR_FMT " of the registry: the driver is " STR_FMT
			    ", but the options name another provider; remove one of them",
			    STR_ARG(name), STR_ARG(run_driver_name(agent->driver)));
	set_model(out_agent, agent, arena);
	if (has(agent, timeout_seconds))
		SET(out_agent, timeout_us, (int64_t)(agent->timeout_seconds * 1e6));
	if (agent->tools.count > 0) {
		SET(out_agent, tools, definition_named_tools(agent->tools, arena));
		SET(out_agent, max_turns, agent->max_iterations);
	}
	return true;
}

static void check_agent(void *context, const struct run_graph_agent *agent, struct arena *arena,
			struct problems *problems)
{
	const struct definition_reading *reading = context;
	llm_check(reading->executor->settings.drivers, agent, arena, problems);
}

/* What is built in, and the custom tools as they are defined now.  Those that cannot be called are
 * among them: whoever names one is to hear why. */
struct definition_tools definition_reading_tools(struct definition_reading *reading,
						 struct sha256 *source)
{
	struct executor *executor = reading->executor;
	struct custom_tool *customs = NULL;
	size_t built_in = executor->settings.tools->count, count = 0;
	if (executor->settings.customs != NULL)
		count = custom_tools_list(executor->settings.customs, reading->arena, &customs);
	struct definition_tool *all =
		arena_array(reading->arena, struct definition_tool, built_in + count);
	for (size_t i = 0; i < built_in; i++)
		all[i] = executor->catalogue[i];
	for (size_t i = 0; i < count; i++) {
		enum run_effect_class class = customs[i].definition == NULL
						      ? RUN_CLASS_ONCE
						      : customs[i].definition->class;
		if (class == RUN_CLASS_CONTAINED && !executor->settings.contained)
			class = RUN_CLASS_ONCE;
		all[built_in + i] = (struct definition_tool){
			.name = customs[i].name,
			.class = class,
			.risk = tool_custom_risk(&customs[i]),
			.timeout_seconds = tool_custom_timeout_seconds(&customs[i]),
			.parameters = tool_custom_parameters(&customs[i], reading->arena),
		};
		if (customs[i].definition != NULL) {
			all[built_in + i].text = customs[i].definition->description;
			all[built_in + i].secrets = customs[i].definition->secrets;
		}
		if (source != NULL)
			sha256_add(source, &customs[i].definition_hash, sizeof(struct hash));
	}
	return (struct definition_tools){ .at = all,
					  .count = built_in + count,
					  .workflow = other_workflow,
					  .agent = registered_agent,
					  .check_agent = check_agent,
					  .context = reading };
}

bool definition_reading_text(const struct definition_reading *reading, struct str name,
			     struct arena *arena, struct str *out_yaml, struct error *error)
{
	const struct executor_settings *settings = &reading->executor->settings;
	return settings->definition(settings->context, name, arena, out_yaml, error);
}

bool definition_reading_misnamed(struct str own_name, struct str name, struct error *error)
{
	return fail(error, ERROR_INVALID, "the definition calls itself " STR_FMT ", not " STR_FMT,
		    STR_ARG(own_name), STR_ARG(name));
}

bool definition_reading_compile(struct definition_reading *reading, struct str yaml,
				struct problems *problems)
{
	struct definition_tools tools = definition_reading_tools(reading, NULL);
	struct str graph;
	return definition_compile(yaml, &tools, reading->arena, &graph, problems);
}
