/* engine/history_synthesis.c -- synthesizes the events that a snapshot represents.
 *
 * A step of a snapshot has the seq, the time and the data of the events that started and ended it, so
 * each event can be recreated at its old position.  The inputs of an effect were removed with its
 * event: they become a value without content, which a timeline shows as {}.  A deadline is derived
 * from the time of the request and the definition.  Earlier rounds and the bodies of final steps are
 * not in a snapshot, so their events are not synthesized.
 */
#include "engine/history_synthesis.h"

#include "base/limits.h"
#include "base/map.h"
#include "contract/field_copy.h"
#include "contract/run_event_types.h"
#include "contract/run_graph_types.h"
#include "contract/run_node_types.h"
#include "contract/run_outcome_types.h"
#include "contract/run_snapshot_types.h"
#include "contract/run_value_types.h"
#include "engine/effect_events.h"

struct retelling {
	struct arena *arena;
	struct synthesized_history *out;
	size_t room;
	int64_t floor;
	struct run_call_opened_list calls;    /* of the turn of a session whose body is told */
	const struct run_value *state;        /* of a graph workflow; NULL = none */
	int64_t state_seq;                    /* the result that it is told with */
	const struct run_snapshot_step *step; /* whose events are told; NULL = of no step */
};

static bool is_final(const struct run_snapshot_step *step)
{
	return has(step, ended_at);
}

/* The first event of a step and the one that ended it record its milestone. */
static void attach_milestone(const struct retelling *r, int64_t seq, struct event *event)
{
	const struct run_snapshot_step *step = r->step;
	if (step == NULL || !has(step, milestone))
		return;
	const struct run_milestone *known = step->milestone;
	bool is_end = is_final(step) && has(step, ended_seq) && seq == step->ended_seq &&
		      has(known, passed);
	bool is_start = has(known, starts) && known->starts &&
			(has(step, started_seq) ? seq == step->started_seq : is_end);
	if (!is_start && !is_end)
		return;
	struct run_milestone *told = arena_copy(r->arena, known, sizeof(*known));
	if (!is_start)
		told->is.starts = ABSENT;
	if (!is_end)
		told->is.passed = ABSENT;
	event_set_milestone(event, told, r->arena);
}

static void add(struct retelling *r, int64_t seq, int64_t at, struct event event)
{
	if (seq <= 0 || seq >= r->floor)
		return;
	attach_milestone(r, seq, &event);
	require(r->out->count < r->room);
	event.at = at;
	r->out->events[r->out->count] = event;
	r->out->seqs[r->out->count++] = seq;
}

static const struct run_value *given(const struct retelling *r,
				     const struct run_snapshot_step *step)
{
	return has(step, inputs) ? step->inputs : run_value_new(r->arena);
}

static enum run_outcome outcome_of(const struct run_snapshot_step *step)
{
	return has(step, outcome) ? step->outcome : RUN_OUTCOME_OK;
}

/* The engine adds a fault without text to an effect that failed without a fault. */
static bool has_fault(const struct run_snapshot_step *step)
{
	return has(step, fault) && step->fault->text.size > 0;
}

static bool is_in(const struct run_snapshot_step *step, const char *state)
{
	return has(step, state) && str_equal(step->state, str_from_c(state));
}

/* The node's name is the last part of the path, without the number of the activation. */
static struct str name_of(struct str path)
{
	size_t mark;
	struct str piece, name = path;
	while (str_cut(&path, '/', &piece))
		name = piece;
	if (str_find(name, S("#"), &mark))
		name.size = mark;
	return name;
}

/* What is known of the continuation; NULL = nothing. */
static const struct run_next *next_of(const struct retelling *r,
				      const struct run_snapshot_step *step)
{
	bool limit = has(step, limit_reached) && step->limit_reached;
	bool state = r->state != NULL && has(step, ended_seq) && step->ended_seq == r->state_seq;
	struct run_next *next = run_next_new(r->arena);
	if (has(step, instead)) {
		struct str name = name_of(step->instead);
		SET(next, fallback, step->instead);
		SET(next, then,
		    ((struct str_list){ arena_copy(r->arena, &name, sizeof(name)), 1 }));
		return next;
	}
	if (!limit && !state)
		return NULL;
	if (limit)
		SET(next, limit_reached, true);
	if (state)
		SET(next, state, r->state);
	return next;
}

