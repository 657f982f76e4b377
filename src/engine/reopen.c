/* engine/reopen.c -- reopens a failed run: what failed, and what was skipped or stopped because of
 * it, gets another activation; or undoes it (engine/undo.h).
 *
 * A failed activation leaves the state with its number, as an earlier round does.  A container whose
 * bodies are still there is not executed anew: it is running again, and the same is done inside.
 * Everything depends on the state alone, so that a history folds to the same state wherever the
 * fold begins.
 */
#include "engine/activation.h"

#include "base/limits.h"
#include "contract/run_graph_types.h"
#include "contract/run_start_types.h"
#include "engine/engine_internal.h"
#include "engine/session.h"
#include "engine/undo.h"

bool reopen_continues_inside(enum run_node_kind kind)
{
	/* A verification and a gate judge results that succeeded: they begin again. */
	return kind == RUN_NODE_PARALLEL || kind == RUN_NODE_MAP || kind == RUN_NODE_LOOP ||
	       kind == RUN_NODE_SESSION;
}

static struct graph_numbers body_of(const struct run *run, const struct scope *scope)
{
	return graph_body(run->graph, scope->owner == NULL ? GRAPH_ROOT : scope->owner->node);
}

/* What was to follow from it was not decided, because the run was being stopped. */
static bool is_cut_short(const struct run *run, const struct activation *last)
{
	const struct graph_node *node = run_node(run, last);
	return last->cut && (node->until != NULL || node->edges.count > 0);
}

static bool is_repeated(const struct run *run, const struct activation *last)
{
	if (last == NULL)
		return false;
	return activation_is_failure(run, last) || last->state == STEP_CANCELLED ||
	       (last->state == STEP_FAILED && last->cut) ||
	       (last->state == STEP_SKIPPED && last->fault.code.size > 0) ||
	       is_cut_short(run, last);
}

static bool scope_can_reopen(const struct run *run, const struct scope *scope)
{
	struct graph_numbers body = body_of(run, scope);
	if (session_has(run, scope))
		return session_can_reopen(run, scope);
	for (size_t i = 0; i < body.count; i++)
		if (scope->places[i].lost > 0 || is_repeated(run, scope->places[i].final))
			return true;
	return false;
}

/* A container that failed although nothing inside it did, because of its limit or the size of its
 * output, begins again. */
static bool continues_inside(const struct run *run, const struct activation *last)
{
	if (!reopen_continues_inside(run_node(run, last)->kind) || last->scopes == NULL)
		return false;
	bool found = last->state == STEP_CANCELLED;
	for (const struct scope *scope = last->scopes; scope != NULL && !found; scope = scope->next)
		found = scope_can_reopen(run, scope);
	return found;
}

bool reopen_is_possible(const struct run *run)
{
	return run->root != NULL && scope_can_reopen(run, run->root);
}

/* R3: the outputs that the node reads are needed again. */
static void want_outputs(struct run *run, struct scope *scope, const struct graph_node *node)
{
	for (size_t i = 0; i < node->reads.count; i++) {
		struct place *read = run_place(run, scope, node->reads.at[i]);
		if (run->graph->nodes[node->reads.at[i]].keeps)
			continue;
		read->readers_left++;
		if (read->final != NULL)
			read->final->output = read->final->result;
	}
}

/* A failed round is repeated; what reached its limit, and a verification, begins with the first. */
static uint32_t round_after(const struct run *run, const struct activation *last)
{
	bool anew = run_node(run, last)->kind == RUN_NODE_VERIFY ||
		    str_equal(last->fault.code, error_row(ERROR_LIMIT_REACHED)->name);
	return anew ? 1 : last->round;
}

static void add_activation(struct run *run, struct scope *scope, uint32_t number, uint32_t round)
{
	struct activation *next = activation_new(run, scope, number);
	next->round = round;
	run_place(run, scope, number)->extra++;
	if (!run->graph->nodes[number].any)
		return;
	run->iterations--;
	activation_ready(run, next);
}

static void scope_reopen(struct run *run, struct scope *scope);

