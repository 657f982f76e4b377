/* views/run_outline.c -- selects the facts of the timeline that the outline shows. */
#include "views/run_outline.h"

#include "base/limits.h"
#include "contract/field_copy.h"
#include "contract/run_event_types.h"
#include "contract/run_outline_types.h"
#include "contract/run_start_types.h"
#include "views/messages.h"
#include "views/timeline_internal.h"

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
	if (step->fault.size > 0) {
		SET(out, error, step->fault);
		SET(out, failure, timeline_failure(timeline, step));
	} else if (step->reason.size > 0)
		SET(out, error, step->reason);
	if (step->limit_reached)
		SET(out, limit_reached, true);
	if (step->undoes.size > 0)
		SET(out, undoes, step->undoes);
	if (step->warned)
		SET(out, warnings, timeline_warnings(timeline, step));
	if (step->node->kind == RUN_NODE_SUBRUN && !uuid_is_zero(&step->effect))
		SET(out, subrun, step->effect);
	add_open(out, step);
	return *out;
}

static int64_t newest_seq(const struct timeline *timeline)
{
	size_t count = timeline->source->event_count;
	return count == 0 ? 0 : timeline_seq(timeline, count - 1);
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
	if (timeline->unwinding && !timeline->ended)
		SET(out, unwinding, true);
	if (timeline->workspace_removed)
		SET(out, workspace_removed, true);
	COPY_FIELDS(run_start, timeline->start, run_outline, out, NULL);
	if (has(timeline->start, annotations))
		SET(out, metadata, timeline->start->annotations);
	if (has(timeline->start, key))
		SET(out, alone, timeline->start->key);
	SET(out, created_at, timeline->created_at);
	if (timeline->started_at > 0)
		SET(out, started_at, timeline->started_at);
	if (timeline->ended)
		SET(out, ended_at, timeline->ended_at);
	if (timeline->fault.size > 0)
		SET(out, error, timeline->fault);
	if (timeline->issues.count > 0)
		SET(out, issues, timeline->issues);
	if (timeline->warning_count > 0)
		SET(out, warnings,
		    ((struct run_warning_list){ timeline->warnings, timeline->warning_count }));
	if (timeline->warnings_dropped > 0)
		SET(out, warnings_dropped, timeline->warnings_dropped);
	messages_outline(timeline, out);
	SET(out, seq, newest_seq(timeline));
	SET(out, steps, ((struct run_outline_step_list){ steps, timeline->count }));
	return out;
}

/* ---- one step ---------------------------------------------------------------------- */

static void add_answer(struct run_step_attempt *out, const struct timeline_call *call)
{
	SET(out, question, call->question->question);
	if (call->answer == NULL)
		return;
	SET(out, decision, run_decision_name(call->answer->decision));
	SET(out, by, call->answer->by);
	if (has(call->answer, comment))
		SET(out, comment, call->answer->comment);
}

/* An attempt that is followed by another one has failed, and a question that leads to one was answered;
 * it is the step that is retrying. */
static struct str attempt_word(const struct timeline_call *call)
{
	bool question = call->question != NULL;
	enum vocabulary_step state = call->state;
	if (call->ended_at == 0)
		state = question ? VOCABULARY_STEP_WAITING_HUMAN : VOCABULARY_STEP_RUNNING;
	else if (state == VOCABULARY_STEP_RETRYING)
		state = question ? VOCABULARY_STEP_SUCCEEDED : VOCABULARY_STEP_FAILED;
	return vocabulary_step(state)->word;
}

static struct run_step_attempt step_attempt(const struct timeline *timeline,
					    const struct timeline_call *call)
{
	struct run_step_attempt *out = run_step_attempt_new(timeline->arena);
	SET(out, attempt, call->attempt);
	SET(out, state, attempt_word(call));
	if (call->begun_at > 0)
		SET(out, started_at, call->begun_at);
	if (call->ended_at > 0)
		SET(out, ended_at, call->ended_at);
	if (!uuid_is_zero(&call->effect))
		SET(out, effect, call->effect);
	if (call->fault.size > 0)
		SET(out, error, call->fault);
	if (call->due_at > 0)
		SET(out, due_at, call->due_at);
	if (call->retry_at > 0)
		SET(out, retry_at, call->retry_at);
	if (call->model.size > 0)
		SET(out, model, call->model);
	if (call->usage != NULL)
		SET(out, usage, call->usage);
	if (call->figures != NULL)
		SET(out, figures, call->figures);
	if (call->signal.size > 0)
		SET(out, signal, call->signal);
	if (call->question != NULL)
		add_answer(out, call);
	return *out;
}

static struct run_step_prompt step_prompt(const struct run_graph_template *template,
					  struct str part, struct arena *arena)
{
	struct run_step_prompt *out = run_step_prompt_new(arena);
	struct run_step_prompt_file *files =
		arena_array(arena, struct run_step_prompt_file, template->files.count);
	for (size_t i = 0; i < template->files.count; i++) {
		files[i] = *run_step_prompt_file_new(arena);
		SET(&files[i], name, template->files.at[i].name);
		SET(&files[i], text, template->files.at[i].text);
	}
	SET(out, part, part);
	SET(out, files, ((struct run_step_prompt_file_list){ files, template->files.count }));
	SET(out, reads, template->data);
	return *out;
}

/* The agent of a session belongs to the node inside it that asks the model. */
static const struct run_graph_agent *agent_of(const struct run_graph_node *node)
{
	if (has(node, agent))
		return node->agent;
	for (size_t i = 0; node->kind == RUN_NODE_SESSION && i < node->body.count; i++)
		if (has(&node->body.at[i], agent))
			return node->body.at[i].agent;
	return NULL;
}

static void add_prompts(struct run_step_details *out, const struct run_graph_node *node,
			struct arena *arena)
{
	const struct run_graph_agent *agent = node == NULL ? NULL : agent_of(node);
	struct run_step_prompt *prompts = arena_array(arena, struct run_step_prompt, 2);
	size_t count = 0;
	if (agent != NULL && has(agent, system_template))
		prompts[count++] = step_prompt(agent->system_template, S("system"), arena);
	if (node != NULL && has(node, prompt))
		prompts[count++] = step_prompt(node->prompt, S("prompt"), arena);
	if (count > 0)
		SET(out, prompts, ((struct run_step_prompt_list){ prompts, count }));
}

struct run_step_details *run_step_details(const struct timeline *timeline,
					  const struct timeline_step *step)
{
	struct run_step_details *out = run_step_details_new(timeline->arena);
	struct run_outline_step *summary = run_outline_step_new(timeline->arena);
	*summary = outline_step(timeline, step);
	const struct timeline_call **calls = timeline_calls(timeline, step);
	size_t most = LIMIT_STEP_ATTEMPTS_SHOWN;
	size_t left_out = step->call_count > most ? step->call_count - most : 0;
	size_t count = step->call_count - left_out;
	struct run_step_attempt *attempts =
		arena_array(timeline->arena, struct run_step_attempt, count);
	for (size_t i = 0; i < count; i++)
		attempts[i] = step_attempt(timeline, calls[left_out + i]);
	SET(out, run_id, timeline->source->run);
	SET(out, summary, summary);
	SET(out, inputs, step->inputs == NULL ? &timeline_no_members : step->inputs);
	if (step->output != NULL)
		SET(out, output, step->output);
	SET(out, attempts, ((struct run_step_attempt_list){ attempts, count }));
	SET(out, attempts_left_out, (int64_t)left_out);
	add_prompts(out, step->node, timeline->arena);
	SET(out, seq, newest_seq(timeline));
	return out;
}
