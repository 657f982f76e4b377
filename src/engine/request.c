/* engine/request.c -- requests of effects, which are recorded before the effect happens
 * (architecture idea 4). */
#include "engine/engine_internal.h"

#include "engine/budget.h"

#include "base/limits.h"
#include "contract/run_event_types.h"
#include "contract/run_graph_types.h"
#include "contract/run_value_types.h"
#include "expr/template.h"
#include "engine/session.h"
#include "engine/workspace_folder.h"

enum engine_answer engine_render_inputs(struct run *run, const struct activation *activation,
					const struct engine_values *values, struct decision *d,
					const struct json **out, struct failure *out_fault)
{
	struct eval_context eval_context = eval_context_make(run, activation, values, d);
	const struct json *inputs =
		activation->call > 0
			? session_arguments(&eval_context, activation)
			: eval_render(&eval_context, run_node(run, activation)->row->inputs);
	if (eval_context.missing)
		return ENGINE_NEED;
	*out = inputs;
	*out_fault = eval_context.fault;
	const struct run_graph_node *row = run_node(run, activation)->row;
	struct str text;
	if (!has(row, prompt) || activation->call > 0 || inputs == NULL ||
	    inputs->kind != JSON_OBJECT || out_fault->code.size > 0)
		return ENGINE_DONE;
	if (!prompt_render(run, activation, values, d, row->prompt, &text, out_fault))
		return ENGINE_NEED;
	*out = prompt_add(inputs, text, d->arena);
	return ENGINE_DONE;
}

/* *out is NULL when the inputs are over LIMIT_VALUE_BYTES: rendering shares a value that is referred to
 * as a whole, so a small template can render to a huge text. */
enum engine_answer request_render(struct run *run, const struct activation *activation,
				  const struct engine_values *values, struct decision *d,
				  const struct json **out, struct failure *out_fault)
{
	const struct json *inputs;
	struct str text = S("");
	if (engine_render_inputs(run, activation, values, d, &inputs, out_fault) == ENGINE_NEED)
		return ENGINE_NEED;
	if (inputs != NULL && !json_text_within(inputs, LIMIT_VALUE_BYTES) &&
	    !decision_print(d, inputs, &text))
		return ENGINE_NEED;
	*out = text.at == NULL ? NULL : inputs;
	return ENGINE_DONE;
}

static int64_t deadline(const struct run *run, const struct activation *activation, int64_t now)
{
	const struct run_graph_node *row = run_node(run, activation)->row;
	int64_t own = has(row, timeout_us) ? now + row->timeout_us : 0;
	int64_t all = session_has(run, activation->scope)
			      ? session_deadline(run, activation->scope->owner)
			      : 0;
	return all != 0 && (own == 0 || all < own) ? all : own;
}

/* A retry after a failure, or because a person requested it. */
static int64_t attempt_of(const struct activation *activation)
{
	return activation->state == STEP_RETRYING ? activation->attempt + 1 : 1;
}

void request_fail_ready(struct run *run, const struct activation *activation, struct failure fault,
			int64_t now, struct decision *d)
{
	decision_emit_computed(run, activation, now, NULL, fault, NULL, d);
}

/* ---- waits --------------------------------------------------------------------------- */

static void emit_timer_finished(struct run *run, const struct activation *activation, int64_t now,
				const struct value *data, struct failure fault,
				const struct step_continuation *continuation, struct decision *d)
{
	bool good = fault.code.size == 0;
	if (good)
		fault = continuation->fault;
	bool failed = fault.code.size > 0;
	struct run_timer_finished *body = run_timer_finished_new(d->arena);
	SET(body, step, activation->path);
	SET(body, effect, activation->effect);
	SET(body, outcome, failed ? RUN_OUTCOME_FAILED : RUN_OUTCOME_OK);
	if (failed)
		SET(body, fault, decision_failure(d, fault));
	if (good && data != NULL)
		SET(body, output, decision_value_again(d, data));
	if (continuation->next != NULL)
		SET(body, next, continuation->next);
	decision_emit(run, d,
		      (struct event){ EVENT_TIMER_FINISHED, now, { .run_timer_finished = body } });
	enforce_iteration_limit(run, continuation, now, d);
}

