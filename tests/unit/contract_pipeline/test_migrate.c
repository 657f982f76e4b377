/* Profiles of pipeline_v1 are converted to pipeline; an agent is taken from a profile. */
#include "pipeline_support.h"

#include "contract/migrate_pipeline.h"
#include "contract/pipeline_agent.h"

static const struct pipeline_profile *migrate(const char *text, struct arena *arena)
{
	const struct pipeline_v1_profile *old =
		read_good(pipeline_v1_profile_type(), str_from_c(text), arena);
	const struct pipeline_profile *profile = pipeline_profile_from_v1(old, arena);
	/* What comes out must be what a user could have written. */
	struct str printed = pipeline_profile_text(profile, arena);
	assert_str(reprint(pipeline_profile_type(), printed, arena), printed);
	return profile;
}

static const struct pipeline_agent_config *agent_of(const struct pipeline_profile *profile,
						    const char *name)
{
	for (size_t i = 0; i < profile->agents.count; i++)
		if (str_equal(profile->agents.at[i].key, str_from_c(name)))
			return &profile->agents.at[i].value;
	cr_assert_fail("there is no agent %s", name);
	return NULL;
}

Test(migrate, the_least_profile)
{
	AUTO(arena) arena = { 0 };
	const struct pipeline_profile *profile =
		migrate("{\"name\":\"work\",\"driver\":\"cli\"}", &arena);
	assert_str(profile->name, S("work"));
	cr_assert_eq(profile->tracker, PIPELINE_PROFILE_TRACKER_NOOP);
	assert_str(profile->repo_root, S("."));
	assert_str(profile->plan_output_dir, S("docs/plans"));
	assert_str(profile->plan_path_pattern, S("docs/plans/{date}-{issue_key}.md"));
	cr_assert_eq(profile->is.tracker, DEFAULTED);
	cr_assert_eq(profile->is.plan_path_pattern, DEFAULTED);
	cr_assert_eq(profile->is.retry, DEFAULTED);
	cr_assert_eq(profile->retry->max_retries, 3);
	cr_assert_eq(profile->sandbox->mode, PIPELINE_SANDBOX_NONE);
}

Test(migrate, every_agent_gets_driver_and_model)
{
	static const char *const names[] = { "architect",     "developer", "reviewer",
					     "task_reviewer", "evaluator", "brainstormer",
					     "plan_validator" };
	AUTO(arena) arena = { 0 };
	const struct pipeline_profile *cli = migrate("{\"name\":\"n\",\"driver\":\"cli\"}", &arena);
	const struct pipeline_profile *api = migrate(
		"{\"name\":\"n\",\"driver\":\"api\",\"model\":\"minimax/minimax-m2\"}", &arena);
	cr_assert_eq(cli->agents.count, COUNT(names));
	cr_assert_eq(api->agents.count, COUNT(names));
	for (size_t i = 0; i < COUNT(names); i++) {
		const struct pipeline_agent_config *agent = agent_of(cli, names[i]);
		cr_assert_eq(agent->driver, PIPELINE_AGENT_DRIVER_CLAUDE);
		assert_str(agent->model, S("default"));
		assert_str(agent->profile_name, S("default"));
		cr_assert_eq(agent->sandbox->mode, PIPELINE_SANDBOX_NONE);
		agent = agent_of(api, names[i]);
		cr_assert_eq(agent->driver, PIPELINE_AGENT_DRIVER_API);
		assert_str(agent->model, S("minimax/minimax-m2"));
	}
}

Test(migrate, review_limits_become_options)
{
	AUTO(arena) arena = { 0 };
	const struct pipeline_profile *profile =
		migrate("{\"name\":\"n\",\"driver\":\"cli\"}", &arena);
	assert_str(json_print(&arena, agent_of(profile, "reviewer")->options),
		   S("{\"max_iterations\":3}"));
	assert_str(json_print(&arena, agent_of(profile, "task_reviewer")->options),
		   S("{\"max_iterations\":5}"));
	assert_str(json_print(&arena, agent_of(profile, "developer")->options), S("{}"));
	profile = migrate("{\"name\":\"n\",\"driver\":\"cli\",\"max_review_iterations\":7,"
			  "\"max_task_review_iterations\":9}",
			  &arena);
	assert_str(json_print(&arena, agent_of(profile, "reviewer")->options),
		   S("{\"max_iterations\":7}"));
	assert_str(json_print(&arena, agent_of(profile, "task_reviewer")->options),
		   S("{\"max_iterations\":9}"));
}

