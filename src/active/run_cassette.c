/* active/run_cassette.c -- checks and claims cassettes when a run starts.
 *
 * The claim is the last thing that a start does on its reader thread, so a start that is refused
 * for another reason claims nothing.  A client that repeats a start with the same id after a crash
 * finds its own claim.
 */
#include "active/run_cassette.h"

#include "active/definition_reading.h"
#include "active/executor_state.h"
#include "contract/run_graph_types.h"
#include "contract/run_start_types.h"
#include "llm/cassette.h"
#include "llm/llm.h"
#include "llm/models.h"

bool run_cassette_is_named(const struct run_start *start)
{
	return has(start, record) || has(start, replay);
}

void run_cassette_read(const struct run_start *start, struct definition_reading *reading,
		       struct sha256 *source)
{
	if (has(start, record)) {
		reading->record = start->record;
		sha256_add(source, "record\n", 7);
		sha256_add(source, start->record.at, start->record.size);
	}
	if (has(start, replay)) {
		reading->replay = start->replay;
		sha256_add(source, "replay\n", 7);
		sha256_add(source, start->replay.at, start->replay.size);
	}
}

static bool is_recorded(struct run_graph_node_list nodes)
{
	for (size_t i = 0; i < nodes.count; i++) {
		const struct run_graph_node *node = &nodes.at[i];
		if ((has(node, agent) && str_equal(node->agent->driver, S("api"))) ||
		    (has(node, body) && is_recorded(node->body)) ||
		    (has(node, graph) && is_recorded(node->graph->nodes)))
			return true;
	}
	return false;
}

bool run_cassette_open(const struct executor *executor, const struct run_start *start,
		       const struct run_graph *graph, const struct uuid *run, struct error *error)
{
	const struct llm_host *host = executor->settings.models;
	if (!run_cassette_is_named(start))
		return true;
	if (has(start, record) && has(start, replay))
		return fail(error, ERROR_INVALID,
			    "a run records a cassette or replays one: remove record or replay");
	if (host == NULL || host->models == NULL)
		return fail(error, ERROR_INTERNAL, "this program has no cassettes");
	if (has(start, replay))
		return cassette_find(host->models->folder, start->replay, error);
	if (!is_recorded(graph->nodes))
		return fail(error, ERROR_INVALID,
			    "there is nothing to record: no step of the workflow has an agent with "
			    "the driver api");
	bool append = has(start, record_append) && start->record_append;
	return append || cassette_claim(host->models->folder, start->record, run, error);
}
