/* engine/evolve.c -- state <- state, event.
 *
 * One function an event, named by events.def: forgetting one does not link.  What follows from an
 * event without being one itself (a dependent that is ready, a pure step that starts, a cascade
 * of skips, running against waiting_human) is worked out in settle(), after every event, from
 * the state alone.
 */
#include "engine/run.h"

#define EVENT(constant, name, body, level, persistence, text)                            \
	static bool evolve_##body(struct run *run, const struct body *event, int64_t at, \
				  struct error *error);
#include "contracts/events.def"
#undef EVENT

struct run *run_new(struct arena *arena, struct uuid id, const struct graph *graph)
{
	struct run *run = arena_new(arena, struct run);
	run->arena = arena;
	run->id = id;
	run->graph = graph;
	run->retention_days = -1;
	run->count = run->unfinished = graph->node_count;
	run->activations = arena_array(arena, struct activation, run->count);
	for (uint32_t i = 0; i < run->count; i++) {
		struct activation *activation = &run->activations[i];
		activation->path = graph->nodes[i].name;
		activation->node = i;
		activation->attempt = 1;
		activation->waiting_on = (uint32_t)graph->nodes[i].depends_on.count;
		activation->readers_left = graph->nodes[i].reader_count;
	}
	struct run_queue *queues[] = { &run->pure, &run->tools, &run->contained, &run->parked,
				       &run->computing };
	for (size_t i = 0; i < COUNT(queues); i++)
		queues[i]->at = arena_array(arena, uint32_t, run->count);
	run->cascade = arena_array(arena, uint32_t, run->count);
	return run;
}

struct activation *run_activation(struct run *run, struct str path)
{
	int64_t number = graph_find(run->graph, path);
	return number < 0 ? NULL : &run->activations[number];
}

bool run_is_stepping(const struct run *run)
{
	return !run_ended(run) && run->computing.head < run->computing.tail;
}

uint32_t run_steps_ended(const struct run *run)
{
	return run->count - run->unfinished;
}

/* ---- small moves --------------------------------------------------------------------- */

static const struct graph_node *node_of(const struct run *run, const struct activation *activation)
{
	return &run->graph->nodes[activation->node];
}

static void step_move(struct activation *activation, enum step_state to)
{
	require(step_may_move(activation->state, to));
	activation->state = to;
}

static void run_move(struct run *run, enum run_state to)
{
	if (run->state == to)
		return;
	require(run_may_move(run->state, to));
	run->state = to;
}

static void enqueue(struct run_queue *queue, uint32_t number)
{
	queue->at[queue->tail++] = number;
}

struct value run_value_keep(struct run *run, const struct run_value *from)
{
	if (from == NULL)
		return (struct value){ .kind = VALUE_ABSENT };
	if (has(from, sha256))
		return (struct value){ .kind = VALUE_STORED,
				       .hash = from->sha256,
				       .size = from->size };
	static const struct json null_json = { .kind = JSON_NULL };
	struct str text = json_print(run->arena, has(from, json) ? from->json : &null_json);
	return (struct value){ .kind = VALUE_INLINE, .text = text, .size = (int64_t)text.size };
}

static struct fault fault_from(struct run *run, const struct run_fault *from)
{
	if (from == NULL)
		return (struct fault){ S(""), S("") };
	return (struct fault){ str_copy(run->arena, from->code), str_copy(run->arena, from->text) };
}

/* ---- what follows from an event ------------------------------------------------------ */

static bool is_pure(const struct graph_node *node)
{
	return node->kind == RUN_NODE_TOOL && node->class == RUN_CLASS_PURE;
}

void run_queue_ready(struct run *run, uint32_t number)
{
	const struct graph_node *node = &run->graph->nodes[number];
	if (node->kind != RUN_NODE_TOOL)
		enqueue(&run->parked, number);
	else if (is_pure(node))
		enqueue(&run->pure, number);
	else if (node->class == RUN_CLASS_CONTAINED)
		enqueue(&run->contained, number);
	else
		enqueue(&run->tools, number);
}

static void make_ready(struct run *run, uint32_t number)
{
	run->activations[number].arrival = ++run->arrivals;
	run_queue_ready(run, number);
}

bool run_output_is_read(const struct run *run, const struct activation *activation)
{
	return activation->readers_left > 0 || node_of(run, activation)->read_by_outputs;
}

/* R3: an output that nothing later can reach leaves the state. */
static void drop_output(struct run *run, struct activation *activation)
{
	if (!run_output_is_read(run, activation))
		activation->output = (struct value){ .kind = VALUE_ABSENT };
}