bool request_finish_timer(struct run *run, const struct activation *activation, int64_t now,
			  const struct value *data, struct failure fault,
			  const struct engine_values *values, struct decision *d)
{
	struct eval_context eval_context = eval_context_make(run, activation, values, d);
	struct step_continuation continuation = NO_CONTINUATION;
	if (fault.code.size == 0 &&
	    !continuation_after_success(&eval_context, activation,
					data == NULL ? NULL : eval_value(&eval_context, data),
					&continuation))
		return false;
	emit_timer_finished(run, activation, now, data, fault, &continuation, d);
	return true;
}

static const struct value *kept_signal(const struct run *run, struct str name)
{
	for (const struct run_signal *signal = run->signals; signal != NULL; signal = signal->next)
		if (str_equal(signal->name, name))
			return &signal->data;
	return NULL;
}

static enum engine_answer request_timer(struct run *run, const struct activation *activation,
					int64_t now, const struct engine_values *values,
					struct decision *d)
{
	const struct run_graph_node *row = run_node(run, activation)->row;
	const struct value *data = has(row, signal) ? kept_signal(run, row->signal) : NULL;
	struct eval_context eval_context = eval_context_make(run, activation, values, d);
	/* An earlier signal ends the wait immediately.  What follows from that is evaluated before the wait is
	 * recorded, because it may need values. */
	struct step_continuation continuation = NO_CONTINUATION;
	if (data != NULL &&
	    !continuation_after_success(&eval_context, activation, eval_value(&eval_context, data),
					&continuation))
		return ENGINE_NEED;
	if (eval_context.missing)
		return ENGINE_NEED;
	int64_t due_at = has(row, signal) ? deadline(run, activation, now) : now + row->wait_us;
	struct run_timer_requested *body = run_timer_requested_new(d->arena);
	SET(body, step, activation->path);
	SET(body, effect, engine_effect_id(run, activation->path, S("timer"), 1));
	if (due_at != 0)
		SET(body, due_at, due_at);
	if (has(row, signal))
		SET(body, signal, row->signal);
	decision_emit(
		run, d,
		(struct event){ EVENT_TIMER_REQUESTED, now, { .run_timer_requested = body } });
	if (data != NULL)
		emit_timer_finished(run, activation, now, data, (struct failure){ S(""), S("") },
				    &continuation, d);
	return ENGINE_DONE;
}

/* ---- people -------------------------------------------------------------------------- */

/* The data that the revision covers: the size of the question, the question, and its value. */
static struct str revision_prefix(struct str question, struct arena *arena)
{
	uint64_t size = question.size;
	char *prefix = arena_take_text(arena, sizeof(size) + question.size);
	__builtin_memcpy(prefix, &size, sizeof(size));
	__builtin_memcpy(prefix + sizeof(size), question.at, question.size);
	return (struct str){ prefix, sizeof(size) + question.size };
}

/* Truncates the question: the value it is about is shown in full next to it. */
static struct str cut_question(struct str text)
{
	if (text.size <= LIMIT_QUESTION_BYTES)
		return text;
	size_t size = LIMIT_QUESTION_BYTES;
	while (size > 0 && ((unsigned char)text.at[size] & 0xC0) == 0x80)
		size--;
	return str_head(text, size);
}

static struct str render_question(struct eval_context *eval_context,
				  const struct run_graph_node *row)
{
	struct json template = { .kind = JSON_STRING, .as.string = row->question };
	const struct json *question = eval_render(eval_context, &template);
	if (question == NULL)
		return cut_question(row->question);
	return cut_question(question->kind == JSON_STRING
				    ? question->as.string
				    : json_print(eval_context->d->arena, question));
}

