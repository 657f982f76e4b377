/* active/agent_configuration.c -- resolves an agent without a definition, and finds what would refuse
 * the start of a run with it. */
#include "active/agent_configuration.h"

#include "active/definition_reading.h"
#include "active/executor_state.h"
#include "active/run_profile.h"
#include "base/limits.h"
#include "contract/pipeline_types.h"
#include "contract/run_graph_types.h"
#include "contract/run_resolved_types.h"
#include "definition/agent_resolve.h"
#include "llm/llm.h"
#include "llm/models.h"

enum { OTHER_PROBLEMS = 3 }; /* repository, sandbox, key */

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