#define SET_NEXT(r, body, from)                                       \
	do {                                                          \
		const struct run_next *next_known = next_of(r, from); \
		if (next_known != NULL)                               \
			SET(body, next, next_known);                  \
	} while (0)

/* ---- steps without an effect ----------------------------------------------------------- */

static void retell_computed(struct retelling *r, const struct run_snapshot_step *step)
{
	struct run_step_computed *body = run_step_computed_new(r->arena);
	COPY_FIELDS(run_snapshot_step, step, run_step_computed, body, NULL);
	if (!has_fault(step))
		body->is.fault = ABSENT;
	SET_NEXT(r, body, step);
	add(r, step->ended_seq, step->ended_at,
	    (struct event){ .type = EVENT_STEP_COMPUTED, .as.run_step_computed = body });
}

static void retell_started(struct retelling *r, const struct run_snapshot_step *step)
{
	struct run_step_started *body = run_step_started_new(r->arena);
	SET(body, step, step->step);
	add(r, step->started_seq, step->started_at,
	    (struct event){ .type = EVENT_STEP_STARTED, .as.run_step_started = body });
}

static void retell_skipped(struct retelling *r, const struct run_snapshot_step *step)
{
	struct run_step_skipped *body = run_step_skipped_new(r->arena);
	SET(body, step, step->step);
	SET(body, reason, step->reason);
	add(r, step->ended_seq, step->ended_at,
	    (struct event){ .type = EVENT_STEP_SKIPPED, .as.run_step_skipped = body });
}

static void retell_container(struct retelling *r, const struct run_snapshot_step *step)
{
	struct run_step_entered *begun = run_step_entered_new(r->arena);
	COPY_FIELDS(run_snapshot_step, step, run_step_entered, begun, NULL);
	if (has(step, item_count))
		SET(begun, count, step->item_count);
	/* The first turn of a session has no note; its opening is a value of the snapshot. */
	if (has(step, bodies) && step->bodies.count > 0 && has(&step->bodies.at[0], attachments) &&
	    step->bodies.at[0].item == 1)
		SET(begun, attachments, step->bodies.at[0].attachments);
	add(r, step->started_seq, step->started_at,
	    (struct event){ .type = EVENT_STEP_ENTERED, .as.run_step_entered = begun });
	/* Only a try is left by an event although it was cancelled, and then it has a fault. */
	bool cancelled = is_in(step, "cancelled");
	if (!is_final(step) || (cancelled && !has(step, fault)))
		return;
	struct run_step_left *over = run_step_left_new(r->arena);
	COPY_FIELDS(run_snapshot_step, step, run_step_left, over, NULL);
	SET(over, outcome,
	    cancelled          ? RUN_OUTCOME_CANCELLED
	    : has(step, fault) ? RUN_OUTCOME_FAILED
			       : RUN_OUTCOME_OK);
	SET_NEXT(r, over, step);
	add(r, step->ended_seq, step->ended_at,
	    (struct event){ .type = EVENT_STEP_LEFT, .as.run_step_left = over });
}

/* ---- effects --------------------------------------------------------------------------- */

static void retell_restarts(struct retelling *r, const struct run_snapshot_step *step)
{
	for (size_t i = 0; has(step, restarts) && i < step->restarts.count; i++) {
		const struct run_snapshot_restart *restart = &step->restarts.at[i];
		struct run_tool_restarted *again = run_tool_restarted_new(r->arena);
		SET(again, step, step->step);
		SET(again, effect, step->effect);
		SET(again, attempt, restart->attempt);
		add(r, restart->seq, restart->at,
		    (struct event){ .type = EVENT_TOOL_RESTARTED, .as.run_tool_restarted = again });
	}
}

