/* engine/activation.c -- activations are created, become ready and end; bodies are entered and left.
 *
 * Everything here is a consequence of an event and depends on the state only.  Leaving a body takes
 * an event (step.left), because the output of the body needs values; all other changes of containers
 * follow from the state.
 */
#include "engine/activation.h"

#include <stdlib.h>

#include "base/map.h"
#include "contract/run_class_types.h"
#include "contract/run_graph_types.h"
#include "contract/run_value_types.h"
#include "engine/milestone.h"
#include "engine/session.h"
#include "engine/undo.h"
#include "engine/workspace_folder.h"

/* ---- paths --------------------------------------------------------------------------- */

static uint32_t path_slot(const struct path_table *table, struct str path)
{
	uint32_t mask = table->room - 1;
	uint32_t at = (uint32_t)map_hash(path) & mask;
	while (table->at[at] != NULL && !str_equal(table->at[at]->path, path))
		at = (at + 1) & mask;
	return at;
}

static void path_put(struct run *run, struct activation *activation)
{
	struct path_table *table = &run->paths;
	if ((table->count + 1) * 2 > table->room) {
		struct path_table old = *table;
		table->room = old.room == 0 ? 16 : old.room * 2;
		table->at = arena_array(run->arena, struct activation *, table->room);
		for (uint32_t i = 0; i < old.room; i++)
			if (old.at[i] != NULL)
				table->at[path_slot(table, old.at[i]->path)] = old.at[i];
	}
	table->at[path_slot(table, activation->path)] = activation;
	table->count++;
}

/* Reinserts the entries after the hole, because open addressing would not find them any more. */
static void path_remove(struct run *run, const struct activation *activation)
{
	struct path_table *table = &run->paths;
	uint32_t mask = table->room - 1, hole = path_slot(table, activation->path);
	require(table->at[hole] == activation);
	table->at[hole] = NULL;
	table->count--;
	for (uint32_t at = (hole + 1) & mask; table->at[at] != NULL; at = (at + 1) & mask) {
		struct activation *moved = table->at[at];
		table->at[at] = NULL;
		table->at[path_slot(table, moved->path)] = moved;
	}
}

struct activation *run_activation(const struct run *run, struct str path)
{
	return run->paths.room == 0 ? NULL : run->paths.at[path_slot(&run->paths, path)];
}

/* ---- queues -------------------------------------------------------------------------- */

void ready_list_push(struct run *run, struct ready_list *queue, struct activation *activation)
{
	if (queue->tail == queue->room) {
		uint32_t waiting = queue->tail - queue->head;
		struct activation **old = queue->at + queue->head;
		if (waiting * 2 >= queue->room) {
			queue->room = queue->room == 0 ? 8 : queue->room * 2;
			queue->at = arena_array(run->arena, struct activation *, queue->room);
		}
		for (uint32_t i = 0; i < waiting; i++)
			queue->at[i] = old[i];
		queue->head = 0;
		queue->tail = waiting;
	}
	queue->at[queue->tail++] = activation;
}

bool ready_list_remove(struct ready_list *queue, const struct activation *activation)
{
	uint32_t place = queue->head;
	while (place < queue->tail && queue->at[place] != activation)
		place++;
	if (place == queue->tail)
		return false;
	for (; place > queue->head; place--)
		queue->at[place] = queue->at[place - 1];
	queue->head++;
	return true;
}

/* Contained tools of different folders overtake each other; in all other lists only the head
 * starts. */
bool activation_take_ready(struct run *run, struct ready_list *queue, struct activation *activation)
{
	if (queue == &run->contained && run->graph->own_trees)
		return ready_list_remove(queue, activation);
	if (ready_list_head(queue) != activation)
		return false;
	queue->head++;
	return true;
}

struct activation *ready_list_head(const struct ready_list *queue)
{
	return queue->head == queue->tail ? NULL : queue->at[queue->head];
}

bool run_is_container(enum run_node_kind kind)
{
	switch (kind) {
	case RUN_NODE_PARALLEL:
	case RUN_NODE_MAP:
	case RUN_NODE_LOOP:
	case RUN_NODE_VERIFY:
	case RUN_NODE_GATE:
	case RUN_NODE_SESSION:
	case RUN_NODE_TRY:
		return true;
	case RUN_NODE_TOOL:
	case RUN_NODE_HUMAN:
	case RUN_NODE_WAIT:
	case RUN_NODE_CONDITION:
	case RUN_NODE_SUBRUN:
	case RUN_NODE_AGENT:
	case RUN_NODE_MAILBOX:
		break;
	}
	return false;
}

