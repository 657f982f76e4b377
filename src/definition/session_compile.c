/* definition/session_compile.c -- an agent with tools becomes a session: a body with a node that asks the
 * model and a node for each tool (engine/session.h).
 *
 * The graph has what the model is told of each tool, so that a run goes on with the tools it began with
 * (architecture R14).
 */
#include "definition/compile_internal.h"

/* A command that fails is something to look at, not a call that went wrong. */
static const struct json_member shell_members[] = {
	{ .key = { "fail_on_status", 14 }, .value = { .kind = JSON_BOOL, .as.boolean = false } },
};
static const struct json shell_inputs = { .kind = JSON_OBJECT,
					  .as.object = { shell_members, COUNT(shell_members) } };
static const struct json no_inputs = { .kind = JSON_OBJECT };

struct run_graph_node *definition_session_turn(const struct run_graph_node *session)
{
	return (struct run_graph_node *)(uintptr_t)&session->body.at[0];
}

static struct run_graph_node node_new(struct str name, enum run_node_kind kind, struct arena *arena)
{
	struct run_graph_node *node = run_graph_node_new(arena);
	SET(node, name, name);
	SET(node, kind, kind);
	SET(node, join, RUN_JOIN_ANY);
	SET(node, class, RUN_CLASS_IDEMPOTENT);
	SET(node, depends_on, ((struct str_list){ NULL, 0 }));
	SET(node, reads, ((struct str_list){ NULL, 0 }));
	SET(node, inputs, &no_inputs);
	return *node;
}

static struct run_graph_node call_node(const struct definition_tool *tool, struct arena *arena)
{
	struct run_graph_node node = node_new(tool->name, RUN_NODE_TOOL, arena);
	SET(&node, tool, tool->name);
	SET(&node, class, tool->class);
	SET(&node, continue_on_error, true);
	if (tool->timeout_seconds > 0)
		SET(&node, timeout_us, (int64_t)(tool->timeout_seconds * 1e6));
	if (str_equal(tool->name, S("shell")))
		SET(&node, inputs, &shell_inputs);
	return node;
}

static bool is_offered(struct run_graph_tool_list tools, struct str name)
{
	for (size_t i = 0; i < tools.count; i++)
		if (str_equal(tools.at[i].name, name))
			return true;
	return false;
}

static void check_required(const struct body *body, size_t number,
			   const struct run_graph_agent *agent)
{
	for (size_t i = 0; has(agent, required_tools) && i < agent->required_tools.count; i++)
		if (!is_offered(agent->tools, agent->required_tools.at[i]))
			definition_step_problem(body, number, S("agent"),
						"agent " STR_FMT " requires the tool " STR_FMT
						", which is not among its tools",
						STR_ARG(agent->name),
						STR_ARG(agent->required_tools.at[i]));
}

void definition_make_session(const struct body *body, size_t number, struct run_graph_node *node,
			     const struct run_graph_agent *agent)
{
	struct arena *arena = body->compiler->arena;
	struct run_graph_agent *offered = arena_copy(arena, agent, sizeof(*agent));
	size_t count = agent->tools.count;
	struct run_graph_tool *tools = arena_array(arena, struct run_graph_tool, count);
	struct run_graph_node *nodes = arena_array(arena, struct run_graph_node, count + 1);
	SET(node, kind, RUN_NODE_SESSION);
	nodes[0] = node_new(S("turn"), RUN_NODE_AGENT, arena);
	for (size_t i = 0; i < count; i++) {
		struct str name = agent->tools.at[i].name;
		const struct definition_tool *tool = definition_find_tool(body->compiler, name);
		if (tool == NULL || str_equal(name, S("turn"))) {
			definition_step_problem(body, number, S("agent"),
						"agent " STR_FMT " has the tool " STR_FMT
						", which does not exist; see baton tools",
						STR_ARG(agent->name), STR_ARG(name));
			return;
		}
		tools[i] = *run_graph_tool_new(arena);
		SET(&tools[i], name, name);
		SET(&tools[i], text, tool->text);
		if (tool->parameters != NULL)
			SET(&tools[i], parameters, tool->parameters);
		nodes[i + 1] = call_node(tool, arena);
	}
	check_required(body, number, agent);
	SET(offered, tools, ((struct run_graph_tool_list){ tools, count }));
	SET(&nodes[0], agent, (const struct run_graph_agent *)offered);
	SET(node, body, ((struct run_graph_node_list){ nodes, count + 1 }));
}
