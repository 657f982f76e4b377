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
	/* A call of a session becomes ready with the reply that asks for it. */
	if (scope->parent != NULL && scope->parent->node->kind == RUN_NODE_SESSION) {
		const struct timeline_step *turn =
			timeline_place_of(timeline, scope, S("turn"))->newest;
		if (turn != NULL && turn->ended && turn->ended_at > at)
			at = turn->ended_at;
	}
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
	step->limit_reached = next != NULL && has(next, limit_reached) && next->limit_reached;
	if (next != NULL)
		lead_on(timeline, step, next, now.at);
	bool continues = has(step->node, continue_on_error) && step->node->continue_on_error;
	if (state == VOCABULARY_STEP_FAILED && !place->done && !continues) {
		if (!timeline_was_stopped(timeline, step))
			place->failed = step->scope->failed = true;
	} else if (state == VOCABULARY_STEP_SUCCEEDED || state == VOCABULARY_STEP_SKIPPED ||
		   state == VOCABULARY_STEP_FAILED) {
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

/* A cancelled run has no waiting step that could be skipped, except among its finally steps. */
void timeline_skip(struct timeline *timeline)
{
	if (timeline->cancelling && (!timeline->unwinding || timeline->abandoned))
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

/* Whether the step belongs to the finally steps of a try, or to undo steps. */
static bool is_cleanup(const struct timeline_step *step)
{
	while (step != NULL &&
	       !(has(step->node, section) && (step->node->section == RUN_SECTION_FINALLY ||
					      step->node->section == RUN_SECTION_UNDO)))
		step = step->parent;
	return step != NULL;
}

bool timeline_was_stopped(const struct timeline *timeline, const struct timeline_step *step)
{
	return timeline->cancelling && (timeline->abandoned || !is_cleanup(step));
}

/* A try that was begun is left by an event when its finally steps are over. */
static bool is_left_later(const struct timeline_step *step)
{
	bool has_finally = false;
	for (size_t i = 0; step->node->kind == RUN_NODE_TRY && i < step->node->body.count; i++)
		has_finally |= has(&step->node->body.at[i], section) &&
			       step->node->body.at[i].section == RUN_SECTION_FINALLY;
	return has_finally && step->started && !step->ended;
}

/* Whether the step goes on for a while, and the bodies around it with it. */
static bool goes_on(const struct timeline *timeline, const struct timeline_step *step)
{
	return is_stopping(step) ||
	       (!timeline->abandoned && (is_cleanup(step) || is_left_later(step)));
}

void timeline_cancel_waiting(struct timeline *timeline, int64_t at)
{
	AUTO(map) held = { 0 };
	for (size_t i = 0; i < timeline->count; i++) {
		struct timeline_step *step = timeline->steps[i];
		if (step->ended || !goes_on(timeline, step))
			continue;
		for (const struct timeline_step *around = step->parent; around != NULL;
		     around = around->parent)
			map_put(&held, around->path, step);
	}
	for (size_t i = 0; i < timeline->count; i++) {
		struct timeline_step *step = timeline->steps[i];
		bool over = step->ended || step->state == VOCABULARY_STEP_SKIPPED;
		if (over || goes_on(timeline, step) || map_get(&held, step->path) != NULL)
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

/* ---- retries ----------------------------------------------------------------------- */

/* Bodies that a retry continues are not known before an event names them. */
static bool has_next_activation(const struct timeline_step *step)
{
	bool over = step->state == VOCABULARY_STEP_FAILED ||
		    step->state == VOCABULARY_STEP_CANCELLED || step->skip_derived;
	bool inside = step->node->kind == RUN_NODE_PARALLEL || step->node->kind == RUN_NODE_MAP ||
		      step->node->kind == RUN_NODE_LOOP || step->node->kind == RUN_NODE_SESSION;
	return over && step->node->join == RUN_JOIN_ALL && (!inside || step->skip_derived);
}

static void reopen_place(struct timeline *timeline, struct timeline_scope *scope, struct str name,
			 int64_t at)
{
	struct timeline_place *place = timeline_place_of(timeline, scope, name);
	struct timeline_step *step = place->newest;
	place->failed = false;
	place->led_at = at;
	if (step == NULL)
		return;
	bool next = scope == timeline->root && has_next_activation(step);
	step->skip_derived = false; /* what it was skipped for is history now */
	if (next)
		timeline_step_at(timeline, str_format(timeline->arena, STR_FMT "#%lld",
						      STR_ARG(name), (long long)step->ordinal + 1));
}

void timeline_reopen(struct timeline *timeline, struct timeline_now now)
{
	for (struct timeline_scope *scope = timeline->newest_scope; scope != NULL;
	     scope = scope->next) {
		scope->failed = false;
		for (size_t i = 0; i < scope->nodes.count; i++)
			reopen_place(timeline, scope, scope->nodes.at[i].name, now.at);
	}
}

void timeline_continue_inside(struct timeline *timeline, const struct timeline_step *step,
			      struct timeline_now now)
{
	if (timeline->end == NULL || timeline->ended)
		return; /* it was never retried */
	for (const struct timeline_step *outer = step->parent; outer != NULL && outer->ended;
	     outer = outer->parent) {
		struct timeline_step *around = timeline_step_find(timeline, outer->path);
		timeline_call_begin(timeline, around, now);
		around->ended = false;
		around->ended_at = around->ended_seq = 0;
		around->fault = S("");
		around->output = NULL;
	}
}