/* A question that settles an unknown outcome has no deadline. */
static void retell_passed_on(struct retelling *r, const struct run_snapshot_step *step,
			     const struct run_graph_node *node)
{
	const struct run_snapshot_question *question = step->question;
	for (size_t i = 0;
	     has(question, passed_on) && i < question->passed_on.count && i < node->levels.count;
	     i++) {
		const struct run_snapshot_moment *moment = &question->passed_on.at[i];
		const struct run_graph_level *level = &node->levels.at[i];
		struct run_human_escalated *body = run_human_escalated_new(r->arena);
		SET(body, step, step->step);
		SET(body, effect, has(question, id) ? question->id : step->effect);
		SET(body, level, (int64_t)i + 1);
		SET(body, to, level->to);
		if (has(level, timeout_us))
			SET(body, due_at, moment->at + level->timeout_us);
		add(r, moment->seq, moment->at,
		    (struct event){ .type = EVENT_HUMAN_ESCALATED,
				    .as.run_human_escalated = body });
	}
}

static void retell_question(struct retelling *r, const struct run_snapshot_step *step,
			    const struct run_graph_node *node)
{
	const struct run_snapshot_question *question = step->question;
	struct run_human_requested *asked = run_human_requested_new(r->arena);
	int64_t at = has(question, at) ? question->at : step->started_at;
	bool own = node->kind == RUN_NODE_HUMAN;
	SET(asked, step, step->step);
	SET(asked, effect, has(question, id) ? question->id : step->effect);
	COPY_FIELDS(run_snapshot_question, question, run_human_requested, asked, NULL);
	SET(asked, inputs, given(r, step));
	if (own && has(node, timeout_us))
		SET(asked, due_at, at + node->timeout_us);
	if (own && has(node, four_eyes) && node->four_eyes)
		SET(asked, four_eyes, true);
	add(r, has(question, seq) ? question->seq : step->started_seq, at,
	    (struct event){ .type = EVENT_HUMAN_REQUESTED, .as.run_human_requested = asked });
	if (own)
		retell_passed_on(r, step, node);
}

/* A snapshot is stored data, which may be damaged: an answer may exist without its question. */
static bool has_answer(const struct run_snapshot_step *step)
{
	return has(step, answer) && has(step, question);
}

/* An attempt that did not end the step has a seq of its own. */
static void retell_answer(struct retelling *r, const struct run_snapshot_step *step)
{
	struct run_human_finished *answered = run_human_finished_new(r->arena);
	const struct run_snapshot_answer *answer = step->answer;
	bool over = answer->decision != RUN_DECISION_RETRY;
	SET(answered, step, step->step);
	SET(answered, effect, has(step->question, id) ? step->question->id : step->effect);
	SET(answered, outcome, RUN_OUTCOME_OK);
	COPY_FIELDS(run_snapshot_answer, answer, run_human_finished, answered, NULL);
	if (over && has(step, output) && !(has(answer, continues) && answer->continues))
		SET(answered, value, step->output);
	/* Only after a good answer is the fault recorded; it follows from the others. */
	bool continues = has(answer, continues) && answer->continues;
	if (over && has_fault(step) && (answer->decision != RUN_DECISION_REJECT || continues) &&
	    answer->decision != RUN_DECISION_NOT_HAPPENED &&
	    answer->decision != RUN_DECISION_TIMEOUT)
		SET(answered, fault, step->fault);
	if (over)
		SET_NEXT(r, answered, step);
	if (over || has(answer, seq))
		add(r, over ? step->ended_seq : answer->seq, over ? step->ended_at : answer->at,
		    (struct event){ .type = EVENT_HUMAN_FINISHED,
				    .as.run_human_finished = answered });
}

/* Unless it is recorded, the deadline is the time of the request plus the timeout of the definition.
 * The definition of a sub-run is not in the event: the parent's graph has it. */
static void retell_request(struct retelling *r, struct run_snapshot_restart when,
			   struct call_request request, const struct run_graph_node *node)
{
	request.attempt = when.attempt;
	request.due_at = has(&when, due_at)      ? when.due_at
			 : has(node, timeout_us) ? when.at + node->timeout_us
						 : 0;
	add(r, when.seq, when.at, call_requested(node, &request, r->arena));
}

