/* engine/snapshot.c -- the state of a run to rows of run.Snapshot and back.
 *
 * Restoring sets what the rows say and then works out the rest once, in the order in which steps
 * became ready, because that is the order of every queue.
 */
#include "engine/snapshot.h"

/* ---- to an entity -------------------------------------------------------------------- */

struct printing {
	struct arena *arena;
	struct hash *names;
	size_t name_count;
};

/* NULL for an absent one. */
static const struct run_value *print_value(struct printing *p, const struct value *value)
{
	if (value->kind == VALUE_ABSENT)
		return NULL;
	struct run_value *out = run_value_new(p->arena);
	if (value->kind == VALUE_STORED) {
		SET(out, sha256, value->hash);
		SET(out, size, value->size);
		p->names[p->name_count++] = value->hash;
		return out;
	}
	const struct json *json;
	struct error error;
	bool good = json_read(value->text, p->arena, &json, &error);
	require(good);
	SET(out, json, json);
	return out;
}

static const struct run_fault *print_fault(struct printing *p, const struct fault *fault)
{
	if (fault->code.size == 0)
		return NULL;
	struct run_fault *out = run_fault_new(p->arena);
	SET(out, code, fault->code);
	SET(out, text, fault->text);
	return out;
}

static void print_human(struct printing *p, const struct activation *step,
			struct run_snapshot_step *out)
{
	const struct question *from = &step->question;
	struct run_snapshot_question *question = run_snapshot_question_new(p->arena);
	SET(question, kind, from->kind);
	SET(question, question, from->text);
	SET(question, revision, step->revision);
	SET(out, question, question);
	if (!from->answered)
		return;
	struct run_snapshot_answer *answer = run_snapshot_answer_new(p->arena);
	SET(answer, decision, from->decision);
	if (from->comment.size > 0)
		SET(answer, comment, from->comment);
	SET(answer, by, from->by);
	SET(out, answer, answer);
}

static void print_restarts(struct printing *p, const struct activation *step,
			   struct run_snapshot_step *out)
{
	struct run_snapshot_restart *at =
		arena_array(p->arena, struct run_snapshot_restart, step->restart_count);
	for (uint32_t i = 0; i < step->restart_count; i++) {
		at[i] = *run_snapshot_restart_new(p->arena);
		SET(&at[i], seq, step->restarts[i].seq);
		SET(&at[i], at, step->restarts[i].at);
		SET(&at[i], attempt, step->restarts[i].attempt);
	}
	SET(out, restarts, ((struct run_snapshot_restart_list){ at, step->restart_count }));
}

static void print_effect(struct printing *p, const struct graph_node *node,
			 const struct activation *step, struct run_snapshot_step *out)
{
	SET(out, effect, step->effect);
	if (step->open)
		SET(out, open, true);
	else if (step->outcome != RUN_OUTCOME_OK)
		SET(out, outcome, step->outcome);
	const struct run_value *inputs = print_value(p, &step->inputs);
	if (inputs != NULL)
		SET(out, inputs, inputs);
	if (step->tree.size > 0)
		SET(out, tree, step->tree);
	if (node->kind == RUN_NODE_WAIT)
		SET(out, due_at, step->due_at);
	if (node->kind == RUN_NODE_HUMAN)
		print_human(p, step, out);
	if (step->restart_count > 0)
		print_restarts(p, step, out);
}

static struct run_snapshot_step print_step(struct printing *p, const struct graph_node *node,
					   const struct activation *step)
{
	struct run_snapshot_step *out = run_snapshot_step_new(p->arena);
	SET(out, step, step->path);
	if (step->state != STEP_SUCCEEDED)
		SET(out, state, step_state_row(step->state)->word);
	if (step->arrival > 0)
		SET(out, arrival, (int64_t)step->arrival);
	if (step->started_seq > 0) {
		SET(out, started_seq, step->started_seq);
		SET(out, started_at, step->started_at);
	}
	if (!uuid_is_zero(&step->effect))
		print_effect(p, node, step, out);
	const struct run_value *output =
		node->kind == RUN_NODE_HUMAN ? NULL : print_value(p, &step->result);
	const struct run_fault *fault = print_fault(p, &step->fault);
	if (output != NULL)
		SET(out, output, output);
	if (fault != NULL)
		SET(out, fault, fault);
	if (step->ended_seq > 0)
		SET(out, ended_seq, step->ended_seq);
	if (step_state_row(step->state)->final)
		SET(out, ended_at, step->ended_at);
	return *out;
}

static struct run_snapshot_step_list print_steps(struct printing *p, const struct run *run)
{
	size_t count = 0;
	for (uint32_t i = 0; i < run->count; i++)
		count += run->activations[i].arrival > 0 ||
			 run->activations[i].state != STEP_PENDING;
	struct run_snapshot_step *at = arena_array(p->arena, struct run_snapshot_step, count);
	count = 0;
	for (uint32_t i = 0; i < run->count; i++) {
		const struct activation *step = &run->activations[i];
		if (step->arrival > 0 || step->state != STEP_PENDING)
			at[count++] = print_step(p, &run->graph->nodes[i], step);
	}
	return (struct run_snapshot_step_list){ at, count };
}

