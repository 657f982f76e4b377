/* The multi-agent framework's vocabulary: every entity by a document, every rule by a mistake. */
#include "runtime_documents.h"

#include "contract/graph_types.h"

#define VERSION_1 "\"5e1d7c2a-9b84-1f63-a1d0-2c3b4a5f6e7d\""
#define VARIANT_0 "\"5e1d7c2a-9b84-4f63-21d0-2c3b4a5f6e7d\""

#define HEADERS_65                                                                       \
	"{\"h0\":\"\",\"h1\":\"\",\"h2\":\"\",\"h3\":\"\",\"h4\":\"\",\"h5\":\"\","      \
	"\"h6\":\"\",\"h7\":\"\",\"h8\":\"\",\"h9\":\"\",\"h10\":\"\",\"h11\":\"\","     \
	"\"h12\":\"\",\"h13\":\"\",\"h14\":\"\",\"h15\":\"\",\"h16\":\"\",\"h17\":\"\"," \
	"\"h18\":\"\",\"h19\":\"\",\"h20\":\"\",\"h21\":\"\",\"h22\":\"\",\"h23\":\"\"," \
	"\"h24\":\"\",\"h25\":\"\",\"h26\":\"\",\"h27\":\"\",\"h28\":\"\",\"h29\":\"\"," \
	"\"h30\":\"\",\"h31\":\"\",\"h32\":\"\",\"h33\":\"\",\"h34\":\"\",\"h35\":\"\"," \
	"\"h36\":\"\",\"h37\":\"\",\"h38\":\"\",\"h39\":\"\",\"h40\":\"\",\"h41\":\"\"," \
	"\"h42\":\"\",\"h43\":\"\",\"h44\":\"\",\"h45\":\"\",\"h46\":\"\",\"h47\":\"\"," \
	"\"h48\":\"\",\"h49\":\"\",\"h50\":\"\",\"h51\":\"\",\"h52\":\"\",\"h53\":\"\"," \
	"\"h54\":\"\",\"h55\":\"\",\"h56\":\"\",\"h57\":\"\",\"h58\":\"\",\"h59\":\"\"," \
	"\"h60\":\"\",\"h61\":\"\",\"h62\":\"\",\"h63\":\"\",\"h64\":\"\"}"