static struct uuid effect_of(const struct run_snapshot_step *step,
			     const struct run_snapshot_attempt *attempt)
{
	return has(attempt, effect) ? attempt->effect : step->effect;
}

static void retell_failed(struct retelling *r, const struct run_snapshot_step *step, size_t number,
			  const struct run_graph_node *node)
{
	const struct run_snapshot_attempt *failed = &step->failed.at[number];
	struct run_next *next = run_next_new(r->arena);
	SET(next, retry_at, failed->retry_at);
	struct call_end end = {
		.step = step->step,
		.effect = effect_of(step, failed),
		.outcome = has(failed, outcome) ? failed->outcome : RUN_OUTCOME_FAILED,
		.output = has(failed, output) ? failed->output : NULL,
		.log = has(failed, log) ? failed->log : NULL,
		.figures = has(failed, figures) ? failed->figures : NULL,
		.files = has(failed, files) ? failed->files : NULL,
		.file_count = has(failed, file_count) ? failed->file_count : 0,
		.fault = has(failed, fault) && failed->fault->text.size > 0 ? failed->fault : NULL,
		.next = next
	};
	if (has(failed, request)) {
		struct call_request request = { .step = step->step,
						.effect = end.effect,
						.inputs = run_value_new(r->arena) };
		retell_request(r, *failed->request, request, node);
	}
	add(r, failed->seq, failed->at, call_finished(node, &end, r->arena));
}

/* The request that started the step is usually not recorded: it has the step's time and deadline. */
static bool is_start_recorded(const struct run_snapshot_step *step, size_t failed)
{
	const struct run_snapshot_restart *first = NULL;
	if (failed > 0 && has(&step->failed.at[0], request))
		first = step->failed.at[0].request;
	else if (failed == 0 && has(step, request))
		first = step->request;
	return first != NULL && first->seq == step->started_seq;
}

static void retell_start(struct retelling *r, const struct run_snapshot_step *step, size_t failed,
			 const struct run_graph_node *node)
{
	struct call_request first = { .step = step->step,
				      .effect = failed > 0 ? effect_of(step, &step->failed.at[0])
							   : step->effect,
				      .inputs = failed > 0 || has(step, request)
							? run_value_new(r->arena)
							: given(r, step) };
	struct run_snapshot_restart *begun = run_snapshot_restart_new(r->arena);
	SET(begun, seq, step->started_seq);
	SET(begun, at, step->started_at);
	SET(begun, attempt, 1);
	retell_request(r, *begun, first, node);
}

/* Every attempt: the first started with the step, the newest may have a request of its own. */
static void retell_attempts(struct retelling *r, const struct run_snapshot_step *step,
			    const struct run_graph_node *node)
{
	size_t failed = has(step, failed) ? step->failed.count : 0;
	if (!is_start_recorded(step, failed))
		retell_start(r, step, failed, node);
	for (size_t i = 0; i < failed; i++)
		retell_failed(r, step, i, node);
	if (has(step, request))
		retell_request(r, *step->request,
			       (struct call_request){ .step = step->step,
						      .effect = step->effect,
						      .inputs = given(r, step) },
			       node);
}

/* An answer that settled an unknown outcome closed the step; after "retry", a later result did. */
static bool was_settled(const struct run_snapshot_step *step)
{
	return has_answer(step) && step->answer->decision != RUN_DECISION_RETRY;
}

static void retell_effect(struct retelling *r, const struct run_snapshot_step *step,
			  const struct run_graph_node *node)
{
	retell_attempts(r, step, node);
	retell_restarts(r, step);
	if (has(step, question))
		retell_question(r, step, node);
	if (has_answer(step) && step->answer->decision == RUN_DECISION_RETRY)
		retell_answer(r, step);
	/* A wait or question that was open when the run was cancelled has no closing event. */
	if (!is_final(step) ||
	    (is_in(step, "cancelled") && outcome_of(step) != RUN_OUTCOME_CANCELLED))
		return;
	if (was_settled(step)) {
		retell_answer(r, step);
		return;
	}
	struct call_end end = { .step = step->step,
				.effect = step->effect,
				.outcome = outcome_of(step),
				.output = has(step, output) ? step->output : NULL,
				.log = has(step, log) ? step->log : NULL,
				.figures = has(step, figures) ? step->figures : NULL,
				.files = has(step, files) ? step->files : NULL,
				.file_count = has(step, file_count) ? step->file_count : 0,
				.fault = has_fault(step) ? step->fault : NULL,
				.next = next_of(r, step) };
	if (node->kind == RUN_NODE_AGENT && outcome_of(step) == RUN_OUTCOME_OK)
		end.calls = r->calls;
	add(r, step->ended_seq, step->ended_at, call_finished(node, &end, r->arena));
}

