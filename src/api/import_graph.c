/* api/import_graph.c -- a folder of the graph vocabulary.
 *
 *	agents/NAME.yaml, .yml, .json
 *	workflows/NAME.yaml, .yml, .json
 *	config/mcp_servers.yaml
 *	config/retention_policy.yaml
 *
 * Agents come before workflows, so that a workflow may use an agent of the same folder.
 */
#include "active/workflow_list.h"
#include "api/import.h"
#include "contract/graph_types.h"
#include "contract/run_agent_types.h"

static bool is_in(struct str path, struct str folder)
{
	size_t at;
	return str_starts(path, folder) && !str_find(str_skip(path, folder.size), S("/"), &at) &&
	       (str_ends(path, S(".yaml")) || str_ends(path, S(".yml")) ||
		str_ends(path, S(".json")));
}

static bool is_config(struct str path, const char *stem)
{
	struct str rest = str_skip(path, 7), first;
	return is_in(path, S("config/")) && str_cut(&rest, '.', &first) &&
	       str_equal(first, str_from_c(stem));
}

static struct str stem_of(struct str path, struct str folder)
{
	struct str rest = str_skip(path, folder.size), first;
	return str_cut(&rest, '.', &first) ? first : rest;
}

/* ---- MCP servers ------------------------------------------------------------------- */

static struct graph_mcp_server *find_server(struct graph_mcp_server *servers, size_t count,
					    struct str name)
{
	for (size_t i = 0; i < count; i++)
		if (str_equal(servers[i].name, name))
			return &servers[i];
	return NULL;
}

/* What is said about a tool belongs to its server. */
static void add_overrides(struct import *import, struct str file, const struct json *tree,
			  const struct graph_mcp_servers *from, struct graph_mcp_server *servers)
{
	const struct json *places = json_member(tree, S("tool_overrides"));
	for (size_t i = 0; i < from->tool_overrides.count; i++) {
		struct str rest = from->tool_overrides.at[i].key, server;
		struct graph_mcp_server *found = NULL;
		if (str_cut(&rest, ':', &server))
			found = find_server(servers, from->servers.count, server);
		if (found == NULL || rest.size == 0) {
			import_problem(import, file,
				       json_member(places, from->tool_overrides.at[i].key),
				       "tool_overrides: " STR_FMT
				       " must be SERVER:TOOL with a server of this file",
				       STR_ARG(from->tool_overrides.at[i].key));
			continue;
		}
		size_t count = has(found, tools) ? found->tools.count : 0;
		struct object_entry *tools =
			arena_array(import->arena, struct object_entry, count + 1);
		for (size_t k = 0; k < count; k++)
			tools[k] = found->tools.at[k];
		tools[count] = (struct object_entry){ .key = rest,
						      .value = from->tool_overrides.at[i].value };
		SET(found, tools, ((struct object_map){ tools, count + 1 }));
	}
}

static void read_servers(struct import *import, struct str file, struct str text)
{
	struct problems problems = { .arena = import->arena };
	const struct json *tree = import_tree(import, file, text);
	const struct contract_source source = { .json = tree, .text = text };
	if (tree == NULL)
		return;
	const struct graph_mcp_servers *from =
		graph_mcp_servers_parse(&source, import->arena, &problems);
	import_problems(import, file, &problems);
	if (from == NULL)
		return;
	struct graph_mcp_server *servers =
		arena_array(import->arena, struct graph_mcp_server, from->servers.count);
	for (size_t i = 0; i < from->servers.count; i++)
		servers[i] = from->servers.at[i];
	if (has(from, tool_overrides))
		add_overrides(import, file, tree, from, servers);
	for (size_t i = 0; i < from->servers.count; i++)
		import_document(import, DOCUMENT_MCP_SERVER, servers[i].name,
				graph_mcp_server_text(&servers[i], import->arena), file);
}

/* ---- agents ------------------------------------------------------------------------ */

/* The object with another value of one member. */
static struct json with_member(struct import *import, const struct json *from, struct str key,
			       struct json value)
{
	struct json out = *from;
	struct json_member *members =
		arena_array(import->arena, struct json_member, from->as.object.count);
	for (size_t i = 0; i < from->as.object.count; i++) {
		members[i] = from->as.object.at[i];
		if (str_equal(members[i].key, key))
			members[i].value = value;
	}
	out.as.object.at = members;
	return out;
}

/* ${NAME} as an API key is a reference to the variable. */
static const struct json *with_reference(struct import *import, const struct json *tree)
{
	const struct json *config = json_member(tree, S("llm_config"));
	const struct json *key = json_member(config, S("api_key"));
	struct str text = key == NULL ? S("") : json_text(key);
	if (!str_starts(text, S("${")) || !str_ends(text, S("}")))
		return tree;
	struct json reference = *key;
	reference.as.string = str_format(import->arena, "env:" STR_FMT,
					 STR_ARG(str_head(str_skip(text, 2), text.size - 3)));
	struct json *out = arena_new(import->arena, struct json);
	*out = with_member(import, tree, S("llm_config"),
			   with_member(import, config, S("api_key"), reference));
	return out;
}

