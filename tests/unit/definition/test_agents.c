/* Agents in definitions: of the file, of the registry, and their checks. */
#include <criterion/criterion.h>
#include <string.h>

#include "contract/run_agent_types.h"
#include "contract/run_graph_types.h"
#include "definition/tools.h"

static struct arena arena;

static void end(void)
{
	arena_done(&arena);
}

TestSuite(agents, .fini = end);

/* A registry with ada, and with grace, whose driver is bad. */
static bool registry(void *context, struct str name, struct arena *memory,
		     const struct run_agent **out_agent, struct error *error)
{
	(void)context;
	if (str_equal(name, S("unread")))
		return fail(error, ERROR_STORAGE, "the registry cannot be read");
	if (!str_equal(name, S("ada")) && !str_equal(name, S("grace")))
		return fail(error, ERROR_NOT_FOUND, "there is no agent");
	struct problems problems = { .arena = memory };
	struct contract_source source = {
		.text = str_equal(name, S("ada"))
				? S("{\"name\":\"ada\",\"role\":\"r\",\"system_prompt\":\"s\","
				    "\"llm_config\":{\"model\":\"registered\"}}")
				: S("{\"name\":\"grace\",\"role\":\"r\",\"system_prompt\":\"s\","
				    "\"driver\":\"codex\",\"llm_config\":{\"model\":\"x\"}}")
	};
	cr_assert(json_read(source.text, memory, &source.json, error));
	*out_agent = run_agent_parse(&source, memory, &problems);
	cr_assert_not_null(*out_agent);
	return true;
}

static void check(void *context, const struct run_graph_agent *agent, struct arena *memory,
		  struct problems *problems)
{
	(void)context, (void)memory;
	if (str_equal(agent->driver, S("bad")) || str_equal(agent->driver, S("codex")))
		problems_add(problems, S("/driver"), 0, 0, "is bad");
	const struct json *wrong =
		has(agent, options) ? json_member(agent->options, S("wrong")) : NULL;
	if (wrong != NULL)
		problems_add(problems, S("/options/wrong"), wrong->line, wrong->column, "is wrong");
}

static struct str outcome(const char *yaml, bool registered)
{
	struct definition_tools with = tools;
	struct problems problems = { .arena = &arena };
	struct str graph;
	with.check_agent = check;
	with.agent = registered ? registry : NULL;
	if (!definition_compile(str_from_c(yaml), &with, &arena, &graph, &problems))
		return problems_text(&problems, &arena);
	return graph;
}

static void expect(const char *yaml, bool registered, const char *part)
{
	struct str got = outcome(yaml, registered);
	size_t at;
	cr_assert(str_find(got, str_from_c(part), &at), "no \"%s\" in: " STR_FMT, part,
		  STR_ARG(got));
}

#define STEP "steps:\n- {name: plan, agent: ada, inputs: {prompt: hello}}\n"

Test(agents, the_graph_holds_the_whole_agent)
{
	expect("name: w\nagents:\n  ada: {driver: good, model: m, system: Be brief., "
	       "options: {a: 1}}\n" STEP,
	       false,
	       "\"agent\":{\"name\":\"ada\",\"driver\":\"good\",\"model\":\"m\","
	       "\"system\":\"Be brief.\",\"options\":{\"a\":1}}");
	expect("name: w\nagents: {ada: {driver: good, instructions: Be kind.}}\n" STEP, false,
	       "\"model\":\"\",\"system\":\"Be kind.\",\"options\":{}");
}

Test(agents, the_files_own_goes_before_the_registrys)
{
	expect("name: w\nagents: {ada: {driver: good, model: own}}\n" STEP, true,
	       "\"model\":\"own\"");
	expect("name: w\n" STEP, true, "\"model\":\"registered\"");
}

Test(agents, an_unknown_one_is_named_with_those_there_are)
{
	expect("name: w\n" STEP, false,
	       "3:23 /steps/0/agent: agent ada does not exist: add it to `agents` of the file "
	       "(now: none), to the profile or to the registry");
	expect("name: w\nagents: {bob: {driver: good}, eve: {driver: good}}\n"
	       "steps: [{name: a, agent: carl}]\n",
	       true, "agent carl does not exist: add it to `agents` of the file (now: bob, eve)");
}

Test(agents, an_unreadable_registry_is_told)
{
	expect("name: w\nsteps: [{name: a, agent: unread}]\n", true, "the registry cannot be read");
}

Test(agents, problems_have_their_place)
{
	const char *yaml = "name: w\nagents:\n  ada:\n    driver: bad\n    options:\n"
			   "      wrong: 1\n" STEP;
	expect(yaml, false, "4:13 /agents/ada/driver: is bad");
	expect(yaml, false, "6:14 /agents/ada/options/wrong: is wrong");
	expect("name: w\nagents: {ada: {modle: m, driver: good}}\n" STEP, false,
	       "/agents/ada/modle");
	expect("name: w\nagents: {ada: {model: m}}\n" STEP, false, "/agents/ada/driver");
}

/* An agent that no step uses is checked too. */
Test(agents, every_agent_of_the_file_is_checked)
{
	expect("name: w\nagents: {eve: {driver: bad}}\nsteps: [{name: a, tool: echo}]\n", false,
	       "/agents/eve/driver: is bad");
}

Test(agents, the_registrys_are_checked_too)
{
	expect("name: w\nsteps: [{name: a, agent: grace}]\n", true,
	       "agent grace (registry): driver: is bad");
}

Test(agents, a_step_reads_what_an_agent_said)
{
	expect("name: w\nagents: {ada: {driver: good}}\noutputs: {o: {from: "
	       "'${steps.plan.outputs.json.files}'}}\n"
	       "steps:\n- {name: plan, agent: ada, inputs: {prompt: '${inputs}'}, "
	       "timeout: 5, retry: {on: [rate_limited]}, "
	       "loop_until: 'steps.plan.outputs.json.done', loop_max: 4}\n",
	       false, "\"until\":\"steps.plan.outputs.json.done\"");
}