static void retell_wait(struct retelling *r, const struct run_snapshot_step *step,
			const struct run_graph_node *node)
{
	struct run_timer_requested *begun = run_timer_requested_new(r->arena);
	SET(begun, step, step->step);
	SET(begun, effect, step->effect);
	if (has(step, due_at))
		SET(begun, due_at, step->due_at);
	if (has(node, signal))
		SET(begun, signal, node->signal);
	add(r, step->started_seq, step->started_at,
	    (struct event){ .type = EVENT_TIMER_REQUESTED, .as.run_timer_requested = begun });
	if (!is_final(step) || is_in(step, "cancelled"))
		return;
	struct run_timer_finished *over = run_timer_finished_new(r->arena);
	SET(over, step, step->step);
	SET(over, effect, step->effect);
	SET(over, outcome, outcome_of(step));
	if (has(step, output))
		SET(over, output, step->output);
	if (has_fault(step))
		SET(over, fault, step->fault);
	SET_NEXT(r, over, step);
	add(r, step->ended_seq, step->ended_at,
	    (struct event){ .type = EVENT_TIMER_FINISHED, .as.run_timer_finished = over });
}

/* ---- a step of any kind ------------------------------------------------------------------ */

static void retell_body(struct retelling *r, struct run_snapshot_step_list steps,
			struct run_graph_node_list nodes);

/* Whether the call was made because another one had failed. */
static bool was_instead(struct run_snapshot_step_list steps, struct str path)
{
	for (size_t i = 0; i < steps.count; i++)
		if (has(&steps.at[i], instead) && str_equal(steps.at[i].instead, path))
			return true;
	return false;
}

/* Calls of `delegate` have a node for each agent. */
static void retell_name(struct run_call_opened *call, struct str name)
{
	bool delegates = str_starts(name, S("delegate_"));
	SET(call, name, delegates ? S("delegate") : name);
	if (delegates)
		SET(call, node, name);
}

/* The calls of a turn's reply, by their number: those that were made, and those that were refused. */
static struct run_call_opened_list calls_of(struct retelling *r,
					    struct run_snapshot_step_list steps)
{
	size_t count = 0;
	for (size_t i = 0; i < steps.count; i++) {
		const struct run_snapshot_step *step = &steps.at[i];
		if (has(step, call) && step->call > 0 && (size_t)step->call > count)
			count = (size_t)step->call;
		for (size_t k = 0; has(step, refused) && k < step->refused.count; k++)
			if (step->refused.at[k].call > 0 &&
			    (size_t)step->refused.at[k].call > count)
				count = (size_t)step->refused.at[k].call;
	}
	if (count > LIMIT_REPLY_CALLS_KEPT)
		count = LIMIT_REPLY_CALLS_KEPT; /* a damaged snapshot */
	struct run_call_opened *at = arena_array(r->arena, struct run_call_opened, count);
	for (size_t i = 0; i < count; i++) {
		at[i] = *run_call_opened_new(r->arena);
		SET(&at[i], name, S(""));
	}
	for (size_t i = 0; i < steps.count; i++) {
		const struct run_snapshot_step *step = &steps.at[i];
		if (has(step, call) && step->call >= 1 && (size_t)step->call <= count &&
		    !was_instead(steps, step->step))
			retell_name(&at[step->call - 1],
				    has(step, asks_for) ? step->asks_for : name_of(step->step));
		if (has(step, call) && has(step, asks_for) && step->call >= 1 &&
		    (size_t)step->call <= count)
			SET(&at[step->call - 1], approve, true);
		for (size_t k = 0; has(step, refused) && k < step->refused.count; k++) {
			const struct run_snapshot_refusal *refused = &step->refused.at[k];
			if (refused->call < 1 || (size_t)refused->call > count)
				continue;
			SET(&at[refused->call - 1], name, refused->name);
			SET(&at[refused->call - 1], fault, refused->fault);
		}
	}
	return (struct run_call_opened_list){ at, count };
}