Test(migrate, everything_else_is_taken_over)
{
	AUTO(arena) arena = { 0 };
	const struct pipeline_profile *profile =
		migrate("{\"name\":\"n\",\"driver\":\"cli:claude\",\"model\":\"opus\","
			"\"tracker\":\"github\",\"working_dir\":\"/srv/shop\",\"plan_output_dir\":"
			"\"plans\",\"retry\":{\"max_retries\":7,\"base_delay\":2}}",
			&arena);
	cr_assert_eq(profile->tracker, PIPELINE_PROFILE_TRACKER_GITHUB);
	assert_str(profile->repo_root, S("/srv/shop"));
	assert_str(profile->plan_output_dir, S("plans"));
	assert_str(profile->plan_path_pattern, S("plans/{date}-{issue_key}.md"));
	cr_assert_eq(profile->retry->max_retries, 7);
	cr_assert_eq(profile->retry->base_delay, 2.0);
	cr_assert_eq(profile->retry->max_delay, 60.0);
	cr_assert_eq(profile->retry->is.max_delay, DEFAULTED);
	assert_str(agent_of(profile, "developer")->model, S("opus"));
	profile = migrate("{\"name\":\"n\",\"driver\":\"cli\",\"tracker\":\"jira\","
			  "\"plan_output_dir\":\"a/b/\",\"retry\":{\"max_delay\":9}}",
			  &arena);
	cr_assert_eq(profile->tracker, PIPELINE_PROFILE_TRACKER_JIRA);
	assert_str(profile->plan_path_pattern, S("a/b/{date}-{issue_key}.md"));
	cr_assert_eq(profile->retry->max_delay, 9.0);
	profile = migrate("{\"name\":\"n\",\"driver\":\"cli\",\"tracker\":\"none\","
			  "\"plan_output_dir\":\"\"}",
			  &arena);
	cr_assert_eq(profile->tracker, PIPELINE_PROFILE_TRACKER_NOOP);
	assert_str(profile->plan_path_pattern, S("{date}-{issue_key}.md"));
}

Test(migrate, settings)
{
	AUTO(arena) arena = { 0 };
	const struct pipeline_v1_settings *old =
		read_good(pipeline_v1_settings_type(),
			  S("{\"active_profile\":\"b\",\"profiles\":{\"a\":{\"name\":\"a\","
			    "\"driver\":\"cli\"},\"b\":{\"name\":\"b\",\"driver\":\"api\","
			    "\"model\":\"m\"}}}"),
			  &arena);
	const struct pipeline_settings *settings = pipeline_settings_from_v1(old, &arena);
	assert_str(settings->active_profile, S("b"));
	cr_assert_eq(settings->profiles.count, 2);
	assert_str(settings->profiles.at[0].key, S("a"));
	cr_assert_eq(agent_of(&settings->profiles.at[1].value, "evaluator")->driver,
		     PIPELINE_AGENT_DRIVER_API);
	struct str printed = pipeline_settings_text(settings, &arena);
	assert_str(reprint(pipeline_settings_type(), printed, &arena), printed);
}

static bool is_v1(const char *text)
{
	AUTO(arena) arena = { 0 };
	const struct json *json;
	struct error error;
	cr_assert(json_read(str_from_c(text), &arena, &json, &error), "%s", error.text);
	return pipeline_profile_is_v1(json);
}

Test(migrate, the_old_shape_is_known_by_its_driver)
{
	cr_assert(is_v1("{\"name\":\"n\",\"driver\":\"cli\"}"));
	cr_assert(is_v1("{\"driver\":7}"), "still the old shape, and refused as such");
	cr_assert(!is_v1("{\"name\":\"n\",\"repo_root\":\"/r\",\"agents\":{\"a\":{\"driver\":"
			 "\"api\"}}}"));
	cr_assert(!is_v1("{}"));
	cr_assert(!is_v1("[\"driver\"]"));
	cr_assert(!pipeline_profile_is_v1(NULL));
}

Test(agent, the_profile_goes_before_the_agent)
{
	AUTO(arena) arena = { 0 };
	const struct pipeline_profile *profile =
		read_good(pipeline_profile_type(),
			  S("{\"name\":\"work\",\"repo_root\":\"/r\",\"agents\":{\"developer\":{"
			    "\"driver\":\"codex\",\"model\":\"m\",\"options\":{\"a\":1},"
			    "\"sandbox\":{\"mode\":\"none\"},\"profile_name\":\"other\"}},"
			    "\"sandbox\":{\"mode\":\"container\"}}"),
			  &arena);
	const struct pipeline_agent_config *agent = NULL;
	struct error error = { .text = "" };
	cr_assert(pipeline_profile_agent(profile, S("developer"), &arena, &agent, &error));
	cr_assert_eq(agent->driver, PIPELINE_AGENT_DRIVER_CODEX);
	cr_assert_eq(agent->sandbox->mode, PIPELINE_SANDBOX_CONTAINER);
	assert_str(agent->profile_name, S("work"));
	assert_str(json_print(&arena, agent->options), S("{\"a\":1}"));
	/* The profile itself stays as it was written. */
	assert_str(profile->agents.at[0].value.profile_name, S("other"));
	cr_assert_eq(profile->agents.at[0].value.sandbox->mode, PIPELINE_SANDBOX_NONE);
}

Test(agent, an_unknown_one_is_an_error_that_names_the_others)
{
	AUTO(arena) arena = { 0 };
	const struct pipeline_agent_config *agent = NULL;
	struct error error = { .text = "" };
	const struct pipeline_profile *profile =
		migrate("{\"name\":\"work\",\"driver\":\"cli\"}", &arena);
	cr_assert(!pipeline_profile_agent(profile, S("oracle"), &arena, &agent, &error));
	cr_assert_null(agent);
	cr_assert_eq(error.code, ERROR_NOT_FOUND);
	cr_assert_str_eq(error.text,
			 "profile work has no agent oracle; it has architect, developer, reviewer, "
			 "task_reviewer, evaluator, brainstormer, plan_validator");
	profile = read_good(pipeline_profile_type(), S("{\"name\":\"n\",\"repo_root\":\"/r\"}"),
			    &arena);
	cr_assert(!pipeline_profile_agent(profile, S("oracle"), &arena, &agent, &error));
	cr_assert_str_eq(error.text, "profile n has no agent oracle; it has no agents");
}