bool run_can_stop(enum run_node_kind kind)
{
	return kind == RUN_NODE_TOOL || kind == RUN_NODE_SUBRUN || kind == RUN_NODE_AGENT;
}

bool run_starts_itself(const struct graph_node *node)
{
	return node->kind == RUN_NODE_TOOL && node->row->class == RUN_CLASS_PURE &&
	       node->when == NULL && !has(node->row, milestone);
}

struct ready_list *ready_list_of(struct run *run, const struct activation *activation)
{
	const struct graph_node *node = run_node(run, activation);
	if (node->own_trees)
		return &run->contained;
	if (!run_can_stop(node->kind))
		return &run->parked;
	if (run_starts_itself(node))
		return &run->pure;
	if (node->kind == RUN_NODE_TOOL && node->row->class == RUN_CLASS_CONTAINED)
		return &run->contained;
	return &run->tools;
}

/* ---- activations --------------------------------------------------------------------- */

void activation_move(struct activation *activation, enum step_state to)
{
	require(step_may_move(activation->state, to));
	activation->state = to;
}

static struct str activation_path(struct run *run, const struct scope *scope,
				  const struct graph_node *node, uint32_t ordinal)
{
	const char *between = scope->path.size > 0 ? "/" : "";
	if (ordinal == 1 && scope->path.size == 0)
		return node->name;
	if (ordinal == 1)
		return str_format(run->arena, STR_FMT "%s" STR_FMT, STR_ARG(scope->path), between,
				  STR_ARG(node->name));
	return str_format(run->arena, STR_FMT "%s" STR_FMT "#%u", STR_ARG(scope->path), between,
			  STR_ARG(node->name), ordinal);
}

struct activation *activation_new(struct run *run, struct scope *scope, uint32_t number)
{
	const struct graph_node *node = &run->graph->nodes[number];
	struct place *place = run_place(run, scope, number);
	struct activation *activation = arena_new(run->arena, struct activation);
	activation->node = number;
	activation->scope = scope;
	activation->ordinal = ++place->count;
	activation->path = activation_path(run, scope, node, activation->ordinal);
	activation->attempt = 1;
	activation->round = 1;
	activation->next = scope->first;
	scope->first = activation;
	scope->live++;
	scope->waiting++;
	run->live++;
	if (node->any && !session_has(run, scope))
		run->iterations++;
	place->newest = activation;
	path_put(run, activation);
	return activation;
}

void activation_ready(struct run *run, struct activation *activation)
{
	if (activation->arrival == 0)
		activation->scope->waiting--;
	activation->arrival = ++run->arrivals;
	ready_list_push(run, ready_list_of(run, activation), activation);
}

void activation_forget(struct run *run, struct activation *activation)
{
	scopes_leave(run, activation);
	path_remove(run, activation);
	struct activation **link = &activation->scope->first;
	while (*link != activation)
		link = &(*link)->next;
	*link = activation->next;
	struct place *place = run_place(run, activation->scope, activation->node);
	if (place->newest != activation)
		return;
	/* An older activation of the node may be there: it ended after the one being removed. */
	struct activation *left = activation->scope->first;
	while (left != NULL && left->node != activation->node)
		left = left->next;
	place->newest = left;
}

static void section_enter(struct run *run, struct scope *scope);
static bool section_next(struct run *run, struct scope *scope);
static bool section_finally_is_left(const struct run *run, const struct activation *activation);

/* ---- bodies -------------------------------------------------------------------------- */

static void tell_dependents(struct run *run, struct scope *scope, uint32_t node)
{
	struct place *place = run_place(run, scope, node);
	if (place->done || session_has(run, scope))
		return;
	place->done = true;
	struct graph_numbers after = run->graph->nodes[node].dependents;
	for (size_t i = 0; i < after.count; i++) {
		struct place *dependent = run_place(run, scope, after.at[i]);
		if (--dependent->waiting_on == 0 && dependent->newest != NULL &&
		    dependent->newest->state == STEP_PENDING)
			activation_ready(run, dependent->newest);
	}
}

/* If all live activations of a scope wait for nodes that no edge has reached, no edge can reach those
 * nodes any more.  They then count as skipped; otherwise the body would never end. */
