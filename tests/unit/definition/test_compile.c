/* definition/definition_compile.h: every diagnostic with its position, and the graph of a valid
 * file.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "base/json.h"
#include "contract/run_class_types.h"
#include "definition/tools.h"

static struct arena arena;

static void begin(void)
{
	arena = (struct arena){ 0 };
}

static void end(void)
{
	arena_done(&arena);
}

TestSuite(compile, .init = begin, .fini = end);

static struct problems broken(const char *yaml)
{
	struct problems problems = { .arena = &arena };
	struct str graph = S("untouched");
	cr_assert_not(definition_compile(str_from_c(yaml), &tools, &arena, &graph, &problems));
	cr_assert(problems.count > 0);
	cr_assert(str_equal(graph, S("untouched")));
	return problems;
}

static void problem_at(const struct problems *problems, size_t number, uint32_t line,
		       uint32_t column, const char *pointer, const char *says)
{
	cr_assert(number < problems->count, "only %zu problems", problems->count);
	const struct problem *problem = &problems->at[number];
	const char *text = str_c(&arena, problem->text);
	cr_assert(strstr(text, says) != NULL, "%s", text);
	cr_assert_eq(problem->line, line, "%s: line %u", text, problem->line);
	cr_assert_eq(problem->column, column, "%s: column %u", text, problem->column);
	cr_assert_str_eq(str_c(&arena, problem->pointer), pointer);
}

static void only(const char *yaml, uint32_t line, uint32_t column, const char *pointer,
		 const char *says)
{
	struct problems problems = broken(yaml);
	cr_assert_eq(problems.count, 1, "%s", str_c(&arena, problems_text(&problems, &arena)));
	problem_at(&problems, 0, line, column, pointer, says);
}

static struct str compiled(const char *yaml)
{
	struct problems problems = { .arena = &arena };
	struct str graph;
	bool good = definition_compile(str_from_c(yaml), &tools, &arena, &graph, &problems);
	cr_assert(good, "%s", str_c(&arena, problems_text(&problems, &arena)));
	return graph;
}

/* ---- kinds of steps ----------------------------------------------------------------- */

Test(compile, an_unknown_tool_is_named_with_those_there_are)
{
	only("name: w\nsteps:\n  - name: a\n    tool: ekko\n", 4, 11, "/steps/0/tool",
	     "unknown tool ekko; did you mean \"echo\"?");
	only("name: w\nsteps:\n  - name: a\n    tool: qqq\n", 4, 11, "/steps/0/tool",
	     "unknown tool qqq; expected one of echo, shell, send");
}

Test(compile, a_step_does_exactly_one_thing)
{
	only("name: w\nsteps:\n  - name: a\n    tool: echo\n    wait: {seconds: 1}\n", 3, 11,
	     "/steps/0/name",
	     "step a must have exactly one of tool, agent, human, wait, condition");
	only("name: w\nsteps:\n  - name: a\n    tool: echo\n    human: {question: x}\n", 3, 11,
	     "/steps/0/name", "exactly one");
	only("name: w\nsteps:\n  - name: nothing\n", 3, 11, "/steps/0/name", "exactly one");
}

Test(compile, the_contract_speaks_too)
{
	only("name: w\nsteps:\n  - name: a\n    tool: echo\n    dependson: []\n", 5, 5,
	     "/steps/0/dependson", "depends_on");
	only("name: w\nsteps: []\n", 2, 8, "/steps", "");
	only("name: w\nsteps:\n  - name: 1a\n    tool: echo\n", 3, 11, "/steps/0/name", "");
	only("name: w\nsteps:\n  - name: a\n    wait: {seconds: -1}\n", 4, 21,
	     "/steps/0/wait/seconds", "");
	only("name: w\nsteps:\n  - name: a\n    tool: echo\n    depends_on: [b, b]\n  - name: b\n"
	     "    tool: echo\n",
	     5, 21, "/steps/0/depends_on/1", "");
}

Test(compile, bad_yaml_is_a_problem_with_a_place)
{
	struct problems problems = broken("name: w\nsteps: [\n");
	cr_assert_eq(problems.count, 1);
	cr_assert(problems.at[0].line > 0);
}

/* ---- names and edges ---------------------------------------------------------------- */

Test(compile, names_are_unique)
{
	only("name: w\nsteps:\n  - name: a\n    tool: echo\n  - name: a\n    tool: echo\n", 5, 11,
	     "/steps/1/name", "duplicate step name a: step 1 has it already");
}

