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