void activation_release_unreached(struct run *run, struct scope *scope)
{
	if (scope->live == 0 || scope->live > scope->waiting)
		return;
	struct graph_numbers body =
		graph_body(run->graph, scope->owner == NULL ? GRAPH_ROOT : scope->owner->node);
	for (size_t i = 0; i < body.count; i++) {
		struct graph_numbers after = run->graph->nodes[body.at[i]].dependents;
		if (scope->places[i].count > 0 || scope->places[i].done ||
		    run->graph->nodes[body.at[i]].section != scope->section)
			continue;
		scope->places[i].done = true;
		for (size_t k = 0; k < after.count; k++)
			run_place(run, scope, after.at[k])->waiting_on--;
	}
	for (size_t i = 0; i < body.count; i++) {
		struct activation *newest = scope->places[i].newest;
		if (newest != NULL && newest->state == STEP_PENDING && newest->arrival == 0 &&
		    scope->places[i].waiting_on == 0)
			activation_ready(run, newest);
	}
}

static struct str scope_path(struct run *run, const struct activation *owner, int64_t item)
{
	if (owner == NULL)
		return S("");
	if (item < 0)
		return owner->path;
	return str_format(run->arena, STR_FMT "[%lld]", STR_ARG(owner->path), (long long)item);
}

struct scope *scope_new(struct run *run, struct activation *owner, int64_t item)
{
	struct graph_numbers body =
		graph_body(run->graph, owner == NULL ? GRAPH_ROOT : owner->node);
	struct scope *scope = arena_new(run->arena, struct scope);
	scope->owner = owner;
	scope->item = item;
	scope->path = scope_path(run, owner, item);
	scope->places = arena_array(run->arena, struct place, body.count);
	if (owner != NULL) {
		scope->next = owner->scopes;
		owner->scopes = scope;
		owner->scopes_live++;
	}
	for (size_t i = 0; i < body.count; i++) {
		const struct graph_node *node = &run->graph->nodes[body.at[i]];
		scope->places[i].waiting_on = (uint32_t)node->depends_on.count;
		scope->places[i].readers_left = node->reader_count;
	}
	branch_make_all(run, scope);
	return scope;
}

struct scope *scope_enter(struct run *run, struct activation *owner, int64_t item)
{
	struct scope *scope = scope_new(run, owner, item);
	section_enter(run, scope);
	return scope;
}

void scopes_leave(struct run *run, struct activation *owner)
{
	for (struct scope *scope = owner->scopes; scope != NULL; scope = scope->next)
		for (struct activation *a = scope->first; a != NULL; a = a->next) {
			scopes_leave(run, a);
			path_remove(run, a);
		}
	owner->branches = NULL;
	owner->scopes = NULL;
}

/* A container that was stopped is cancelled with its last activation; a try whose finally steps are over
 * is left by an event like any other. */
static void scope_done(struct run *run, struct scope *scope, int64_t at)
{
	struct activation *owner = scope->owner;
	if (owner == NULL)
		return;
	bool finally_is_left = owner->stopping && section_finally_is_left(run, owner);
	if ((!owner->stopping || (finally_is_left && run->unwinding)) && section_next(run, scope))
		return;
	owner->scopes_live--;
	if (finally_is_left)
		return; /* run.unwinding starts them */
	if (owner->stopping && (run->abandoned || scope->section != RUN_SECTION_FINALLY)) {
		if (owner->scopes_live == 0)
			activation_end(run, owner, STEP_CANCELLED, at, NULL);
		return;
	}
	if (owner->items_entered < owner->item_count) {
		struct scope *entered = scope_enter(run, owner, owner->items_entered++);
		require(entered->live > 0); /* an empty body has no scope */
		return;
	}
	if (owner->scopes_live == 0) {
		owner->leaving = true;
		activation_ready(run, owner);
	}
}

/* Whether the activation fails its body and skips its dependents: not with continue_on_error. */
bool activation_is_failure(const struct run *run, const struct activation *activation)
{
	return activation->state == STEP_FAILED && !run_node(run, activation)->continues;
}

bool place_seems_done(const struct run *run, const struct place *place)
{
	const struct activation *final = place->final;
	return final != NULL && final == place->newest &&
	       (final->state == STEP_SUCCEEDED ||
		(final->state == STEP_FAILED && !activation_is_failure(run, final)) ||
		(final->state == STEP_SKIPPED && final->fault.code.size == 0));
}

