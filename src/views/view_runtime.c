/* views/view_runtime.c -- one pass over the stream, one row a step.
 *
 * Two things have no event of their own and are worked out as the engine's documents say: a pure
 * step starts when the last of its dependencies is final, and a step whose dependency did not
 * succeed is skipped.
 */
#include "views/view_runtime.h"

#include "base/map.h"

struct viewing {
	const struct view_source *source;
	struct arena *arena;
	struct map numbers; /* step -> number + 1 */
	struct runtime_step_result_model *steps;
	struct runtime_workflow_result_model *result;
};

static void viewing_done(struct viewing *viewing)
{
	map_done(&viewing->numbers);
}

struct str view_runtime_status(struct str state)
{
	if (str_equal(state, S("succeeded")))
		return S("success");
	if (str_equal(state, S("failed")))
		return S("failed");
	return S("running");
}

static struct runtime_step_result_model *find_step(struct viewing *v, struct str name)
{
	size_t number = (size_t)(uintptr_t)map_get(&v->numbers, name);
	return number == 0 ? NULL : &v->steps[number - 1];
}

static const struct json *value_json(struct viewing *v, const struct run_value *value)
{
	if (has(value, sha256))
		return v->source->look(v->source->context, &value->sha256);
	return has(value, json) ? value->json : NULL;
}

static int64_t milliseconds(int64_t from, int64_t to)
{
	return to > from ? (to - from) / 1000 : 0;
}

static void begin(struct viewing *v, struct str name, int64_t at)
{
	struct runtime_step_result_model *step = find_step(v, name);
	if (step == NULL)
		return;
	SET(step, status, S("running"));
	SET(step, started_at, at);
}

static void end(struct viewing *v, struct str name, int64_t at, const struct run_value *output,
		bool failed, struct str error)
{
	struct runtime_step_result_model *step = find_step(v, name);
	if (step == NULL)
		return;
	SET(step, status, failed ? S("failed") : S("success"));
	SET(step, completed_at, at);
	if (has(step, started_at))
		SET(step, duration_ms, milliseconds(step->started_at, at));
	const struct json *json = output == NULL ? NULL : value_json(v, output);
	if (json != NULL)
		SET(step, output, json);
	if (failed)
		SET(step, error, error);
}

/* When the last of its dependencies was final, or the run began. */
static int64_t ready_at(struct viewing *v, struct str name)
{
	size_t number = (size_t)(uintptr_t)map_get(&v->numbers, name) - 1;
	const struct run_graph_node *node = &v->source->graph->nodes.at[number];
	int64_t at = v->result->started_at;
	for (size_t i = 0; i < node->depends_on.count; i++) {
		const struct runtime_step_result_model *before =
			find_step(v, node->depends_on.at[i]);
		if (before != NULL && has(before, completed_at) && before->completed_at > at)
			at = before->completed_at;
	}
	return at;
}

static struct str fault_text(struct viewing *v, const struct run_fault *fault)
{
	return str_format(v->arena, STR_FMT ": " STR_FMT, STR_ARG(fault->code),
			  STR_ARG(fault->text));
}

static void see_computed(struct viewing *v, const struct run_step_computed *event, int64_t at)
{
	if (find_step(v, event->step) == NULL)
		return;
	begin(v, event->step, ready_at(v, event->step));
	end(v, event->step, at, has(event, output) ? event->output : NULL, has(event, fault),
	    has(event, fault) ? fault_text(v, event->fault) : S(""));
}

static void see_answer(struct viewing *v, const struct run_human_finished *event, int64_t at)
{
	bool rejected = event->decision == RUN_DECISION_REJECT;
	struct json_member *members = arena_array(v->arena, struct json_member, 3);
	struct json *output = arena_new(v->arena, struct json);
	struct str words[] = { run_decision_name(event->decision),
			       has(event, comment) ? event->comment : S(""), event->by };
	struct str keys[] = { S("decision"), S("comment"), S("by") };
	for (size_t i = 0; i < COUNT(keys); i++) {
		members[i].key = keys[i];
		members[i].value = (struct json){ .kind = JSON_STRING, .as.string = words[i] };
	}
	*output = (struct json){ .kind = JSON_OBJECT, .as.object = { members, COUNT(keys) } };
	end(v, event->step, at, NULL, rejected,
	    str_format(v->arena, "rejected by " STR_FMT, STR_ARG(event->by)));
	struct runtime_step_result_model *step = find_step(v, event->step);
	if (step != NULL)
		SET(step, output, output);
}

static void see_finished(struct viewing *v, const struct run_finished *event, int64_t at)
{
	struct runtime_workflow_result_model *result = v->result;
	SET(result, completed_at, at);
	SET(result, duration_ms, milliseconds(result->started_at, at));
	const struct json *outputs = has(event, outputs) ? value_json(v, event->outputs) : NULL;
	if (outputs != NULL)
		SET(result, outputs, outputs);
	if (has(event, fault))
		SET(result, error, fault_text(v, event->fault));
}

