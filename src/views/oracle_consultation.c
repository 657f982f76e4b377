/* views/oracle_consultation.c -- collects what the oracle was asked, what it read and what it cost. */
#include "views/oracle_consultation.h"

#include "contract/run_graph_types.h"
#include "contract/run_node_types.h"
#include "contract/run_start_types.h"
#include "contract/run_turn_types.h"
#include "views/view.h"

static bool consults(const struct run_graph *graph)
{
	return has(graph, pipeline) && graph->pipeline == RUN_PIPELINE_ORACLE;
}

bool oracle_consultation_is(const struct timeline *timeline)
{
	return consults(timeline->source->graph);
}

/* ---- what it cost ----------------------------------------------------------------------- */

struct cost {
	int64_t input, output, cache_read, cache_creation;
	double dollars;
	bool priced, used;
	struct str model; /* of the newest turn */
};

static void add_call(struct cost *cost, const struct timeline_call *call, struct arena *arena)
{
	struct problems problems = { .arena = arena };
	const struct contract_source source = { .json = call->usage, .lenient = true };
	const struct run_turn_usage *usage =
		call->usage == NULL ? NULL : run_turn_usage_parse(&source, arena, &problems);
	if (usage == NULL)
		return;
	cost->used = true;
	cost->input += usage->input_tokens;
	cost->output += usage->output_tokens;
	cost->cache_read += usage->cache_read_tokens;
	cost->cache_creation += usage->cache_creation_tokens;
	cost->priced = cost->priced || has(usage, cost) || usage->cost_usd > 0;
	cost->dollars += has(usage, cost) ? (double)usage->cost / 1e12 : usage->cost_usd;
}

/* Every attempt of every turn counts. */
static struct cost cost_of(const struct timeline *timeline)
{
	struct cost cost = { .model = S("") };
	for (size_t i = 0; i < timeline->count; i++) {
		const struct timeline_step *step = timeline->steps[i];
		if (step->node->kind != RUN_NODE_AGENT)
			continue;
		for (const struct timeline_call *call = step->call; call != NULL;
		     call = call->before)
			add_call(&cost, call, timeline->arena);
		if (step->call != NULL && step->call->model.size > 0)
			cost.model = step->call->model;
	}
	return cost;
}

static void set_cost(struct pipeline_oracle_consultation *out, const struct timeline *timeline)
{
	struct cost cost = cost_of(timeline);
	SET(out, model, cost.model);
	if (cost.priced)
		SET(out, cost_usd, cost.dollars);
	if (!cost.used)
		return;
	const struct int_entry tokens[] = {
		{ S("input_tokens"), cost.input },
		{ S("output_tokens"), cost.output },
		{ S("cache_read_tokens"), cost.cache_read },
		{ S("cache_creation_tokens"), cost.cache_creation },
	};
	SET(out, tokens,
	    ((struct int_map){ arena_copy(timeline->arena, tokens, sizeof(tokens)),
			       COUNT(tokens) }));
}

/* ---- what it read ----------------------------------------------------------------------- */

struct names {
	struct str *at;
	size_t count, room;
};

static void add_name(struct names *names, struct str name, struct arena *arena)
{
	for (size_t i = 0; i < names->count; i++)
		if (str_equal(names->at[i], name))
			return;
	names->at = VIEW_GROW(arena, names->at, struct str, names->count, &names->room, 1);
	names->at[names->count++] = name;
}

/* The files that were handed over, one on each line, and those that the agent has read itself. */
static struct str_list files_of(const struct timeline *timeline)
{
	struct names names = { 0 };
	for (size_t i = 0; i < timeline->count; i++) {
		const struct timeline_step *step = timeline->steps[i];
		if (step->node->kind != RUN_NODE_TOOL || step->state != VOCABULARY_STEP_SUCCEEDED)
			continue;
		struct str rest = S(""), line;
		if (str_equal(step->path, S("bundle")))
			rest = json_text(json_member(step->output, S("stderr")));
		else if (str_equal(step->node->tool, S("read_file")))
			rest = json_text(json_member(step->inputs, S("path")));
		while (str_cut(&rest, '\n', &line))
			if (line.size > 0)
				add_name(&names, line, timeline->arena);
	}
	return (struct str_list){ names.at, names.count };
}