static void reopen_bodies(struct run *run, struct activation *container)
{
	size_t count = 0;
	for (const struct scope *scope = container->scopes; scope != NULL; scope = scope->next)
		count++;
	struct scope **bodies = arena_array(run->arena, struct scope *, count);
	size_t place = count;
	for (struct scope *scope = container->scopes; scope != NULL; scope = scope->next)
		bodies[--place] = scope;
	for (size_t i = 0; i < count; i++) {
		if (!scope_can_reopen(run, bodies[i]))
			continue;
		scope_reopen(run, bodies[i]);
		container->scopes_live += bodies[i]->live > 0;
	}
}

static void container_reopen(struct run *run, struct activation *container)
{
	int64_t at_once = activation_at_once(run, container);
	activation_move(container, STEP_RUNNING);
	container->ended_at = container->ended_seq = 0;
	container->output = container->result = (struct value){ .kind = VALUE_ABSENT };
	container->fault = (struct failure){ S(""), S("") };
	container->leaving = container->stopping = false;
	container->arrival = ++run->arrivals;
	container->scope->live++;
	run->live++;
	run_place(run, container->scope, container->node)->final = NULL;
	reopen_bodies(run, container);
	while (container->items_entered < container->item_count && container->scopes_live < at_once)
		scope_enter(run, container, container->items_entered++);
	if (container->scopes_live == 0) {
		container->leaving = true;
		activation_ready(run, container);
	}
}

static void place_reopen(struct run *run, struct scope *scope, uint32_t number)
{
	const struct graph_node *node = &run->graph->nodes[number];
	struct place *place = run_place(run, scope, number);
	struct activation *last = place->final;
	uint32_t lost = place->lost;
	place->lost = 0;
	if (is_repeated(run, last)) {
		want_outputs(run, scope, node);
		if (continues_inside(run, last)) {
			container_reopen(run, last);
		} else {
			uint32_t round = round_after(run, last);
			place->final = NULL;
			activation_forget(run, last);
			add_activation(run, scope, number, round);
		}
	} else if (last != NULL && last->cut) {
		last->cut = false;
		place->done = true;
		for (size_t i = 0; i < node->dependents.count; i++)
			run_place(run, scope, node->dependents.at[i])->waiting_on--;
	}
	while (lost-- > 0)
		add_activation(run, scope, number, 1);
}

static void scope_reopen(struct run *run, struct scope *scope)
{
	struct graph_numbers body = body_of(run, scope);
	if (session_has(run, scope)) {
		session_reopen(run, scope);
		return;
	}
	scope->failed = (struct first_failure){ 0 };
	for (size_t i = 0; i < body.count; i++)
		place_reopen(run, scope, body.at[i]);
	for (size_t i = 0; i < body.count; i++) {
		struct activation *newest = scope->places[i].newest;
		if (newest != NULL && newest->state == STEP_PENDING && newest->arrival == 0 &&
		    scope->places[i].waiting_on == 0)
			activation_ready(run, newest);
	}
	activation_release_unreached(run, scope);
}

void reopen_run(struct run *run)
{
	scope_reopen(run, run->root);
}

/* ---- undo steps -------------------------------------------------------------------------- */

static struct failure check_room(const struct run *run, struct arena *arena)
{
	if (run->undo_count < LIMIT_UNDOS)
		return (struct failure){ S(""), S("") };
	return failure_make(
		ERROR_LIMIT_REACHED,
		str_format(arena,
			   "the run has %d steps that can be undone, which is the limit; "
			   "divide the work among sub-workflows",
			   LIMIT_UNDOS));
}

/* Names that are missing are read as null, as anywhere else, when an undo step reads them. */
static bool render(struct eval_context *eval_context, const struct activation *activation,
		   const struct json *output, uint32_t undo, struct run_value **out)
{
	struct eval_context here = *eval_context;
	here.scope = activation->scope;
	here.closing = activation;
	here.output = output;
	here.quiet = true;
	const struct json *inputs =
		eval_render(&here, eval_context->run->graph->nodes[undo].row->inputs);
	*out = NULL;
	eval_context->missing |= here.missing;
	if (here.missing)
		return false;
	return inputs == NULL || decision_value(eval_context->d, inputs, out);
}

