/* definition/agent_check.c -- finds the agent of a step, in the file or in the registry.
 *
 * The graph contains the whole agent, so that a run continues with the agent it began with
 * (architecture R14).  Drivers are not known here: the caller of the compiler supplies the check of
 * an agent.
 */
#include "base/buf.h"
#include "definition/agent_driver.h"
#include "definition/compile_internal.h"

struct run_graph_tool_list definition_named_tools(struct str_list names, struct arena *arena)
{
	struct run_graph_tool *at = arena_array(arena, struct run_graph_tool, names.count);
	for (size_t i = 0; i < names.count; i++) {
		at[i] = *run_graph_tool_new(arena);
		SET(&at[i], name, names.at[i]);
		SET(&at[i], text, S(""));
	}
	return (struct run_graph_tool_list){ at, names.count };
}

/* *out_clashes: the driver names another provider than the options. */
static const struct run_graph_agent *agent_of(const struct run_definition_agent_entry *entry,
					      struct arena *arena, bool *out_clashes)
{
	struct run_graph_agent *agent = run_graph_agent_new(arena);
	SET(agent, name, entry->key);
	*out_clashes = !agent_driver_set(agent, entry->value.driver, entry->value.options, arena);
	SET(agent, model, entry->value.model);
	SET(agent, system, entry->value.system);
	if (has(&entry->value, schema))
		SET(agent, schema, entry->value.schema);
	if (has(&entry->value, max_turns))
		SET(agent, max_turns, entry->value.max_turns);
	if (has(&entry->value, temperature))
		SET(agent, temperature, entry->value.temperature);
	if (has(&entry->value, max_tokens))
		SET(agent, max_tokens, entry->value.max_tokens);
	if (has(&entry->value, context_tokens))
		SET(agent, context_tokens, entry->value.context_tokens);
	if (has(&entry->value, approve_risk))
		SET(agent, approve_risk, entry->value.approve_risk);
	if (has(&entry->value, max_risk))
		SET(agent, max_risk, entry->value.max_risk);
	if (entry->value.approve.count > 0)
		SET(agent, approve, entry->value.approve);
	if (entry->value.required_tools.count > 0)
		SET(agent, required_tools, entry->value.required_tools);
	if (entry->value.tools.count > 0)
		SET(agent, tools, definition_named_tools(entry->value.tools, arena));
	return agent;
}

/* The member that a problem is about, or the agent if it lacks that member. */
static const struct json *place_of(const struct json *agent, struct str pointer)
{
	const struct json *member = json_member(agent, str_skip(pointer, 1));
	return member == NULL ? agent : member;
}

void definition_check_agents(const struct compiler *c, const struct json *tree)
{
	const struct definition_tools *tools = c->tools;
	const struct json *agents = json_member(tree, S("agents"));
	for (size_t i = 0; tools->check_agent != NULL && i < c->file->agents.count; i++) {
		const struct run_definition_agent_entry *entry = &c->file->agents.at[i];
		const struct json *place = json_member(agents, entry->key);
		struct problems found = { .arena = c->arena };
		bool clashes;
		const struct run_graph_agent *agent = agent_of(entry, c->arena, &clashes);
		tools->check_agent(tools->context, agent, c->arena, &found);
		if (clashes)
			problems_add(&found, S("/driver"), 0, 0,
				     "the driver is " STR_FMT
				     ", but the options name another provider; remove one of them",
				     STR_ARG(entry->value.driver));
		for (size_t p = 0; p < found.count; p++) {
			const struct problem *problem = &found.at[p];
			const struct json *at = place_of(place, problem->pointer);
			bool known = problem->line > 0 || at == NULL;
			problems_add(c->problems,
				     str_format(c->arena, "/agents/" STR_FMT STR_FMT,
						STR_ARG(entry->key), STR_ARG(problem->pointer)),
				     known ? problem->line : at->line,
				     known ? problem->column : at->column, STR_FMT,
				     STR_ARG(problem->text));
		}
	}
}

static struct str agent_names(const struct compiler *c)
{
	AUTO(buf) names = { 0 };
	for (size_t i = 0; i < c->file->agents.count; i++)
		buf_add_format(&names, "%s" STR_FMT, i == 0 ? "" : ", ",
			       STR_ARG(c->file->agents.at[i].key));
	return names.size == 0 ? S("none") : str_copy(c->arena, buf_str(&names));
}

static const struct run_graph_agent *find_registered(const struct body *body, size_t number,
						     struct str name)
{
	const struct compiler *c = body->compiler;
	const struct definition_tools *tools = c->tools;
	struct run_graph_agent *agent = run_graph_agent_new(c->arena);
	struct error error;
	if (tools->agent == NULL || !tools->agent(tools->context, name, c->arena, agent, &error)) {
		if (tools->agent == NULL || error.code == ERROR_NOT_FOUND)
			definition_step_problem(
				body, number, S("agent"),
				"agent " STR_FMT
				" does not exist: add it to `agents` of the file (now: " STR_FMT
				") or to the registry",
				STR_ARG(name), STR_ARG(agent_names(c)));
		else
			definition_step_problem(body, number, S("agent"), "%s", error.text);
		return NULL;
	}
	struct problems found = { .arena = c->arena };
	if (tools->check_agent != NULL)
		tools->check_agent(tools->context, agent, c->arena, &found);
	for (size_t i = 0; i < found.count; i++)
		definition_step_problem(body, number, S("agent"),
					"agent " STR_FMT " of the registry: " STR_FMT ": " STR_FMT,
					STR_ARG(name), STR_ARG(found.at[i].pointer),
					STR_ARG(found.at[i].text));
	return found.count > 0 ? NULL : agent;
}

const struct run_graph_agent *definition_find_agent(const struct body *body, size_t number)
{
	const struct compiler *c = body->compiler;
	struct str name = body->steps.at[number].agent;
	bool clashes;
	for (size_t i = 0; i < c->file->agents.count; i++)
		if (str_equal(c->file->agents.at[i].key, name))
			return agent_of(&c->file->agents.at[i], c->arena, &clashes);
	return find_registered(body, number, name);
}