static void drop_read_outputs(struct run *run, const struct activation *reader)
{
	struct graph_numbers reads = node_of(run, reader)->reads;
	for (size_t i = 0; i < reads.count; i++) {
		struct activation *read = &run->activations[reads.at[i]];
		if (read->readers_left > 0)
			read->readers_left--;
		drop_output(run, read);
	}
}

static void skip_dependents(struct run *run, uint32_t number, int64_t at)
{
	uint32_t *stack = run->cascade, depth = 0;
	stack[depth++] = number;
	while (depth > 0) {
		const struct activation *cause = &run->activations[stack[--depth]];
		struct graph_numbers after = node_of(run, cause)->dependents;
		for (size_t i = 0; i < after.count; i++) {
			struct activation *dependent = &run->activations[after.at[i]];
			if (dependent->state != STEP_PENDING)
				continue;
			step_move(dependent, STEP_SKIPPED);
			dependent->ended_at = at;
			dependent->fault.code = error_row(ERROR_DEPENDENCY_FAILED)->name;
			dependent->fault.text = cause->path;
			run->unfinished--;
			drop_read_outputs(run, dependent);
			stack[depth++] = after.at[i];
		}
	}
}

static void finish_step(struct run *run, struct activation *activation, int64_t at)
{
	bool failed = activation->fault.code.size > 0;
	step_move(activation, failed ? STEP_FAILED : STEP_SUCCEEDED);
	activation->ended_at = at;
	activation->ended_seq = run->seq + 1;
	activation->arrival = 0;
	activation->result = activation->output;
	run->unfinished--;
	drop_output(run, activation);
	drop_read_outputs(run, activation);
	if (failed) {
		skip_dependents(run, activation->node, at);
		return;
	}
	struct graph_numbers after = node_of(run, activation)->dependents;
	for (size_t i = 0; i < after.count; i++) {
		struct activation *dependent = &run->activations[after.at[i]];
		if (--dependent->waiting_on == 0 && dependent->state == STEP_PENDING)
			make_ready(run, after.at[i]);
	}
}

static uint64_t head_arrival(const struct run *run, const struct run_queue *queue)
{
	if (queue->head == queue->tail)
		return UINT64_MAX;
	return run->activations[queue->at[queue->head]].arrival;
}

/* A pure step starts here unless an effect that became ready earlier could take the room. */
static void settle(struct run *run, int64_t at)
{
	while (run->busy < RUN_ROOM && run->pure.head < run->pure.tail) {
		uint64_t mine = head_arrival(run, &run->pure);
		if (head_arrival(run, &run->tools) < mine ||
		    (!run->workspace_busy && head_arrival(run, &run->contained) < mine))
			break;
		uint32_t number = run->pure.at[run->pure.head++];
		struct activation *activation = &run->activations[number];
		step_move(activation, STEP_RUNNING);
		activation->started_at = at;
		activation->started_seq = run->seq;
		run->busy++;
		enqueue(&run->computing, number);
	}
	if (run_ended(run))
		return;
	bool parked = run->humans > 0 && run->busy == 0 && run->timers == 0;
	run_move(run, parked ? RUN_WAITING_HUMAN : RUN_RUNNING);
}

/* ---- effects ------------------------------------------------------------------------- */

static bool open_effect(struct run *run, struct str path, struct uuid effect, int64_t at,
			struct run_queue *queue, struct activation **out, struct error *error)
{
	struct activation *activation = run_activation(run, path);
	if (activation == NULL || activation->open || activation->state != STEP_PENDING ||
	    queue->head == queue->tail || queue->at[queue->head] != activation->node)
		return fail(error, ERROR_INVALID, "step " STR_FMT " is requested out of turn",
			    STR_ARG(path));
	queue->head++;
	activation->open = true;
	activation->effect = effect;
	activation->started_at = at;
	activation->started_seq = run->seq + 1;
	*out = activation;
	return true;
}

static bool close_effect(struct run *run, struct str path, const struct uuid *effect,
			 struct activation **out, struct error *error)
{
	struct activation *activation = run_activation(run, path);
	if (activation == NULL || !activation->open || !uuid_equal(&activation->effect, effect))
		return fail(error, ERROR_INVALID, "step " STR_FMT " has no such effect open",
			    STR_ARG(path));
	activation->open = false;
	activation->inputs = (struct value){ .kind = VALUE_ABSENT };
	activation->tree = S("");
	*out = activation;
	return true;
}

