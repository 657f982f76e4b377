/* definition/session_compile.c -- an agent with tools becomes a session: a body with a node that asks the
 * model and a node for each tool (engine/session.h).
 *
 * The graph has the description that the model gets of each tool, so that a run goes on with the tools it began with
 * (architecture R14).
 */
#include "base/buf.h"
#include "contract/describe.h"
#include "contract/run_message_types.h"
#include "definition/compile_internal.h"

#define ASK_HUMAN_TEXT                                                                               \
	"Asks the person who is responsible for this work and waits for the answer.  Use it when a " \
	"decision is theirs, or when something that you need cannot be found out."

#define SEND_MESSAGE_TEXT                                                                               \
	"Sends a message to another agent of this run, or to all of them.  The recipient gets it when " \
	"it reads its messages; nothing waits for that."
#define READ_MESSAGES_TEXT                                                                               \
	"Returns the messages of other agents of this run that you have not read, oldest first.  Every " \
	"message is returned once.  The call does not wait: without new messages the list is empty."

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

static struct run_graph_node call_node(const struct compiler *c, const struct definition_tool *tool,
				       const struct run_graph_agent *agent)
{
	const struct run_graph_sandbox *sandbox = has(agent, sandbox) ? agent->sandbox : NULL;
	struct run_graph_node node = node_new(tool->name, RUN_NODE_TOOL, c->arena);
	SET(&node, tool, tool->name);
	SET(&node, class, definition_call_class(c, tool, sandbox));
	if (sandbox != NULL)
		SET(&node, sandbox, sandbox);
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

/* Messages between agents are of the engine, too. */
static const struct definition_tool mailbox_tools[] = {
	{ .name = { "send_message", 12 },
	  .text = { SEND_MESSAGE_TEXT, sizeof(SEND_MESSAGE_TEXT) - 1 },
	  .risk = RUN_RISK_LOW },
	{ .name = { "read_messages", 13 },
	  .text = { READ_MESSAGES_TEXT, sizeof(READ_MESSAGES_TEXT) - 1 },
	  .risk = RUN_RISK_LOW },
};

/* NULL = the name is of no such tool. */
static const struct definition_tool *offer_mailbox(struct str name, struct arena *arena,
						   struct run_graph_node *out_node)
{
	const struct type *inputs[] = { run_send_message_inputs_type(),
					run_read_messages_inputs_type() };
	for (size_t i = 0; i < COUNT(mailbox_tools); i++) {
		if (!str_equal(name, mailbox_tools[i].name))
			continue;
		AUTO(buf) text = { 0 };
		struct json_writer writer = { .out = &text };
		struct definition_tool *tool =
			arena_copy(arena, &mailbox_tools[i], sizeof(mailbox_tools[i]));
		struct error error;
		describe_schema_whole(inputs[i], &writer);
		bool good = json_read(str_copy(arena, buf_str(&text)), arena, &tool->parameters,
				      &error);
		require(good);
		*out_node = node_new(name, RUN_NODE_MAILBOX, arena);
		SET(out_node, tool, name);
		SET(out_node, continue_on_error, true);
		return tool;
	}
	return NULL;
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
		add_text(&text,
			 input->type == RUN_INPUT_FILE ? S("string")
						       : run_input_type_name(input->type),
			 arena);
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

#define DELEGATE S("delegate")
#define DELEGATE_TEXT                                                                                 \
	"Gives a task to another agent, which works on it alone with its own tools, and returns its " \
	"summary. It knows nothing but the task: write down everything that it needs."

/* JSON Schema of the arguments of delegate: an agent of the list, and the task. */
static const struct json *delegate_parameters(const struct run_definition_agent *own,
					      struct arena *arena)
{
	AUTO(buf) text = { 0 };
	AUTO(buf) words = { 0 };
	const struct json *json;
	struct error error;
	buf_add(&text,
		S("{\"type\":\"object\",\"additionalProperties\":false,\"required\":[\"agent\","
		  "\"task\"],\"properties\":{\"agent\":{\"type\":\"string\",\"enum\":["));
	for (size_t i = 0; i < own->sub_agents.count; i++) {
		const struct run_definition_sub_agent *sub = &own->sub_agents.at[i].value;
		buf_add(&text, i == 0 ? S("") : S(","));
		add_text(&text, own->sub_agents.at[i].key, arena);
		if (has(sub, description))
			buf_add_format(&words, STR_FMT ": " STR_FMT "\n",
				       STR_ARG(own->sub_agents.at[i].key),
				       STR_ARG(sub->description));
	}
	buf_add(&text, S("],\"description\":"));
	add_text(&text, words.size > 0 ? str_trim(buf_str(&words)) : S("The agent."), arena);
	buf_add(&text, S("},\"task\":{\"type\":\"string\",\"description\":\"The task, complete in "
			 "itself.\"}}}"));
	bool good = json_read(str_copy(arena, buf_str(&text)), arena, &json, &error);
	require(good);
	return json;
}

/* A node for each agent to which the agent may delegate; false after adding a problem. */
static bool add_delegates(const struct body *body, size_t number,
			  const struct run_graph_agent *agent, struct run_graph_agent *offered,
			  struct run_graph_node *nodes, size_t *count)
{
	struct compiler *c = body->compiler;
	const struct run_definition_agent *own = definition_own_agent(c, agent->name);
	size_t sub_count = own == NULL ? 0 : own->sub_agents.count;
	struct str *names = arena_array(c->arena, struct str, sub_count);
	struct str_list before = c->delegates;
	if (before.count == 0) { /* the chain begins with the agent of the step */
		c->delegates =
			(struct str_list){ arena_copy(c->arena, &agent->name, sizeof(agent->name)),
					   1 };
	}
	bool good = true;
	for (size_t i = 0; i < sub_count && good; i++) {
		names[i] = own->sub_agents.at[i].key;
		const struct run_graph *graph = definition_compile_sub_agent(
			body, number, names[i], &own->sub_agents.at[i].value);
		good = graph != NULL;
		if (!good)
			break;
		struct run_graph_node *node = &nodes[(*count)++];
		*node = node_new(str_format(c->arena, "delegate_" STR_FMT, STR_ARG(names[i])),
				 RUN_NODE_SUBRUN, c->arena);
		SET(node, continue_on_error, true);
		SET(node, graph, graph);
	}
	c->delegates = before;
	if (good && sub_count > 0)
		SET(offered, sub_agents, ((struct str_list){ names, sub_count }));
	return good;
}

/* The tool delegate, or NULL after adding a problem. */
static const struct definition_tool *offer_delegate(const struct body *body, size_t number,
						    const struct run_graph_agent *agent)
{
	struct arena *arena = body->compiler->arena;
	const struct run_definition_agent *own = definition_own_agent(body->compiler, agent->name);
	if (own == NULL || own->sub_agents.count == 0) {
		definition_step_problem(body, number, S("agent"),
					"agent " STR_FMT
					" has the tool delegate, but no sub_agents to delegate to",
					STR_ARG(agent->name));
		return NULL;
	}
	struct definition_tool *tool = arena_new(arena, struct definition_tool);
	*tool = (struct definition_tool){ .name = DELEGATE,
					  .text = S(DELEGATE_TEXT),
					  .parameters = delegate_parameters(own, arena),
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
	if (str_equal(name, DELEGATE)) {
		*out_node = node_new(DELEGATE, RUN_NODE_CONDITION, arena); /* never activated */
		return offer_delegate(body, number, agent);
	}
	if (str_starts(name, WORKFLOW_PREFIX))
		return offer_workflow(body, number, agent, str_skip(name, WORKFLOW_PREFIX.size),
				      out_node);
	const struct definition_tool *tool = offer_mailbox(name, arena, out_node);
	if (tool != NULL)
		return tool;
	tool = definition_find_tool(body->compiler, name);
	if (tool == NULL || str_equal(name, S("turn")) || str_equal(name, S("approve")) ||
	    (str_equal(name, S("check_files")) && has(agent, required_files))) {
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
	*out_node = call_node(body->compiler, tool, agent);
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

/* The call that looks for the files which the agent must leave behind; no model is offered it. */
static void add_file_check(const struct body *body, size_t number,
			   const struct run_graph_agent *agent, struct run_graph_node *out_node)
{
	struct str_list files = agent->required_files;
	struct arena *arena = body->compiler->arena;
	const struct definition_tool *tool = definition_find_tool(body->compiler, S("check_files"));
	struct json *paths = arena_array(arena, struct json, files.count);
	struct json_member *member = arena_new(arena, struct json_member);
	struct json *inputs = arena_new(arena, struct json);
	*out_node = node_new(S("check_files"), RUN_NODE_TOOL, arena);
	if (tool == NULL) {
		definition_step_problem(body, number, S("agent"),
					"required_files need the tool check_files");
		return;
	}
	*out_node = call_node(body->compiler, tool, agent);
	for (size_t i = 0; i < files.count; i++)
		paths[i] = (struct json){ .kind = JSON_STRING, .as.string = files.at[i] };
	*member = (struct json_member){
		.key = S("paths"), .value = { .kind = JSON_LIST, .as.list = { paths, files.count } }
	};
	*inputs = (struct json){ .kind = JSON_OBJECT, .as.object = { member, 1 } };
	SET(out_node, inputs, inputs);
}

void definition_make_session(const struct body *body, size_t number, struct run_graph_node *node,
			     const struct run_graph_agent *agent)
{
	struct arena *arena = body->compiler->arena;
	struct run_graph_agent *offered = arena_copy(arena, agent, sizeof(*agent));
	size_t count = agent->tools.count, node_count = 1, risky_count = 0;
	struct run_graph_tool *tools = arena_array(arena, struct run_graph_tool, count);
	enum { SUB_AGENTS = 16 };
	struct run_graph_node *nodes =
		arena_array(arena, struct run_graph_node, count + 3 + SUB_AGENTS);
	struct str *risky = arena_array(arena, struct str, count);
	SET(node, kind, RUN_NODE_SESSION);
	nodes[0] = node_new(S("turn"), RUN_NODE_AGENT, arena);
	for (size_t i = 0; i < count; i++) {
		struct str name = agent->tools.at[i].name;
		bool delegates = str_equal(name, DELEGATE);
		const struct definition_tool *tool =
			offer(body, number, agent, name, &nodes[node_count]);
		node_count += !delegates; /* its nodes are those of the sub-agents */
		if (tool == NULL ||
		    (delegates && !add_delegates(body, number, agent, offered, nodes, &node_count)))
			return;
		tools[i] = *run_graph_tool_new(arena);
		SET(&tools[i], name, tool->name);
		SET(&tools[i], text, tool->text);
		if (tool == &ask_human)
			SET(&tools[i], parameters, ask_human_parameters(arena));
		else if (tool->parameters != NULL)
			SET(&tools[i], parameters, tool->parameters);
		if (has(agent, approve_risk) && tool->risk >= agent->approve_risk &&
		    tool != &ask_human && !delegates)
			risky[risky_count++] = tool->name;
	}
	SET(offered, tools, ((struct run_graph_tool_list){ tools, count }));
	if (has(agent, required_tools))
		check_named(body, number, offered, agent->required_tools, "requires");
	if (has(agent, approve))
		check_named(body, number, offered, agent->approve, "asks for approval of");
	add_approval(agent, offered, (struct str_list){ risky, risky_count }, nodes, &node_count,
		     arena);
	definition_add_policies(body, number, offered, nodes, node_count);
	if (has(agent, required_files))
		add_file_check(body, number, agent, &nodes[node_count++]);
	SET(&nodes[0], agent, (const struct run_graph_agent *)offered);
	SET(node, body, ((struct run_graph_node_list){ nodes, node_count }));
}
