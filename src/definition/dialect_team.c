/* definition/dialect_team.c -- team files: a graph of who hands work to whom, which can be drawn and not started.
 *
 * The team becomes the file of a graph workflow: an agent is a node, its handoff rules are the keys of a
 * routing map, a collaboration pattern is a parallel node beside the agent that coordinates it.  How a team decides
 * whom to hand work to is something that the engine does not have yet; the graph would do something else than the team,
 * so a start is refused.  The models of the team are not asked, so the agents of the graph have none.
 */
#include "base/limits.h"
#include "contract/task_types.h"
#include "definition/dialect.h"
#include "definition/tree_build.h"

enum { MOST_ITERATIONS = 1000 };

struct team_file {
	struct arena *arena;
	const struct task_team_config *team;
	const struct json *tree;
	const struct json *agents; /* the list of the file */
};

/* Names of a team are free texts, those of nodes are not. */
static struct str node_name(const struct team_file *t, struct str name)
{
	struct str copy = str_copy(t->arena, name);
	char *at = (char *)(uintptr_t)copy.at;
	for (size_t i = 0; i < copy.size; i++) {
		char c = at[i];
		bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
			     (c >= '0' && c <= '9') || c == '_';
		at[i] = plain ? c : '_';
	}
	bool begins_well = copy.size > 0 && !(at[0] >= '0' && at[0] <= '9');
	return begins_well ? copy : str_format(t->arena, "_" STR_FMT, STR_ARG(copy));
}

static const struct json *agent_place(const struct team_file *t, size_t i)
{
	return json_item(t->agents, i);
}

/* ---- nodes --------------------------------------------------------------------------------------- */

static struct json agents_of(const struct team_file *t)
{
	struct tree_object agents = { .arena = t->arena, .place = t->agents };
	for (size_t i = 0; i < t->team->agents.count; i++) {
		const struct json *place = agent_place(t, i);
		struct tree_object agent = { .arena = t->arena, .place = place };
		struct tree_object options = { .arena = t->arena, .place = place };
		struct tree_object reply = { .arena = t->arena, .place = place };
		struct tree_list replies = { .arena = t->arena, .place = place };
		tree_add(&reply, S("text"), tree_text(S("ok"), place));
		tree_append(&replies, tree_object(&reply));
		tree_add(&options, S("replies"), tree_list(&replies));
		tree_add(&agent, S("driver"), tree_text(S("script"), place));
		tree_add(&agent, S("options"), tree_object(&options));
		tree_add(&agents, node_name(t, t->team->agents.at[i].name), tree_object(&agent));
	}
	return tree_object(&agents);
}

static struct json pattern_node(const struct team_file *t,
				const struct task_collaboration_pattern *pattern,
				const struct json *place)
{
	struct tree_object node = { .arena = t->arena, .place = place };
	struct tree_list tasks = { .arena = t->arena, .place = place };
	struct str type = task_pattern_type_name(pattern->type);
	for (size_t i = 0; i < pattern->agents.count; i++)
		tree_append(&tasks, tree_text(node_name(t, pattern->agents.at[i]), place));
	tree_add(&node, S("type"), tree_text(S("parallel"), place));
	tree_add(&node, S("description"),
		 tree_text(str_format(t->arena, "collaboration: " STR_FMT, STR_ARG(type)), place));
	tree_add(&node, S("parallel_tasks"), tree_list(&tasks));
	return tree_object(&node);
}

static struct json nodes_of(const struct team_file *t)
{
	const struct json *patterns = json_member(t->tree, S("collaboration_patterns"));
	struct tree_object nodes = { .arena = t->arena, .place = t->agents };
	for (size_t i = 0; i < t->team->agents.count; i++) {
		const struct json *place = agent_place(t, i);
		struct tree_object node = { .arena = t->arena, .place = place };
		struct str name = node_name(t, t->team->agents.at[i].name);
		tree_add(&node, S("type"), tree_text(S("agent"), place));
		tree_add(&node, S("agent"), tree_text(name, place));
		tree_add(&node, S("description"), tree_text(t->team->agents.at[i].role, place));
		tree_add(&nodes, name, tree_object(&node));
	}
	for (size_t i = 0; i < t->team->collaboration_patterns.count; i++) {
		const struct task_collaboration_pattern *pattern =
			&t->team->collaboration_patterns.at[i];
		if (pattern->agents.count > 0)
			tree_add(&nodes, node_name(t, pattern->name),
				 pattern_node(t, pattern, json_item(patterns, i)));
	}
	return tree_object(&nodes);
}

/* ---- edges --------------------------------------------------------------------------------------- */

static struct json edge_of(const struct team_file *t, struct str from, struct json to,
			   const struct json *place)
{
	struct tree_object edge = { .arena = t->arena, .place = place };
	tree_add(&edge, S("from"), tree_text(from, place));
	tree_add(&edge, S("to"), to);
	return tree_object(&edge);
}