static enum engine_answer emit_question(struct run *run, const struct activation *activation,
					int64_t now, enum run_request_kind kind,
					struct str question, const struct json *inputs,
					struct decision *d)
{
	const struct run_graph_node *row = run_node(run, activation)->row;
	struct run_value *value;
	struct hash revision;
	if (!decision_hash(d, revision_prefix(question, d->arena), inputs, &revision) ||
	    !decision_value(d, inputs, &value))
		return ENGINE_NEED;
	struct run_human_requested *body = run_human_requested_new(d->arena);
	SET(body, step, activation->path);
	SET(body, effect, engine_effect_id(run, activation->path, S("human"), 1));
	SET(body, kind, kind);
	SET(body, question, question);
	SET(body, inputs, value);
	SET(body, revision, revision);
	int64_t due_at = deadline(run, activation, now);
	if (due_at != 0)
		SET(body, due_at, due_at);
	if (has(row, four_eyes) && row->four_eyes)
		SET(body, four_eyes, true);
	decision_emit(
		run, d,
		(struct event){ EVENT_HUMAN_REQUESTED, now, { .run_human_requested = body } });
	return ENGINE_DONE;
}

/* An agent asks a person, or a call of an agent needs approval. */
static enum engine_answer request_session_question(struct run *run,
						   const struct activation *activation, int64_t now,
						   const struct engine_values *values,
						   struct decision *d)
{
	const struct json *arguments = NULL;
	struct failure fault;
	if (request_render(run, activation, values, d, &arguments, &fault) == ENGINE_NEED)
		return ENGINE_NEED;
	const struct json *asked = json_member(arguments, S("question"));
	if (arguments == NULL)
		fault = request_too_large();
	else if (activation->asks_for == 0 &&
		 (asked == NULL || asked->kind != JSON_STRING || asked->as.string.size == 0))
		fault = failure_make(ERROR_INVALID, S("inputs: /question must be a text"));
	if (fault.code.size > 0) {
		request_fail_ready(run, activation, fault, now, d);
		return ENGINE_DONE;
	}
	if (activation->asks_for == 0)
		return emit_question(run, activation, now, RUN_REQUEST_FEEDBACK,
				     cut_question(asked->as.string), arguments, d);
	struct str tool = run->graph->nodes[activation->asks_for - 1].name;
	struct str question =
		str_format(d->arena, "May the agent of step " STR_FMT " call " STR_FMT "?",
			   STR_ARG(activation->scope->owner->path), STR_ARG(tool));
	return emit_question(run, activation, now, RUN_REQUEST_APPROVAL, cut_question(question),
			     arguments, d);
}

static enum engine_answer request_human(struct run *run, const struct activation *activation,
					int64_t now, const struct engine_values *values,
					struct decision *d)
{
	static const struct json nothing = { .kind = JSON_OBJECT };
	const struct run_graph_node *row = run_node(run, activation)->row;
	const struct json *inputs = NULL;
	struct failure fault;
	if (activation->call > 0)
		return request_session_question(run, activation, now, values, d);
	struct eval_context eval_context = eval_context_make(run, activation, values, d);
	struct str question = render_question(&eval_context, row);
	if (request_render(run, activation, values, d, &inputs, &fault) == ENGINE_NEED ||
	    eval_context.missing)
		return ENGINE_NEED;
	if (eval_context.fault.code.size > 0)
		fault = eval_context.fault;
	if (fault.code.size > 0) {
		request_fail_ready(run, activation, fault, now, d);
		return ENGINE_DONE;
	}
	return emit_question(run, activation, now, has(row, ask) ? row->ask : RUN_REQUEST_APPROVAL,
			     question, inputs == NULL ? &nothing : inputs, d);
}

void request_settlement(struct run *run, const struct activation *activation, int64_t now,
			struct decision *d)
{
	struct str question = cut_question(
		str_format(d->arena,
			   "Step " STR_FMT " may or may not have happened: " STR_FMT
			   "  Check, then answer happened, not_happened or retry.",
			   STR_ARG(activation->path), STR_ARG(activation->fault.text)));
	struct run_human_requested *body = run_human_requested_new(d->arena);
	SET(body, step, activation->path);
	SET(body, effect,
	    engine_effect_id(run, activation->path, S("settle"), activation->attempt));
	SET(body, kind, RUN_REQUEST_OUTCOME_UNKNOWN);
	SET(body, question, question);
	SET(body, inputs, decision_value_again(d, &activation->inputs));
	SET(body, revision,
	    hash_prefixed(revision_prefix(question, d->arena), uuid_str(&activation->effect)));
	decision_emit(
		run, d,
		(struct event){ EVENT_HUMAN_REQUESTED, now, { .run_human_requested = body } });
}

