/* views/timeline_derive.c -- transitions of steps, and their consequences for other steps.
 *
 * Events start and end a step.  Two transitions have no event: a step after a failed one is
 * skipped, and waiting steps are cancelled with their run.  As in the engine, they are derived from
 * the step's body alone.
 */
#include "views/timeline_internal.h"

#include "views/view_tree.h"

/* ---- calls ------------------------------------------------------------------------- */

static struct timeline_call *call_add(struct timeline *timeline, struct timeline_step *step)
{
	struct timeline_call *call = arena_new(timeline->arena, struct timeline_call);
	*call = (struct timeline_call){ .before = step->call,
					.attempt = 1,
					.inputs = &timeline_no_members };
	step->call = call;
	step->call_count++;
	return call;
}

struct timeline_call *timeline_call_begin(struct timeline *timeline, struct timeline_step *step,
					  struct timeline_now now)
{
	struct timeline_call *call = call_add(timeline, step);
	call->begun_seq = now.seq;
	call->begun_at = now.at;
	step->state = VOCABULARY_STEP_RUNNING;
	if (step->skip_derived)
		step->fault = S("");
	step->skip_derived = false;
	if (step->started)
		return call;
	step->started = true;
	step->started_at = now.at;
	step->begun_seq = now.seq;
	step->attempts = 1;
	return call;
}

/* When its last dependency ended, an edge led to it, or its body was entered. */
static int64_t ready_at(struct timeline *timeline, const struct timeline_step *step)
{
	const struct timeline_scope *scope = step->scope;
	int64_t at = scope->parent != NULL ? scope->parent->started_at : timeline->started_at;
	const struct timeline_place *place = timeline_place_of(timeline, scope, step->node->name);
	if (place->led_at > at)
		at = place->led_at;
	for (size_t i = 0; i < step->node->depends_on.count; i++) {
		struct str name = step->node->depends_on.at[i];
		const struct timeline_step *before =
			timeline_place_of(timeline, scope, name)->newest;
		if (before != NULL && before->ended && before->ended_at > at)
			at = before->ended_at;
	}
	return at;
}

struct timeline_call *timeline_call_end(struct timeline *timeline, struct timeline_step *step,
					bool question, struct timeline_now now)
{
	struct timeline_call *call = step->call;
	while (call != NULL && (call->ended_at != 0 || (call->question != NULL) != question))
		call = call->before;
	if (call == NULL) {
		call = call_add(timeline, step);
		call->begun_at = ready_at(timeline, step);
	}
	if (!step->started) {
		step->started = true;
		step->started_at = call->begun_at;
		step->attempts = 1;
	}
	call->ended_seq = now.seq;
	call->ended_at = now.at;
	return call;
}

const struct timeline_call **timeline_calls(const struct timeline *timeline,
					    const struct timeline_step *step)
{
	const struct timeline_call **calls =
		arena_array(timeline->arena, const struct timeline_call *, step->call_count);
	size_t place = step->call_count;
	for (const struct timeline_call *call = step->call; call != NULL; call = call->before)
		calls[--place] = call;
	return calls;
}

/* ---- ends -------------------------------------------------------------------------- */

/* The targets of a result are in the step's own body. */
static void lead_on(struct timeline *timeline, const struct timeline_step *step,
		    const struct run_next *next, int64_t at)
{
	if (next->again)
		timeline_place_of(timeline, step->scope, step->node->name)->led_at = at;
	for (size_t i = 0; has(next, then) && i < next->then.count; i++)
		timeline_place_of(timeline, step->scope, next->then.at[i])->led_at = at;
}

void timeline_step_end(struct timeline *timeline, struct timeline_step *step,
		       enum vocabulary_step state, struct str fault, const struct run_next *next,
		       struct timeline_now now)
{
	struct timeline_place *place = timeline_place_of(timeline, step->scope, step->node->name);
	step->state = state;
	step->ended = true;
	step->ended_at = now.at;
	step->ended_seq = now.seq;
	step->fault = fault;
	step->skip_derived = false;
	if (state != VOCABULARY_STEP_SKIPPED)
		timeline->ended_count++;
	if (next != NULL)
		lead_on(timeline, step, next, now.at);
	if (state == VOCABULARY_STEP_FAILED && !place->done) {
		place->failed = step->scope->failed = true;
	} else if (state == VOCABULARY_STEP_SUCCEEDED || state == VOCABULARY_STEP_SKIPPED) {
		place->done = place->done || next == NULL || !next->again;
	}
	if (timeline->cancelling)
		timeline_cancel_waiting(timeline, now.at);
}