const struct activation *scope_first_failed(const struct run *run, const struct scope *scope)
{
	const struct activation *first = NULL;
	/* The failure of a try depends on the part in which it happened. */
	if (scope->owner != NULL && run_node(run, scope->owner)->kind == RUN_NODE_TRY)
		return NULL;
	for (const struct activation *a = scope->first; a != NULL; a = a->next)
		if (activation_is_failure(run, a) &&
		    (first == NULL || a->ended_seq < first->ended_seq))
			first = a;
	return first;
}

/* ---- ends ---------------------------------------------------------------------------- */

/* R3: removes an output from the state when no later step can read it. */
static void drop_read_outputs(struct run *run, const struct activation *reader)
{
	struct graph_numbers reads = run_node(run, reader)->reads;
	for (size_t i = 0; i < reads.count; i++) {
		struct place *place = run_place(run, reader->scope, reads.at[i]);
		if (run->graph->nodes[reads.at[i]].keeps || place->readers_left == 0)
			continue;
		if (--place->readers_left == 0 && place->final != NULL)
			place->final->output = (struct value){ .kind = VALUE_ABSENT };
	}
}

/* Closes one activation; the caller applies the consequences for other activations. */
static void close_one(struct run *run, struct activation *activation, enum step_state state,
		      int64_t at)
{
	struct place *place = run_place(run, activation->scope, activation->node);
	const struct graph_node *node = run_node(run, activation);
	activation_move(activation, state);
	activation->ended_at = at;
	activation->ended_seq = run->seq + 1;
	activation->scope->live--;
	activation->scope->waiting -= activation->arrival == 0;
	run->live--;
	activation->arrival = 0;
	activation->inputs = (struct value){ .kind = VALUE_ABSENT };
	activation->tree = S("");
	activation->secret_count = 0;
	activation->settling = false;
	folder_give(run, activation);
	activation->cut = activation->stopping && run->stopped.code.size > 0 &&
			  run->graph->kept_steps > 0 &&
			  (state == STEP_SUCCEEDED ||
			   (state == STEP_FAILED && !activation_is_failure(run, activation)));
	/* All calls of a session stay: they are its transcript. */
	if (place->final != NULL && !session_has(run, activation->scope)) {
		place->lost +=
			activation_is_failure(run, place->final) && run->graph->kept_steps > 0;
		activation_forget(run, place->final);
	}
	if (place->final == NULL || !session_has(run, activation->scope) ||
	    place->final->ordinal < activation->ordinal)
		place->final = activation;
	activation->result = activation->output;
	if (place->readers_left == 0 && !node->keeps)
		activation->output = (struct value){ .kind = VALUE_ABSENT };
	if (activation_is_failure(run, activation) && activation->scope->failed.path.size == 0)
		activation->scope->failed =
			(struct first_failure){ activation->path, activation->fault, run->seq + 1 };
}

static void skip_dependents(struct run *run, const struct activation *failed, int64_t at);

static void skip_one(struct run *run, struct activation *activation, struct str cause, int64_t at)
{
	activation->fault.code = error_row(ERROR_DEPENDENCY_FAILED)->name;
	activation->fault.text = cause;
	activation->reason = S("dependency failed");
	close_one(run, activation, STEP_SKIPPED, at);
	drop_read_outputs(run, activation);
}

/* Skips the dependents of a failed step, and transitively the dependents of skipped steps. */
static void skip_dependents(struct run *run, const struct activation *failed, int64_t at)
{
	struct graph_numbers body = graph_body(
		run->graph, failed->scope->owner == NULL ? GRAPH_ROOT : failed->scope->owner->node);
	const struct activation **stack =
		arena_array(run->arena, const struct activation *, body.count + 1);
	size_t depth = 0;
	stack[depth++] = failed;
	while (depth > 0) {
		const struct activation *cause = stack[--depth];
		struct graph_numbers after = run_node(run, cause)->dependents;
		for (size_t i = 0; i < after.count; i++) {
			struct activation *dependent =
				run_place(run, failed->scope, after.at[i])->newest;
			if (dependent == NULL || dependent->state != STEP_PENDING ||
			    dependent->arrival != 0)
				continue;
			skip_one(run, dependent, cause->path, at);
			stack[depth++] = dependent;
		}
	}
}

static void take_edges(struct run *run, const struct activation *activation, struct str_list then)
{
	for (size_t i = 0; i < then.count; i++) {
		int64_t to = graph_find(run->graph, run_node(run, activation)->parent, then.at[i]);
		if (to >= 0)
			activation_ready(run, activation_new(run, activation->scope, (uint32_t)to));
	}
}

