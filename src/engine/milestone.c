/* engine/milestone.c -- evaluates, records and applies milestones.
 *
 * The events of a step are made in many places, so the milestone is attached where every event passes
 * (decision_emit), out of what was evaluated before.
 */
#include "engine/milestone.h"

#include "base/limits.h"
#include "contract/event_result.h"
#include "contract/run_event_types.h"
#include "contract/run_graph_types.h"
#include "contract/run_snapshot_types.h"
#include "engine/engine_internal.h"

static const struct run_graph_milestone *milestone_of(const struct run *run,
						      const struct activation *activation)
{
	const struct run_graph_node *row = run_node(run, activation)->row;
	return has(row, milestone) ? row->milestone : NULL;
}

bool milestone_render(struct run *run, const struct activation *activation,
		      const struct engine_values *values, struct decision *d,
		      struct failure *out_fault)
{
	static const struct json empty = { .kind = JSON_OBJECT };
	const struct run_graph_milestone *row = milestone_of(run, activation);
	*out_fault = (struct failure){ S(""), S("") };
	d->milestone = (struct decision_milestone){ .step = S("") };
	if (row == NULL || activation->milestone != NULL)
		return true;
	struct eval_context eval_context = eval_context_make(run, activation, values, d);
	const struct json *data = eval_render(&eval_context, row->data);
	if (eval_context.missing)
		return false;
	*out_fault = eval_context.fault;
	if (data == NULL || data->kind != JSON_OBJECT)
		data = &empty;
	if (!json_text_within(data, LIMIT_MILESTONE_BYTES)) {
		*out_fault = failure_make(
			ERROR_TOO_LARGE,
			str_format(d->arena,
				   "the data of the milestone is over %d bytes; name the values "
				   "that its readers need, not whole outputs",
				   LIMIT_MILESTONE_BYTES));
		data = &empty;
	}
	d->milestone = (struct decision_milestone){ .step = activation->path, .data = data };
	return true;
}

/* Names are looked up where the step is, also after the body of a loop. */
void milestone_judge(struct eval_context *eval_context, const struct activation *activation,
		     const struct json *output)
{
	const struct graph_node *node = run_node(eval_context->run, activation);
	struct decision_milestone *decided = &eval_context->d->milestone;
	struct scope *scope = eval_context->scope;
	if (node->passed == NULL)
		return;
	eval_context->closing = activation;
	eval_context->output = output;
	eval_context->scope = activation->scope;
	bool passed = eval_holds(eval_context, node->passed);
	eval_context->scope = scope;
	if (!str_equal(decided->step, activation->path))
		*decided = (struct decision_milestone){ .step = activation->path };
	decided->decided = true;
	decided->passed = passed;
}

/* ---- events ------------------------------------------------------------------------------ */

/* How an event ends a step: not at all, or with or without a failure. */
enum step_end { END_NOT, END_GOOD, END_BAD };

static enum step_end end_of_result(const struct event_result *result)
{
	if (result->next != NULL && (result->next->again || has(result->next, retry_at)))
		return END_NOT;
	if (result->outcome == RUN_OUTCOME_UNKNOWN)
		return END_NOT;
	return result->outcome == RUN_OUTCOME_OK && result->fault == NULL ? END_GOOD : END_BAD;
}

static enum step_end end_of(const struct event *event)
{
	struct event_result result;
	if (event_result(event, &result))
		return end_of_result(&result);
	if (event->type != EVENT_HUMAN_FINISHED)
		return END_NOT;
	const struct run_human_finished *answer = event->as.run_human_finished;
	if (answer->decision == RUN_DECISION_RETRY || (has(answer, next) && answer->next->again))
		return END_NOT;
	return run_answer_is_good(answer) && !has(answer, fault) ? END_GOOD : END_BAD;
}

void milestone_attach(const struct run *run, struct decision *d, struct event *event)
{
	struct str path;
	const struct activation *activation =
		event_step(event, &path) ? run_activation(run, path) : NULL;
	const struct run_graph_milestone *row =
		activation == NULL ? NULL : milestone_of(run, activation);
	if (row == NULL)
		return;
	const struct decision_milestone *decided =
		str_equal(d->milestone.step, path) ? &d->milestone : NULL;
	bool starts = activation->milestone == NULL && decided != NULL && decided->data != NULL;
	enum step_end end = activation->stopping ? END_NOT : end_of(event);
	if (!starts && (activation->milestone == NULL || end == END_NOT))
		return;
	struct run_milestone *out = run_milestone_new(d->arena);
	SET(out, kind, row->kind);
	SET(out, data,
	    starts ? decided->data
		   : json_parse_own(str_copy(d->arena, activation->milestone->data), d->arena));
	if (starts)
		SET(out, starts, true);
	if (end != END_NOT)
		SET(out, passed,
		    end == END_GOOD && (decided == NULL || !decided->decided || decided->passed));
	event_set_milestone(event, out, d->arena);
}

void milestone_apply(struct run *run, const struct event *event)
{
	const struct run_milestone *from = event_milestone(event);
	struct str path;
	if (from == NULL || !event_step(event, &path))
		return;
	struct activation *activation = run_activation(run, path);
	if (activation == NULL)
		return;
	bool starts = has(from, starts) && from->starts;
	bool started = activation->milestone != NULL && activation->milestone->starts;
	struct milestone *to = arena_new(run->arena, struct milestone);
	to->data = activation->milestone != NULL ? activation->milestone->data
						 : json_print(run->arena, from->data);
	to->starts = starts || started;
	to->ended = has(from, passed);
	to->passed = has(from, passed) && from->passed;
	activation->milestone = to;
}

void milestone_continue(struct run *run, const struct activation *from, struct activation *round)
{
	if (from->milestone == NULL)
		return;
	struct milestone *to = arena_new(run->arena, struct milestone);
	to->data = from->milestone->data;
	round->milestone = to;
}

/* ---- snapshots ----------------------------------------------------------------------------- */

void milestone_print(const struct run *run, const struct activation *activation,
		     struct run_snapshot_step *out, struct arena *arena)
{
	const struct run_graph_milestone *row = milestone_of(run, activation);
	const struct milestone *from = activation->milestone;
	if (row == NULL || from == NULL)
		return;
	struct run_milestone *milestone = run_milestone_new(arena);
	SET(milestone, kind, row->kind);
	SET(milestone, data, json_parse_own(str_copy(arena, from->data), arena));
	if (from->starts)
		SET(milestone, starts, true);
	if (from->ended)
		SET(milestone, passed, from->passed);
	SET(out, milestone, milestone);
}

void milestone_restore(struct run *run, struct activation *activation,
		       const struct run_milestone *from)
{
	struct milestone *to = arena_new(run->arena, struct milestone);
	to->data = json_print(run->arena, from->data);
	to->starts = has(from, starts) && from->starts;
	to->ended = has(from, passed);
	to->passed = has(from, passed) && from->passed;
	activation->milestone = to;
}