/* ---- tools, turns, sub-runs ------------------------------------------------------------ */

/* Fills in the fields that all kinds of calls share. */
static void emit_request(struct run *run, const struct activation *activation, int64_t now,
			 struct call_request request, struct decision *d)
{
	request.step = activation->path;
	request.attempt = attempt_of(activation);
	request.due_at = deadline(run, activation, request.begun_at > 0 ? request.begun_at : now);
	struct event event = call_requested(run_node(run, activation)->row, &request, d->arena);
	event.at = now;
	decision_emit(run, d, event);
}

struct failure request_too_large(void)
{
	return failure_make(ERROR_TOO_LARGE, S("the inputs are larger than the limit of a value"));
}

/* A call that cannot be made is recorded and failed in the same decision. */
static void refuse_call(struct run *run, const struct activation *activation, int64_t now,
			struct failure fault, struct decision *d)
{
	struct run_tool_finished *body = run_tool_finished_new(d->arena);
	SET(body, step, activation->path);
	SET(body, effect, activation->effect);
	SET(body, outcome, RUN_OUTCOME_FAILED);
	SET(body, fault, decision_failure(d, fault));
	decision_emit(run, d,
		      (struct event){ EVENT_TOOL_FINISHED, now, { .run_tool_finished = body } });
}

const struct engine_tree *request_tree(const struct activation *activation,
				       const struct engine_values *values)
{
	const struct engine_tree *tree = values->tree;
	return tree != NULL && tree->branch.size == 0 &&
			       (tree->step.size == 0 || str_equal(tree->step, activation->path))
		       ? tree
		       : NULL;
}

/* The places of secrets in the inputs, which were rendered before: everything is loaded.  Only a
 * definition that names secrets pays for rendering twice. */
static struct run_secret_use_list secrets_of(struct run *run, const struct activation *activation,
					     const struct engine_values *values, struct decision *d)
{
	struct template_secrets found = { 0 };
	if (!has(run->graph->rows, secrets))
		return (struct run_secret_use_list){ NULL, 0 };
	struct eval_context eval_context = eval_context_make(run, activation, values, d);
	eval_render_secrets(&eval_context, run_node(run, activation)->row->inputs, &found);
	struct run_secret_use *at = arena_array(d->arena, struct run_secret_use, found.count);
	for (size_t i = 0; i < found.count; i++) {
		at[i] = *run_secret_use_new(d->arena);
		SET(&at[i], pointer, found.at[i].pointer);
		SET(&at[i], offset, (int64_t)found.at[i].offset);
		SET(&at[i], name, found.at[i].name);
	}
	return (struct run_secret_use_list){ at, found.count };
}

void request_want_tree(const struct run *run, const struct activation *activation,
		       struct decision *d)
{
	const struct run_graph_node *row = run_node(run, activation)->row;
	struct branch *branch = branch_of(run, activation);
	struct decision_tree tree = { .step = activation->path,
				      .branch = branch,
				      .base = S(""),
				      .timeout_us = has(row, timeout_us) ? row->timeout_us : 0 };
	if (branch != NULL && !branch->requested) {
		tree.base = branch->scope->owner->tree;
		tree.parent = branch_of(run, branch->scope->owner);
	}
	decision_want_tree(d, tree);
}