static const struct mistake mistakes[] = {
	/* tasks */
	{ graph_task_type, "/id", "\"task-1\"", "/id: must be a UUID, got string \"task-1\"" },
	{ graph_task_type, "/id", VERSION_1, "/id: must be a UUID of version 4" },
	{ graph_task_type, "/id", VARIANT_0, "/id: must be a UUID of version 4" },
	{ graph_task_type, "/description", "\"\"",
	  "/description: must have at least 1 characters, got 0" },
	{ graph_task_type, "/status", "\"done\"",
	  "/status: \"done\" is not one of pending, running, completed, failed" },
	{ graph_task_type, "/retention_days", "-1", "/retention_days: must be at least 0, got -1" },
	{ graph_task_type, "/started_at", "\"2026-01-12T09:30:00Z\"",
	  "/started_at: must be null while status is pending" },
	{ graph_task_type, "/completed_at", "\"2026-01-12T09:30:00Z\"",
	  "/completed_at: must be null while status is pending" },
	{ graph_task_type, "/error", "\"It broke.\"",
	  "/error: must be null unless status is failed" },
	/* agents */
	{ graph_agent_type, "/name", "\"Researcher\"",
	  "/name: \"Researcher\" does not match ^[a-z][a-z0-9_]*$" },
	{ graph_agent_type, "/name", "\"2nd\"", "/name: \"2nd\" does not match ^[a-z][a-z0-9_]*$" },
	{ graph_agent_type, "/name", "\"\"", "/name: \"\" does not match ^[a-z][a-z0-9_]*$" },
	{ graph_agent_type, "/tools/1", "\"search\"", "/tools/1: is listed twice" },
	{ graph_agent_type, "/max_iterations", "0", "/max_iterations: must be at least 1, got 0" },
	{ graph_llm_config_type, "/temperature", "-0.1",
	  "/temperature: must be at least 0, got -0.1" },
	{ graph_llm_config_type, "/temperature", "2.1",
	  "/temperature: must be at most 2, got 2.1" },
	{ graph_llm_config_type, "/max_tokens", "0", "/max_tokens: must be at least 1, got 0" },
	{ graph_llm_config_type, "/api_key_env", "\"\"",
	  "/api_key_env: must have at least 1 characters, got 0" },
	{ graph_llm_config_type, "/api_key_env", "\"A-B\"",
	  "/api_key_env: \"A-B\" does not match ^[A-Za-z_][A-Za-z0-9_]*$" },
	{ graph_llm_config_type, "/api_type", "\"bard\"",
	  "/api_type: \"bard\" is not one of openai, anthropic, deepseek, glm, ollama, custom" },
	{ graph_agent_type, "/temperature", "-0.1", "/temperature: must be at least 0, got -0.1" },
	{ graph_agent_type, "/temperature", "2.1", "/temperature: must be at most 2, got 2.1" },
	{ graph_agent_type, "/llm_config/api_key", "\"sk-very-secret\"",
	  "/llm_config/api_key: must be a reference to the secret, \"env:NAME\" or \"file:path\", "
	  "not the secret itself" },
	{ graph_agent_type, "/tool", "[]",
	  "/tool: is not a field of graph.Agent; did you mean \"tools\"?" },
	/* state */
	{ graph_tool_call_type, "/id", VERSION_1, "/id: must be a UUID of version 4" },
	{ graph_message_type, "/role", "\"human\"",
	  "/role: \"human\" is not one of user, assistant, tool, system" },
	{ graph_message_type, "/tool_calls", "[{\"server\": \"s\", \"tool\": \"t\"}]",
	  "/tool_calls: must be empty unless role is assistant" },
	{ graph_checkpoint_type, "/state/messages/0/role", "\"user\"",
	  "/state/messages/0/tool_calls: must be empty unless role is assistant" },
	/* tools and their servers */
	{ graph_tool_type, "/timeout_seconds", "0", "/timeout_seconds: must be at least 1, got 0" },
	{ graph_tool_type, "/timeout_seconds", "1.5",
	  "/timeout_seconds: must be a whole number, got number 1.5" },
	{ graph_stdio_server_config_type, "/command", "\"\"",
	  "/command: must have at least 1 characters, got 0" },
	{ graph_stdio_server_config_type, "/env", "{\"LOG\": 1}",
	  "/env/LOG: must be a string, got integer 1" },
	{ graph_sse_server_config_type, "/url", "\"\"",
	  "/url: must have at least 1 characters, got 0" },
	{ graph_sse_server_config_type, "/headers", HEADERS_65,
	  "/headers: must have at most 64 items, got 65" },
	{ graph_mcp_reconnect_type, "/max_attempts", "-1",
	  "/max_attempts: must be at least 0, got -1" },
	{ graph_mcp_reconnect_type, "/max_attempts", "11",
	  "/max_attempts: must be at most 10, got 11" },
	{ graph_mcp_reconnect_type, "/backoff_seconds", "0",
	  "/backoff_seconds: must be at least 1, got 0" },
	{ graph_mcp_reconnect_type, "/backoff_seconds", "61",
	  "/backoff_seconds: must be at most 60, got 61" },
	{ graph_mcp_server_type, "/name", "\"\"", "/name: must have at least 1 characters, got 0" },
	{ graph_mcp_server_type, "/name", "\"a b\"",
	  "/name: \"a b\" does not match ^[A-Za-z][A-Za-z0-9_-]*$" },
	{ graph_mcp_server_type, "/description", "\"\"",
	  "/description: must have at least 1 characters, got 0" },
	{ graph_mcp_server_type, "/transport", "\"tcp\"",
	  "/transport: \"tcp\" is not one of stdio, sse" },
	{ graph_mcp_server_type, "/transport", "\"sse\"",
	  "/config/command: is not a field of graph.SseServerConfig\n"
	  "/config/args: is not a field of graph.SseServerConfig\n"
	  "/config/env: is not a field of graph.SseServerConfig\n"
	  "/config/url: is required" },
	{ graph_mcp_server_type, "/config", "{\"url\": \"https://mcp.example.com/sse\"}",
	  "/config/url: is not a field of graph.StdioServerConfig\n"
	  "/config/command: is required" },
	{ graph_mcp_servers_type, "/servers/1/name", "\"files\"",
	  "/servers/1/name: \"files\" is already the name of another server" },
	/* traces */
	{ graph_tool_call_record_type, "/duration_ms", "-1",
	  "/duration_ms: must be at least 0, got -1" },
	{ graph_step_record_type, "/status", "\"fatal\"",
	  "/status: \"fatal\" is not one of info, warning, error" },
	{ graph_step_record_type, "/duration_ms", "-1",
	  "/duration_ms: must be at least 0, got -1" },
	{ graph_sub_agent_session_info_type, "/message_count", "-1",
	  "/message_count: must be at least 0, got -1" },
	{ graph_sub_agent_session_info_type, "/status", "\"pending\"",
	  "/status: \"pending\" is not one of running, completed, failed" },
	{ graph_sub_agent_session_type, "/status", "\"pending\"",
	  "/status: \"pending\" is not one of running, completed, failed" },
	{ graph_sub_agent_session_type, "/session_id", VERSION_1,
	  "/session_id: must be a UUID of version 4" },
	/* graphs */
	{ graph_node_def_type, "/type", "\"parallel\"",
	  "/type: \"parallel\" is not one of agent, tool, condition, human" },
	{ graph_node_def_type, "/agent", "\"Researcher\"",
	  "/agent: \"Researcher\" does not match ^[a-z][a-z0-9_]*$" },
	{ graph_node_def_type, "/type", "\"agent\"", "/agent: is required when type is agent" },
	{ graph_node_def_type, "/type", "\"tool\"", "/tool: is required when type is tool" },
	{ graph_node_def_type, "/agent", "\"researcher\"",
	  "/agent: must be null unless type is agent" },
	{ graph_node_def_type, "/tool", "\"search\"", "/tool: must be null unless type is tool" },
	{ graph_edge_def_type, "/to", "[\"a\"]",
	  "/to: must be a node's name or a mapping, got list" },
	{ graph_edge_def_type, "/to", "null", "/to: must be a node's name or a mapping, got null" },
	{ graph_edge_def_type, "/to", "{}", "/to: must have at least 1 items, got 0" },
	{ graph_edge_def_type, "/to/again", "7", "/to/again: must be a string, got integer 7" },
	{ graph_workflow_type, "/max_iterations", "0",
	  "/max_iterations: must be at least 1, got 0" },
	{ graph_workflow_type, "/entry_point", "\"begin\"",
	  "/entry_point: \"begin\" is not a node" },
	{ graph_workflow_type, "/entry_point", "\"__end__\"",
	  "/entry_point: \"__end__\" is not a node" },
	{ graph_workflow_type, "/edges/0/from", "\"begin\"",
	  "/edges/0/from: \"begin\" is not a node" },
	{ graph_workflow_type, "/edges/0/to", "\"stop\"", "/edges/0/to: \"stop\" is not a node" },
	{ graph_workflow_type, "/edges/2/to/ask", "\"a/b\"",
	  "/edges/2/to/ask: \"a/b\" is not a node" },
	{ graph_workflow_type, "/checkpoints", "[\"ask\", \"later\"]",
	  "/checkpoints/1: \"later\" is not a node" },
	{ graph_workflow_type, "/nodes/__end__", "{\"type\": \"human\"}",
	  "/nodes/__end__: is where every run ends: give the node another name" },
	{ graph_workflow_type, "/nodes/think/type", "\"human\"",
	  "/nodes/think/agent: must be null unless type is agent" },
	{ graph_workflow_type, "/edges/0/to", "\"think\"",
	  "/edges/0: leads in a circle without a condition: think -> think" },
	{ graph_workflow_type, "/edges/1/to", "\"think\"",
	  "/edges/1: leads in a circle without a condition: think -> act -> think" },
	/* checkpoints */
	{ graph_checkpoint_type, "/checkpoint_id", VERSION_1,
	  "/checkpoint_id: must be a UUID of version 4" },
	{ graph_checkpoint_type, "/sequence", "-1", "/sequence: must be at least 0, got -1" },
	{ graph_human_feedback_type, "/action", "\"retry\"",
	  "/action: \"retry\" is not one of approve, reject, modify" },
	{ graph_human_feedback_type, "/action", "\"modify\"",
	  "/state_updates: must say what to change when action is modify" },
	/* retention */
	{ graph_retention_policy_type, "/default_days", "-1",
	  "/default_days: must be at least 0, got -1" },
	{ graph_retention_policy_type, "/by_task", "{\"debug\": -1}",
	  "/by_task/debug: must be at least 0, got -1" },
	{ graph_retention_policy_type, "/by_status", "{\"failed\": -1}",
	  "/by_status/failed: must be at least 0, got -1" },
	{ graph_retention_policy_type, "/by_status", "{\"failed\": 1, \"done\": 2}",
	  "/by_status/done: is not a task status; expected pending, running, completed or failed" },
};

