/* definition/session_compile.c -- an agent with tools becomes a session: a body with a node that asks the
 * model and a node for each tool (engine/session.h).
 *
 * The graph has what the model is told of each tool, so that a run goes on with the tools it began with
 * (architecture R14).
 */
#include "base/buf.h"
#include "definition/compile_internal.h"

#define ASK_HUMAN_TEXT                                                                               \
	"Asks the person who is responsible for this work and waits for the answer.  Use it when a " \
	"decision is theirs, or when something that you need cannot be found out."

#define WORKFLOW_PREFIX S("workflow:")

enum { LONGEST_NAME = 64 };    /* of a tool, by the rules of providers */
enum { LONGEST_S = 31536000 }; /* as for steps; a tool with a longer timeout has none */

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
	if (tool->timeout_seconds > 0 && tool->timeout_seconds <= LONGEST_S)
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

static void check_named(const struct body *body, size_t number, const struct run_graph_agent *agent,
			struct str_list names, const char *what)
{
	for (size_t i = 0; i < names.count; i++)
		if (!is_offered(agent->tools, names.at[i]))
			definition_step_problem(body, number, S("agent"),
						"agent " STR_FMT " %s the tool " STR_FMT
						", which is not among its tools",
						STR_ARG(agent->name), what, STR_ARG(names.at[i]));
}

/* ask_human is no tool of the catalogue: the session itself asks a person. */
static const struct definition_tool ask_human = {
	.name = { "ask_human", 9 },
	.text = { ASK_HUMAN_TEXT, sizeof(ASK_HUMAN_TEXT) - 1 },
	.class = RUN_CLASS_IDEMPOTENT,
	.risk = RUN_RISK_LOW,
};

static const struct json *ask_human_parameters(struct arena *arena)
{
	const struct str text =
		S("{\"type\":\"object\",\"additionalProperties\":false,\"required\":[\"question\"],"
		  "\"properties\":{\"question\":{\"type\":\"string\",\"description\":"
		  "\"The question, with everything that the person needs to answer it.\"}}}");
	const struct json *json;
	struct error error;
	bool good = json_read(text, arena, &json, &error);
	require(good);
	return json;
}

static void add_text(struct buf *out, struct str text, struct arena *arena)
{
	const struct json json = { .kind = JSON_STRING, .as.string = text };
	buf_add(out, json_print(arena, &json));
}

/* JSON Schema of the inputs of a workflow. */
static const struct json *workflow_parameters(const struct run_graph *graph, struct arena *arena)
{
	AUTO(buf) text = { 0 };
	AUTO(buf) required = { 0 };
	const struct json *json;
	struct error error;
	buf_add(&text, S("{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{"));
	for (size_t i = 0; i < graph->inputs.count; i++) {
		const struct run_graph_input *input = &graph->inputs.at[i];
		buf_add(&text, i == 0 ? S("") : S(","));
		add_text(&text, input->name, arena);
		buf_add(&text, S(":{\"type\":"));
		add_text(&text, run_input_type_name(input->type), arena);
		buf_add(&text, S("}"));
		if (!input->required || has(input, fallback))
			continue;
		buf_add(&required, required.size == 0 ? S("") : S(","));
		add_text(&required, input->name, arena);
	}
	buf_add_format(&text, "},\"required\":[" STR_FMT "]}", STR_ARG(buf_str(&required)));
	bool good = json_read(str_copy(arena, buf_str(&text)), arena, &json, &error);
	require(good);
	return json;
}

static struct str workflow_text(const struct run_graph *graph, struct arena *arena)
{
	AUTO(buf) names = { 0 };
	for (size_t i = 0; i < graph->outputs.count; i++)
		buf_add_format(&names, "%s" STR_FMT, i == 0 ? "" : ", ",
			       STR_ARG(graph->outputs.at[i].name));
	return str_format(
		arena,
		"Runs the workflow " STR_FMT " with a history of its own, waits for its end "
		"and returns its outputs: " STR_FMT ".",
		STR_ARG(graph->name), STR_ARG(names.size > 0 ? buf_str(&names) : S("none")));
}

/* A workflow as a tool: the call is a sub-run.  Its name is what providers accept as one of a tool. */
static const struct definition_tool *offer_workflow(const struct body *body, size_t number,
						    const struct run_graph_agent *agent,
						    struct str name,
						    struct run_graph_node *out_node)
{
	struct arena *arena = body->compiler->arena;
	size_t dot;
	if (str_find(name, S("."), &dot) || name.size > LONGEST_NAME ||
	    definition_find_tool(body->compiler, name) != NULL) {
		definition_step_problem(
			body, number, S("agent"),
			"agent " STR_FMT " cannot have the workflow " STR_FMT
			" as a tool: the name must have at most %d characters and no "
			"dot, and no tool may have it",
			STR_ARG(agent->name), STR_ARG(name), LONGEST_NAME);
		return NULL;
	}
	const struct run_graph *graph = definition_compile_other(body, number, name);
	if (graph == NULL)
		return NULL;
	*out_node = node_new(name, RUN_NODE_SUBRUN, arena);
	SET(out_node, continue_on_error, true);
	SET(out_node, graph, graph);
	struct definition_tool *tool = arena_new(arena, struct definition_tool);
	*tool = (struct definition_tool){ .name = name,
					  .text = workflow_text(graph, arena),
					  .parameters = workflow_parameters(graph, arena),
					  .risk = RUN_RISK_MEDIUM };
	return tool;
}