int64_t activation_at_once(const struct run *run, const struct activation *map)
{
	const struct run_graph_node *row = run_node(run, map)->row;
	return has(row, at_once) ? row->at_once : map->item_count;
}

/* Bodies of a container that failed, or was stopped in a run that will fail, are kept for a retry, as
 * long as the state is small.  Branches with folders of their own begin anew: their folders are gone. */
static bool keeps_bodies(const struct run *run, const struct activation *activation)
{
	bool failed = activation_is_failure(run, activation) ||
		      (activation->state == STEP_CANCELLED && run->stopped.code.size > 0);
	return failed && reopen_continues_inside(run_node(run, activation)->kind) &&
	       !run_node(run, activation)->own_trees && run->paths.count <= run->graph->kept_steps;
}

void activation_end(struct run *run, struct activation *activation, enum step_state state,
		    int64_t at, const struct run_next *next)
{
	struct scope *scope = activation->scope;
	const struct graph_node *node = run_node(run, activation);
	bool stopping = activation->stopping;
	bool again = !stopping && next != NULL && next->again;
	activation->limit_reached = next != NULL && has(next, limit_reached) && next->limit_reached;
	close_one(run, activation, state, at);
	if (state == STEP_SUCCEEDED && next != NULL && has(next, undo) && node->undo != 0)
		undo_record_add(run, activation->path, node->undo, next->undo);
	if (state == STEP_SUCCEEDED && next != NULL && has(next, state))
		run->graph_state = run_value_copy(run, next->state);
	if (stopping && run_can_stop(node->kind) && run->stops > 0)
		run->stops--;
	if (!stopping && session_has(run, scope) && next != NULL && has(next, fallback))
		session_open_fallback(run, activation, next);
	if (!stopping && session_has(run, scope))
		session_release_calls(run, scope);
	if (run_is_container(node->kind) && !keeps_bodies(run, activation))
		scopes_leave(run, activation);
	if (again) {
		struct activation *round = activation_new(run, scope, activation->node);
		round->round = activation->round + 1;
		round->begun_at = activation->begun_at;
		round->before = activation->output;
		milestone_continue(run, activation, round);
		activation_ready(run, round);
	} else {
		drop_read_outputs(run, activation);
	}
	if (!stopping && !again && activation_is_failure(run, activation)) {
		skip_dependents(run, activation, at);
	} else if (!stopping && !again) {
		if (next != NULL && !has(next, fallback))
			take_edges(run, activation, next->then);
		tell_dependents(run, scope, activation->node);
	}
	if (!stopping)
		activation_release_unreached(run, scope);
	if (scope->live == 0)
		scope_done(run, scope, at);
}

/* Cancels innermost activations first, so that a container ends with the last activation of its body.
 * A running effect that can be stopped stays open until it reports back. */
static void stop_scope(struct run *run, struct scope *scope, int64_t at)
{
	for (struct activation *a = scope->first, *next; a != NULL; a = next) {
		next = a->next;
		const struct graph_node *node = run_node(run, a);
		if (step_state_row(a->state)->final)
			continue;
		a->stopping = true;
		for (struct scope *inner = a->scopes, *after; inner != NULL; inner = after) {
			after = inner->next;
			if (run->abandoned || inner->section != RUN_SECTION_FINALLY)
				stop_scope(run, inner, at);
		}
		if (step_state_row(a->state)->final || a->scopes_live > 0 ||
		    section_finally_is_left(run, a) ||
		    (a->leaving && node->has_finally && !run->abandoned))
			continue;
		if (a->open && run_can_stop(node->kind) && a->state == STEP_RUNNING)
			continue;
		a->open = a->settling = false;
		activation_end(run, a, STEP_CANCELLED, at, NULL);
	}
}

static void drop_final(struct ready_list *queue)
{
	uint32_t kept = queue->head;
	for (uint32_t i = queue->head; i < queue->tail; i++)
		if (!step_state_row(queue->at[i]->state)->final)
			queue->at[kept++] = queue->at[i];
	queue->tail = kept;
}

static void count_open(struct run *run, const struct activation *a)
{
	bool running = a->state == STEP_RUNNING && run_can_stop(run_node(run, a)->kind);
	run->humans += a->state == STEP_WAITING_HUMAN;
	run->retrying += a->state == STEP_RETRYING;
	run->timers += a->open && run_node(run, a)->kind == RUN_NODE_WAIT;
	run->busy += a->state == STEP_RETRYING || (running && !a->settling);
	run->stops += a->stopping && a->open && running;
}

