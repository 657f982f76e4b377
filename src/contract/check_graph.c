/* contract/check_graph.c -- the rules of contracts/graph.def that span several fields.
 *
 * A problem of a graph is reported at the edge or list item that causes it, so these functions build
 * the JSON pointer themselves instead of reporting a whole member with check_fail().
 */
#include "contract/contract_internal.h"
#include "contract/graph_types.h"

#include "base/map.h"

static void check_version(struct check *check, const struct uuid *uuid, const char *field)
{
	if (uuid->bytes[6] >> 4 != 4 || uuid->bytes[8] >> 6 != 2)
		check_fail(check, field, "must be a UUID of version 4");
}

/* ---- tasks and conversations ------------------------------------------------------------ */

void graph_task_check_id(const struct graph_task *value, struct check *check)
{
	check_version(check, &value->id, "id");
}

void graph_task_check_status(const struct graph_task *value, struct check *check)
{
	bool pending = value->status == GRAPH_TASK_PENDING;
	if (pending && has(value, started_at))
		check_fail(check, "started_at", "must be null while status is pending");
	if ((pending || value->status == GRAPH_TASK_RUNNING) && has(value, completed_at))
		check_fail(check, "completed_at", "must be null while status is %s",
			   pending ? "pending" : "running");
	if (value->status != GRAPH_TASK_FAILED && has(value, error))
		check_fail(check, "error", "must be null unless status is failed");
}

void graph_tool_call_check(const struct graph_tool_call *value, struct check *check)
{
	check_version(check, &value->id, "id");
}

void graph_message_check(const struct graph_message *value, struct check *check)
{
	if (value->role != GRAPH_ROLE_ASSISTANT && has(value, tool_calls) &&
	    value->tool_calls.count > 0)
		check_fail(check, "tool_calls", "must be empty unless role is assistant");
}

void graph_sub_agent_session_check(const struct graph_sub_agent_session *value, struct check *check)
{
	check_version(check, &value->session_id, "session_id");
}

void graph_checkpoint_check(const struct graph_checkpoint *value, struct check *check)
{
	check_version(check, &value->checkpoint_id, "checkpoint_id");
}

void graph_human_feedback_check(const struct graph_human_feedback *value, struct check *check)
{
	if (value->action == GRAPH_FEEDBACK_MODIFY &&
	    (!has(value, state_updates) || value->state_updates->as.object.count == 0))
		check_fail(check, "state_updates", "must say what to change when action is modify");
}

/* ---- files ------------------------------------------------------------------------------ */

void graph_mcp_servers_check(const struct graph_mcp_servers *value, struct check *check)
{
	AUTO(map) names = { 0 };
	static char there;
	const struct json *list = json_member(check->json, S("servers"));
	struct path servers = path_key(check->path, S("servers"));
	for (size_t i = 0; i < value->servers.count; i++) {
		struct str name = value->servers.at[i].name;
		if (map_get(&names, name) != NULL) {
			struct path item = path_index(&servers, i);
			struct path inner = path_key(&item, S("name"));
			problem_add(check->parse, &inner,
				    place_of(json_member(json_item(list, i), S("name"))),
				    STR_FMT " is already the name of another server",
				    STR_ARG(quoted(check->parse->arena, name)));
		}
		map_put(&names, name, &there);
	}
}

void graph_retention_policy_check(const struct graph_retention_policy *value, struct check *check)
{
	struct path map = path_key(check->path, S("by_status"));
	const struct json *json = json_member(check->json, S("by_status"));
	for (size_t i = 0; i < value->by_status.count; i++) {
		struct str key = value->by_status.at[i].key;
		enum graph_task_status status;
		if (graph_task_status_from(key, &status))
			continue;
		struct path inner = path_key(&map, key);
		problem_add(check->parse, &inner, place_of(json_member(json, key)),
			    "is not a task status; expected pending, running, completed or failed");
	}
}

/* ---- graphs ----------------------------------------------------------------------------- */

void graph_node_def_check(const struct graph_node_def *value, struct check *check)
{
	bool agent = value->type == GRAPH_NODE_AGENT, tool = value->type == GRAPH_NODE_TOOL;
	if (agent && !has(value, agent))
		check_fail(check, "agent", "is required when type is agent");
	if (!agent && has(value, agent))
		check_fail(check, "agent", "must be null unless type is agent");
	if (tool && !has(value, tool))
		check_fail(check, "tool", "is required when type is tool");
	if (!tool && has(value, tool))
		check_fail(check, "tool", "must be null unless type is tool");
}

