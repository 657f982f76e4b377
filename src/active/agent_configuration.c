/* active/agent_configuration.c -- resolves an agent without a definition, and finds what would refuse
 * the start of a run with it. */
#include "active/agent_configuration.h"

#include "active/definition_reading.h"
#include "active/executor_state.h"
#include "active/run_profile.h"
#include "base/buf.h"
#include "base/limits.h"
#include "contract/pipeline_types.h"
#include "contract/run_agent_types.h"
#include "contract/run_graph_types.h"
#include "contract/run_resolved_types.h"
#include "definition/agent_resolve.h"
#include "definition/definition_compile.h"
#include "engine/document_rules.h"
#include "llm/llm.h"
#include "llm/models.h"
#include "tool/custom_tools.h"
#include "tool/tool.h"

enum { OTHER_PROBLEMS = 4 }; /* repository, sandbox, key, tools */

struct refusals {
	struct str *at;
	size_t count;
};

static void refusal_add(struct refusals *refusals, const struct error *error, struct arena *arena)
{
	refusals->at[refusals->count++] = str_copy(arena, str_from_c(error->text));
}

static void check_sandbox(const struct executor *executor,
			  const struct run_agent_settings *settings, struct arena *arena,
			  struct problems *problems, struct refusals *refusals)
{
	struct tool_host host;
	struct error error;
	if (!has(settings, sandbox))
		return;
	const struct run_graph_sandbox *sandbox =
		agent_sandbox(settings->sandbox, executor->settings.contained, arena, problems);
	if (sandbox != NULL && problems->count == 0 &&
	    !executor_choose_sandbox(executor, sandbox, arena, &host, &error))
		refusal_add(refusals, &error, arena);
}

/* Tools of sessions that are no tools of the catalogue. */
static bool is_session_tool(struct str name)
{
	return str_equal(name, S("ask_human")) || str_equal(name, S("delegate")) ||
	       str_equal(name, S("send_message")) || str_equal(name, S("read_messages")) ||
	       str_starts(name, S("workflow:"));
}

static bool has_tool(const struct executor *executor, struct str name, struct arena *arena)
{
	struct custom_tool *customs = NULL;
	for (size_t i = 0; i < executor->settings.tools->count; i++)
		if (str_equal(executor->catalogue[i].name, name))
			return true;
	size_t count = executor->settings.customs == NULL
			       ? 0
			       : custom_tools_list(executor->settings.customs, arena, &customs);
	for (size_t i = 0; i < count; i++)
		if (str_equal(customs[i].name, name))
			return true;
	return is_session_tool(name);
}

static void check_tools(const struct executor *executor, const struct run_agent_settings *settings,
			struct arena *arena, struct refusals *refusals)
{
	AUTO(buf) unknown = { 0 };
	struct error error;
	for (size_t i = 0; has(settings, tools) && i < settings->tools.count; i++)
		if (!has_tool(executor, settings->tools.at[i], arena))
			buf_add_format(&unknown, "%s" STR_FMT, unknown.size == 0 ? "" : ", ",
				       STR_ARG(settings->tools.at[i]));
	if (unknown.size == 0)
		return;
	fail(&error, ERROR_CONFIGURATION, "tools: unknown here: " STR_FMT "; see baton tools",
	     STR_ARG(str_head(buf_str(&unknown), LIMIT_QUOTE_BYTES)));
	refusal_add(refusals, &error, arena);
}