static void see_event(struct viewing *v, const struct event *event)
{
	int64_t at = event->at;
	switch (event->type) {
	case EVENT_RUN_CREATED:
		SET(v->result, started_at, at);
		break;
	case EVENT_STEP_COMPUTED:
		see_computed(v, event->as.run_step_computed, at);
		break;
	case EVENT_TOOL_REQUESTED:
		begin(v, event->as.run_tool_requested->step, at);
		break;
	case EVENT_TOOL_RESTARTED:
		break;
	case EVENT_TOOL_FINISHED: {
		const struct run_tool_finished *body = event->as.run_tool_finished;
		end(v, body->step, at, has(body, output) ? body->output : NULL,
		    body->outcome != RUN_OUTCOME_OK,
		    has(body, fault) ? fault_text(v, body->fault)
				     : run_outcome_name(body->outcome));
		break;
	}
	case EVENT_TIMER_REQUESTED:
		begin(v, event->as.run_timer_requested->step, at);
		break;
	case EVENT_TIMER_FINISHED:
		end(v, event->as.run_timer_finished->step, at, NULL,
		    event->as.run_timer_finished->outcome != RUN_OUTCOME_OK,
		    run_outcome_name(event->as.run_timer_finished->outcome));
		break;
	case EVENT_HUMAN_REQUESTED:
		begin(v, event->as.run_human_requested->step, at);
		break;
	case EVENT_HUMAN_FINISHED:
		see_answer(v, event->as.run_human_finished, at);
		break;
	case EVENT_RUN_FINISHED:
		see_finished(v, event->as.run_finished, at);
		break;
	}
}

static struct str agent_of(const struct run_graph_node *node)
{
	switch (node->kind) {
	case RUN_NODE_TOOL:
		return node->tool;
	case RUN_NODE_HUMAN:
	case RUN_NODE_WAIT:
		break;
	}
	return run_node_kind_name(node->kind);
}

/* Nodes stand dependencies first, so one pass carries a failure to everything behind it. */
static void skip_steps(struct viewing *v)
{
	const struct run_graph *graph = v->source->graph;
	for (size_t i = 0; i < graph->nodes.count; i++) {
		const struct run_graph_node *node = &graph->nodes.at[i];
		for (size_t d = 0; d < node->depends_on.count; d++) {
			const struct runtime_step_result_model *before =
				find_step(v, node->depends_on.at[d]);
			if (before == NULL || (!str_equal(before->status, S("failed")) &&
					       !str_equal(before->status, S("skipped"))))
				continue;
			SET(&v->steps[i], status, S("skipped"));
			SET(&v->steps[i], error,
			    str_format(v->arena, "dependency failed: " STR_FMT,
				       STR_ARG(node->depends_on.at[d])));
			break;
		}
	}
}

static const struct json *metadata(struct viewing *v)
{
	struct json_member *member = arena_new(v->arena, struct json_member);
	struct json *object = arena_new(v->arena, struct json);
	member->key = S("state");
	member->value = (struct json){ .kind = JSON_STRING, .as.string = v->source->state };
	*object = (struct json){ .kind = JSON_OBJECT, .as.object = { member, 1 } };
	return object;
}

const struct runtime_workflow_result_model *view_runtime_result(const struct view_source *source,
								struct arena *arena)
{
	AUTO(viewing) v = { .source = source, .arena = arena };
	size_t count = source->graph->nodes.count;
	static const struct json nothing = { .kind = JSON_OBJECT };
	v.result = runtime_workflow_result_model_new(arena);
	v.steps = arena_array(arena, struct runtime_step_result_model, count);
	for (size_t i = 0; i < count; i++) {
		const struct run_graph_node *node = &source->graph->nodes.at[i];
		v.steps[i] = *runtime_step_result_model_new(arena);
		SET(&v.steps[i], step_id, node->name);
		SET(&v.steps[i], agent, agent_of(node));
		SET(&v.steps[i], status, S("pending"));
		map_put(&v.numbers, node->name, (void *)(uintptr_t)(i + 1));
	}
	SET(v.result, run_id, source->run);
	SET(v.result, workflow, source->graph->name);
	SET(v.result, adapter, S("native"));
	SET(v.result, status, view_runtime_status(source->state));
	SET(v.result, started_at, 0);
	SET(v.result, outputs, &nothing);
	SET(v.result, metadata, metadata(&v));
	for (size_t i = 0; i < source->event_count; i++)
		see_event(&v, &source->events[i]);
	skip_steps(&v);
	SET(v.result, steps, ((struct runtime_step_result_model_list){ v.steps, count }));
	return v.result;
}