void graph_edge_def_check(const struct graph_edge_def *value, struct check *check)
{
	const struct json *to = value->to;
	if (to->kind == JSON_STRING)
		return;
	if (to->kind != JSON_OBJECT) {
		struct str said = json_said(check->parse->arena, to);
		check_fail(check, "to", "must be a node's name or a mapping, got " STR_FMT,
			   STR_ARG(said));
		return;
	}
	if (to->as.object.count == 0)
		check_fail(check, "to", "must have at least 1 items, got 0");
	struct path map = path_key(check->path, S("to"));
	for (size_t i = 0; i < to->as.object.count; i++) {
		const struct json_member *member = &to->as.object.at[i];
		struct path inner = path_key(&map, member->key);
		if (member->value.kind != JSON_STRING)
			parse_wrong(check->parse, &inner, &member->value, "a string");
	}
}

/* The nodes of a graph: a map from the name to the node's number plus 1. */
struct nodes {
	struct check *check;
	struct map numbers;
};

static void nodes_done(struct nodes *nodes)
{
	map_done(&nodes->numbers);
}

static struct nodes nodes_of(const struct graph_workflow *value, struct check *check)
{
	struct nodes nodes = { .check = check };
	for (size_t i = 0; i < value->nodes.count; i++)
		map_put(&nodes.numbers, value->nodes.at[i].key, (void *)(uintptr_t)(i + 1));
	return nodes;
}

/* False when the graph has no such node. */
static bool node_number(const struct nodes *nodes, struct str name, size_t *out_number)
{
	size_t number = (size_t)(uintptr_t)map_get(&nodes->numbers, name);
	*out_number = number - 1;
	return number != 0;
}

static void check_name(const struct nodes *nodes, const struct path *path, const struct json *json,
		       struct str name)
{
	size_t number;
	if (node_number(nodes, name, &number))
		return;
	struct parse *parse = nodes->check->parse;
	problem_add(parse, path, place_of(json), STR_FMT " is not a node",
		    STR_ARG(quoted(parse->arena, name)));
}

static void check_target(const struct nodes *nodes, const struct path *path,
			 const struct json *json)
{
	if (json->kind == JSON_STRING && !str_equal(json->as.string, S("__end__")))
		check_name(nodes, path, json, json->as.string);
}

static void check_edge(const struct nodes *nodes, const struct path *path,
		       const struct graph_edge_def *edge, const struct json *json)
{
	struct path from = path_key(path, S("from")), to = path_key(path, S("to"));
	check_name(nodes, &from, json_member(json, S("from")), edge->from);
	if (edge->to->kind != JSON_OBJECT) {
		check_target(nodes, &to, edge->to);
		return;
	}
	for (size_t i = 0; i < edge->to->as.object.count; i++) {
		const struct json_member *member = &edge->to->as.object.at[i];
		struct path branch = path_key(&to, member->key);
		check_target(nodes, &branch, &member->value);
	}
}

void graph_workflow_check_names(const struct graph_workflow *value, struct check *check)
{
	AUTO(nodes) nodes = nodes_of(value, check);
	const struct json *json = check->json;
	struct path all = path_key(check->path, S("nodes"));
	struct path entry = path_key(check->path, S("entry_point"));
	struct path edges = path_key(check->path, S("edges"));
	struct path checkpoints = path_key(check->path, S("checkpoints"));
	size_t number;
	if (node_number(&nodes, S("__end__"), &number)) {
		struct path inner = path_key(&all, S("__end__"));
		problem_add(check->parse, &inner,
			    place_of(json_member(json_member(json, S("nodes")), S("__end__"))),
			    "is where every run ends: give the node another name");
	}
	check_name(&nodes, &entry, json_member(json, S("entry_point")), value->entry_point);
	for (size_t i = 0; i < value->edges.count; i++) {
		struct path inner = path_index(&edges, i);
		check_edge(&nodes, &inner, &value->edges.at[i],
			   json_item(json_member(json, S("edges")), i));
	}
	for (size_t i = 0; i < value->checkpoints.count; i++) {
		struct path inner = path_index(&checkpoints, i);
		check_name(&nodes, &inner, json_item(json_member(json, S("checkpoints")), i),
			   value->checkpoints.at[i]);
	}
}

/* An edge without a condition, between node numbers. */
struct fixed_edge {
	size_t from, to, edge;
};