/* ---- the record ------------------------------------------------------------------------- */

static void set_asked_by(struct pipeline_oracle_consultation *out, const struct run_start *start)
{
	struct uuid id;
	if (has(start, parent)) {
		SET(out, workflow_id, start->parent);
		return;
	}
	for (size_t i = 0; has(start, labels) && i < start->labels.count; i++)
		if (str_equal(start->labels.at[i].key, S("workflow_id")) &&
		    uuid_parse(start->labels.at[i].value, &id))
			SET(out, workflow_id, id);
}

static void set_result(struct pipeline_oracle_consultation *out, const struct json *output,
		       struct str fault)
{
	struct str advice = json_text(json_member(output, S("advice")));
	if (fault.size == 0 && advice.size > 0) {
		SET(out, advice, advice);
		SET(out, outcome, PIPELINE_CONSULTATION_SUCCESS);
		return;
	}
	SET(out, outcome, PIPELINE_CONSULTATION_ERROR);
	SET(out, error_message, fault.size > 0 ? fault : S("the oracle gave no advice"));
}

const struct pipeline_oracle_consultation *oracle_consultation(const struct timeline *timeline)
{
	struct pipeline_oracle_consultation *out =
		pipeline_oracle_consultation_new(timeline->arena);
	SET(out, timestamp, timeline->created_at);
	SET(out, problem, json_text(json_member(timeline->inputs, S("problem"))));
	SET(out, session_id, timeline->source->run);
	SET(out, files_consulted, files_of(timeline));
	set_cost(out, timeline);
	set_asked_by(out, timeline->start);
	set_result(out, timeline->outputs, timeline->fault);
	pipeline_oracle_consultation_make(out, timeline->arena, NULL);
	return out;
}

/* ---- consultations of agents ------------------------------------------------------------ */

/* What the run that has asked knows of it. */
static const struct pipeline_oracle_consultation *known_of(const struct timeline *timeline,
							   const struct timeline_call *call)
{
	struct pipeline_oracle_consultation *out =
		pipeline_oracle_consultation_new(timeline->arena);
	SET(out, timestamp, call->begun_at);
	SET(out, problem, json_text(json_member(call->inputs, S("problem"))));
	SET(out, model, S(""));
	SET(out, session_id, call->effect);
	SET(out, workflow_id, timeline->source->run);
	set_result(out, call->output, call->fault);
	pipeline_oracle_consultation_make(out, timeline->arena, NULL);
	return out;
}

static const struct pipeline_oracle_consultation *consultation_at(const struct timeline *timeline,
								  size_t index)
{
	const struct view_source *source = timeline->source;
	const struct event *event = &source->events[index];
	const struct timeline_step *step = timeline_step(timeline, event);
	if (event->type != EVENT_SUBRUN_FINISHED || step == NULL || !has(step->node, graph) ||
	    !consults(step->node->graph))
		return NULL;
	const struct timeline_call *call = timeline_call(timeline, index);
	const struct timeline *run =
		source->read_run == NULL ? NULL : source->read_run(source->context, &call->effect);
	return run == NULL ? known_of(timeline, call) : oracle_consultation(run);
}

struct pipeline_oracle_consultation_list oracle_consultations(const struct timeline *timeline)
{
	struct pipeline_oracle_consultation *at = NULL;
	size_t count = 0, room = 0;
	for (size_t i = 0; i < timeline->source->event_count; i++) {
		const struct pipeline_oracle_consultation *one = consultation_at(timeline, i);
		if (one == NULL)
			continue;
		at = VIEW_GROW(timeline->arena, at, struct pipeline_oracle_consultation, count,
			       &room, 1);
		at[count++] = *one;
	}
	if (oracle_consultation_is(timeline) && timeline->ended) {
		at = VIEW_GROW(timeline->arena, at, struct pipeline_oracle_consultation, count,
			       &room, 1);
		at[count++] = *oracle_consultation(timeline);
	}
	return (struct pipeline_oracle_consultation_list){ at, count };
}
