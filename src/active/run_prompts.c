/* active/run_prompts.c -- finds the named prompts of a graph. */
#include "active/run_prompts.h"

#include "contract/run_graph_types.h"
#include "contract/run_start_types.h"
#include "definition/graph.h"

static bool is_listed(const struct str_entry *entries, size_t count, struct str id)
{
	for (size_t i = 0; i < count; i++)
		if (str_equal(entries[i].key, id))
			return true;
	return false;
}

/* A graph has few prompts: an agent has at most one, and agents of the same name are the same. */
void run_prompts_record(struct run_start *start, const struct graph *graph, struct arena *arena)
{
	enum { MOST = 64 };
	struct str_entry *entries = NULL;
	size_t count = 0;
	for (uint32_t i = 0; i < graph->node_count && count < MOST; i++) {
		const struct run_graph_node *row = graph->nodes[i].row;
		if (!has(row, agent) || !has(row->agent, prompt_name) ||
		    is_listed(entries, count, row->agent->prompt_name))
			continue;
		if (entries == NULL)
			entries = arena_array(arena, struct str_entry, MOST);
		int64_t version = row->agent->prompt_version;
		entries[count].key = str_copy(arena, row->agent->prompt_name);
		entries[count++].value =
			version == 0 ? S("default") : str_format(arena, "%lld", (long long)version);
	}
	if (count > 0)
		SET(start, prompts, ((struct str_map){ entries, count }));
}
