/* engine/decide.c -- every event Baton stores is made here.
 *
 * A command is first checked against the state (has somebody been here before?), then turned into
 * one event.  What follows from that event for other steps is advance()'s business, so a finished
 * tool, a fired timer, an answered question and a computed step all go on in the same few lines.
 */
#include "engine/decide.h"

#include "base/limits.h"
#include "expr/template.h"

/* ---- the growing lists of a decision ------------------------------------------------- */

static void *grown(struct arena *arena, const void *items, size_t count, size_t *room, size_t size)
{
	*room = *room == 0 ? 8 : *room * 2;
	char *more = arena_take_array(arena, *room, size);
	if (count > 0)
		__builtin_memcpy(more, items, count * size);
	return more;
}

/* Events come from the state itself, so one that does not fit is our own mistake. */
static void emit(struct run *run, struct decision *d, struct event event)
{
	if (d->event_count == d->event_room)
		d->events = grown(d->arena, d->events, d->event_count, &d->event_room,
				  sizeof(*d->events));
	d->events[d->event_count++] = event;
	struct error error;
	bool good = evolve(run, &event, &error);
	require(good);
}

static void need(struct decision *d, const struct hash *hash)
{
	if (d->need_count == d->need_room)
		d->needs =
			grown(d->arena, d->needs, d->need_count, &d->need_room, sizeof(*d->needs));
	d->needs[d->need_count++] = *hash;
}

/* R3: short values stand in the event, longer ones are stored by hash.  NULL when over the
 * largest. */
static struct run_value *make_value(struct decision *d, const struct json *json)
{
	AUTO(buf) text = buf_limited(LIMIT_VALUE_BYTES);
	struct json_writer writer = { .out = &text };
	json_put_tree(&writer, json);
	if (text.full)
		return NULL;
	struct run_value *value = run_value_new(d->arena);
	if (text.size <= LIMIT_VALUE_INLINE) {
		SET(value, json, json);
		return value;
	}
	if (d->blob_count == d->blob_room)
		d->blobs =
			grown(d->arena, d->blobs, d->blob_count, &d->blob_room, sizeof(*d->blobs));
	struct decision_blob *blob = &d->blobs[d->blob_count++];
	blob->bytes = str_copy(d->arena, buf_str(&text));
	blob->hash = hash_of(blob->bytes);
	SET(value, sha256, blob->hash);
	SET(value, size, (int64_t)blob->bytes.size);
	return value;
}

static struct run_fault *make_fault(struct decision *d, struct fault from)
{
	struct run_fault *fault = run_fault_new(d->arena);
	SET(fault, code, from.code);
	SET(fault, text, from.text);
	return fault;
}

static struct fault fault_of(enum error_code code, struct str text)
{
	return (struct fault){ error_row(code)->name, text };
}

struct uuid engine_effect_id(const struct run *run, struct str path, struct str kind,
			     int64_t ordinal)
{
	char number[24];
	int size = __builtin_snprintf(number, sizeof(number), "%lld", (long long)ordinal);
	struct str parts[] = { uuid_str(&run->id), path, kind, { number, (size_t)size } };
	return uuid_derive(parts, COUNT(parts));
}

/* ---- values the templates see -------------------------------------------------------- */

struct seeing {
	struct run *run;
	const struct engine_values *values;
	struct arena *arena;
};

static const struct json *see_value(const struct seeing *seeing, const struct value *value)
{
	switch (value->kind) {
	case VALUE_ABSENT:
		return NULL;
	case VALUE_STORED:
		return seeing->values->look(seeing->values->context, &value->hash);
	case VALUE_INLINE:
		break;
	}
	const struct json *json;
	struct error error;
	bool good = json_read(value->text, seeing->arena, &json, &error);
	require(good);
	return json;
}

static const struct json *see_outputs(void *context, struct str name)
{
	const struct seeing *seeing = context;
	const struct activation *activation = run_activation(seeing->run, name);
	return activation == NULL ? NULL : see_value(seeing, &activation->output);
}

static void need_value(const struct engine_values *values, const struct value *value,
		       struct decision *d)
{
	if (value->kind == VALUE_STORED && values->look(values->context, &value->hash) == NULL)
		need(d, &value->hash);
}

static bool needs_of_node(struct run *run, const struct graph_node *node,
			  const struct engine_values *values, struct decision *d)
{
	size_t before = d->need_count;
	need_value(values, &run->inputs, d);
	for (size_t i = 0; i < node->reads.count; i++)
		need_value(values, &run->activations[node->reads.at[i]].output, d);
	return d->need_count > before;
}