static struct module graph(void)
{
	return (struct module){ FOLDER, graph_module_types, graph_module_type_count, mistakes,
				COUNT(mistakes) };
}

Test(graph, rows_have_no_mistakes)
{
	struct error error = { .text = "" };
	cr_assert(contract_self_test(graph_module_types, graph_module_type_count, &error), "%s",
		  error.text);
}

Test(graph, every_entity_has_a_document)
{
	struct module module = graph();
	test_every_entity_has_a_document(&module);
}

Test(graph, documents_print_as_they_should)
{
	struct module module = graph();
	test_documents_print_as_they_should(&module);
}

Test(graph, every_name_of_the_seed_is_there)
{
	struct module module = graph();
	test_every_name_is_there(&module);
}

Test(graph, mistakes_are_told)
{
	struct module module = graph();
	test_mistakes(&module);
}

Test(graph, every_rule_has_a_mistake)
{
	struct module module = graph();
	test_every_rule_has_a_mistake(&module);
}

Test(graph, required_fields_are_missed)
{
	struct module module = graph();
	test_required_fields_are_missed(&module);
}

/* ---- what is good ----------------------------------------------------------------------- */

static const void *good(const struct type *type, struct arena *arena, const char *pointer,
			const char *value)
{
	struct module module = graph();
	struct problems problems = { 0 };
	const void *got = document_read(type, document(&module, type, arena, pointer, value), arena,
					&problems);
	cr_assert_not_null(got, STR_FMT, STR_ARG(problems_text(&problems, arena)));
	return got;
}