const struct run_snapshot *run_snapshot(const struct run *run, struct arena *arena,
					struct run_names *out_names)
{
	require(run->seq > 0);
	/* The graph, the run's inputs and outputs, a step's inputs and output. */
	struct printing p = { .arena = arena,
			      .names = arena_array(arena, struct hash, 3 + 2 * run->count) };
	struct run_snapshot *out = run_snapshot_new(arena);
	p.names[p.name_count++] = run->graph->hash;
	SET(out, name, run->graph->name);
	SET(out, definition, run->graph->hash);
	SET(out, seq, run->seq);
	if (run->floor > 0)
		SET(out, floor, run->floor);
	SET(out, state, run_state_row(run->state)->word);
	SET(out, created_at, run->created_at);
	SET(out, updated_at, run->updated_at);
	if (run_ended(run))
		SET(out, ended_at, run->ended_at);
	if (run->retention_days >= 0)
		SET(out, retention_days, run->retention_days);
	SET(out, arrivals, (int64_t)run->arrivals);
	SET(out, inputs, print_value(&p, &run->inputs));
	const struct run_value *outputs = print_value(&p, &run->outputs);
	const struct run_fault *fault = print_fault(&p, &run->fault);
	if (outputs != NULL)
		SET(out, outputs, outputs);
	if (fault != NULL)
		SET(out, fault, fault);
	SET(out, steps, print_steps(&p, run));
	*out_names = (struct run_names){ p.names, p.name_count };
	return out;
}

/* ---- and back ------------------------------------------------------------------------ */

static bool run_state_from(struct str word, enum run_state *out)
{
	for (size_t i = 0; i < run_state_count(); i++)
		if (str_equal(run_state_row((enum run_state)i)->word, word)) {
			*out = (enum run_state)i;
			return true;
		}
	return false;
}

static bool step_state_from(struct str word, enum step_state *out)
{
	for (size_t i = 0; i < step_state_count(); i++)
		if (str_equal(step_state_row((enum step_state)i)->word, word)) {
			*out = (enum step_state)i;
			return true;
		}
	return false;
}

static struct fault restore_fault(struct run *run, const struct run_fault *from)
{
	return (struct fault){ str_copy(run->arena, from->code), str_copy(run->arena, from->text) };
}

static void restore_human(struct run *run, struct activation *step,
			  const struct run_snapshot_step *from)
{
	struct question *question = &step->question;
	question->kind = from->question->kind;
	question->text = str_copy(run->arena, from->question->question);
	step->revision = from->question->revision;
	if (!has(from, answer))
		return;
	const struct run_snapshot_answer *answer = from->answer;
	question->answered = true;
	question->decision = answer->decision;
	question->comment = has(answer, comment) ? str_copy(run->arena, answer->comment) : S("");
	question->by = str_copy(run->arena, answer->by);
	if (step->state == STEP_SUCCEEDED)
		step->result = run_answer_value(run, question);
}

static void restore_restarts(struct run *run, struct activation *step,
			     const struct run_snapshot_step *from)
{
	struct restart *at = arena_array(run->arena, struct restart, from->restarts.count);
	for (size_t i = 0; i < from->restarts.count; i++) {
		const struct run_snapshot_restart *restart = &from->restarts.at[i];
		at[i] = (struct restart){ restart->seq, restart->at, restart->attempt };
		step->attempt = restart->attempt;
	}
	step->restarts = at;
	step->restart_count = (uint32_t)from->restarts.count;
}

static void restore_step(struct run *run, struct activation *step,
			 const struct run_snapshot_step *from)
{
	step->arrival = has(from, arrival) ? (uint64_t)from->arrival : 0;
	step->started_seq = has(from, started_seq) ? from->started_seq : 0;
	step->started_at = has(from, started_at) ? from->started_at : 0;
	step->ended_seq = has(from, ended_seq) ? from->ended_seq : 0;
	step->ended_at = has(from, ended_at) ? from->ended_at : 0;
	step->due_at = has(from, due_at) ? from->due_at : 0;
	step->open = has(from, open) && from->open;
	if (has(from, effect))
		step->effect = from->effect;
	if (has(from, outcome))
		step->outcome = from->outcome;
	if (has(from, inputs))
		step->inputs = run_value_keep(run, from->inputs);
	if (has(from, output))
		step->result = run_value_keep(run, from->output);
	if (has(from, fault))
		step->fault = restore_fault(run, from->fault);
	if (has(from, tree))
		step->tree = str_copy(run->arena, from->tree);
	if (has(from, question))
		restore_human(run, step, from);
	if (has(from, restarts))
		restore_restarts(run, step, from);
}