static const struct json *render(struct run *run, const struct json *template,
				 const struct engine_values *values, struct arena *arena)
{
	struct seeing seeing = { run, values, arena };
	struct template_scope scope = { .inputs = see_value(&seeing, &run->inputs),
					.outputs = see_outputs,
					.context = &seeing };
	return template_render(template, &scope, arena);
}

/* Rendering shares what it refers to whole, so a small template can stand for a huge text. */
static bool fits(const struct json *json)
{
	AUTO(buf) text = buf_limited(LIMIT_VALUE_BYTES);
	struct json_writer writer = { .out = &text };
	json_put_tree(&writer, json);
	return !text.full;
}

enum engine_answer engine_inputs(struct run *run, const struct activation *activation,
				 const struct engine_values *values, struct decision *d,
				 const struct json **out)
{
	const struct graph_node *node = &run->graph->nodes[activation->node];
	if (needs_of_node(run, node, values, d))
		return ENGINE_NEED;
	*out = render(run, node->inputs, values, d->arena);
	if (*out != NULL && !fits(*out))
		*out = NULL;
	return ENGINE_DONE;
}

/* ---- commands ------------------------------------------------------------------------ */

static bool decide_create(struct run *run, const struct command *command, struct decision *d,
			  struct error *error)
{
	if (run->seq != 0)
		return fail(error, ERROR_CONFLICT, "the run exists already");
	struct run_value *inputs = make_value(d, command->inputs);
	if (inputs == NULL)
		return fail(error, ERROR_TOO_LARGE, "the inputs are over %d bytes",
			    LIMIT_VALUE_BYTES);
	struct run_created *body = run_created_new(d->arena);
	SET(body, name, run->graph->name);
	SET(body, definition, run->graph->hash);
	SET(body, inputs, inputs);
	if (command->trace.size > 0)
		SET(body, trace, str_copy(d->arena, command->trace));
	if (command->retention_days != NULL)
		SET(body, retention_days, *command->retention_days);
	emit(run, d, (struct event){ EVENT_RUN_CREATED, command->now, { .run_created = body } });
	return true;
}

/* The result of a step as it will be recorded; one over the limit becomes a failure. */
static void make_result(struct decision *d, const struct command *command,
			struct run_value **out_output, struct run_fault **out_fault)
{
	*out_output = NULL;
	*out_fault = NULL;
	struct fault fault = command->fault;
	if (fault.code.size == 0 && command->output != NULL) {
		*out_output = make_value(d, command->output);
		if (*out_output == NULL)
			fault = fault_of(ERROR_TOO_LARGE,
					 S("the output is over the limit of a value"));
	}
	if (fault.code.size > 0)
		*out_fault = make_fault(d, fault);
}

static bool decide_computed(struct run *run, const struct command *command, struct decision *d,
			    struct error *error)
{
	const struct activation *activation = run_activation(run, command->step);
	if (activation == NULL)
		return fail(error, ERROR_NOT_FOUND, "no step " STR_FMT, STR_ARG(command->step));
	if (activation->state != STEP_RUNNING || activation->open)
		return fail(error, ERROR_CONFLICT, "step " STR_FMT " has its result already",
			    STR_ARG(command->step));
	struct run_value *output;
	struct run_fault *fault;
	make_result(d, command, &output, &fault);
	struct run_step_computed *body = run_step_computed_new(d->arena);
	SET(body, step, activation->path);
	if (output != NULL)
		SET(body, output, output);
	if (fault != NULL)
		SET(body, fault, fault);
	emit(run, d,
	     (struct event){ EVENT_STEP_COMPUTED, command->now, { .run_step_computed = body } });
	return true;
}

/* The activation whose effect this command is about; a closed one is a conflict. */
static bool find_open(struct run *run, const struct command *command, struct activation **out,
		      struct error *error)
{
	struct activation *activation = run_activation(run, command->step);
	if (activation == NULL || !uuid_equal(&activation->effect, &command->effect))
		return fail(error, ERROR_NOT_FOUND, "no such effect of step " STR_FMT,
			    STR_ARG(command->step));
	if (!activation->open)
		return fail(error, ERROR_CONFLICT, "step " STR_FMT " is closed already",
			    STR_ARG(command->step));
	*out = activation;
	return true;
}

