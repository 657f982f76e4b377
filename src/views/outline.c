/* views/outline.c -- the story's facts, picked. */
#include "views/outline.h"

/* Whom it is for and until when, by whoever had it last. */
static void add_question(struct run_outline_step *out, const struct story_step *step)
{
	const struct run_human_requested *question = step->call->question;
	const struct run_human_escalated *passed_on = step->passed_on;
	SET(out, request, step->call->effect);
	SET(out, question, question->question);
	SET(out, asks, question->kind);
	if (passed_on != NULL) {
		SET(out, to, passed_on->to);
		if (has(passed_on, due_at))
			SET(out, due_at, passed_on->due_at);
		return;
	}
	if (has(question, to))
		SET(out, to, question->to);
	if (has(question, due_at))
		SET(out, due_at, question->due_at);
}

/* What the step's newest call waits for; a closed one may be tried again. */
static void add_open(struct run_outline_step *out, const struct story_step *step)
{
	const struct story_call *call = step->call;
	if (call == NULL || step->ended)
		return;
	bool open = call->ended_at == 0;
	if (open && call->question != NULL) {
		add_question(out, step);
		return;
	}
	if (open && call->due_at > 0)
		SET(out, due_at, call->due_at);
	if (!open && call->retry_at > 0)
		SET(out, due_at, call->retry_at);
	if (open && call->signal.size > 0)
		SET(out, signal, call->signal);
}

static struct run_outline_step outline_step(const struct story *story,
					    const struct story_step *step)
{
	struct run_outline_step *out = run_outline_step_new(story->arena);
	SET(out, step, step->path);
	if (step->parent != NULL)
		SET(out, within, step->parent->path);
	SET(out, kind, step->node->kind);
	SET(out, agent, story_agent(step));
	SET(out, state, vocabulary_step(step->state)->word);
	SET(out, attempts, step->attempts);
	if (step->started)
		SET(out, started_at, step->started_at);
	if (step->ended)
		SET(out, ended_at, step->ended_at);
	if (step->fault.size > 0)
		SET(out, error, step->fault);
	else if (step->reason.size > 0)
		SET(out, error, step->reason);
	if (step->node->kind == RUN_NODE_SUBRUN && !uuid_is_zero(&step->effect))
		SET(out, subrun, step->effect);
	add_open(out, step);
	return *out;
}

/* What only the event that made the run knows. */
static void add_beginning(struct run_outline *out, const struct story *story)
{
	const struct view_source *source = story->source;
	if (source->event_count == 0 || source->events[0].type != EVENT_RUN_CREATED)
		return;
	const struct run_created *created = source->events[0].as.run_created;
	if (has(created, by))
		SET(out, by, created->by);
	if (has(created, priority))
		SET(out, priority, created->priority);
	if (has(created, key))
		SET(out, alone, created->key);
}

struct run_outline *outline(const struct story *story)
{
	struct run_outline *out = run_outline_new(story->arena);
	struct run_outline_step *steps =
		arena_array(story->arena, struct run_outline_step, story->count);
	const struct story_step **from = story_in_order(story);
	for (size_t i = 0; i < story->count; i++)
		steps[i] = outline_step(story, from[i]);
	SET(out, run_id, story->source->run);
	SET(out, workflow, story->source->graph->name);
	SET(out, state, story_words(story)->word);
	if (story->cancelling && !story->ended)
		SET(out, cancelling, true);
	add_beginning(out, story);
	if (!uuid_is_zero(&story->parent))
		SET(out, parent, story->parent);
	SET(out, created_at, story->created_at);
	if (story->started_at > 0)
		SET(out, started_at, story->started_at);
	if (story->ended)
		SET(out, ended_at, story->ended_at);
	if (story->fault.size > 0)
		SET(out, error, story->fault);
	size_t count = story->source->event_count;
	SET(out, seq, count == 0 ? 0 : story_seq(story, count - 1));
	SET(out, steps, ((struct run_outline_step_list){ steps, story->count }));
	return out;
}
