/* views/story.c -- one pass over the stream, one record a step.
 *
 * Each event only adds what it says; what nobody said (skips, the start of a pure step) is worked
 * out where the graph tells it.  The run's row is read before the stream, so a run may have ended
 * in between: then the stream is right and the row's word is not asked.
 */
#include "views/story.h"

#include "views/tree.h"

static const struct json no_members = { .kind = JSON_OBJECT };

static struct story_step *find_step(const struct story *story, struct str name)
{
	size_t number = (size_t)(uintptr_t)map_get(&story->numbers, name);
	return number == 0 ? NULL : &story->steps[number - 1];
}

static const struct json *value_object(const struct story *story, const struct run_value *value)
{
	const struct json *json = NULL;
	if (has(value, sha256))
		json = story->source->look(story->source->context, &value->sha256);
	else if (has(value, json))
		json = value->json;
	if (json == NULL || json->kind == JSON_OBJECT)
		return json;
	return TREE(story->arena, { S("value"), tree_copy(json) });
}

static struct str fault_text(const struct story *story, const struct run_fault *fault)
{
	return str_format(story->arena, STR_FMT ": " STR_FMT, STR_ARG(fault->code),
			  STR_ARG(fault->text));
}

/* ---- what an event adds -------------------------------------------------------------- */

/* Which event is being read. */
struct reading {
	int64_t seq, at;
};

static struct story_step *begin(struct story *story, struct str name, struct reading now)
{
	struct story_step *step = find_step(story, name);
	if (step == NULL)
		return NULL;
	step->state = VOCABULARY_STEP_RUNNING;
	step->started = true;
	step->started_at = now.at;
	step->begun_seq = now.seq;
	step->attempts = 1;
	return step;
}

static void end(struct story *story, struct story_step *step, struct reading now, struct str fault)
{
	if (step == NULL)
		return;
	step->state = fault.size > 0 ? VOCABULARY_STEP_FAILED : VOCABULARY_STEP_SUCCEEDED;
	step->ended = true;
	step->ended_at = now.at;
	step->ended_seq = now.seq;
	step->fault = fault;
	story->ended_count++;
}

/* When the last of its dependencies was final, or the run began. */
static int64_t ready_at(const struct story *story, const struct story_step *step)
{
	int64_t at = story->created_at;
	for (size_t i = 0; i < step->node->depends_on.count; i++) {
		const struct story_step *before = find_step(story, step->node->depends_on.at[i]);
		if (before != NULL && before->ended && before->ended_at > at)
			at = before->ended_at;
	}
	return at;
}

static void see_created(struct story *story, const struct run_created *event, int64_t at)
{
	const struct json *inputs = value_object(story, event->inputs);
	story->created_at = at;
	if (has(event, trace))
		story->trace = event->trace;
	if (has(event, retention_days))
		story->retention_days = event->retention_days;
	if (inputs != NULL)
		story->inputs = inputs;
}

static void see_computed(struct story *story, const struct run_step_computed *event,
			 struct reading now)
{
	struct story_step *step = find_step(story, event->step);
	if (step == NULL)
		return;
	step->started = true;
	step->started_at = ready_at(story, step);
	step->attempts = 1;
	step->output = has(event, output) ? value_object(story, event->output) : NULL;
	end(story, step, now, has(event, fault) ? fault_text(story, event->fault) : S(""));
}

static void see_tool_requested(struct story *story, const struct run_tool_requested *event,
			       struct reading now)
{
	struct story_step *step = begin(story, event->step, now);
	const struct json *inputs = value_object(story, event->inputs);
	if (step == NULL)
		return;
	step->effect = event->effect;
	if (inputs != NULL)
		step->inputs = inputs;
}

static void see_tool_finished(struct story *story, const struct run_tool_finished *event,
			      struct reading now)
{
	struct story_step *step = find_step(story, event->step);
	struct str fault = S("");
	if (event->outcome != RUN_OUTCOME_OK)
		fault = has(event, fault) ? fault_text(story, event->fault)
					  : run_outcome_name(event->outcome);
	if (step != NULL && has(event, output))
		step->output = value_object(story, event->output);
	end(story, step, now, fault);
}

static void see_timer_finished(struct story *story, const struct run_timer_finished *event,
			       struct reading now)
{
	bool good = event->outcome == RUN_OUTCOME_OK;
	end(story, find_step(story, event->step), now,
	    good ? S("") : run_outcome_name(event->outcome));
}