static void emit_tool_finished(struct run *run, const struct activation *activation,
			       const struct command *command, struct decision *d)
{
	struct run_value *output;
	struct run_fault *fault;
	make_result(d, command, &output, &fault);
	struct run_tool_finished *body = run_tool_finished_new(d->arena);
	SET(body, step, activation->path);
	SET(body, effect, activation->effect);
	SET(body, outcome,
	    fault != NULL && command->outcome == RUN_OUTCOME_OK ? RUN_OUTCOME_FAILED
								: command->outcome);
	if (output != NULL)
		SET(body, output, output);
	if (fault != NULL)
		SET(body, fault, fault);
	emit(run, d,
	     (struct event){ EVENT_TOOL_FINISHED, command->now, { .run_tool_finished = body } });
}

static bool decide_finished(struct run *run, const struct command *command, struct decision *d,
			    struct error *error)
{
	struct activation *activation;
	if (!find_open(run, command, &activation, error))
		return false;
	switch (run->graph->nodes[activation->node].kind) {
	case RUN_NODE_TOOL:
		emit_tool_finished(run, activation, command, d);
		return true;
	case RUN_NODE_WAIT:
		break;
	case RUN_NODE_HUMAN:
		return fail(error, ERROR_CONFLICT, "step " STR_FMT " waits for a person",
			    STR_ARG(command->step));
	}
	struct run_timer_finished *body = run_timer_finished_new(d->arena);
	SET(body, step, activation->path);
	SET(body, effect, activation->effect);
	SET(body, outcome, command->outcome);
	emit(run, d,
	     (struct event){ EVENT_TIMER_FINISHED, command->now, { .run_timer_finished = body } });
	return true;
}

static bool decide_answered(struct run *run, const struct command *command, struct decision *d,
			    struct error *error)
{
	struct activation *activation;
	if (!find_open(run, command, &activation, error))
		return false;
	if (activation->state != STEP_WAITING_HUMAN)
		return fail(error, ERROR_CONFLICT, "step " STR_FMT " waits for nobody",
			    STR_ARG(command->step));
	if (command->revision != NULL && !hash_equal(command->revision, &activation->revision))
		return fail(error, ERROR_CONFLICT,
			    "the question has changed since it was shown: read it again");
	struct run_human_finished *body = run_human_finished_new(d->arena);
	SET(body, step, activation->path);
	SET(body, effect, activation->effect);
	SET(body, outcome, RUN_OUTCOME_OK);
	SET(body, decision, command->decision);
	if (command->comment.size > 0)
		SET(body, comment, command->comment);
	SET(body, by, command->by);
	emit(run, d,
	     (struct event){ EVENT_HUMAN_FINISHED, command->now, { .run_human_finished = body } });
	return true;
}

static bool decide_restarted(struct run *run, const struct command *command, struct decision *d,
			     struct error *error)
{
	struct activation *activation;
	if (!find_open(run, command, &activation, error))
		return false;
	if (run->graph->nodes[activation->node].kind != RUN_NODE_TOOL)
		return fail(error, ERROR_CONFLICT, "step " STR_FMT " calls no tool",
			    STR_ARG(command->step));
	struct run_tool_restarted *body = run_tool_restarted_new(d->arena);
	SET(body, step, activation->path);
	SET(body, effect, activation->effect);
	SET(body, attempt, activation->attempt + 1);
	emit(run, d,
	     (struct event){ EVENT_TOOL_RESTARTED, command->now, { .run_tool_restarted = body } });
	return true;
}

/* The floor is at most the seq of the event that raises it: that one stays. */
static bool decide_compact(struct run *run, const struct command *command, struct decision *d,
			   struct error *error)
{
	if (run->seq == 0)
		return fail(error, ERROR_NOT_FOUND, "no such run");
	if (command->floor <= run->floor || command->floor < 2 || command->floor > run->seq + 1)
		return fail(error, ERROR_CONFLICT,
			    "no event is below %lld that is not gone already",
			    (long long)command->floor);
	struct run_compacted *body = run_compacted_new(d->arena);
	SET(body, floor, command->floor);
	emit(run, d,
	     (struct event){ EVENT_RUN_COMPACTED, command->now, { .run_compacted = body } });
	return true;
}

bool decide(struct run *run, const struct command *command, struct decision *d, struct error *error)
{
	if (command->kind == COMMAND_COMPACT)
		return decide_compact(run, command, d, error);
	if (run_ended(run) && run->seq > 0)
		return fail(error, ERROR_CONFLICT, "the run has ended");
	switch (command->kind) {
	case COMMAND_CREATE:
		return decide_create(run, command, d, error);
	case COMMAND_COMPUTED:
		return decide_computed(run, command, d, error);
	case COMMAND_FINISHED:
		return decide_finished(run, command, d, error);
	case COMMAND_ANSWERED:
		return decide_answered(run, command, d, error);
	case COMMAND_RESTARTED:
		return decide_restarted(run, command, d, error);
	case COMMAND_COMPACT:
		break;
	}
	return fail(error, ERROR_INTERNAL, "unknown command");
}