/* ---- skips ------------------------------------------------------------------------- */

/* The step that causes the skip; NULL = none. */
static const struct timeline_step *cause_of(struct timeline *timeline,
					    const struct timeline_scope *scope,
					    const struct run_graph_node *node)
{
	for (size_t i = 0; i < node->depends_on.count; i++) {
		const struct timeline_place *before =
			timeline_place_of(timeline, scope, node->depends_on.at[i]);
		if (before->newest != NULL &&
		    ((before->failed && !before->done) || before->newest->skip_derived))
			return before->newest;
	}
	return NULL;
}

static struct str path_in(const struct timeline *timeline, const struct timeline_scope *scope,
			  struct str name)
{
	return scope->path.size == 0 ? name
				     : str_format(timeline->arena, STR_FMT "/" STR_FMT,
						  STR_ARG(scope->path), STR_ARG(name));
}

/* Nodes are in dependency order, so one pass propagates a failure to all dependents. */
static void skip_in(struct timeline *timeline, const struct timeline_scope *scope)
{
	for (size_t i = 0; i < scope->nodes.count; i++) {
		const struct run_graph_node *node = &scope->nodes.at[i];
		struct timeline_step *step = timeline_place_of(timeline, scope, node->name)->newest;
		if (node->depends_on.count == 0 ||
		    (step != NULL && step->state != VOCABULARY_STEP_PENDING && !step->skip_derived))
			continue;
		const struct timeline_step *cause = cause_of(timeline, scope, node);
		if (cause == NULL) {
			if (step != NULL && step->skip_derived) {
				step->state = VOCABULARY_STEP_PENDING;
				step->fault = S("");
				step->skip_derived = false;
			}
			continue;
		}
		if (step == NULL)
			step = timeline_step_at(timeline, path_in(timeline, scope, node->name));
		step->state = VOCABULARY_STEP_SKIPPED;
		step->skip_derived = true;
		step->fault = str_format(timeline->arena, "dependency failed: " STR_FMT,
					 STR_ARG(cause->path));
	}
}

/* A cancelled run has no waiting step that could be skipped. */
void timeline_skip(struct timeline *timeline)
{
	if (timeline->cancelling)
		return;
	for (struct timeline_scope *scope = timeline->newest_scope; scope != NULL;
	     scope = scope->next)
		if (scope->failed)
			skip_in(timeline, scope);
}

/* ---- cancellation ------------------------------------------------------------------ */

/* The step was asked to stop and is final when its result arrives. */
static bool is_stopping(const struct timeline_step *step)
{
	bool can_stop = step->node->kind == RUN_NODE_TOOL || step->node->kind == RUN_NODE_AGENT ||
			step->node->kind == RUN_NODE_SUBRUN;
	return can_stop && step->state == VOCABULARY_STEP_RUNNING && step->call != NULL &&
	       step->call->ended_at == 0 && !uuid_is_zero(&step->call->effect);
}

void timeline_cancel_waiting(struct timeline *timeline, int64_t at)
{
	AUTO(map) held = { 0 };
	for (size_t i = 0; i < timeline->count; i++)
		if (is_stopping(timeline->steps[i]))
			for (const struct timeline_step *around = timeline->steps[i]->parent;
			     around != NULL; around = around->parent)
				map_put(&held, around->path, timeline->steps[i]);
	for (size_t i = 0; i < timeline->count; i++) {
		struct timeline_step *step = timeline->steps[i];
		bool over = step->ended || step->state == VOCABULARY_STEP_SKIPPED;
		if (over || is_stopping(step) || map_get(&held, step->path) != NULL)
			continue;
		step->state = VOCABULARY_STEP_CANCELLED;
		step->ended = true;
		step->ended_at = at;
		step->fault = vocabulary_step(VOCABULARY_STEP_CANCELLED)->word;
	}
}

void timeline_skip_unreached(struct timeline *timeline)
{
	for (size_t i = 0; i < timeline->root->nodes.count; i++) {
		struct timeline_step *step = timeline->steps[i];
		if (step->state != VOCABULARY_STEP_PENDING || step->node->join != RUN_JOIN_ANY)
			continue;
		step->state = VOCABULARY_STEP_SKIPPED;
		step->reason = S("nothing led to it");
	}
}
