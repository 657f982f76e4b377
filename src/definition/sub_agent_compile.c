/* definition/sub_agent_compile.c -- the tool `delegate`: an agent gives a task to another one.
 *
 * Each sub-agent is a workflow with one step, which is compiled here and run as a sub-run: it has a history
 * of its own, sees nothing of the transcript but the task, and its summary is the result.
 */
#include "base/buf.h"
#include "base/limits.h"
#include "definition/compile_internal.h"

static void add_quoted(struct buf *out, struct str text, struct arena *arena)
{
	const struct json json = { .kind = JSON_STRING, .as.string = text };
	buf_add(out, json_print(arena, &json));
}

static struct str yaml_for(struct str name, const struct run_definition_sub_agent *limits,
			   struct arena *arena)
{
	AUTO(buf) out = { 0 };
	buf_add(&out, S("name: "));
	add_quoted(&out, name, arena);
	buf_add(&out, S("\nstrict: true\n"));
	if (has(limits, budget_usd))
		buf_add_format(&out, "budget_usd: %.6f\n", limits->budget_usd);
	if (has(limits, timeout))
		buf_add_format(&out, "timeout: %.3f\n", limits->timeout);
	buf_add(&out, S("inputs:\n"
			"  task: {type: string}\n"
			"  agent: {type: string, default: ''}\n"
			"steps:\n"
			"  - name: work\n"
			"    agent: "));
	add_quoted(&out, name, arena);
	buf_add(&out, S("\n    inputs: {prompt: '${inputs.task}'}\n"
			"outputs:\n"
			"  summary: {from: '${steps.work.outputs.text}'}\n"
			"  json: {from: '${steps.work.outputs.json}', optional: true}\n"));
	return str_copy(arena, buf_str(&out));
}

/* "lead -> researcher -> lead" if the agent is among those that delegate already; "" */
static struct str circle(struct str_list chain, struct str name, struct arena *arena)
{
	AUTO(buf) text = { 0 };
	bool found = false;
	for (size_t i = 0; i < chain.count; i++) {
		found = found || str_equal(chain.at[i], name);
		if (found)
			buf_add_format(&text, STR_FMT " -> ", STR_ARG(chain.at[i]));
	}
	buf_add(&text, name);
	return found ? str_copy(arena, buf_str(&text)) : S("");
}

const struct run_graph *definition_compile_sub_agent(const struct body *body, size_t number,
						     struct str name,
						     const struct run_definition_sub_agent *limits)
{
	struct compiler *c = body->compiler;
	struct str_list chain = c->delegates;
	struct str *longer = arena_array(c->arena, struct str, chain.count + 1);
	struct str round = circle(chain, name, c->arena);
	if (round.size > 0) {
		definition_step_problem(body, number, S("agent"),
					"the agents delegate in a circle: " STR_FMT,
					STR_ARG(round));
		return NULL;
	}
	if (chain.count > LIMIT_SUB_AGENT_DEPTH || c->depth + 1 >= LIMIT_WORKFLOW_DEPTH) {
		definition_step_problem(body, number, S("agent"),
					"agents delegate more than %d levels deep",
					LIMIT_SUB_AGENT_DEPTH);
		return NULL;
	}
	for (size_t i = 0; i < chain.count; i++)
		longer[i] = chain.at[i];
	longer[chain.count] = name;
	return definition_compile_for_agent(body, number, name, yaml_for(name, limits, c->arena),
					    (struct str_list){ longer, chain.count + 1 });
}