/* ---- what follows -------------------------------------------------------------------- */

static struct activation *head_of(struct run *run, const struct run_queue *queue)
{
	return queue->head == queue->tail ? NULL : &run->activations[queue->at[queue->head]];
}

/* The next step to request, in the order in which they became ready; NULL when none can start. */
static struct activation *next_to_request(struct run *run)
{
	struct activation *next = head_of(run, &run->parked);
	if (next != NULL || run->busy >= RUN_ROOM)
		return next;
	next = head_of(run, &run->tools);
	struct activation *contained = run->workspace_busy ? NULL : head_of(run, &run->contained);
	if (next == NULL || (contained != NULL && contained->arrival < next->arrival))
		next = contained;
	return next;
}

static void request_timer(struct run *run, const struct activation *activation, int64_t now,
			  struct decision *d)
{
	struct run_timer_requested *body = run_timer_requested_new(d->arena);
	SET(body, step, activation->path);
	SET(body, effect, engine_effect_id(run, activation->path, S("timer"), 1));
	SET(body, due_at, now + run->graph->nodes[activation->node].wait_us);
	emit(run, d, (struct event){ EVENT_TIMER_REQUESTED, now, { .run_timer_requested = body } });
}

static struct hash revision_of(struct str question, const struct json *inputs, struct arena *arena)
{
	struct str shown = json_print(arena, inputs);
	uint64_t size = question.size;
	struct sha256 sha;
	sha256_init(&sha);
	sha256_add(&sha, &size, sizeof(size));
	sha256_add(&sha, question.at, question.size);
	sha256_add(&sha, shown.at, shown.size);
	return sha256_finish(&sha);
}

/* The question with its references filled in, cut where a person stops reading anyway: what it is
 * about is shown whole beside it. */
static struct str render_question(struct run *run, const struct graph_node *node,
				  const struct engine_values *values, struct arena *arena)
{
	struct json template = { .kind = JSON_STRING, .as.string = node->question };
	const struct json *question = render(run, &template, values, arena);
	struct str text = question == NULL                ? node->question
			  : question->kind == JSON_STRING ? question->as.string
							  : json_print(arena, question);
	if (text.size <= LIMIT_QUESTION_BYTES)
		return text;
	size_t size = LIMIT_QUESTION_BYTES;
	while (size > 0 && ((unsigned char)text.at[size] & 0xC0) == 0x80)
		size--;
	return str_head(text, size);
}

static void request_human(struct run *run, const struct activation *activation, int64_t now,
			  const struct engine_values *values, const struct json *inputs,
			  struct decision *d)
{
	const struct graph_node *node = &run->graph->nodes[activation->node];
	struct run_value *value = make_value(d, inputs);
	require(value != NULL);
	struct run_human_requested *body = run_human_requested_new(d->arena);
	SET(body, step, activation->path);
	SET(body, effect, engine_effect_id(run, activation->path, S("human"), 1));
	SET(body, kind, RUN_REQUEST_APPROVAL);
	SET(body, question, render_question(run, node, values, d->arena));
	SET(body, inputs, value);
	SET(body, revision, revision_of(body->question, inputs, d->arena));
	emit(run, d, (struct event){ EVENT_HUMAN_REQUESTED, now, { .run_human_requested = body } });
}

static void request_tool(struct run *run, const struct activation *activation, int64_t now,
			 const struct engine_values *values, const struct json *inputs,
			 struct decision *d)
{
	const struct graph_node *node = &run->graph->nodes[activation->node];
	struct run_value *value = make_value(d, inputs);
	require(value != NULL);
	struct run_tool_requested *body = run_tool_requested_new(d->arena);
	SET(body, step, activation->path);
	SET(body, effect, engine_effect_id(run, activation->path, S("tool"), 1));
	SET(body, tool, node->tool);
	SET(body, class, node->class);
	SET(body, inputs, value);
	if (node->class == RUN_CLASS_CONTAINED)
		SET(body, tree, values->tree);
	emit(run, d, (struct event){ EVENT_TOOL_REQUESTED, now, { .run_tool_requested = body } });
}

