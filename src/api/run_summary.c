/* api/run_summary.c -- a stored run as one line of a list: its row, and the summary in it. */
#include "api/run_summary.h"

#include "active/executor_jobs.h"
#include "contract/run_start_types.h"
#include "contract/run_store_types.h"
#include "contract/run_snapshot_types.h"
#include "contract/runtime_types.h"
#include "views/view_runtime.h"

struct runtime_run_summary_model *run_summary_model(const struct store_run *run,
						    struct arena *arena)
{
	struct runtime_run_summary_model *model = runtime_run_summary_model_new(arena);
	SET(model, run_id, run->id);
	SET(model, workflow, run->name);
	SET(model, status, view_runtime_status(run->state));
	SET(model, state, run->state);
	SET(model, started_at, run->created_at);
	SET(model, step_count, 0);
	if (run->ended_at != 0) {
		SET(model, completed_at, run->ended_at);
		SET(model, duration_ms, (run->ended_at - run->created_at) / 1000);
	}
	const struct json *json;
	struct error error;
	struct problems problems = { .arena = arena };
	if (json_read(run->summary, arena, &json, &error)) {
		struct contract_source source = { .json = json, .lenient = true };
		const struct run_summary *summary = run_summary_parse(&source, arena, &problems);
		if (summary != NULL)
			SET(model, step_count,
			    has(summary, steps_started) ? summary->steps_started
							: summary->steps_ended);
		if (summary != NULL && has(summary, error))
			SET(model, error, summary->error);
		if (summary != NULL && has(summary, labels))
			SET(model, labels, summary->labels);
	}
	return model;
}
