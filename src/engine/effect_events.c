/* engine/effect_events.c -- events of tools, turns and sub-runs.
 *
 * A macro sets the fields that the three body types share, because C cannot abstract over structs with
 * equal members. */
#include "engine/effect_events.h"

#include "contract/run_event_types.h"
#include "contract/run_graph_types.h"
#include "contract/run_node_types.h"

#define SET_IF(condition, body, field, value) ((condition) ? SET(body, field, value) : (void)0)

#define SET_REQUEST(body, from)                                            \
	(SET(body, step, (from)->step), SET(body, effect, (from)->effect), \
	 SET_IF((from)->attempt > 1, body, attempt, (from)->attempt),      \
	 SET_IF((from)->due_at != 0, body, due_at, (from)->due_at))

#define SET_END(body, from)                                                      \
	(SET(body, v, EVENT_VERSION), SET(body, step, (from)->step),             \
	 SET(body, effect, (from)->effect), SET(body, outcome, (from)->outcome), \
	 SET_IF((from)->output != NULL, body, output, (from)->output),           \
	 SET_IF((from)->fault != NULL, body, fault, (from)->fault),              \
	 SET_IF((from)->next != NULL, body, next, (from)->next))

static struct event tool_requested(const struct run_graph_node *node,
				   const struct call_request *from, struct arena *arena)
{
	struct run_tool_requested *body = run_tool_requested_new(arena);
	SET_REQUEST(body, from);
	SET(body, tool, node->tool);
	SET(body, class, node->class);
	SET(body, inputs, from->inputs);
	SET_IF(from->tree.size > 0, body, tree, from->tree);
	SET_IF(from->secrets.count > 0, body, secrets, from->secrets);
	SET_IF(from->folder.size > 0, body, folder, from->folder);
	return (struct event){ .type = EVENT_TOOL_REQUESTED, .as.run_tool_requested = body };
}

static struct event turn_requested(const struct run_graph_node *node,
				   const struct call_request *from, struct arena *arena)
{
	struct run_turn_requested *body = run_turn_requested_new(arena);
	SET_REQUEST(body, from);
	SET(body, driver, node->agent->driver);
	SET(body, model, node->agent->model);
	SET(body, request, from->inputs);
	SET_IF(from->reserves, body, reserved, from->reserved);
	SET_IF(from->budgets.count > 0, body, budgets, from->budgets);
	return (struct event){ .type = EVENT_TURN_REQUESTED, .as.run_turn_requested = body };
}

static struct event subrun_requested(const struct run_graph_node *node,
				     const struct call_request *from, struct arena *arena)
{
	struct run_subrun_requested *body = run_subrun_requested_new(arena);
	SET_REQUEST(body, from);
	SET(body, name, node->graph->name);
	SET(body, definition, from->definition);
	SET(body, inputs, from->inputs);
	return (struct event){ .type = EVENT_SUBRUN_REQUESTED, .as.run_subrun_requested = body };
}

struct event call_requested(const struct run_graph_node *node, const struct call_request *from,
			    struct arena *arena)
{
	return node->kind == RUN_NODE_AGENT    ? turn_requested(node, from, arena)
	       : node->kind == RUN_NODE_SUBRUN ? subrun_requested(node, from, arena)
					       : tool_requested(node, from, arena);
}

static struct event tool_finished(const struct call_end *from, struct arena *arena)
{
	struct run_tool_finished *body = run_tool_finished_new(arena);
	SET_END(body, from);
	SET_IF(from->log != NULL, body, log, from->log);
	SET_IF(from->figures != NULL, body, figures, from->figures);
	SET_IF(from->files != NULL, body, files, from->files);
	SET_IF(from->files != NULL && from->file_count > 0, body, file_count, from->file_count);
	return (struct event){ .type = EVENT_TOOL_FINISHED, .as.run_tool_finished = body };
}

static struct event turn_finished(const struct call_end *from, struct arena *arena)
{
	struct run_turn_finished *body = run_turn_finished_new(arena);
	SET_END(body, from);
	SET_IF(from->usage != NULL, body, usage, from->usage);
	SET_IF(from->calls.count > 0, body, calls, from->calls);
	return (struct event){ .type = EVENT_TURN_FINISHED, .as.run_turn_finished = body };
}

static struct event subrun_finished(const struct call_end *from, struct arena *arena)
{
	struct run_subrun_finished *body = run_subrun_finished_new(arena);
	SET_END(body, from);
	return (struct event){ .type = EVENT_SUBRUN_FINISHED, .as.run_subrun_finished = body };
}

struct event call_finished(const struct run_graph_node *node, const struct call_end *from,
			   struct arena *arena)
{
	return node->kind == RUN_NODE_AGENT    ? turn_finished(from, arena)
	       : node->kind == RUN_NODE_SUBRUN ? subrun_finished(from, arena)
					       : tool_finished(from, arena);
}
