/* views/plan_revisions.c -- finds the plans of a run in its timeline. */
#include "views/plan_revisions.h"

#include <stdlib.h>

#include "contract/run_event_types.h"
#include "contract/run_graph_types.h"

static bool has_tool(const struct run_graph_node *node, struct str tool)
{
	return has(node, tool) && str_equal(node->tool, tool);
}

/* A graph is nested no deeper than the definition that it was compiled from. */
static bool body_checks_plans(const struct run_graph_node *nodes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (has_tool(&nodes[i], S("plan_check")) ||
		    body_checks_plans(nodes[i].body.at, nodes[i].body.count))
			return true;
	return false;
}

static bool has_text(const struct json *object, struct str key)
{
	const struct json *value = json_member(object, key);
	return value != NULL && value->kind == JSON_STRING && value->as.string.size > 0;
}

static bool is_revision(const struct timeline_step *step)
{
	return has_tool(step->node, S("plan_check")) && step->output != NULL &&
	       has_text(step->output, S("markdown"));
}

static bool asks_for_plan(const struct timeline_step *step)
{
	return step->question != NULL && json_member(step->inputs, S("plan_markdown")) != NULL;
}

static int compare_ends(const void *one, const void *other)
{
	const struct timeline_step *a = *(const struct timeline_step *const *)one;
	const struct timeline_step *b = *(const struct timeline_step *const *)other;
	return a->ended_seq < b->ended_seq ? -1 : a->ended_seq > b->ended_seq;
}

static void take_question(struct plan_revisions *revisions, const struct timeline_step *step)
{
	if (revisions->asked != NULL && revisions->asked->begun_seq > step->begun_seq)
		return;
	revisions->asked = step;
	revisions->open = !step->ended && step->answer == NULL;
	revisions->approved =
		step->answer != NULL && step->answer->decision == RUN_DECISION_APPROVE;
	revisions->approved_by = revisions->approved ? step->answer->by : S("");
	revisions->question = step->effect;
	revisions->question_revision = step->question->revision;
}

void plan_revisions_read(const struct timeline *timeline, struct plan_revisions *out_revisions)
{
	struct plan_revisions revisions = { 0 };
	const struct run_graph *graph = timeline->source->graph;
	revisions.workflow = graph->name;
	revisions.checks_plans = body_checks_plans(graph->nodes.at, graph->nodes.count);
	revisions.steps =
		arena_array(timeline->arena, const struct timeline_step *, timeline->count);
	for (size_t i = 0; i < timeline->count; i++) {
		const struct timeline_step *step = timeline->steps[i];
		if (is_revision(step))
			revisions.steps[revisions.count++] = step;
		else if (asks_for_plan(step))
			take_question(&revisions, step);
	}
	qsort(revisions.steps, revisions.count, sizeof(*revisions.steps), compare_ends);
	*out_revisions = revisions;
}

struct str plan_revisions_path(const struct timeline *timeline,
			       const struct plan_revisions *revisions, size_t index)
{
	const struct json *output = revisions->steps[index]->output;
	if (has_text(output, S("path")))
		return json_member(output, S("path"))->as.string;
	if (revisions->asked != NULL && has_text(revisions->asked->inputs, S("plan_path")))
		return json_member(revisions->asked->inputs, S("plan_path"))->as.string;
	for (size_t i = 0; i < timeline->count; i++) {
		const struct timeline_step *step = timeline->steps[i];
		if (step->output != NULL && has_text(step->output, S("path")) &&
		    (has_tool(step->node, S("plan_path")) || has_tool(step->node, S("write_plan"))))
			return json_member(step->output, S("path"))->as.string;
	}
	return S("");
}
