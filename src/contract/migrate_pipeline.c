/* contract/migrate_pipeline.c -- turns the one driver of a pipeline_v1 profile into an entry per
 * agent.
 *
 * A member that the old profile left to its default is marked DEFAULTED in the new one, so that a
 * later reader can still tell what the user chose.
 */
#include "contract/migrate_pipeline.h"

/* The agents that the implementation, review and brainstorm pipelines look up by name. */
static const struct str agents_needed[] = {
	{ "architect", 9 },       { "developer", 9 }, { "reviewer", 8 },
	{ "task_reviewer", 13 },  { "evaluator", 9 }, { "brainstormer", 12 },
	{ "plan_validator", 14 },
};

static enum pipeline_agent_driver driver_from_v1(enum pipeline_v1_driver_type old)
{
	switch (old) {
	case PIPELINE_V1_DRIVER_CLI:
		return PIPELINE_AGENT_DRIVER_CLAUDE;
	case PIPELINE_V1_DRIVER_API:
		break;
	}
	return PIPELINE_AGENT_DRIVER_API;
}

static enum pipeline_profile_tracker tracker_from_v1(enum pipeline_v1_tracker_type old)
{
	switch (old) {
	case PIPELINE_V1_TRACKER_JIRA:
		return PIPELINE_PROFILE_TRACKER_JIRA;
	case PIPELINE_V1_TRACKER_GITHUB:
		return PIPELINE_PROFILE_TRACKER_GITHUB;
	case PIPELINE_V1_TRACKER_NONE:
		break;
	}
	return PIPELINE_PROFILE_TRACKER_NOOP;
}

static const struct pipeline_retry_config *retry_from_v1(const struct pipeline_v1_retry_config *old,
							 struct arena *arena)
{
	struct pipeline_retry_config *retry = pipeline_retry_config_new(arena);
	if (old->is.max_retries == GIVEN)
		SET(retry, max_retries, old->max_retries);
	if (old->is.base_delay == GIVEN)
		SET(retry, base_delay, old->base_delay);
	if (old->is.max_delay == GIVEN)
		SET(retry, max_delay, old->max_delay);
	return retry;
}

/* {"max_iterations": count} */
static const struct json *iterations(int64_t count, struct arena *arena)
{
	struct json_member *member = arena_new(arena, struct json_member);
	member->key = S("max_iterations");
	member->value.kind = JSON_INT;
	member->value.as.integer = count;
	struct json *options = arena_new(arena, struct json);
	options->kind = JSON_OBJECT;
	options->as.object.at = member;
	options->as.object.count = 1;
	return options;
}

static struct pipeline_agent_config_map agents_from_v1(const struct pipeline_v1_profile *old,
						       struct arena *arena)
{
	size_t count = COUNT(agents_needed);
	struct pipeline_agent_config_entry *agents =
		arena_array(arena, struct pipeline_agent_config_entry, count);
	for (size_t i = 0; i < count; i++) {
		struct pipeline_agent_config *agent = pipeline_agent_config_new(arena);
		struct str name = agents_needed[i];
		SET(agent, driver, driver_from_v1(old->driver));
		SET(agent, model, has(old, model) ? old->model : S("default"));
		if (str_equal(name, S("reviewer")))
			SET(agent, options, iterations(old->max_review_iterations, arena));
		if (str_equal(name, S("task_reviewer")))
			SET(agent, options, iterations(old->max_task_review_iterations, arena));
		agents[i].key = name;
		agents[i].value = *agent;
	}
	return (struct pipeline_agent_config_map){ agents, count };
}

const struct pipeline_profile *pipeline_profile_from_v1(const struct pipeline_v1_profile *old,
							struct arena *arena)
{
	struct pipeline_profile *profile = pipeline_profile_new(arena);
	SET(profile, name, old->name);
	if (old->is.tracker == GIVEN)
		SET(profile, tracker, tracker_from_v1(old->tracker));
	SET(profile, repo_root, has(old, working_dir) ? old->working_dir : S("."));
	if (old->is.plan_output_dir == GIVEN) {
		struct str folder = old->plan_output_dir;
		const char *slash = folder.size == 0 || str_ends(folder, S("/")) ? "" : "/";
		SET(profile, plan_output_dir, folder);
		SET(profile, plan_path_pattern,
		    str_format(arena, STR_FMT "%s{date}-{issue_key}.md", STR_ARG(folder), slash));
	}
	if (old->is.retry == GIVEN)
		SET(profile, retry, retry_from_v1(old->retry, arena));
	SET(profile, agents, agents_from_v1(old, arena));
	return profile;
}

const struct pipeline_settings *pipeline_settings_from_v1(const struct pipeline_v1_settings *old,
							  struct arena *arena)
{
	size_t count = old->profiles.count;
	struct pipeline_profile_entry *profiles =
		arena_array(arena, struct pipeline_profile_entry, count);
	for (size_t i = 0; i < count; i++) {
		const struct pipeline_v1_profile_entry *entry = &old->profiles.at[i];
		profiles[i].key = entry->key;
		profiles[i].value = *pipeline_profile_from_v1(&entry->value, arena);
	}
	struct pipeline_settings *settings = pipeline_settings_new(arena);
	SET(settings, active_profile, old->active_profile);
	SET(settings, profiles, (struct pipeline_profile_map){ profiles, count });
	return settings;
}

bool pipeline_profile_is_v1(const struct json *profile)
{
	return profile != NULL && profile->kind == JSON_OBJECT &&
	       json_member(profile, S("driver")) != NULL;
}

/* Settings have the old shape when one of their profiles has it. */
static bool settings_are_v1(const struct json *settings)
{
	const struct json *profiles = json_member(settings, S("profiles"));
	if (profiles == NULL || profiles->kind != JSON_OBJECT)
		return false;
	for (size_t i = 0; i < profiles->as.object.count; i++)
		if (pipeline_profile_is_v1(&profiles->as.object.at[i].value))
			return true;
	return false;
}

const void *pipeline_read_old(const struct type *type, const struct contract_source *source,
			      struct arena *arena, struct problems *problems, bool *out_old)
{
	bool is_profile = type == pipeline_profile_type();
	*out_old = is_profile ? pipeline_profile_is_v1(source->json)
			      : type == pipeline_settings_type() && settings_are_v1(source->json);
	if (!*out_old)
		return NULL;
	if (is_profile) {
		const struct pipeline_v1_profile *old =
			pipeline_v1_profile_parse(source, arena, problems);
		return old == NULL ? NULL : pipeline_profile_from_v1(old, arena);
	}
	const struct pipeline_v1_settings *old =
		pipeline_v1_settings_parse(source, arena, problems);
	return old == NULL ? NULL : pipeline_settings_from_v1(old, arena);
}