/* Whom an agent can hand work to, and what it coordinates; a mapping of routing keys. */
static struct json targets_of(const struct team_file *t, struct str agent, const struct json *place)
{
	struct tree_object to = { .arena = t->arena, .place = place };
	for (size_t i = 0; i < t->team->handoff_rules.count; i++) {
		const struct task_handoff_rule *rule = &t->team->handoff_rules.at[i];
		struct str name = node_name(t, rule->to_agent);
		struct json known = tree_object(&to);
		if (str_equal(rule->from_agent, agent) && json_member(&known, name) == NULL)
			tree_add(&to, name, tree_text(name, place));
	}
	for (size_t i = 0; i < t->team->collaboration_patterns.count; i++) {
		const struct task_collaboration_pattern *pattern =
			&t->team->collaboration_patterns.at[i];
		struct str name = node_name(t, pattern->name);
		if (has(pattern, coordination_agent) && pattern->agents.count > 0 &&
		    str_equal(pattern->coordination_agent, agent))
			tree_add(&to, name, tree_text(name, place));
	}
	if (to.count > 0)
		tree_add(&to, S("done"), tree_text(S("__end__"), place));
	return tree_object(&to);
}

static struct json edges_of(const struct team_file *t)
{
	struct tree_list edges = { .arena = t->arena, .place = t->agents };
	for (size_t i = 0; i < t->team->agents.count; i++) {
		struct str name = t->team->agents.at[i].name;
		struct json to = targets_of(t, name, agent_place(t, i));
		if (to.as.object.count > 0)
			tree_append(&edges, edge_of(t, node_name(t, name), to, agent_place(t, i)));
	}
	for (size_t i = 0; i < t->team->collaboration_patterns.count; i++) {
		const struct task_collaboration_pattern *pattern =
			&t->team->collaboration_patterns.at[i];
		if (has(pattern, coordination_agent) && pattern->agents.count > 0)
			tree_append(&edges,
				    edge_of(t, node_name(t, pattern->name),
					    tree_text(node_name(t, pattern->coordination_agent),
						      t->agents),
					    t->agents));
	}
	return tree_list(&edges);
}

/* ---- the file ------------------------------------------------------------------------------------ */

/* The first agent that no rule hands work to, else the first. */
static struct str entry_of(const struct team_file *t)
{
	const struct task_team_config *team = t->team;
	for (size_t i = 0; i < team->agents.count; i++) {
		bool receives = false;
		for (size_t k = 0; k < team->handoff_rules.count && !receives; k++)
			receives = str_equal(team->handoff_rules.at[k].to_agent,
					     team->agents.at[i].name);
		for (size_t k = 0; k < team->collaboration_patterns.count && !receives; k++)
			for (size_t a = 0; a < team->collaboration_patterns.at[k].agents.count; a++)
				receives |=
					str_equal(team->collaboration_patterns.at[k].agents.at[a],
						  team->agents.at[i].name);
		if (!receives)
			return node_name(t, team->agents.at[i].name);
	}
	return node_name(t, team->agents.at[0].name);
}

/* The agents before which a person is asked: points of intervention with the name of an agent. */
static struct json interrupts_of(const struct team_file *t)
{
	const struct task_execution_config *execution = t->team->execution_config;
	struct tree_list names = { .arena = t->arena, .place = t->tree };
	for (size_t i = 0; i < execution->human_intervention_points.count; i++)
		for (size_t k = 0; k < t->team->agents.count; k++)
			if (str_equal(t->team->agents.at[k].name,
				      execution->human_intervention_points.at[i]))
				tree_append(&names,
					    tree_text(node_name(t, t->team->agents.at[k].name),
						      agent_place(t, k)));
	return tree_list(&names);
}

static const struct json *graph_of(const struct team_file *t)
{
	const struct task_execution_config *execution = t->team->execution_config;
	struct tree_object out = { .arena = t->arena, .place = t->tree };
	struct json interrupts = interrupts_of(t);
	tree_add(&out, S("name"),
		 tree_text(node_name(t, t->team->name), json_member(t->tree, S("name"))));
	tree_take(&out, t->tree, S("description"));
	tree_add(&out, S("entry_point"), tree_text(entry_of(t), t->agents));
	tree_add(&out, S("agents"), agents_of(t));
	tree_add(&out, S("nodes"), nodes_of(t));
	tree_add(&out, S("edges"), edges_of(t));
	if (interrupts.as.list.count > 0)
		tree_add(&out, S("interrupt_before"), interrupts);
	if (has(execution, max_steps) && execution->max_steps > 0)
		tree_add(&out, S("max_iterations"),
			 tree_int(execution->max_steps < MOST_ITERATIONS ? execution->max_steps
									 : MOST_ITERATIONS,
				  t->tree));
	struct json *tree = arena_new(t->arena, struct json);
	*tree = tree_object(&out);
	return tree;
}

const struct json *dialect_team_translate(struct compiler *c, const struct json *tree,
					  struct str text)
{
	const struct contract_source source = { .json = tree, .text = text };
	struct team_file t = { .arena = c->arena,
			       .tree = tree,
			       .agents = json_member(tree, S("agents")) };
	const struct json *place = json_member(tree, S("name"));
	t.team = task_team_config_parse(&source, c->arena, c->problems);
	if (t.team == NULL)
		return NULL;
	definition_refuse_start(
		c, place,
		"the team " STR_FMT
		" has no mistakes, but teams cannot be started yet; write its work as "
		"a graph workflow (docs/graphs.md)",
		STR_ARG(t.team->name));
	if (t.team->agents.count == 0)
		problems_add(c->problems, S("/agents"), t.agents->line, t.agents->column,
			     "a team has at least one agent");
	return c->problems->count > 0 ? NULL : dialect_graph_translate(c, graph_of(&t), text);
}