/* A turn of a session: the event that entered it, and the calls of its reply. */
static void retell_turn(struct retelling *r, const struct run_snapshot_step *session,
			const struct run_snapshot_body *body)
{
	r->calls = calls_of(r, body->steps);
	if (!has(body, entered_seq) || !has(body, entered_at) ||
	    body->entered_seq == session->started_seq)
		return;
	struct run_step_entered *begun = run_step_entered_new(r->arena);
	COPY_FIELDS(run_snapshot_body, body, run_step_entered, begun, NULL);
	SET(begun, step, session->step);
	add(r, body->entered_seq, body->entered_at,
	    (struct event){ .type = EVENT_STEP_ENTERED, .as.run_step_entered = begun });
}

static void retell_plain(struct retelling *r, const struct run_snapshot_step *step,
			 const struct run_graph_node *node)
{
	bool at_once = !has(step, started_seq) ||
		       (has(step, ended_seq) && step->ended_seq == step->started_seq);
	bool pure = node->kind == RUN_NODE_TOOL || node->kind == RUN_NODE_CONDITION ||
		    node->kind == RUN_NODE_MAILBOX;
	if (pure && !at_once && (has(node, when) || has(node, milestone)))
		retell_started(r, step);
	if (pure || at_once) {
		if (is_final(step) && !is_in(step, "cancelled"))
			retell_computed(r, step);
		return;
	}
	retell_container(r, step);
	r->step = NULL;
	for (size_t i = 0; has(step, bodies) && i < step->bodies.count; i++) {
		if (node->kind == RUN_NODE_SESSION)
			retell_turn(r, step, &step->bodies.at[i]);
		retell_body(r, step->bodies.at[i].steps, node->body);
		r->calls = (struct run_call_opened_list){ NULL, 0 };
	}
}

static void retell_step(struct retelling *r, const struct run_snapshot_step *step,
			const struct run_graph_node *node)
{
	r->step = step;
	if (is_in(step, "skipped")) {
		if (has(step, reason) && !has(step, fault))
			retell_skipped(r, step);
	} else if (!has(step, effect)) {
		retell_plain(r, step, node);
	} else if (node->kind == RUN_NODE_WAIT) {
		retell_wait(r, step, node);
	} else if (node->kind == RUN_NODE_HUMAN) {
		if (has(step, question))
			retell_question(r, step, node);
		if (has_answer(step))
			retell_answer(r, step);
	} else {
		retell_effect(r, step, node);
	}
}

static void retell_body(struct retelling *r, struct run_snapshot_step_list steps,
			struct run_graph_node_list nodes)
{
	AUTO(map) numbers = { 0 };
	for (size_t i = 0; i < nodes.count; i++)
		map_put(&numbers, nodes.at[i].name, (void *)(uintptr_t)(i + 1));
	for (size_t i = 0; i < steps.count; i++) {
		size_t number = (size_t)(uintptr_t)map_get(&numbers, name_of(steps.at[i].step));
		if (number > 0)
			retell_step(r, &steps.at[i], &nodes.at[number - 1]);
		r->step = NULL;
	}
}

/* Start, request and end; each further attempt with its end; each escalation level. */
static size_t most_events_of(const struct run_snapshot_step *step)
{
	size_t count = 3;
	if (has(step, restarts))
		count += step->restarts.count;
	if (has(step, failed))
		count += 2 * step->failed.count;
	if (has(step, request))
		count++;
	if (has(step, answer) && has(step->answer, seq))
		count++;
	if (has(step, question) && has(step->question, passed_on))
		count += step->question->passed_on.count;
	return count;
}