static enum engine_answer request_tool(struct run *run, const struct activation *activation,
				       int64_t now, const struct engine_values *values,
				       struct decision *d)
{
	static const struct json too_large = { .kind = JSON_OBJECT };
	const struct run_graph_node *row = run_node(run, activation)->row;
	const struct json *inputs = NULL;
	struct failure fault;
	bool writes = run_node(run, activation)->writes;
	const struct branch *branch =
		row->class == RUN_CLASS_CONTAINED ? branch_of(run, activation) : NULL;
	const struct engine_tree *tree = writes ? request_tree(activation, values) : NULL;
	if (writes && tree == NULL) {
		request_want_tree(run, activation, d);
		return ENGINE_DONE;
	}
	if (request_render(run, activation, values, d, &inputs, &fault) == ENGINE_NEED)
		return ENGINE_NEED;
	if (fault.code.size > 0) {
		request_fail_ready(run, activation, fault, now, d);
		return ENGINE_DONE;
	}
	struct run_value *value;
	if (!decision_value(d, inputs == NULL ? &too_large : inputs, &value))
		return ENGINE_NEED;
	struct call_request request = {
		.effect = engine_effect_id(run, activation->path, S("tool"), 1),
		.inputs = value,
		.tree = tree != NULL ? tree->tree : S(""),
		.folder = branch != NULL ? branch->path : S(""),
		.begun_at = tree != NULL ? tree->begun_at : 0,
	};
	if (inputs != NULL)
		request.secrets = secrets_of(run, activation, values, d);
	emit_request(run, activation, now, request, d);
	if (inputs == NULL)
		refuse_call(run, activation, now, request_too_large(), d);
	else if (tree != NULL && tree->fault.code.size > 0)
		refuse_call(run, activation, now, tree->fault, d);
	return ENGINE_DONE;
}

/* A turn that is not allowed fails its step.  The step of a retry has begun: so the turn is recorded, and
 * failed in the same decision. */
static void refuse_turn(struct run *run, const struct activation *activation, struct failure fault,
			const struct run_value *value, int64_t now, struct decision *d)
{
	if (activation->state != STEP_RETRYING) {
		request_fail_ready(run, activation, fault, now, d);
		return;
	}
	struct call_request request = {
		.effect = engine_effect_id(run, activation->path, S("turn"), 1), .inputs = value
	};
	emit_request(run, activation, now, request, d);
	const struct call_end end = { .step = activation->path,
				      .effect = activation->effect,
				      .outcome = RUN_OUTCOME_FAILED,
				      .fault = decision_failure(d, fault) };
	struct event event = call_finished(run_node(run, activation)->row, &end, d->arena);
	event.at = now;
	decision_emit(run, d, event);
}

/* Requests the turn; false when a budget does not allow it now. */
static bool request_within_budget(struct run *run, const struct activation *activation,
				  int64_t bytes, const struct run_value *value, int64_t now,
				  const struct engine_values *values, struct decision *d)
{
	const struct run_graph_agent *agent = run_node(run, activation)->row->agent;
	struct budget_question question = { .agent = agent, .bytes = bytes, .now = now };
	switch (budget_ask(run, &question, values, d)) {
	case BUDGET_WAIT:
		d->budget.waits = true;
		d->budget.waited_for = question.budget;
		d->budget.amount = question.amount;
		return false;
	case BUDGET_EXHAUSTED:
		if (run->cancelling)
			refuse_turn(run, activation,
				    budget_refusal(activation, &question, d->arena), value, now, d);
		else
			budget_pause(run, activation, &question, d);
		return false;
	case BUDGET_FITS:
	case BUDGET_NONE:
		break;
	}
	struct call_request request = {
		.effect = engine_effect_id(run, activation->path, S("turn"), 1),
		.inputs = value,
		.reserved = question.amount,
		.reserves = question.reserves,
		.budgets = question.budgets,
	};
	emit_request(run, activation, now, request, d);
	return true;
}

