/* The configuration of an agent: which source gives which value. */
#include <criterion/criterion.h>

#include "base/yaml.h"
#include "contract/pipeline_types.h"
#include "contract/run_agent_types.h"
#include "contract/run_definition_types.h"
#include "contract/run_graph_types.h"
#include "definition/agent_resolve.h"

static struct arena arena;

static void end(void)
{
	arena_done(&arena);
}

TestSuite(agent_resolve, .fini = end);

static struct contract_source source_of(const char *yaml)
{
	struct contract_source source = { .text = str_from_c(yaml) };
	struct error error;
	cr_assert(yaml_read(source.text, &arena, &source.json, &error), "%s", error.text);
	return source;
}

static const struct run_definition_agent *definition(const char *yaml)
{
	struct problems problems = { .arena = &arena };
	const struct contract_source source = source_of(yaml);
	const struct run_definition_agent *agent =
		run_definition_agent_parse(&source, &arena, &problems);
	cr_assert(agent != NULL, STR_FMT, STR_ARG(problems_text(&problems, &arena)));
	return agent;
}

static const struct pipeline_profile *profile(const char *yaml)
{
	struct problems problems = { .arena = &arena };
	const struct contract_source source = source_of(yaml);
	const struct pipeline_profile *made = pipeline_profile_parse(&source, &arena, &problems);
	cr_assert(made != NULL, STR_FMT, STR_ARG(problems_text(&problems, &arena)));
	return made;
}

static const struct run_agent *registered(const char *yaml)
{
	struct problems problems = { .arena = &arena };
	const struct contract_source source = source_of(yaml);
	const struct run_agent *agent = run_agent_parse(&source, &arena, &problems);
	cr_assert(agent != NULL, STR_FMT, STR_ARG(problems_text(&problems, &arena)));
	return agent;
}

#define ADA                                                                          \
	"{name: ada, role: r, system_prompt: Registered., driver: 'api:openai', "    \
	"llm_config: {model: registered, max_tokens: 100}, options: {effort: low}, " \
	"temperature: 0.5, tools: [shell], max_iterations: 7, timeout_seconds: 9}"
#define WORK                                                                                   \
	"{name: work, repo_root: /, agents: {ada: {driver: 'api:anthropic', model: profiled, " \
	"options: {cache: false}}}}"

static struct agent_resolution resolve(const char *in_file, const char *in_profile,
				       const char *in_registry)
{
	const struct agent_description description = {
		.name = S("ada"),
		.definition = in_file == NULL ? NULL : definition(in_file),
		.profile = in_profile == NULL ? NULL : profile(in_profile),
		.registered = in_registry == NULL ? NULL : registered(in_registry),
	};
	struct agent_sources sources;
	struct agent_resolution resolution;
	agent_sources_gather(&description, &arena, &sources);
	cr_assert(sources.known);
	agent_resolve(&sources, &arena, &resolution);
	return resolution;
}

/* "NAME=VALUE (ORIGIN)", as the resolution has it. */
static void expect(const struct agent_resolution *resolution, const char *name, const char *value,
		   enum run_config_origin origin)
{
	for (size_t i = 0; i < resolution->values.count; i++) {
		const struct run_resolved_value *found = &resolution->values.at[i];
		if (!str_equal(found->name, str_from_c(name)))
			continue;
		struct str text = json_print(&arena, found->value);
		cr_assert(str_equal(text, str_from_c(value)), "%s is " STR_FMT, name,
			  STR_ARG(text));
		cr_assert_eq(found->origin, origin, "%s is from %d", name, found->origin);
		return;
	}
	cr_assert(value == NULL, "%s is absent", name);
}

static void expect_none(const struct agent_resolution *resolution, const char *name)
{
	for (size_t i = 0; i < resolution->values.count; i++)
		cr_assert(!str_equal(resolution->values.at[i].name, str_from_c(name)), "%s", name);
}

Test(agent_resolve, the_registry_alone_gives_everything_but_defaults)
{
	struct agent_resolution got = resolve(NULL, NULL, ADA);
	expect(&got, "driver", "\"api:openai\"", RUN_ORIGIN_REGISTRY);
	expect(&got, "model", "\"registered\"", RUN_ORIGIN_REGISTRY);
	expect(&got, "options.effort", "\"low\"", RUN_ORIGIN_REGISTRY);
	expect(&got, "system", "\"Registered.\"", RUN_ORIGIN_REGISTRY);
	expect(&got, "temperature", "0.5", RUN_ORIGIN_REGISTRY);
	expect(&got, "max_tokens", "100", RUN_ORIGIN_REGISTRY);
	expect(&got, "max_turns", "7", RUN_ORIGIN_REGISTRY);
	expect(&got, "allow_human_input", "false", RUN_ORIGIN_DEFAULT);
	expect_none(&got, "retry");
	expect_none(&got, "sandbox");
}