Test(graph, the_transport_tells_the_config)
{
	AUTO(arena) arena = { 0 };
	const struct graph_mcp_servers *file = good(graph_mcp_servers_type(), &arena, NULL, NULL);
	const struct graph_server_config *config = file->servers.at[0].config;
	cr_assert_eq(config->kind, GRAPH_SERVER_STDIO);
	cr_assert_eq(config->as.stdio->args.count, 2);
	cr_assert(str_equal(config->as.stdio->env.at[0].key, S("LOG")));
	config = file->servers.at[1].config;
	cr_assert_eq(config->kind, GRAPH_SERVER_SSE);
	cr_assert(str_equal(config->as.sse->url, S("https://mcp.example.com/sse")));
}

Test(graph, an_answer_may_change_the_state)
{
	AUTO(arena) arena = { 0 };
	const struct graph_human_feedback *feedback =
		good(graph_human_feedback_type(), &arena, "/state_updates",
		     "{\"next_action\": \"stop\"}");
	cr_assert_eq(feedback->state_updates->as.object.count, 1);
}

Test(graph, only_what_was_said_is_given)
{
	AUTO(arena) arena = { 0 };
	const struct graph_task *task = good(graph_task_type(), &arena, NULL, NULL);
	cr_assert_eq(task->is.retention_days, DEFAULTED);
	task = good(graph_task_type(), &arena, "/retention_days", "7");
	cr_assert_eq(task->is.retention_days, GIVEN);
}

