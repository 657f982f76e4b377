/* active/run_profile.c -- finds and checks the profile of a start. */
#include "active/run_profile.h"

#include "active/executor_state.h"
#include "base/limits.h"
#include "contract/pipeline_types.h"
#include "contract/run_start_types.h"
#include "os/file.h"

bool run_profile_read(const struct executor *executor, struct store_reader *reader, struct str name,
		      struct arena *arena, const struct pipeline_profile **out_profile,
		      struct error *error)
{
	if (executor->settings.profile != NULL)
		return executor->settings.profile(reader, name, arena, out_profile, error);
	if (name.size > 0)
		return fail(error, ERROR_CONFIGURATION, "there is no profile called " STR_FMT,
			    STR_ARG(str_head(name, LIMIT_NAME_BYTES)));
	*out_profile = NULL;
	return true;
}

bool run_profile_check_repository(const struct pipeline_profile *profile, struct arena *arena,
				  struct error *error)
{
	struct str root = profile->repo_root;
	const char *why = NULL;
	if (!str_starts(root, S("/")))
		why = "is not an absolute path";
	else if (!folder_exists(str_c(arena, root)))
		why = "is not a folder on this machine";
	return why == NULL ||
	       fail(error, ERROR_CONFIGURATION,
		    "profile " STR_FMT ": repo_root " STR_FMT
		    " %s; correct it with baton profile edit, or start the run with another "
		    "--profile",
		    STR_ARG(str_head(profile->name, LIMIT_NAME_BYTES)),
		    STR_ARG(str_head(root, LIMIT_QUOTE_BYTES)), why);
}

static bool find_agent(const struct pipeline_profile *profile, struct str name, size_t *out_index)
{
	for (size_t i = 0; profile != NULL && i < profile->agents.count; i++) {
		*out_index = i;
		if (str_equal(profile->agents.at[i].key, name))
			return true;
	}
	return false;
}

bool run_profile_choose_models(const struct pipeline_profile **profile,
			       const struct run_start *start, struct arena *arena,
			       struct error *error)
{
	if (!has(start, models) || start->models.count == 0)
		return true;
	size_t count = *profile == NULL ? 0 : (*profile)->agents.count;
	struct pipeline_agent_config_entry *agents =
		arena_array(arena, struct pipeline_agent_config_entry, count);
	for (size_t i = 0; i < count; i++)
		agents[i] = (*profile)->agents.at[i];
	for (size_t i = 0; i < start->models.count; i++) {
		size_t at;
		if (!find_agent(*profile, start->models.at[i].key, &at))
			return fail(error, ERROR_CONFIGURATION,
				    "models: the run's profile has no agent " STR_FMT
				    "; add it with baton profile edit",
				    STR_ARG(str_head(start->models.at[i].key, LIMIT_NAME_BYTES)));
		SET(&agents[at].value, model, start->models.at[i].value);
	}
	struct pipeline_profile *chosen = arena_copy(arena, *profile, sizeof(**profile));
	SET(chosen, agents, ((struct pipeline_agent_config_map){ agents, count }));
	*profile = chosen;
	return true;
}

/* Where plans are, unless that is the default.  A profile that only names another folder means the
 * usual names in that folder. */
static struct str plan_pattern(const struct pipeline_profile *profile, struct arena *arena)
{
	const struct str folder = S("docs/plans"), name = S("{date}-{issue_key}.md");
	struct str usual = str_format(arena, STR_FMT "/" STR_FMT, STR_ARG(folder), STR_ARG(name));
	struct str dir = profile->plan_output_dir;
	if (!str_equal(profile->plan_path_pattern, usual))
		return profile->plan_path_pattern;
	while (dir.size > 1 && dir.at[dir.size - 1] == '/')
		dir.size--;
	if (dir.size == 0 || str_equal(dir, folder))
		return S("");
	return str_format(arena, STR_FMT "/" STR_FMT, STR_ARG(dir), STR_ARG(name));
}

void run_profile_record(struct run_start *start, const struct pipeline_profile *profile,
			struct arena *arena)
{
	if (profile == NULL)
		return;
	SET(start, profile, profile->name);
	SET(start, repository, profile->repo_root);
	struct str pattern = plan_pattern(profile, arena);
	if (!has(start, plan_path_pattern) && pattern.size > 0 &&
	    pattern.size <= LIMIT_PLAN_PATH_BYTES)
		SET(start, plan_path_pattern, pattern);
	SET(start, tracker, pipeline_profile_tracker_name(profile->tracker));
}