Test(agent_resolve, the_profile_goes_before_the_registry)
{
	struct agent_resolution got = resolve(NULL, WORK, ADA);
	expect(&got, "driver", "\"api:anthropic\"", RUN_ORIGIN_PROFILE);
	expect(&got, "model", "\"profiled\"", RUN_ORIGIN_PROFILE);
	expect(&got, "options.cache", "false", RUN_ORIGIN_PROFILE);
	expect(&got, "system", "\"Registered.\"", RUN_ORIGIN_REGISTRY);
	expect(&got, "tools", "[\"shell\"]", RUN_ORIGIN_REGISTRY);
	expect(&got, "retry", "{\"max_retries\":3,\"base_delay\":1,\"max_delay\":60}",
	       RUN_ORIGIN_PROFILE);
}

/* Options of another driver would mean something else, or nothing. */
Test(agent_resolve, options_do_not_come_from_below_the_driver)
{
	struct agent_resolution got = resolve(NULL, WORK, ADA);
	expect_none(&got, "options.effort");
}

Test(agent_resolve, a_profile_that_does_not_name_the_agent_leaves_the_registrys)
{
	struct agent_resolution got =
		resolve(NULL, "{name: work, repo_root: /, retry: {max_retries: 5}}", ADA);
	expect(&got, "driver", "\"api:openai\"", RUN_ORIGIN_REGISTRY);
	expect(&got, "retry", "{\"max_retries\":5,\"base_delay\":1,\"max_delay\":60}",
	       RUN_ORIGIN_PROFILE);
}

Test(agent_resolve, the_profile_alone_is_enough)
{
	struct agent_resolution got = resolve(NULL, WORK, NULL);
	expect(&got, "model", "\"profiled\"", RUN_ORIGIN_PROFILE);
	expect(&got, "system", "\"\"", RUN_ORIGIN_DEFAULT);
	expect(&got, "max_turns", "10", RUN_ORIGIN_DEFAULT);
}

Test(agent_resolve, a_definition_without_a_driver_changes_single_values)
{
	struct agent_resolution got = resolve(
		"{model: filed, options: {effort: high, stream: false}, max_turns: 2}", NULL, ADA);
	expect(&got, "driver", "\"api:openai\"", RUN_ORIGIN_REGISTRY);
	expect(&got, "model", "\"filed\"", RUN_ORIGIN_DEFINITION);
	expect(&got, "options.effort", "\"high\"", RUN_ORIGIN_DEFINITION);
	expect(&got, "options.stream", "false", RUN_ORIGIN_DEFINITION);
	expect(&got, "max_turns", "2", RUN_ORIGIN_DEFINITION);
	expect(&got, "tools", "[\"shell\"]", RUN_ORIGIN_REGISTRY);
}

/* It gets neither tools nor a prompt that somebody else has written under the same name. */
Test(agent_resolve, a_definition_with_a_driver_is_complete)
{
	struct agent_resolution got =
		resolve("{driver: script, options: {replies: []}}", WORK, ADA);
	expect(&got, "driver", "\"script\"", RUN_ORIGIN_DEFINITION);
	expect(&got, "system", "\"\"", RUN_ORIGIN_DEFAULT);
	expect(&got, "tools", "[]", RUN_ORIGIN_DEFAULT);
	expect_none(&got, "model");
	expect_none(&got, "options.cache");
	expect(&got, "retry", "{\"max_retries\":3,\"base_delay\":1,\"max_delay\":60}",
	       RUN_ORIGIN_PROFILE);
}

static const char *mounted(const struct agent_resolution *resolution)
{
	const struct run_agent_settings *settings = resolution->settings;
	return has(settings, sandbox) ? str_c(&arena, settings->sandbox->mounts.at[0]) : "none";
}

#define SANDBOX(folder) "sandbox: {mounts: ['" folder "']}"

