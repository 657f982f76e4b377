/* views/run_outline.c -- selects the facts of the timeline that the outline shows. */
#include "views/run_outline.h"

#include "contract/field_copy.h"
#include "contract/run_event_types.h"
#include "contract/run_graph_types.h"
#include "contract/run_outline_types.h"
#include "contract/run_start_types.h"

/* Addressee and due time of a question; an escalation replaces both. */
static void add_question(struct run_outline_step *out, const struct timeline_step *step)
{
	const struct run_human_requested *question = step->call->question;
	const struct run_human_escalated *escalation = step->escalation;
	SET(out, request, step->call->effect);
	SET(out, question, question->question);
	SET(out, asks, question->kind);
	if (escalation != NULL) {
		SET(out, to, escalation->to);
		if (has(escalation, due_at))
			SET(out, due_at, escalation->due_at);
		return;
	}
	if (has(question, to))
		SET(out, to, question->to);
	if (has(question, due_at))
		SET(out, due_at, question->due_at);
}

/* What the newest call waits for; an ended call may wait for its retry. */
static void add_open(struct run_outline_step *out, const struct timeline_step *step)
{
	const struct timeline_call *call = step->call;
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

static struct run_outline_step outline_step(const struct timeline *timeline,
					    const struct timeline_step *step)
{
	struct run_outline_step *out = run_outline_step_new(timeline->arena);
	SET(out, step, step->path);
	if (step->parent != NULL)
		SET(out, within, step->parent->path);
	SET(out, kind, step->node->kind);
	SET(out, agent, timeline_agent(step));
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

struct run_outline *run_outline(const struct timeline *timeline)
{
	struct run_outline *out = run_outline_new(timeline->arena);
	struct run_outline_step *steps =
		arena_array(timeline->arena, struct run_outline_step, timeline->count);
	const struct timeline_step **from = timeline_in_order(timeline);
	for (size_t i = 0; i < timeline->count; i++)
		steps[i] = outline_step(timeline, from[i]);
	SET(out, run_id, timeline->source->run);
	SET(out, workflow, timeline->source->graph->name);
	SET(out, state, timeline_words(timeline)->word);
	if (timeline->cancelling && !timeline->ended)
		SET(out, cancelling, true);
	COPY_FIELDS(run_start, timeline->start, run_outline, out, NULL);
	if (has(timeline->start, key))
		SET(out, alone, timeline->start->key);
	SET(out, created_at, timeline->created_at);
	if (timeline->started_at > 0)
		SET(out, started_at, timeline->started_at);
	if (timeline->ended)
		SET(out, ended_at, timeline->ended_at);
	if (timeline->fault.size > 0)
		SET(out, error, timeline->fault);
	size_t count = timeline->source->event_count;
	SET(out, seq, count == 0 ? 0 : timeline_seq(timeline, count - 1));
	SET(out, steps, ((struct run_outline_step_list){ steps, timeline->count }));
	return out;
}