static size_t most_events(struct run_snapshot_step_list steps)
{
	size_t count = 0;
	for (size_t i = 0; i < steps.count; i++) {
		const struct run_snapshot_step *step = &steps.at[i];
		count += most_events_of(step);
		for (size_t k = 0; has(step, bodies) && k < step->bodies.count; k++)
			count += 1 + most_events(step->bodies.at[k].steps);
	}
	return count;
}

/* ---- messages ---------------------------------------------------------------------------- */

static void retell_messages(struct retelling *r, const struct run_snapshot *snapshot)
{
	for (size_t i = 0; has(snapshot, messages) && i < snapshot->messages.count; i++) {
		const struct run_snapshot_message *message = &snapshot->messages.at[i];
		struct run_message_sent *body = run_message_sent_new(r->arena);
		COPY_FIELDS(run_snapshot_message, message, run_message_sent, body, NULL);
		add(r, message->seq, message->at,
		    (struct event){ .type = EVENT_MESSAGE_SENT, .as.run_message_sent = body });
	}
	for (size_t i = 0; has(snapshot, readings) && i < snapshot->readings.count; i++) {
		const struct run_snapshot_reading *reading = &snapshot->readings.at[i];
		struct run_message_read *body = run_message_read_new(r->arena);
		COPY_FIELDS(run_snapshot_reading, reading, run_message_read, body, NULL);
		add(r, reading->seq, reading->at,
		    (struct event){ .type = EVENT_MESSAGE_READ, .as.run_message_read = body });
	}
}

static size_t most_messages(const struct run_snapshot *snapshot)
{
	return (has(snapshot, messages) ? snapshot->messages.count : 0) +
	       (has(snapshot, readings) ? snapshot->readings.count : 0);
}

/* ---- in stream order ----------------------------------------------------------------- */

/* One pass of a merge sort: merges sorted ranges of `width` into ranges of twice that width. */
static void merge(const struct synthesized_history *from, struct synthesized_history *to,
		  size_t width)
{
	size_t count = from->count;
	for (size_t low = 0; low < count; low += 2 * width) {
		size_t middle = low + width < count ? low + width : count;
		size_t high = low + 2 * width < count ? low + 2 * width : count;
		size_t left = low, right = middle;
		for (size_t i = low; i < high; i++) {
			bool first = left < middle &&
				     (right == high || from->seqs[left] <= from->seqs[right]);
			size_t taken = first ? left++ : right++;
			to->seqs[i] = from->seqs[taken];
			to->events[i] = from->events[taken];
		}
	}
	to->count = count;
}

static struct synthesized_history room_for(struct arena *arena, size_t count)
{
	return (struct synthesized_history){ .events = arena_array(arena, struct event, count),
					     .seqs = arena_array(arena, int64_t, count) };
}

static void sort(struct synthesized_history *retold, struct arena *arena)
{
	struct synthesized_history other = room_for(arena, retold->count);
	for (size_t width = 1; width < retold->count; width *= 2) {
		merge(retold, &other, width);
		struct synthesized_history sorted = other;
		other = *retold;
		*retold = sorted;
	}
}

void history_synthesize(const struct run_snapshot *snapshot, const struct run_graph *graph,
			int64_t floor, struct arena *arena, struct synthesized_history *out_retold)
{
	struct retelling r = { .arena = arena, .out = out_retold, .floor = floor };
	r.room = most_events(snapshot->steps) + most_messages(snapshot);
	*out_retold = room_for(arena, r.room);
	if (has(snapshot, graph_state))
		r.state = snapshot->graph_state;
	for (size_t i = 0; i < snapshot->steps.count; i++)
		if (is_final(&snapshot->steps.at[i]) && !has(&snapshot->steps.at[i], state) &&
		    snapshot->steps.at[i].ended_seq > r.state_seq &&
		    snapshot->steps.at[i].ended_seq < floor)
			r.state_seq = snapshot->steps.at[i].ended_seq;
	retell_body(&r, snapshot->steps, graph->nodes);
	if (has(graph, undos))
		retell_body(&r, snapshot->steps, graph->undos);
	retell_messages(&r, snapshot);
	sort(out_retold, arena);
}