static void see_question(struct story *story, const struct run_human_requested *event,
			 struct reading now)
{
	struct story_step *step = begin(story, event->step, now);
	const struct json *inputs = value_object(story, event->inputs);
	if (step == NULL)
		return;
	step->state = VOCABULARY_STEP_WAITING_HUMAN;
	step->effect = event->effect;
	step->question = event;
	if (inputs != NULL)
		step->inputs = inputs;
}

static void see_answer(struct story *story, const struct run_human_finished *event,
		       struct reading now)
{
	struct story_step *step = find_step(story, event->step);
	if (step == NULL)
		return;
	step->answer = event;
	step->output =
		TREE(story->arena, { S("decision"), tree_text(run_decision_name(event->decision)) },
		     { S("comment"), tree_text(has(event, comment) ? event->comment : S("")) },
		     { S("by"), tree_text(event->by) });
	bool rejected = event->decision == RUN_DECISION_REJECT;
	end(story, step, now,
	    rejected ? str_format(story->arena, "rejected by " STR_FMT, STR_ARG(event->by))
		     : S(""));
}

static void see_finished(struct story *story, const struct run_finished *event, int64_t at)
{
	story->ended = true;
	story->ended_at = at;
	story->outputs = has(event, outputs) ? value_object(story, event->outputs) : NULL;
	switch (event->outcome) {
	case RUN_OUTCOME_OK:
		story->state = VOCABULARY_RUN_SUCCEEDED;
		return;
	case RUN_OUTCOME_CANCELLED:
		story->state = VOCABULARY_RUN_CANCELLED;
		break;
	case RUN_OUTCOME_FAILED:
	case RUN_OUTCOME_UNKNOWN:
		story->state = VOCABULARY_RUN_FAILED;
		break;
	}
	story->fault = has(event, fault) ? fault_text(story, event->fault)
					 : run_outcome_name(event->outcome);
}

static void see_event(struct story *story, const struct event *event, struct reading now)
{
	struct story_step *step;
	switch (event->type) {
	case EVENT_RUN_CREATED:
		see_created(story, event->as.run_created, event->at);
		break;
	case EVENT_STEP_COMPUTED:
		see_computed(story, event->as.run_step_computed, now);
		break;
	case EVENT_TOOL_REQUESTED:
		see_tool_requested(story, event->as.run_tool_requested, now);
		break;
	case EVENT_TOOL_RESTARTED:
		step = find_step(story, event->as.run_tool_restarted->step);
		if (step != NULL)
			step->attempts = event->as.run_tool_restarted->attempt;
		break;
	case EVENT_TOOL_FINISHED:
		see_tool_finished(story, event->as.run_tool_finished, now);
		break;
	case EVENT_TIMER_REQUESTED:
		step = begin(story, event->as.run_timer_requested->step, now);
		if (step != NULL) {
			step->effect = event->as.run_timer_requested->effect;
			step->due_at = event->as.run_timer_requested->due_at;
		}
		break;
	case EVENT_TIMER_FINISHED:
		see_timer_finished(story, event->as.run_timer_finished, now);
		break;
	case EVENT_HUMAN_REQUESTED:
		see_question(story, event->as.run_human_requested, now);
		break;
	case EVENT_HUMAN_FINISHED:
		see_answer(story, event->as.run_human_finished, now);
		break;
	case EVENT_RUN_FINISHED:
		see_finished(story, event->as.run_finished, event->at);
		break;
	case EVENT_DOCUMENT_CHANGED: /* of the system stream, which is nobody's story */
	case EVENT_RUN_COMPACTED:
		break;
	}
}

/* Nodes stand dependencies first, so one pass carries a failure to everything behind it. */
static void skip_steps(struct story *story)
{
	for (size_t i = 0; i < story->count; i++) {
		struct story_step *step = &story->steps[i];
		for (size_t d = 0; d < step->node->depends_on.count; d++) {
			struct str name = step->node->depends_on.at[d];
			const struct story_step *before = find_step(story, name);
			if (before == NULL || (before->state != VOCABULARY_STEP_FAILED &&
					       before->state != VOCABULARY_STEP_SKIPPED))
				continue;
			step->state = VOCABULARY_STEP_SKIPPED;
			step->fault = str_format(story->arena, "dependency failed: " STR_FMT,
						 STR_ARG(name));
			break;
		}
	}
}

