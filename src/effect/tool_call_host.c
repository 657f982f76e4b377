/* effect/tool_call_host.c -- where the tool of a call runs.
 *
 * The sandbox is that of the node (an agent's), else that of the graph (a profile's), else the server's.  The
 * graph is pinned, so a call that is repeated after a crash has the sandbox that it had, whatever the profile
 * says now.  A sandbox that this server does not have any more fails the call; it never runs with another one.
 */
#include "active/definition_reading.h"
#include "contract/run_graph_types.h"
#include "effect/tool_call.h"
#include "sandbox/sandbox.h"
#include "tool/tool.h"

struct str_list tool_call_list_copy(struct arena *arena, struct str_list from)
{
	struct str *copy = arena_array(arena, struct str, from.count);
	for (size_t i = 0; i < from.count; i++)
		copy[i] = str_copy(arena, from.at[i]);
	return (struct str_list){ copy, from.count };
}

const struct run_graph_sandbox *tool_call_sandbox(const struct run_graph *graph,
						  const struct run_graph_node *node,
						  struct arena *arena)
{
	const struct run_graph_sandbox *from = has(node, sandbox)    ? node->sandbox
					       : has(graph, sandbox) ? graph->sandbox
								     : NULL;
	if (from == NULL)
		return NULL;
	struct run_graph_sandbox *copy = run_graph_sandbox_new(arena);
	if (has(from, isolation))
		SET(copy, isolation, str_copy(arena, from->isolation));
	if (has(from, mounts))
		SET(copy, mounts, tool_call_list_copy(arena, from->mounts));
	if (has(from, network))
		SET(copy, network, tool_call_list_copy(arena, from->network));
	return copy;
}

bool tool_call_choose_host(struct call *call, const struct tool *tool, struct error *error)
{
	/* Only a child is in a sandbox; other tools work in this process. */
	const struct run_graph_sandbox *sandbox = tool->child ? call->sandbox : NULL;
	struct tool_host host;
	if (call->host != NULL)
		return true;
	if (!executor_choose_sandbox(call->executor, sandbox, &call->arena, &host, error)) {
		error->code = ERROR_ISOLATION;
		return false;
	}
	/* A call that was recorded as contained runs contained, whatever the setting is now. */
	if (call->class == RUN_CLASS_CONTAINED && host.sandbox != NULL)
		host.sandbox = sandbox_find(S("native"));
	call->host = arena_copy(&call->arena, &host, sizeof(host));
	return true;
}
