/* active/definition_reading.c -- definitions by name, and what they are compiled with. */
#include "active/definition_reading.h"

#include "active/executor_state.h"
#include "contract/document_kind.h"
#include "contract/run_agent_types.h"
#include "contract/run_graph_types.h"
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

/* An agent of the registry, as it is now. */
static bool registered_agent(void *context, struct str name, struct arena *arena,
			     const struct run_agent **out_agent, struct error *error)
{
	struct definition_reading *reading = context;
	const struct executor *executor = reading->executor;
	reading->others = true;
	for (size_t i = 0; i < reading->agent_count; i++)
		if (str_equal(reading->agents[i]->name, name)) {
			*out_agent = reading->agents[i];
			return true;
		}
	if (executor->settings.agent == NULL)
		return fail(error, ERROR_NOT_FOUND, "there is no agent called " STR_FMT,
			    STR_ARG(name));
	return executor->settings.agent(reading->reader, name, arena, out_agent, error);
}

static bool agent_tier(void *context, struct str name, struct arena *arena,
		       const struct run_tier **out_tier, struct error *error)
{
	const struct definition_reading *reading = context;
	const struct executor *executor = reading->executor;
	*out_tier = NULL;
	return executor->settings.tier == NULL ||
	       executor->settings.tier(reading->reader, name, arena, out_tier, error);
}

/* Whether an MCP server is stored, so that an unknown tool may be one of its. */
static bool has_mcp(void *context)
{
	struct definition_reading *reading = context;
	struct store_reader *reader = reading->reader;
	struct store_document_page page;
	struct error unread;
	return reading->mcp ||
	       (reader->ops->list_documents(reader, document_kind_name(DOCUMENT_MCP_SERVER), S(""),
					    1, reading->arena, &page, &unread) &&
		page.count > 0);
}

bool executor_choose_sandbox(const struct executor *executor,
			     const struct run_graph_sandbox *sandbox, struct arena *arena,
			     struct tool_host *host, struct error *error)
{
	const struct executor_settings *settings = &executor->settings;
	*host = settings->host;
	if (sandbox == NULL)
		return true;
	if (settings->choose_sandbox == NULL)
		return fail(error, ERROR_CONFIGURATION,
			    "isolation, mounts and network_allowed_hosts can only be set for the "
			    "whole server (tools.isolation, sandbox.mounts, sandbox.network)");
	return settings->choose_sandbox(settings->context, sandbox, arena, host, error);
}

static bool check_sandbox(void *context, const struct run_graph_sandbox *sandbox,
			  struct arena *arena, struct error *error)
{
	const struct definition_reading *reading = context;
	struct tool_host host;
	return executor_choose_sandbox(reading->executor, sandbox, arena, &host, error);
}

/* A file of the folder of prompts.  The graph depends on it, so it must not be found by the text. */
static bool prompt_file(void *context, struct str name, struct arena *arena, struct str *out_text,
			struct error *error)
{
	struct definition_reading *reading = context;
	const struct executor_settings *settings = &reading->executor->settings;
	reading->others = true;
	if (settings->prompt == NULL)
		return fail(error, ERROR_NOT_FOUND, "there is no folder of prompts");
	return settings->prompt(settings->context, reading->prompts_folder, name, arena, out_text,
				error);
}

/* A named prompt, as it is now. */
static bool named_prompt(void *context, struct str id, struct arena *arena,
			 struct definition_prompt *out_prompt, struct error *error)
{
	struct definition_reading *reading = context;
	const struct executor_settings *settings = &reading->executor->settings;
	reading->others = true;
	if (settings->named_prompt == NULL)
		return fail(error, ERROR_NOT_FOUND, "there are no named prompts here");
	return settings->named_prompt(settings->context, reading->reader, id, arena,
				      &out_prompt->text, &out_prompt->version, error);
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
					  .profile = reading->profile,
					  .record = reading->record,
					  .replay = reading->replay,
					  .isolates = executor->settings.contained,
					  .agent = registered_agent,
					  .tier = agent_tier,
					  .mcp = has_mcp,
					  .prompt = prompt_file,
					  .named_prompt = named_prompt,
					  .check_agent = check_agent,
					  .check_sandbox = check_sandbox,
					  .draws = reading->draws,
					  .context = reading };
}

bool definition_reading_text(const struct definition_reading *reading, struct str name,
			     struct arena *arena, struct str *out_yaml, struct error *error)
{
	const struct executor_settings *settings = &reading->executor->settings;
	return settings->definition(settings->context, reading->reader, name, arena, out_yaml,
				    error);
}

bool definition_reading_misnamed(struct str own_name, struct str name, struct error *error)
{
	return fail(error, ERROR_INVALID, "the definition calls itself " STR_FMT ", not " STR_FMT,
		    STR_ARG(own_name), STR_ARG(name));
}

bool definition_reading_compile(struct definition_reading *reading, struct str yaml,
				struct str *out_graph, struct problems *problems)
{
	struct definition_tools tools = definition_reading_tools(reading, NULL);
	tools.warnings = reading->warnings;
	return definition_compile(yaml, &tools, reading->arena, out_graph, problems);
}