Test(graph, a_running_task_has_not_ended)
{
	AUTO(arena) arena = { 0 };
	struct module module = graph();
	struct json running = { .kind = JSON_STRING, .as.string = S("running") };
	const struct json *json = document(&module, graph_task_type(), &arena, "/completed_at",
					   "\"2026-01-12T09:30:00Z\"");
	struct json_member *members =
		arena_copy(&arena, json->as.object.at, json->as.object.count * sizeof(*members));
	for (size_t i = 0; i < json->as.object.count; i++)
		if (str_equal(members[i].key, S("status")))
			members[i].value = running;
	struct json tree = *json;
	tree.as.object.at = members;
	struct problems problems = { 0 };
	cr_assert_null(document_read(graph_task_type(), &tree, &arena, &problems));
	struct str text = problems_text(&problems, &arena);
	cr_assert(str_equal(text, S("/completed_at: must be null while status is running\n")),
		  STR_FMT, STR_ARG(text));
}

/* ---- cycles ----------------------------------------------------------------------------- */

/* A chain of human nodes n0 -> n1 -> ... whose last leads to `last_to`. */
static struct str chain(struct arena *arena, size_t count, const char *last_to)
{
	struct str nodes = S(""), edges = S("");
	for (size_t i = 0; i < count; i++) {
		const char *comma = i == 0 ? "" : ",";
		nodes = str_format(arena, STR_FMT "%s\"n%zu\":{\"type\":\"human\"}", STR_ARG(nodes),
				   comma, i);
		if (i + 1 < count)
			edges = str_format(arena, STR_FMT "%s{\"from\":\"n%zu\",\"to\":\"n%zu\"}",
					   STR_ARG(edges), comma, i, i + 1);
		else
			edges = str_format(arena, STR_FMT "%s{\"from\":\"n%zu\",\"to\":\"%s\"}",
					   STR_ARG(edges), comma, i, last_to);
	}
	return str_format(arena,
			  "{\"name\":\"x\",\"patterns\":[],\"nodes\":{" STR_FMT
			  "},\"edges\":[" STR_FMT "],\"entry_point\":\"n0\"}",
			  STR_ARG(nodes), STR_ARG(edges));
}

static struct str problems_of(struct str text, struct arena *arena)
{
	const struct json *json;
	struct error error;
	struct problems problems = { 0 };
	cr_assert(json_read(text, arena, &json, &error), "%s", error.text);
	document_read(graph_workflow_type(), json, arena, &problems);
	return problems_text(&problems, arena);
}

Test(graph, a_chain_is_no_cycle)
{
	AUTO(arena) arena = { 0 };
	cr_assert_eq(problems_of(chain(&arena, 200, "__end__"), &arena).size, 0);
}

Test(graph, a_long_cycle_is_told_by_its_end)
{
	AUTO(arena) arena = { 0 };
	struct str text = problems_of(chain(&arena, 12, "n1"), &arena);
	size_t at;
	cr_assert(str_find(text, S("leads in a circle without a condition: ... -> "), &at), STR_FMT,
		  STR_ARG(text));
	cr_assert(!str_find(text, S("n0"), &at), "n0 only leads there: " STR_FMT, STR_ARG(text));
}

Test(graph, what_lies_behind_a_cycle_is_not_on_it)
{
	AUTO(arena) arena = { 0 };
	struct str text = problems_of(
		S("{\"name\":\"x\",\"patterns\":[],\"entry_point\":\"a\",\"nodes\":{"
		  "\"z\":{\"type\":\"human\"},\"b\":{\"type\":\"human\"},\"a\":{\"type\":\"human\"}},"
		  "\"edges\":[{\"from\":\"b\",\"to\":\"a\"},{\"from\":\"a\",\"to\":\"b\"},"
		  "{\"from\":\"b\",\"to\":\"z\"}]}"),
		&arena);
	struct str expected = S("/edges/1: leads in a circle without a condition: b -> a -> b\n");
	cr_assert(str_equal(text, expected), STR_FMT, STR_ARG(text));
}