static void read_agent(struct import *import, struct str file, struct str text)
{
	struct problems problems = { .arena = import->arena };
	const struct json *tree = import_tree(import, file, text);
	if (tree == NULL)
		return;
	tree = with_reference(import, tree);
	const struct contract_source source = { .json = tree, .text = text };
	const struct run_agent *agent = run_agent_parse(&source, import->arena, &problems);
	import_problems(import, file, &problems);
	if (agent == NULL)
		return;
	if (!str_equal(agent->name, stem_of(file, S("agents/"))))
		import_warn(import, file, json_member(tree, S("name")),
			    "the agent calls itself " STR_FMT "; that is its name, not the file's",
			    STR_ARG(agent->name));
	import_agent(import, agent, json_member(tree, S("tools")), file);
}

/* ---- workflows --------------------------------------------------------------------- */

static bool has_servers(const struct import *import)
{
	for (size_t i = 0; i < import->item_count; i++)
		if (str_equal(import->items[i].kind, document_kind_name(DOCUMENT_MCP_SERVER)))
			return true;
	return false;
}

static void read_workflow(struct import *import, struct str file, struct str text)
{
	struct problems problems = { .arena = import->arena }, warnings = problems;
	const struct json *tree = import_tree(import, file, text);
	const struct workflow_text source = { .yaml = text,
					      .agents = import->agents,
					      .agent_count = import->agent_count,
					      .mcp = has_servers(import),
					      .draws = true };
	struct str name, graph;
	if (tree == NULL)
		return;
	bool valid = executor_workflow_check(import->api->settings.executor, import->reader, S(""),
					     &source, import->arena, &name, &graph, &problems,
					     &warnings);
	import_problems(import, file, &problems);
	for (size_t i = 0; i < warnings.count; i++) {
		const struct json place = { .line = warnings.at[i].line,
					    .column = warnings.at[i].column };
		import_warn(import, file, &place, STR_FMT, STR_ARG(warnings.at[i].text));
	}
	if (!valid)
		return;
	if (!str_equal(name, stem_of(file, S("workflows/"))))
		import_warn(import, file, json_member(tree, S("name")),
			    "the workflow calls itself " STR_FMT
			    "; that is its name, not the file's",
			    STR_ARG(name));
	import_workflow(import, name, text, file);
}

/* ---- retention --------------------------------------------------------------------- */

static void read_retention(struct import *import, struct str file, struct str text)
{
	struct problems problems = { .arena = import->arena };
	const struct json *tree = import_tree(import, file, text);
	const struct contract_source source = { .json = tree, .text = text };
	if (tree == NULL)
		return;
	const struct graph_retention_policy *from =
		graph_retention_policy_parse(&source, import->arena, &problems);
	import_problems(import, file, &problems);
	if (from == NULL)
		return;
	/* Rules that the file does not have are none; the examples of the contract are not rules. */
	struct graph_retention_policy *policy = arena_copy(import->arena, from, sizeof(*from));
	if (from->is.by_task != GIVEN)
		SET(policy, by_task, ((struct int_map){ NULL, 0 }));
	if (from->is.by_status != GIVEN)
		SET(policy, by_status, ((struct int_map){ NULL, 0 }));
	import_document(import, DOCUMENT_RETENTION, document_kind_name(DOCUMENT_RETENTION),
			graph_retention_policy_text(policy, import->arena), file);
}

/* ---- the folder -------------------------------------------------------------------- */

struct part {
	bool (*is_of)(struct str path);
	void (*read)(struct import *import, struct str file, struct str text);
};

static bool is_servers(struct str path)
{
	return is_config(path, "mcp_servers");
}

static bool is_agent(struct str path)
{
	return is_in(path, S("agents/"));
}

static bool is_workflow(struct str path)
{
	return is_in(path, S("workflows/"));
}

static bool is_retention(struct str path)
{
	return is_config(path, "retention_policy");
}

static const struct part parts[] = {
	{ is_servers, read_servers },
	{ is_agent, read_agent },
	{ is_workflow, read_workflow },
	{ is_retention, read_retention },
};

void import_graph(struct import *import)
{
	for (size_t i = 0; i < import->files.count; i++) {
		bool known = false;
		for (size_t k = 0; k < COUNT(parts) && !known; k++)
			known = parts[k].is_of(import->files.at[i].key);
		if (!known)
			import_problem(import, import->files.at[i].key, NULL,
				       "this file does not belong to the layout: expected "
				       "agents/NAME.yaml, workflows/NAME.yaml, "
				       "config/mcp_servers.yaml and config/retention_policy.yaml");
	}
	for (size_t k = 0; k < COUNT(parts); k++)
		for (size_t i = 0; i < import->files.count; i++)
			if (parts[k].is_of(import->files.at[i].key))
				parts[k].read(import, import->files.at[i].key,
					      import->files.at[i].value);
}