/* Adjacency lists of the edges without a condition. */
struct fixed_edges {
	struct fixed_edge *at;
	size_t count;
	size_t *first;   /* per node: its first outgoing edge; SIZE_MAX = none */
	size_t *next;    /* per edge: the next outgoing edge of the same node; SIZE_MAX = none */
	size_t *waiting; /* per node: incoming edges from nodes that were not removed yet */
};

static struct fixed_edges fixed_edges_collect(const struct graph_workflow *value,
					      const struct nodes *nodes, struct arena *arena)
{
	size_t node_count = value->nodes.count, edge_count = value->edges.count;
	struct fixed_edges edges = { .at = arena_array(arena, struct fixed_edge, edge_count),
				     .first = arena_array(arena, size_t, node_count),
				     .next = arena_array(arena, size_t, edge_count),
				     .waiting = arena_array(arena, size_t, node_count) };
	for (size_t i = 0; i < node_count; i++)
		edges.first[i] = SIZE_MAX;
	for (size_t i = 0; i < edge_count; i++) {
		const struct graph_edge_def *edge = &value->edges.at[i];
		struct fixed_edge fixed = { .edge = i };
		if (has(edge, condition) || edge->to->kind != JSON_STRING ||
		    !node_number(nodes, edge->from, &fixed.from) ||
		    !node_number(nodes, edge->to->as.string, &fixed.to))
			continue;
		edges.next[edges.count] = edges.first[fixed.from];
		edges.first[fixed.from] = edges.count;
		edges.waiting[fixed.to]++;
		edges.at[edges.count++] = fixed;
	}
	return edges;
}

/* Topological sort: repeatedly removes nodes without incoming edges and returns the number of nodes
 * left, which are on a cycle or reachable from one. */
static size_t remove_acyclic(struct fixed_edges *edges, size_t node_count, struct arena *arena)
{
	size_t *ready = arena_array(arena, size_t, node_count), count = 0, taken = 0;
	for (size_t i = 0; i < node_count; i++)
		if (edges->waiting[i] == 0)
			ready[count++] = i;
	while (taken < count) {
		size_t node = ready[taken++];
		for (size_t i = edges->first[node]; i != SIZE_MAX; i = edges->next[i])
			if (--edges->waiting[edges->at[i].to] == 0)
				ready[count++] = edges->at[i].to;
	}
	return node_count - taken;
}

/* Each remaining node has an incoming edge from another remaining node.  Following those edges
 * backwards must reach some node twice; that node is on a cycle. */
static size_t find_cycle(const struct fixed_edges *edges, size_t node_count, struct arena *arena,
			 size_t *into)
{
	bool *seen = arena_array(arena, bool, node_count);
	size_t node = SIZE_MAX;
	for (size_t i = 0; i < edges->count; i++)
		if (edges->waiting[edges->at[i].from] > 0 && edges->waiting[edges->at[i].to] > 0) {
			into[edges->at[i].to] = i;
			node = edges->at[i].to;
		}
	while (!seen[node]) {
		seen[node] = true;
		node = edges->at[into[node]].from;
	}
	return node;
}

void graph_workflow_check_cycles(const struct graph_workflow *value, struct check *check)
{
	enum { SHOWN = 8 };
	AUTO(nodes) nodes = nodes_of(value, check);
	struct arena *arena = check->parse->arena;
	size_t node_count = value->nodes.count;
	struct fixed_edges fixed = fixed_edges_collect(value, &nodes, arena);
	if (remove_acyclic(&fixed, node_count, arena) == 0)
		return;
	size_t *into = arena_array(arena, size_t, node_count);
	size_t start = find_cycle(&fixed, node_count, arena, into), node = start, shown = 0;
	struct str text = value->nodes.at[start].key;
	do {
		node = fixed.at[into[node]].from;
		text = ++shown > SHOWN
			       ? text
			       : str_format(arena, STR_FMT " -> " STR_FMT,
					    STR_ARG(value->nodes.at[node].key), STR_ARG(text));
	} while (node != start);
	size_t edge = fixed.at[into[start]].edge;
	struct path edges = path_key(check->path, S("edges"));
	struct path inner = path_index(&edges, edge);
	problem_add(check->parse, &inner,
		    place_of(json_item(json_member(check->json, S("edges")), edge)),
		    "leads in a circle without a condition: %s" STR_FMT,
		    shown > SHOWN ? "... -> " : "", STR_ARG(text));
}