static enum engine_answer request(struct run *run, const struct activation *activation, int64_t now,
				  const struct engine_values *values, struct decision *d)
{
	const struct graph_node *node = &run->graph->nodes[activation->node];
	static const struct json too_large = { .kind = JSON_OBJECT };
	const struct json *inputs = NULL;
	if (node->kind == RUN_NODE_WAIT) {
		request_timer(run, activation, now, d);
		return ENGINE_DONE;
	}
	if (node->class == RUN_CLASS_CONTAINED && values->tree.size == 0)
		d->needs_tree = true;
	if (engine_inputs(run, activation, values, d, &inputs) == ENGINE_NEED || d->needs_tree)
		return ENGINE_NEED;
	bool fitting = inputs != NULL;
	if (node->kind == RUN_NODE_HUMAN) {
		request_human(run, activation, now, values, fitting ? inputs : &too_large, d);
		return ENGINE_DONE;
	}
	request_tool(run, activation, now, values, fitting ? inputs : &too_large, d);
	if (!fitting) {
		struct command over = { .kind = COMMAND_FINISHED,
					.now = now,
					.outcome = RUN_OUTCOME_FAILED,
					.fault = fault_of(
						ERROR_TOO_LARGE,
						S("the inputs are over the limit of a value")) };
		emit_tool_finished(run, activation, &over, d);
	}
	return ENGINE_DONE;
}

/* ---- the end ------------------------------------------------------------------------- */

static struct fault first_fault(const struct run *run, struct arena *arena)
{
	for (uint32_t i = 0; i < run->count; i++) {
		const struct activation *activation = &run->activations[i];
		if (activation->state == STEP_FAILED)
			return (struct fault){ activation->fault.code,
					       str_format(arena, "step " STR_FMT ": " STR_FMT,
							  STR_ARG(activation->path),
							  STR_ARG(activation->fault.text)) };
	}
	return (struct fault){ S(""), S("") };
}

static bool needs_of_outputs(struct run *run, const struct engine_values *values,
			     struct decision *d)
{
	size_t before = d->need_count;
	need_value(values, &run->inputs, d);
	for (uint32_t i = 0; i < run->count; i++)
		if (run->graph->nodes[i].read_by_outputs)
			need_value(values, &run->activations[i].output, d);
	return d->need_count > before;
}

/* The workflow's outputs by name; a required one that is missing is a fault of the run. */
static const struct json *render_outputs(struct run *run, const struct engine_values *values,
					 struct arena *arena, struct fault *fault)
{
	const struct run_graph *rows = run->graph->rows;
	struct json_member *members = arena_array(arena, struct json_member, rows->outputs.count);
	for (size_t i = 0; i < rows->outputs.count; i++) {
		const struct run_graph_output *row = &rows->outputs.at[i];
		const struct json *value = render(run, row->from, values, arena);
		members[i].key = row->name;
		if (value != NULL)
			members[i].value = *value;
		bool missing = value == NULL || value->kind == JSON_NULL;
		if (missing && !row->optional && fault->code.size == 0)
			*fault = fault_of(ERROR_INVALID, str_format(arena,
								    "output " STR_FMT
								    " is missing; mark it optional "
								    "if it may be",
								    STR_ARG(row->name)));
	}
	struct json *outputs = arena_new(arena, struct json);
	*outputs =
		(struct json){ .kind = JSON_OBJECT, .as.object = { members, rows->outputs.count } };
	return outputs;
}

static enum engine_answer end_run(struct run *run, int64_t now, const struct engine_values *values,
				  struct decision *d)
{
	if (needs_of_outputs(run, values, d))
		return ENGINE_NEED;
	struct fault fault = first_fault(run, d->arena);
	const struct json *outputs = render_outputs(run, values, d->arena, &fault);
	struct run_value *value = make_value(d, outputs);
	if (value == NULL && fault.code.size == 0)
		fault = fault_of(ERROR_TOO_LARGE, S("the outputs are over the limit of a value"));
	struct run_finished *body = run_finished_new(d->arena);
	SET(body, outcome, fault.code.size > 0 ? RUN_OUTCOME_FAILED : RUN_OUTCOME_OK);
	if (value != NULL)
		SET(body, outputs, value);
	if (fault.code.size > 0)
		SET(body, fault, make_fault(d, fault));
	emit(run, d, (struct event){ EVENT_RUN_FINISHED, now, { .run_finished = body } });
	return ENGINE_DONE;
}

enum engine_answer advance(struct run *run, int64_t now, const struct engine_values *values,
			   struct decision *d)
{
	d->need_count = 0;
	d->needs_tree = false;
	if (run_ended(run))
		return ENGINE_DONE;
	for (struct activation *next; (next = next_to_request(run)) != NULL;)
		if (request(run, next, now, values, d) == ENGINE_NEED)
			return ENGINE_NEED;
	return run->unfinished == 0 ? end_run(run, now, values, d) : ENGINE_DONE;
}