void executor_agent_check(const struct executor *executor, const struct run_agent *agent,
			  struct arena *arena, struct problems *problems)
{
	const struct agent_description description = { .name = agent->name, .registered = agent };
	struct problems found = { .arena = arena }, secrets = { .arena = arena };
	struct agent_sources sources;
	struct agent_resolution resolution;
	document_check_secrets(agent->options, S("/options"), &secrets);
	if (secrets.count > 0)
		return; /* the document's own rule refuses it, and that is more important */
	agent_sources_gather(&description, arena, &sources);
	agent_resolve(&sources, arena, &resolution);
	const struct run_graph_agent *resolved =
		agent_resolution_apply(&resolution, agent->name, arena, &found);
	if (found.count == 0 && llm_find(executor->settings.drivers, resolved->driver) != NULL)
		llm_check(executor->settings.drivers, resolved, arena, &found);
	for (size_t i = 0; i < found.count; i++) {
		struct str rest = found.at[i].pointer, option;
		if (!str_starts(rest, S("/options/")))
			continue;
		rest = str_skip(rest, sizeof("/options/") - 1);
		/* Only what the agent itself has; the rest may come from elsewhere. */
		if (str_cut(&rest, '/', &option) && json_member(agent->options, option) != NULL)
			problems_add(problems, found.at[i].pointer, found.at[i].line,
				     found.at[i].column, "driver " STR_FMT ": " STR_FMT,
				     STR_ARG(resolved->driver), STR_ARG(found.at[i].text));
	}
}

static struct str_list problems_of(const struct executor *executor,
				   const struct pipeline_profile *profile, struct str name,
				   const struct agent_resolution *resolution, struct arena *arena)
{
	static const struct json nothing = { .kind = JSON_OBJECT };
	struct refusals refusals = {
		arena_array(arena, struct str, LIMIT_PROBLEMS + OTHER_PROBLEMS), 0
	};
	struct problems problems = { .arena = arena };
	const struct llm_host *host = executor->settings.models;
	struct error error;
	const struct run_graph_agent *agent =
		agent_resolution_apply(resolution, name, arena, &problems);
	if (problems.count == 0)
		llm_check(executor->settings.drivers, agent, arena, &problems);
	if (profile != NULL && !run_profile_check_repository(profile, arena, &error))
		refusal_add(&refusals, &error, arena);
	if (problems.count == 0 && host != NULL &&
	    !models_check_key(host->models, agent->driver, agent->model,
			      has(agent, options) ? agent->options : &nothing, &error))
		refusal_add(&refusals, &error, arena);
	check_sandbox(executor, resolution->settings, arena, &problems, &refusals);
	check_tools(executor, resolution->settings, arena, &refusals);
	for (size_t i = 0; i < problems.count; i++)
		refusals.at[refusals.count++] = str_format(
			arena, STR_FMT ": " STR_FMT, STR_ARG(str_skip(problems.at[i].pointer, 1)),
			STR_ARG(problems.at[i].text));
	return (struct str_list){ refusals.at, refusals.count };
}

bool executor_agent_configuration(struct executor *executor, struct store_reader *reader,
				  struct str name, struct str profile, struct arena *arena,
				  const struct run_resolved_agent **out_agent, struct error *error)
{
	struct agent_description description = { .name = name };
	struct error missing = { 0 };
	struct agent_sources sources;
	struct agent_resolution resolution;
	if (!run_profile_read(executor, reader, profile, arena, &description.profile, error))
		return false;
	if (executor->settings.agent != NULL &&
	    !executor->settings.agent(reader, name, arena, &description.registered, &missing) &&
	    missing.code != ERROR_NOT_FOUND) {
		*error = missing;
		return false;
	}
	if (description.registered != NULL && executor->settings.tier != NULL &&
	    !executor->settings.tier(reader, name, arena, &description.tier, error))
		return false;
	agent_sources_gather(&description, arena, &sources);
	if (!sources.known)
		return fail(error, ERROR_NOT_FOUND,
			    "there is no agent called " STR_FMT
			    ", neither in the profile nor in the registry",
			    STR_ARG(str_head(name, LIMIT_NAME_BYTES)));
	agent_resolve(&sources, arena, &resolution);
	struct run_resolved_agent *out = run_resolved_agent_new(arena);
	SET(out, name, name);
	if (description.profile != NULL) {
		SET(out, profile, description.profile->name);
		SET(out, repository, description.profile->repo_root);
	}
	SET(out, values, resolution.values);
	SET(out, problems, problems_of(executor, description.profile, name, &resolution, arena));
	*out_agent = out;
	return true;
}