Test(compile, dependencies_exist)
{
	only("name: w\nsteps:\n  - name: a\n    tool: echo\n    depends_on: [b]\n", 5, 18,
	     "/steps/0/depends_on/0", "unknown step b");
	only("name: w\nsteps:\n  - name: a\n    tool: echo\n    depends_on: [a]\n", 5, 18,
	     "/steps/0/depends_on/0", "step a depends on itself: a -> a");
}

Test(compile, a_cycle_is_shown)
{
	only("name: w\nsteps:\n"
	     "  - name: before\n    tool: echo\n"
	     "  - name: after\n    tool: echo\n    depends_on: [c]\n"
	     "  - name: a\n    tool: echo\n    depends_on: [before, b]\n"
	     "  - name: b\n    tool: echo\n    depends_on: [c]\n"
	     "  - name: c\n    tool: echo\n    depends_on: [a]\n",
	     16, 17, "/steps/4/depends_on", "the dependencies form a cycle: c -> b -> a -> c");
}

Test(compile, a_timeout_stands_where_it_belongs)
{
	only("name: w\nsteps:\n  - name: a\n    wait: {signal: s}\n    timeout: 5\n", 5, 14,
	     "/steps/0/timeout",
	     "a wait has a timeout of its own: write it inside, wait: {signal: NAME, timeout: "
	     "SECONDS}");
	only("name: w\nsteps:\n  - name: a\n    wait: {seconds: 9}\n    timeout: 5\n", 5, 14,
	     "/steps/0/timeout", "a wait for seconds ends by itself: leave the timeout out");
	only("name: w\nsteps:\n  - name: a\n    human: {question: q}\n    timeout: 5\n", 5, 14,
	     "/steps/0/timeout",
	     "a question has a timeout of its own: write it inside, human: {question: TEXT, "
	     "timeout: SECONDS}");
	only("name: w\nsteps:\n  - name: a\n    timeout: 5\n    parallel:\n      steps: [{name: b, "
	     "tool: echo}]\n",
	     4, 14, "/steps/0/timeout",
	     "only a tool, an agent and a workflow can have a timeout; set it on the steps inside");
	compiled("name: w\nsteps:\n  - name: a\n    wait: {signal: s, timeout: 5}\n");
}

Test(compile, a_body_must_begin_somewhere)
{
	only("name: w\nsteps:\n  - name: a\n    tool: echo\n    join: any\n"
	     "    next: [{to: a, when: 'false'}]\n",
	     5, 11, "/steps/0/join", "no step can start");
	only("name: w\nsteps:\n  - name: a\n    tool: echo\n    join: any\n    entry: false\n", 5,
	     11, "/steps/0/join", "no step can start");
	compiled("name: w\nsteps:\n  - name: a\n    tool: echo\n    join: any\n    entry: true\n"
		 "    next: [{to: a, when: 'false'}]\n");
}

Test(compile, problems_are_collected)
{
	struct problems problems = broken("name: w\nsteps:\n  - name: a\n    tool: nope\n"
					  "  - name: a\n    tool: echo\n    depends_on: [gone]\n"
					  "  - name: b\n");
	cr_assert_eq(problems.count, 4);
}

/* ---- references --------------------------------------------------------------------- */

Test(compile, references_lead_somewhere)
{
	only("name: w\nsteps:\n  - name: a\n    tool: echo\n    inputs:\n      k: ${inputs.x}\n", 6,
	     19, "/steps/0/inputs", "unknown input x: the workflow does not declare it");
	only("name: w\nsteps:\n  - name: a\n    tool: echo\n    inputs:\n      k: "
	     "${steps.b.outputs}\n",
	     6, 18, "/steps/0/inputs", "unknown step b");
	only("name: w\nsteps:\n  - name: a\n    tool: echo\n"
	     "  - name: b\n    tool: echo\n    inputs: {k: ['x', '${steps.a.outputs}']}\n",
	     7, 32, "/steps/1/inputs",
	     "reads step a without depending on it: add it to depends_on");
	only("name: w\nsteps:\n  - name: a\n    tool: echo\n    inputs: {k: "
	     "'${steps.a.outputs}'}\n",
	     5, 26, "/steps/0/inputs", "without depending on it");
	/* Only a step with rounds has a previous round. */
	only("name: x\nsteps:\n  - name: l\n    when: steps.l.outputs.n\n"
	     "    loop:\n      until: 'true'\n      steps: [{name: a, tool: echo}]\n",
	     4, 17, "/steps/0/when", "without depending on it");
	only("name: x\nsteps:\n  - name: m\n    map:\n      over: [1]\n      steps:\n"
	     "        - name: a\n          tool: echo\n          inputs: {n: '${steps.m.outputs}'}\n",
	     9, 32, "/steps/0/map/steps/0/inputs", "without depending on it");
}