Test(agent_resolve, a_sandbox_of_the_profile_overrides_the_agents)
{
	const char *agent =
		"{name: ada, role: r, system_prompt: s, llm_config: {model: m}, " SANDBOX(
			"/registry") "}";
	struct agent_resolution got = resolve(
		NULL,
		"{name: work, repo_root: /, " SANDBOX(
			"/profile") ", agents: {ada: {driver: api, model: m, " SANDBOX("/entry") "}}}",
		agent);
	cr_assert_str_eq(mounted(&got), "/profile");
	got = resolve(NULL,
		      "{name: work, repo_root: /, agents: {ada: {driver: api, model: m, " SANDBOX(
			      "/entry") "}}}",
		      agent);
	cr_assert_str_eq(mounted(&got), "/entry");
	got = resolve(NULL, "{name: work, repo_root: /}", agent);
	cr_assert_str_eq(mounted(&got), "/registry");
	/* An agent of the definition runs in the profile's, too. */
	got = resolve("{driver: script}", "{name: work, repo_root: /, " SANDBOX("/profile") "}",
		      agent);
	cr_assert_str_eq(mounted(&got), "/profile");
	got = resolve("{driver: script}", NULL, agent);
	cr_assert_str_eq(mounted(&got), "none");
}

Test(agent_resolve, api_type_and_api_key_env_make_an_api_agent)
{
	struct agent_resolution got = resolve(
		NULL, NULL,
		"{name: ada, role: r, system_prompt: s, tools: [], temperature: 0.1, "
		"llm_config: {endpoint: 'http://127.0.0.1:1/v1', model: m, api_type: glm, "
		"api_key_env: GLM_KEY, temperature: 0.9, max_tokens: 5}, allow_human_input: true}");
	expect(&got, "driver", "\"api:custom\"", RUN_ORIGIN_REGISTRY);
	expect(&got, "options.base_url", "\"http://127.0.0.1:1/v1\"", RUN_ORIGIN_REGISTRY);
	expect(&got, "options.api_key", "\"env:GLM_KEY\"", RUN_ORIGIN_REGISTRY);
	expect(&got, "temperature", "0.9", RUN_ORIGIN_REGISTRY);
	expect(&got, "max_tokens", "5", RUN_ORIGIN_REGISTRY);
	struct problems problems = { .arena = &arena };
	const struct run_graph_agent *agent =
		agent_resolution_apply(&got, S("ada"), &arena, &problems);
	cr_assert_eq(problems.count, 0);
	cr_assert(str_equal(agent->driver, S("api")));
	cr_assert_eq(agent->tools.count, 1);
	cr_assert(str_equal(agent->tools.at[0].name, S("ask_human")));
	cr_assert_eq(agent->max_tokens, 5);
}

static struct str sandbox_problem(const char *yaml, bool isolates)
{
	struct problems problems = { .arena = &arena };
	const struct contract_source source = source_of(yaml);
	const struct pipeline_sandbox_config *config =
		pipeline_sandbox_config_parse(&source, &arena, &problems);
	cr_assert_not_null(config);
	agent_sandbox(config, isolates, &arena, &problems);
	return problems_text(&problems, &arena);
}

Test(agent_resolve, a_mode_that_is_not_available_is_a_problem)
{
	size_t at;
	cr_assert(str_find(sandbox_problem("{mode: container}", true),
			   S("/sandbox/mode: the mode container is not available"), &at));
	cr_assert(str_find(sandbox_problem("{mode: daytona, repo_url: x}", false),
			   S("the mode daytona is not available"), &at));
	cr_assert(str_find(sandbox_problem("{isolation: 'off'}", true),
			   S("off is less than the server's"), &at));
	cr_assert_eq(sandbox_problem("{isolation: 'off'}", false).size, 0);
	cr_assert_eq(sandbox_problem("{isolation: native}", false).size, 0);
}

Test(agent_resolve, a_sandbox_in_the_graph_has_only_what_differs_from_the_server)
{
	struct problems problems = { .arena = &arena };
	const struct contract_source usual = source_of("{}");
	const struct contract_source own =
		source_of("{network_allowlist_enabled: true, network_allowed_hosts: [a.example]}");
	cr_assert_null(agent_sandbox(pipeline_sandbox_config_parse(&usual, &arena, &problems), true,
				     &arena, &problems));
	const struct run_graph_sandbox *made = agent_sandbox(
		pipeline_sandbox_config_parse(&own, &arena, &problems), true, &arena, &problems);
	cr_assert(str_equal(run_graph_sandbox_text(made, &arena),
			    S("{\"network\":[\"a.example\"]}")));
}