/* A closed effect that is not ok always has a fault, whatever the writer said. */
static void set_outcome(struct run *run, struct activation *activation, enum run_outcome outcome,
			const struct run_fault *fault)
{
	activation->outcome = outcome;
	if (outcome == RUN_OUTCOME_OK)
		return;
	activation->fault = fault_from(run, fault);
	if (activation->fault.code.size == 0)
		activation->fault.code = error_row(ERROR_TOOL_FAILED)->name;
}

/* ---- one function an event ----------------------------------------------------------- */

static bool evolve_run_created(struct run *run, const struct run_created *event, int64_t at,
			       struct error *error)
{
	if (run->seq != 0)
		return fail(error, ERROR_INVALID, "the run exists already");
	run->created_at = at;
	run->inputs = run_value_keep(run, event->inputs);
	if (has(event, retention_days))
		run->retention_days = event->retention_days;
	for (uint32_t i = 0; i < run->count; i++)
		if (run->activations[i].waiting_on == 0)
			make_ready(run, i);
	return true;
}

static bool evolve_run_step_computed(struct run *run, const struct run_step_computed *event,
				     int64_t at, struct error *error)
{
	struct activation *activation = run_activation(run, event->step);
	if (activation == NULL || activation->state != STEP_RUNNING || activation->open ||
	    !is_pure(node_of(run, activation)))
		return fail(error, ERROR_INVALID, "step " STR_FMT " is not being computed",
			    STR_ARG(event->step));
	/* Results may come in any order: close the gap in the list of what is being computed. */
	struct run_queue *computing = &run->computing;
	uint32_t place = computing->head;
	while (computing->at[place] != activation->node)
		place++;
	for (; place > computing->head; place--)
		computing->at[place] = computing->at[place - 1];
	computing->head++;
	run->busy--;
	/* Nothing of its own started it, so nobody asks later when that was. */
	activation->started_at = activation->started_seq = 0;
	activation->output = run_value_keep(run, has(event, output) ? event->output : NULL);
	activation->fault = fault_from(run, has(event, fault) ? event->fault : NULL);
	finish_step(run, activation, at);
	return true;
}

static bool evolve_run_tool_requested(struct run *run, const struct run_tool_requested *event,
				      int64_t at, struct error *error)
{
	bool contained = event->class == RUN_CLASS_CONTAINED;
	struct activation *activation;
	if (!open_effect(run, event->step, event->effect, at,
			 contained ? &run->contained : &run->tools, &activation, error))
		return false;
	step_move(activation, STEP_RUNNING);
	activation->inputs = run_value_keep(run, event->inputs);
	activation->tree = has(event, tree) ? str_copy(run->arena, event->tree) : S("");
	run->busy++;
	if (contained)
		run->workspace_busy = true;
	return true;
}

static bool evolve_run_tool_restarted(struct run *run, const struct run_tool_restarted *event,
				      int64_t at, struct error *error)
{
	struct activation *activation = run_activation(run, event->step);
	if (activation == NULL || !activation->open ||
	    !uuid_equal(&activation->effect, &event->effect))
		return fail(error, ERROR_INVALID, "step " STR_FMT " has no call to make again",
			    STR_ARG(event->step));
	struct restart *restarts =
		arena_array(run->arena, struct restart, activation->restart_count + 1);
	for (uint32_t i = 0; i < activation->restart_count; i++)
		restarts[i] = activation->restarts[i];
	restarts[activation->restart_count++] =
		(struct restart){ run->seq + 1, at, event->attempt };
	activation->restarts = restarts;
	activation->attempt = event->attempt;
	return true;
}

static bool evolve_run_tool_finished(struct run *run, const struct run_tool_finished *event,
				     int64_t at, struct error *error)
{
	struct activation *activation;
	if (!close_effect(run, event->step, &event->effect, &activation, error))
		return false;
	run->busy--;
	if (node_of(run, activation)->class == RUN_CLASS_CONTAINED)
		run->workspace_busy = false;
	activation->output = run_value_keep(run, has(event, output) ? event->output : NULL);
	set_outcome(run, activation, event->outcome, has(event, fault) ? event->fault : NULL);
	finish_step(run, activation, at);
	return true;
}

static bool evolve_run_timer_requested(struct run *run, const struct run_timer_requested *event,
				       int64_t at, struct error *error)
{
	struct activation *activation;
	if (!open_effect(run, event->step, event->effect, at, &run->parked, &activation, error))
		return false;
	step_move(activation, STEP_RUNNING);
	activation->due_at = event->due_at;
	run->timers++;
	return true;
}

static bool evolve_run_timer_finished(struct run *run, const struct run_timer_finished *event,
				      int64_t at, struct error *error)
{
	struct activation *activation;
	if (!close_effect(run, event->step, &event->effect, &activation, error))
		return false;
	run->timers--;
	set_outcome(run, activation, event->outcome, NULL);
	finish_step(run, activation, at);
	return true;
}