static enum engine_answer request_turn(struct run *run, const struct activation *activation,
				       int64_t now, const struct engine_values *values,
				       struct decision *d)
{
	const struct run_graph_agent *agent = run_node(run, activation)->row->agent;
	const struct json *inputs = NULL;
	struct failure fault;
	struct str system;
	/* Every turn of a session begins with the same request; the transcript behind it is in the
	 * state. */
	if (session_has(run, activation->scope)) {
		const struct activation *session = activation->scope->owner;
		(void)request_within_budget(run, activation, session_bytes(session),
					    decision_value_again(d, &session->opening), now, values,
					    d);
		return ENGINE_DONE;
	}
	if (request_render(run, activation, values, d, &inputs, &fault) == ENGINE_NEED)
		return ENGINE_NEED;
	if (fault.code.size == 0 &&
	    !prompt_system(run, activation, values, d, agent, &system, &fault))
		return ENGINE_NEED;
	if (fault.code.size > 0) {
		request_fail_ready(run, activation, fault, now, d);
		return ENGINE_DONE;
	}
	struct run_value *value = NULL;
	struct turn_opening opening = { 0 };
	size_t blobs = d->blob_count;
	if (inputs != NULL)
		opening = turn_opening_make(agent, system, inputs,
					    budget_max_tokens(run, agent, now, values), d->arena);
	if (opening.request != NULL && !decision_value(d, opening.request, &value))
		return ENGINE_NEED;
	if (value == NULL) {
		fault = opening.fault.code.size > 0 ? opening.fault : request_too_large();
		request_fail_ready(run, activation, fault, now, d);
		return ENGINE_DONE;
	}
	int64_t bytes = (has(value, size) ? value->size : LIMIT_VALUE_INLINE) +
			turn_opening_attachment_bytes(opening.attachments);
	/* A turn that waits for money, or pauses its run, has no event that names its request: a
	 * stored value without a name would stay for ever. */
	if (!request_within_budget(run, activation, bytes, value, now, values, d))
		d->blob_count = blobs;
	return ENGINE_DONE;
}

static enum engine_answer request_subrun(struct run *run, const struct activation *activation,
					 int64_t now, const struct engine_values *values,
					 struct decision *d)
{
	const struct run_graph *graph = run_node(run, activation)->row->graph;
	const struct json *inputs = NULL;
	struct failure fault;
	if (request_render(run, activation, values, d, &inputs, &fault) == ENGINE_NEED)
		return ENGINE_NEED;
	if (fault.code.size > 0) {
		request_fail_ready(run, activation, fault, now, d);
		return ENGINE_DONE;
	}
	struct run_value *value = NULL;
	if (inputs != NULL && !decision_value(d, inputs, &value))
		return ENGINE_NEED;
	if (value == NULL) {
		request_fail_ready(run, activation, request_too_large(), now, d);
		return ENGINE_DONE;
	}
	/* A second attempt at a sub-run starts another child run. */
	struct uuid child =
		engine_effect_id(run, activation->path, S("subrun"), attempt_of(activation));
	struct str definition = run_graph_text(graph, d->arena);
	struct call_request request = { .effect = child,
					.inputs = value,
					.definition = hash_of(definition) };
	decision_add_blob(d, definition, &request.definition);
	emit_request(run, activation, now, request, d);
	return ENGINE_DONE;
}

enum engine_answer request_effect(struct run *run, struct activation *activation, int64_t now,
				  const struct engine_values *values, struct decision *d)
{
	switch (run_node(run, activation)->kind) {
	case RUN_NODE_TOOL:
		return request_tool(run, activation, now, values, d);
	case RUN_NODE_AGENT:
		return request_turn(run, activation, now, values, d);
	case RUN_NODE_SUBRUN:
		return request_subrun(run, activation, now, values, d);
	case RUN_NODE_WAIT:
		return request_timer(run, activation, now, values, d);
	case RUN_NODE_HUMAN:
		return request_human(run, activation, now, values, d);
	case RUN_NODE_CONDITION:
	case RUN_NODE_PARALLEL:
	case RUN_NODE_MAP:
	case RUN_NODE_LOOP:
	case RUN_NODE_VERIFY:
	case RUN_NODE_GATE:
	case RUN_NODE_SESSION:
	case RUN_NODE_MAILBOX:
	case RUN_NODE_TRY:
		break;
	}
	require(false);
	return ENGINE_DONE;
}