bool undo_render(struct eval_context *eval_context, const struct activation *activation,
		 const struct json *output, struct step_continuation *out)
{
	uint32_t undo = run_node(eval_context->run, activation)->undo;
	struct run_value *inputs;
	if (undo == 0 || out->fault.code.size > 0)
		return true;
	struct failure fault = check_room(eval_context->run, eval_context->d->arena);
	if (fault.code.size == 0) {
		if (!render(eval_context, activation, output, undo, &inputs))
			return false;
		if (inputs == NULL)
			fault = failure_make(
				ERROR_TOO_LARGE,
				S("what the undo steps read is larger than the limit of "
				  "a value; let them read less"));
	}
	if (fault.code.size > 0) {
		*out = NO_CONTINUATION;
		out->fault = fault;
		return true;
	}
	if (out->next == NULL)
		out->next = run_next_new(eval_context->d->arena);
	SET(out->next, undo, inputs);
	return true;
}

void undo_record_add(struct run *run, struct str path, uint32_t node,
		     const struct run_value *inputs)
{
	struct undo_record *record = arena_new(run->arena, struct undo_record);
	*record = (struct undo_record){ .before = run->undos,
					.path = str_copy(run->arena, path),
					.node = node,
					.inputs = run_value_copy(run, inputs) };
	run->undos = record;
	run->undo_count++;
}

bool undo_has_begun(const struct run *run)
{
	for (size_t i = run->graph->step_count; run->root != NULL && i < run->graph->body.count;
	     i++)
		if (run->root->places[i].count > 0)
			return true;
	return false;
}

void undo_advance(struct run *run)
{
	if (!run->unwinding || run_ended(run) || run->live > 0 || !undo_is_left(run))
		return;
	struct undo_record *newest = run->undos;
	run->undos = newest->before;
	run->undo_count--;
	struct activation *undo = activation_new(run, run->root, newest->node);
	undo->undoes = newest->path;
	undo->inputs = newest->inputs;
	activation_ready(run, undo);
}

const struct json *undo_given(struct eval_context *eval_context, const struct scope *scope)
{
	while (scope != NULL && !undo_is_body(eval_context->run, scope))
		scope = scope->owner == NULL ? NULL : scope->owner->scope;
	return scope == NULL ? NULL : eval_value(eval_context, &scope->owner->inputs);
}

/* ---- the command ---------------------------------------------------------------------- */

enum engine_answer reopen_check(const struct run *run, struct error *error)
{
	struct str state = run_state_row(run->state)->word;
	struct failure why = run->fault;
	char parent[UUID_TEXT_SIZE];
	if (run->state != RUN_FAILED)
		fail(error, ERROR_CONFLICT,
		     "the run's state is " STR_FMT ": only a failed run can be retried",
		     STR_ARG(state));
	else if (!uuid_is_zero(&run->start->parent))
		fail(error, ERROR_CONFLICT,
		     "the run is a sub-run and is retried through its parent: retry run " STR_FMT,
		     STR_ARG(uuid_text(&run->start->parent, parent)));
	else if (run->workspace_removed)
		fail(error, ERROR_CONFLICT,
		     "the workspace of the run was removed (retention.workspace_days), so its steps "
		     "cannot go on in it: start a new run");
	else if (undo_has_begun(run))
		fail(error, ERROR_CONFLICT,
		     "the undo steps of the run have run, so what succeeded is undone: start a new "
		     "run");
	else if (str_equal(run->stopped.code, error_row(ERROR_LIMIT_REACHED)->name))
		fail(error, ERROR_CONFLICT,
		     "a retry would reach the same limit again (" STR_FMT
		     "): change the definition and start a new run",
		     STR_ARG(why.text));
	else if (run->stopped.code.size > 0 && run->graph->kept_steps == 0)
		fail(error, ERROR_CONFLICT,
		     "the run was stopped in the middle by an older version of the program: "
		     "start a new run");
	else if (!reopen_is_possible(run))
		fail(error, ERROR_CONFLICT,
		     "no step of the run failed, so there is nothing to execute again (" STR_FMT
		     "): start a new run",
		     STR_ARG(why.text));
	else
		return ENGINE_DONE;
	return ENGINE_REFUSED;
}