void run_stop(struct run *run, int64_t at)
{
	struct ready_list *queues[] = { &run->pure, &run->tools, &run->contained, &run->parked,
					&run->computing };
	run->cancelling = true;
	run->queued = run->paused = false;
	run->pause = (struct budget_pause){ .budget = S("") };
	stop_scope(run, run->root, at);
	for (size_t i = 0; i < COUNT(queues); i++)
		drop_final(queues[i]);
	run->timers = run->humans = run->busy = run->retrying = run->stops = 0;
	folder_restore_all(run);
	for (uint32_t i = 0; i < run->paths.room; i++)
		if (run->paths.at[i] != NULL && !step_state_row(run->paths.at[i]->state)->final)
			count_open(run, run->paths.at[i]);
}

/* ---- the parts of a try ---------------------------------------------------------------- */
/* What is tried, catch and finally follow each other in one body.  The catch steps are entered when the
 * first part has failed; the finally steps are entered in every case.  Entering a part follows from the
 * state and has no event.
 *
 * When the run is cancelled, a try stops what it runs, but its finally steps are left alone, or still to
 * come: they start with run.unwinding, when no stopped effect is open any more. */

/* Creates the activations of the scope's current part. */
static void section_enter(struct run *run, struct scope *scope)
{
	struct graph_numbers body =
		graph_body(run->graph, scope->owner == NULL ? GRAPH_ROOT : scope->owner->node);
	for (size_t i = 0; i < body.count; i++) {
		const struct graph_node *node = &run->graph->nodes[body.at[i]];
		if (node->section == scope->section && (!node->any || node->entry))
			activation_new(run, scope, body.at[i]);
	}
	for (size_t i = 0; i < body.count; i++)
		if (run->graph->nodes[body.at[i]].section == scope->section &&
		    scope->places[i].newest != NULL && scope->places[i].waiting_on == 0)
			activation_ready(run, scope->places[i].newest);
	activation_release_unreached(run, scope);
}

/* Enters the next part of a try whose current part is over; false when none is left. */
static bool section_next(struct run *run, struct scope *scope)
{
	const struct activation *owner = scope->owner;
	const struct graph_node *node = run_node(run, owner);
	bool failed = scope->failed.path.size > 0;
	if (scope->section == RUN_SECTION_STEPS && failed && node->has_catch && !owner->stopping) {
		scope->caught = scope->failed;
		scope->failed = (struct first_failure){ 0 };
		scope->section = RUN_SECTION_CATCH;
	} else if (scope->section != RUN_SECTION_FINALLY && node->has_finally) {
		scope->section = RUN_SECTION_FINALLY;
	} else {
		return false;
	}
	section_enter(run, scope);
	return true;
}

/* Whether a try that was stopped has finally steps that must still run. */
static bool section_finally_is_left(const struct run *run, const struct activation *activation)
{
	return run_node(run, activation)->has_finally && activation->scopes != NULL &&
	       activation->scopes->section != RUN_SECTION_FINALLY && !run->abandoned;
}

bool activation_is_exempt(const struct run *run, const struct activation *activation)
{
	const struct scope *scope = activation->scope;
	while (scope->owner != NULL && scope->section != RUN_SECTION_FINALLY)
		scope = scope->owner->scope;
	return scope->owner != NULL && !run->abandoned;
}

static int by_start(const void *left, const void *right)
{
	const struct activation *a = *(const struct activation *const *)left;
	const struct activation *b = *(const struct activation *const *)right;
	return (a->started_seq > b->started_seq) - (a->started_seq < b->started_seq);
}

/* Whether nothing of what it tries or catches is live any more. */
static bool is_held(const struct run *run, const struct activation *a)
{
	return !step_state_row(a->state)->final && a->stopping && section_finally_is_left(run, a) &&
	       a->scopes_live == 0;
}

void activation_unwind(struct run *run)
{
	size_t count = 0;
	for (uint32_t i = 0; i < run->paths.room; i++)
		count += run->paths.at[i] != NULL && is_held(run, run->paths.at[i]);
	struct activation **held = arena_array(run->arena, struct activation *, count);
	count = 0;
	for (uint32_t i = 0; i < run->paths.room; i++)
		if (run->paths.at[i] != NULL && is_held(run, run->paths.at[i]))
			held[count++] = run->paths.at[i];
	if (count > 1)
		qsort(held, count, sizeof(*held), by_start);
	for (size_t i = 0; i < count; i++) {
		held[i]->scopes_live++;
		section_next(run, held[i]->scopes);
	}
}