static bool restore_steps(struct run *run, const struct run_snapshot *from, uint32_t *by_arrival,
			  struct error *error)
{
	for (size_t i = 0; i < from->steps.count; i++) {
		const struct run_snapshot_step *row = &from->steps.at[i];
		struct activation *step = run_activation(run, row->step);
		struct str state =
			has(row, state) ? row->state : step_state_row(STEP_SUCCEEDED)->word;
		if (step == NULL || !step_state_from(state, &step->state))
			return fail(error, ERROR_INVALID,
				    "the snapshot has a step " STR_FMT " in a state " STR_FMT
				    " that this program does not know",
				    STR_ARG(row->step), STR_ARG(state));
		restore_step(run, step, row);
		if (step->arrival > run->arrivals ||
		    (step->arrival > 0 && by_arrival[step->arrival] != 0))
			return fail(error, ERROR_INVALID,
				    "the snapshot's steps became ready in no order");
		by_arrival[step->arrival] = step->node + 1;
	}
	return true;
}

/* A final step has read what it reads, and a dependent of one that succeeded waits for one less. */
static void settle_final(struct run *run)
{
	for (uint32_t i = 0; i < run->count; i++) {
		const struct graph_node *node = &run->graph->nodes[i];
		if (!step_state_row(run->activations[i].state)->final)
			continue;
		run->unfinished--;
		for (size_t r = 0; r < node->reads.count; r++)
			run->activations[node->reads.at[r]].readers_left--;
		if (run->activations[i].state != STEP_SUCCEEDED)
			continue;
		for (size_t d = 0; d < node->dependents.count; d++)
			run->activations[node->dependents.at[d]].waiting_on--;
	}
	for (uint32_t i = 0; i < run->count; i++)
		if (run_output_is_read(run, &run->activations[i]))
			run->activations[i].output = run->activations[i].result;
}

static void settle_open(struct run *run, uint32_t number)
{
	const struct activation *step = &run->activations[number];
	const struct graph_node *node = &run->graph->nodes[number];
	if (step->state == STEP_PENDING) {
		run_queue_ready(run, number);
		return;
	}
	if (step_state_row(step->state)->final)
		return;
	switch (node->kind) {
	case RUN_NODE_WAIT:
		run->timers++;
		break;
	case RUN_NODE_HUMAN:
		run->humans++;
		break;
	case RUN_NODE_TOOL:
		run->busy++;
		if (!step->open)
			run->computing.at[run->computing.tail++] = number;
		else if (node->class == RUN_CLASS_CONTAINED)
			run->workspace_busy = true;
		break;
	}
}

bool run_restore(const struct run_snapshot *from, struct uuid id, const struct graph *graph,
		 struct arena *arena, struct run **out_run, struct error *error)
{
	if (!hash_equal(&from->definition, &graph->hash))
		return fail(error, ERROR_INVALID, "the snapshot is one of another graph");
	struct run *run = run_new(arena, id, graph);
	uint32_t *by_arrival = arena_array(arena, uint32_t, (size_t)run->count + 1);
	if (from->arrivals < 0 || from->arrivals > (int64_t)run->count)
		return fail(error, ERROR_INVALID, "the snapshot counts more steps than there are");
	if (!run_state_from(from->state, &run->state))
		return fail(error, ERROR_INVALID,
			    "the snapshot has a state " STR_FMT " that this program does not know",
			    STR_ARG(from->state));
	run->seq = from->seq;
	run->floor = has(from, floor) ? from->floor : 0;
	run->created_at = from->created_at;
	run->updated_at = from->updated_at;
	run->ended_at = has(from, ended_at) ? from->ended_at : 0;
	run->retention_days = has(from, retention_days) ? from->retention_days : -1;
	run->arrivals = (uint64_t)from->arrivals;
	run->inputs = run_value_keep(run, from->inputs);
	run->outputs = run_value_keep(run, has(from, outputs) ? from->outputs : NULL);
	if (has(from, fault))
		run->fault = restore_fault(run, from->fault);
	if (!restore_steps(run, from, by_arrival, error))
		return false;
	settle_final(run);
	for (uint64_t i = 1; i <= run->arrivals; i++)
		if (by_arrival[i] != 0)
			settle_open(run, by_arrival[i] - 1);
	*out_run = run;
	return true;
}

bool run_snapshot_read(struct str text, struct arena *arena,
		       const struct run_snapshot **out_snapshot, struct error *error)
{
	const struct json *json;
	if (!json_read(text, arena, &json, error))
		return false;
	struct problems problems = { .arena = arena };
	struct contract_source source = { .json = json, .text = text, .lenient = true };
	const struct run_snapshot *snapshot = run_snapshot_parse(&source, arena, &problems);
	if (snapshot == NULL) {
		problems_fail(&problems, error);
		error_prefix(error, "snapshot: ");
		return false;
	}
	*out_snapshot = snapshot;
	return true;
}