/* The tool, and the node that calls it.  NULL after adding a problem. */
static const struct definition_tool *offer(const struct body *body, size_t number,
					   const struct run_graph_agent *agent, struct str name,
					   struct run_graph_node *out_node)
{
	struct arena *arena = body->compiler->arena;
	if (str_equal(name, ask_human.name)) {
		*out_node = node_new(name, RUN_NODE_HUMAN, arena);
		SET(out_node, continue_on_error, true);
		return &ask_human;
	}
	if (str_starts(name, WORKFLOW_PREFIX))
		return offer_workflow(body, number, agent, str_skip(name, WORKFLOW_PREFIX.size),
				      out_node);
	const struct definition_tool *tool = definition_find_tool(body->compiler, name);
	if (tool == NULL || str_equal(name, S("turn")) || str_equal(name, S("approve"))) {
		definition_step_problem(body, number, S("agent"),
					"agent " STR_FMT " has the tool " STR_FMT
					", which does not exist; see baton tools",
					STR_ARG(agent->name), STR_ARG(name));
		return NULL;
	}
	if (has(agent, max_risk) && tool->risk > agent->max_risk)
		definition_step_problem(
			body, number, S("agent"),
			"the risk of tool " STR_FMT " is " STR_FMT ", and agent " STR_FMT
			" may have tools up to max_risk " STR_FMT " only",
			STR_ARG(name), STR_ARG(run_risk_name(tool->risk)), STR_ARG(agent->name),
			STR_ARG(run_risk_name(agent->max_risk)));
	*out_node = call_node(tool, arena);
	return tool;
}

/* A question before risky calls; the tools that the risk adds are named like the others. */
static void add_approval(const struct run_graph_agent *agent, struct run_graph_agent *offered,
			 struct str_list risky, struct run_graph_node *nodes, size_t *count,
			 struct arena *arena)
{
	size_t named = has(agent, approve) ? agent->approve.count : 0;
	struct str *names = arena_array(arena, struct str, named + risky.count);
	for (size_t i = 0; i < named; i++)
		names[i] = agent->approve.at[i];
	for (size_t i = 0; i < risky.count; i++)
		names[named + i] = risky.at[i];
	if (named + risky.count == 0)
		return;
	SET(offered, approve, ((struct str_list){ names, named + risky.count }));
	struct run_graph_node *node = &nodes[(*count)++];
	*node = node_new(S("approve"), RUN_NODE_HUMAN, arena);
	SET(node, continue_on_error, true);
}

void definition_make_session(const struct body *body, size_t number, struct run_graph_node *node,
			     const struct run_graph_agent *agent)
{
	struct arena *arena = body->compiler->arena;
	struct run_graph_agent *offered = arena_copy(arena, agent, sizeof(*agent));
	size_t count = agent->tools.count, node_count = 1, risky_count = 0;
	struct run_graph_tool *tools = arena_array(arena, struct run_graph_tool, count);
	struct run_graph_node *nodes = arena_array(arena, struct run_graph_node, count + 2);
	struct str *risky = arena_array(arena, struct str, count);
	SET(node, kind, RUN_NODE_SESSION);
	nodes[0] = node_new(S("turn"), RUN_NODE_AGENT, arena);
	for (size_t i = 0; i < count; i++) {
		struct str name = agent->tools.at[i].name;
		const struct definition_tool *tool =
			offer(body, number, agent, name, &nodes[node_count++]);
		if (tool == NULL)
			return;
		tools[i] = *run_graph_tool_new(arena);
		SET(&tools[i], name, tool->name);
		SET(&tools[i], text, tool->text);
		if (tool == &ask_human)
			SET(&tools[i], parameters, ask_human_parameters(arena));
		else if (tool->parameters != NULL)
			SET(&tools[i], parameters, tool->parameters);
		if (has(agent, approve_risk) && tool->risk >= agent->approve_risk &&
		    tool != &ask_human)
			risky[risky_count++] = tool->name;
	}
	SET(offered, tools, ((struct run_graph_tool_list){ tools, count }));
	if (has(agent, required_tools))
		check_named(body, number, offered, agent->required_tools, "requires");
	if (has(agent, approve))
		check_named(body, number, offered, agent->approve, "asks for approval of");
	add_approval(agent, offered, (struct str_list){ risky, risky_count }, nodes, &node_count,
		     arena);
	SET(&nodes[0], agent, (const struct run_graph_agent *)offered);
	SET(node, body, ((struct run_graph_node_list){ nodes, node_count }));
}