void story_go_on(struct story *story, size_t from)
{
	const struct view_source *source = story->source;
	for (size_t i = from; i < source->event_count; i++)
		see_event(story, &source->events[i],
			  (struct reading){ story_seq(story, i), source->events[i].at });
	skip_steps(story);
}

void story_read(struct story *story, const struct view_source *source, struct arena *arena)
{
	const struct run_graph *graph = source->graph;
	*story = (struct story){ .source = source,
				 .arena = arena,
				 .count = graph->nodes.count,
				 .state = vocabulary_run_from(source->state),
				 .retention_days = -1,
				 .inputs = &no_members };
	story->steps = arena_array(arena, struct story_step, story->count);
	for (size_t i = 0; i < story->count; i++) {
		story->steps[i].node = &graph->nodes.at[i];
		story->steps[i].inputs = &no_members;
		map_put(&story->numbers, graph->nodes.at[i].name, (void *)(uintptr_t)(i + 1));
	}
	story_go_on(story, 0);
}

void story_done(struct story *story)
{
	map_done(&story->numbers);
}

/* ---- questions about it -------------------------------------------------------------- */

int64_t story_seq(const struct story *story, size_t index)
{
	const int64_t *seqs = story->source->seqs;
	return seqs == NULL ? (int64_t)index + 1 : seqs[index];
}

size_t story_index(const struct story *story, int64_t seq)
{
	size_t low = 0, high = story->source->event_count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (story_seq(story, middle) < seq)
			low = middle + 1;
		else
			high = middle;
	}
	bool there = low < story->source->event_count && story_seq(story, low) == seq;
	return there ? low : story->source->event_count;
}

static struct str path_of(const struct event *event)
{
	switch (event->type) {
	case EVENT_RUN_CREATED:
	case EVENT_RUN_FINISHED:
	case EVENT_DOCUMENT_CHANGED:
	case EVENT_RUN_COMPACTED:
		break;
	case EVENT_STEP_COMPUTED:
		return event->as.run_step_computed->step;
	case EVENT_TOOL_REQUESTED:
		return event->as.run_tool_requested->step;
	case EVENT_TOOL_RESTARTED:
		return event->as.run_tool_restarted->step;
	case EVENT_TOOL_FINISHED:
		return event->as.run_tool_finished->step;
	case EVENT_TIMER_REQUESTED:
		return event->as.run_timer_requested->step;
	case EVENT_TIMER_FINISHED:
		return event->as.run_timer_finished->step;
	case EVENT_HUMAN_REQUESTED:
		return event->as.run_human_requested->step;
	case EVENT_HUMAN_FINISHED:
		return event->as.run_human_finished->step;
	}
	return S("");
}

bool story_covers(const struct story *story, const struct event *event)
{
	struct str path = path_of(event);
	return path.size == 0 || find_step(story, path) != NULL;
}

const struct story_step *story_step(const struct story *story, const struct event *event)
{
	return find_step(story, path_of(event));
}

const struct vocabulary_run_row *story_words(const struct story *story)
{
	return vocabulary_run(story->state);
}

bool story_event_failed(const struct event *event)
{
	switch (event->type) {
	case EVENT_RUN_CREATED:
	case EVENT_TOOL_REQUESTED:
	case EVENT_TOOL_RESTARTED:
	case EVENT_TIMER_REQUESTED:
	case EVENT_HUMAN_REQUESTED:
	case EVENT_DOCUMENT_CHANGED:
	case EVENT_RUN_COMPACTED:
		break;
	case EVENT_STEP_COMPUTED:
		return has(event->as.run_step_computed, fault);
	case EVENT_TOOL_FINISHED:
		return event->as.run_tool_finished->outcome != RUN_OUTCOME_OK;
	case EVENT_TIMER_FINISHED:
		return event->as.run_timer_finished->outcome != RUN_OUTCOME_OK;
	case EVENT_HUMAN_FINISHED:
		return event->as.run_human_finished->decision == RUN_DECISION_REJECT;
	case EVENT_RUN_FINISHED:
		return event->as.run_finished->outcome != RUN_OUTCOME_OK;
	}
	return false;
}