static bool evolve_run_human_requested(struct run *run, const struct run_human_requested *event,
				       int64_t at, struct error *error)
{
	struct activation *activation;
	if (!open_effect(run, event->step, event->effect, at, &run->parked, &activation, error))
		return false;
	step_move(activation, STEP_WAITING_HUMAN);
	activation->inputs = run_value_keep(run, event->inputs);
	activation->revision = event->revision;
	activation->question.kind = event->kind;
	activation->question.text = str_copy(run->arena, event->question);
	run->humans++;
	return true;
}

struct value run_answer_value(struct run *run, const struct question *question)
{
	AUTO(buf) text = { 0 };
	struct json_writer writer = { .out = &text };
	json_open(&writer, '{');
	json_key(&writer, S("decision"));
	json_put_str(&writer, run_decision_name(question->decision));
	json_key(&writer, S("comment"));
	json_put_str(&writer, question->comment);
	json_key(&writer, S("by"));
	json_put_str(&writer, question->by);
	json_close(&writer, '}');
	struct str copy = str_copy(run->arena, buf_str(&text));
	return (struct value){ .kind = VALUE_INLINE, .text = copy, .size = (int64_t)copy.size };
}

static bool evolve_run_human_finished(struct run *run, const struct run_human_finished *event,
				      int64_t at, struct error *error)
{
	struct activation *activation;
	if (!close_effect(run, event->step, &event->effect, &activation, error))
		return false;
	run->humans--;
	activation->outcome = event->outcome;
	struct question *question = &activation->question;
	question->answered = true;
	question->decision = event->decision;
	question->comment = has(event, comment) ? str_copy(run->arena, event->comment) : S("");
	question->by = str_copy(run->arena, event->by);
	if (event->decision == RUN_DECISION_APPROVE) {
		activation->output = run_answer_value(run, question);
	} else {
		activation->fault.code = error_row(ERROR_REJECTED)->name;
		activation->fault.text =
			str_format(run->arena, "rejected by " STR_FMT "%s" STR_FMT,
				   STR_ARG(event->by), has(event, comment) ? ": " : "",
				   STR_ARG(has(event, comment) ? event->comment : S("")));
	}
	finish_step(run, activation, at);
	return true;
}

static bool evolve_run_finished(struct run *run, const struct run_finished *event, int64_t at,
				struct error *error)
{
	if (run_ended(run) || run->unfinished > 0)
		return fail(error, ERROR_INVALID, "the run ends out of turn");
	run_move(run, event->outcome == RUN_OUTCOME_OK ? RUN_SUCCEEDED : RUN_FAILED);
	run->ended_at = at;
	run->outputs = run_value_keep(run, has(event, outputs) ? event->outputs : NULL);
	run->fault = fault_from(run, has(event, fault) ? event->fault : NULL);
	return true;
}

/* No run is made of documents: this one stands in the wrong stream. */
static bool evolve_run_document_changed(struct run *run, const struct run_document_changed *event,
					int64_t at, struct error *error)
{
	(void)run;
	(void)event;
	(void)at;
	return fail(error, ERROR_INVALID, "it belongs to the system stream");
}

static bool evolve_run_compacted(struct run *run, const struct run_compacted *event, int64_t at,
				 struct error *error)
{
	(void)at;
	if (event->floor <= run->floor || event->floor > run->seq + 1)
		return fail(error, ERROR_INVALID, "the floor does not rise");
	run->floor = event->floor;
	return true;
}

static bool apply(struct run *run, const struct event *event, struct error *error)
{
	switch (event->type) {
#define EVENT(constant, name, body, level, persistence, text) \
	case EVENT_##constant:                                \
		return evolve_##body(run, event->as.body, event->at, error);
#include "contracts/events.def"
#undef EVENT
	}
	return false;
}

bool evolve(struct run *run, const struct event *event, struct error *error)
{
	if ((run->seq == 0) != (event->type == EVENT_RUN_CREATED))
		return fail(error, ERROR_INVALID, "a run begins with run.created, and only once");
	if (!apply(run, event, error)) {
		error_prefix(error, STR_FMT " at seq %lld: ", STR_ARG(event_name(event->type)),
			     (long long)run->seq + 1);
		return false;
	}
	run->seq++;
	/* Housekeeping is nothing that happened to the run. */
	if (event->type != EVENT_RUN_COMPACTED)
		run->updated_at = event->at;
	settle(run, event->at);
	return true;
}