Test(compile, references_of_questions_and_outputs_are_checked)
{
	only("name: w\nsteps:\n  - name: a\n    human:\n      question: go ${steps.b.outputs}?\n",
	     5, 28, "/steps/0/human", "unknown step b");
	only("name: w\noutputs:\n  o:\n    from: ${steps.b.outputs}\nsteps:\n  - name: a\n"
	     "    tool: echo\n",
	     4, 19, "/outputs/o/from", "unknown step b");
	only("name: w\noutputs: {o: {from: '${inputs.q}'}}\nsteps:\n  - name: a\n    tool: echo\n",
	     2, 31, "/outputs/o/from", "unknown input q");
}

Test(compile, expressions_must_be_readable)
{
	only("name: w\nsteps:\n  - name: a\n    tool: echo\n    inputs: {k: '${inputs.x'}\n", 5, 18,
	     "/steps/0/inputs", "no closing brace");
	only("name: w\ninputs: {n: {type: number}}\nsteps:\n  - name: a\n    tool: echo\n"
	     "    inputs: {k: '${inputs.n +}'}\n",
	     6, 29, "/steps/0/inputs", "a value is missing");
}

Test(compile, a_step_may_read_any_ancestor)
{
	compiled("name: w\nsteps:\n  - name: a\n    tool: echo\n  - name: b\n    tool: echo\n"
		 "    depends_on: [a]\n  - name: c\n    tool: echo\n    depends_on: [b]\n"
		 "    inputs: {k: '${steps.a.outputs}'}\n");
}

/* ---- the result --------------------------------------------------------------------- */

static const char *const good =
	"name: w\n"
	"version: 3\n"
	"inputs:\n  who: {type: string, enum: [ada, grace], default: ada}\n"
	"outputs:\n  o: {from: '${steps.ask.outputs.by}', optional: true}\n"
	"steps:\n"
	"  - name: ask\n    human: {question: 'ok ${inputs.who}?'}\n"
	"    depends_on: [pause, work]\n"
	"    inputs: {seen: '${steps.work.outputs}', again: '${steps.work.output.x}'}\n"
	"  - name: pause\n    wait: {seconds: 1.5}\n"
	"  - name: work\n    tool: shell\n";

Test(compile, the_same_file_gives_the_same_bytes)
{
	struct str first = compiled(good);
	cr_assert(str_equal(first, compiled(good)));
	const char *text = str_c(&arena, first);
	cr_assert_str_eq(
		text,
		"{\"name\":\"w\",\"inputs\":[{\"name\":\"who\",\"type\":\"string\","
		"\"required\":true,"
		"\"default\":\"ada\",\"enum\":[\"ada\",\"grace\"]}],\"nodes\":["
		"{\"name\":\"pause\",\"kind\":\"wait\",\"join\":\"all\",\"class\":\"idempotent\","
		"\"wait_us\":1500000,\"depends_on\":[],\"inputs\":{},\"reads\":[]},"
		"{\"name\":\"work\",\"kind\":\"tool\",\"join\":\"all\",\"class\":\"contained\","
		"\"tool\":\"shell\",\"depends_on\":[],\"inputs\":{},\"reads\":[]},"
		"{\"name\":\"ask\",\"kind\":\"human\",\"join\":\"all\",\"class\":\"idempotent\","
		"\"question\":\"ok ${inputs.who}?\",\"depends_on\":[\"pause\",\"work\"],"
		"\"inputs\":{\"seen\":\"${steps.work.outputs}\","
		"\"again\":\"${steps.work.output.x}\"},"
		"\"reads\":[\"work\"]}],\"outputs\":[{\"name\":\"o\","
		"\"from\":\"${steps.ask.outputs.by}\",\"optional\":true,\"reads\":[\"ask\"]}],"
		"\"rules\":3,\"kept_steps\":10000}");
}

Test(compile, layout_and_comments_do_not_matter)
{
	cr_assert(str_equal(compiled("name: w\nsteps:\n  - name: a\n    tool: echo\n"),
			    compiled("# hello\nsteps: [{tool: \"echo\", name: 'a'}]\nname: w\n")));
}

Test(compile, the_isolation_is_in_the_class)
{
	static const struct definition_tool open_tools[] = { { .name = { "shell", 5 },
							       .class = RUN_CLASS_ONCE } };
	struct definition_tools other = { .at = open_tools, .count = 1 };
	struct problems problems = { .arena = &arena };
	struct str graph;
	bool ok = definition_compile(S("name: w\nsteps: [{name: a, tool: shell}]\n"), &other,
				     &arena, &graph, &problems);
	cr_assert(ok);
	cr_assert(strstr(str_c(&arena, graph), "\"class\":\"once\"") != NULL);
}
