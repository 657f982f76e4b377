/* definition/call_policy.c -- how calls of tools are made: retries, timeouts, and tools that are called
 * instead. */
#include "base/buf.h"
#include "definition/compile_internal.h"

static int64_t microseconds(double seconds)
{
	return (int64_t)(seconds * 1e6);
}

const struct run_graph_retry *definition_retry(const struct body *body, size_t number,
					       const struct run_definition_retry *from)
{
	struct run_graph_retry *retry = run_graph_retry_new(body->compiler->arena);
	SET(retry, max_retries, from->max_retries);
	SET(retry, base_delay_us, microseconds(from->base_delay));
	SET(retry, max_delay_us, microseconds(from->max_delay));
	if (from->on.count > 0)
		SET(retry, on, from->on);
	for (size_t i = 0; i < from->on.count; i++) {
		enum error_code code;
		if (!error_code_from_name(from->on.at[i], &code))
			definition_step_problem(body, number, S("retry"),
						"retry: unknown error code " STR_FMT
						"; see baton describe errors",
						STR_ARG(from->on.at[i]));
	}
	return retry;
}

/* ---- fallbacks --------------------------------------------------------------------------- */

static const struct run_definition_call *policy_of(const struct run_definition_agent *agent,
						   struct str tool)
{
	for (size_t i = 0; i < agent->calls.count; i++)
		if (str_equal(agent->calls.at[i].key, tool))
			return &agent->calls.at[i].value;
	return NULL;
}

/* A way through fallbacks, from the tool where it begins. */
struct way {
	const struct way *before;
	struct str tool;
};

static void add_way(const struct way *way, struct buf *out)
{
	if (way->before != NULL)
		add_way(way->before, out);
	buf_add_format(out, "%s" STR_FMT, way->before == NULL ? "" : " -> ", STR_ARG(way->tool));
}

/* The way that leads back to where it began, as text; "" = none.  No way has a tool twice, so the number of
 * an agent's tools bounds the depth. */
static struct str find_cycle(const struct run_definition_agent *agent, const struct way *way,
			     struct str first, size_t depth, struct arena *arena)
{
	const struct run_definition_call *policy = policy_of(agent, way->tool);
	if (policy == NULL || depth > agent->calls.count)
		return S("");
	for (size_t i = 0; i < policy->fallback_tools.count; i++) {
		const struct way next = { way, policy->fallback_tools.at[i] };
		AUTO(buf) text = { 0 };
		if (str_equal(next.tool, first)) {
			add_way(&next, &text);
			return str_copy(arena, buf_str(&text));
		}
		struct str found = find_cycle(agent, &next, first, depth + 1, arena);
		if (found.size > 0)
			return found;
	}
	return S("");
}

static bool is_among(struct str_list names, struct str name)
{
	for (size_t i = 0; i < names.count; i++)
		if (str_equal(names.at[i], name))
			return true;
	return false;
}

static struct run_graph_node *node_of(struct run_graph_node *nodes, size_t count, struct str tool)
{
	for (size_t i = 1; i < count; i++)
		if (str_equal(nodes[i].name, tool))
			return &nodes[i];
	return NULL;
}

static void check_fallbacks(const struct body *body, size_t number,
			    const struct run_graph_agent *agent, struct str tool,
			    struct str_list fallbacks, struct run_graph_node *nodes, size_t count)
{
	for (size_t i = 0; i < fallbacks.count; i++) {
		struct str name = fallbacks.at[i];
		const struct run_graph_node *node = node_of(nodes, count, name);
		if (node == NULL || node->kind == RUN_NODE_HUMAN)
			definition_step_problem(body, number, S("agent"),
						"calls of agent " STR_FMT ": the fallback " STR_FMT
						" of " STR_FMT " is not among its tools",
						STR_ARG(agent->name), STR_ARG(name), STR_ARG(tool));
		else if (has(agent, approve) && is_among(agent->approve, name) &&
			 !is_among(agent->approve, tool))
			definition_step_problem(
				body, number, S("agent"),
				"calls of agent " STR_FMT ": " STR_FMT
				" needs approval, so it can be the fallback only of a tool that "
				"needs it too, and " STR_FMT " does not",
				STR_ARG(agent->name), STR_ARG(name), STR_ARG(tool));
	}
}

void definition_add_policies(const struct body *body, size_t number,
			     const struct run_graph_agent *agent, struct run_graph_node *nodes,
			     size_t count)
{
	struct arena *arena = body->compiler->arena;
	const struct run_definition_agent *own = definition_own_agent(body->compiler, agent->name);
	for (size_t i = 0; own != NULL && i < own->calls.count; i++) {
		struct str tool = own->calls.at[i].key;
		const struct run_definition_call *policy = &own->calls.at[i].value;
		const struct way begin = { NULL, tool };
		struct run_graph_node *node = node_of(nodes, count, tool);
		if (node == NULL || node->kind == RUN_NODE_HUMAN) {
			definition_step_problem(body, number, S("agent"),
						"calls of agent " STR_FMT ": " STR_FMT
						" is not among its tools",
						STR_ARG(agent->name), STR_ARG(tool));
			continue;
		}
		if (has(policy, timeout))
			SET(node, timeout_us, microseconds(policy->timeout));
		if (has(policy, retry))
			SET(node, retry, definition_retry(body, number, policy->retry));
		if (policy->fallback_tools.count == 0)
			continue;
		struct str cycle = find_cycle(own, &begin, tool, 0, arena);
		if (cycle.size > 0)
			definition_step_problem(
				body, number, S("agent"),
				"calls of agent " STR_FMT
				": the fallback tools go round in a circle: " STR_FMT,
				STR_ARG(agent->name), STR_ARG(cycle));
		check_fallbacks(body, number, agent, tool, policy->fallback_tools, nodes, count);
		SET(node, fallbacks, policy->fallback_tools);
	}
}
