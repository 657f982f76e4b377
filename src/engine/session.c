/* engine/session.c -- the decisions of a session: what a turn begins with, what becomes of the calls of
 * a reply, and whether there is another turn (architecture R5).
 *
 * Every decision depends on the newest turn, the numbers that step.entered has recorded, and the graph,
 * so the five hundredth turn is decided as fast as the fifth.
 */
#include "engine/session.h"

#include "engine/budget.h"
#include "base/buf.h"
#include "base/limits.h"
#include "contract/run_event_types.h"
#include "contract/run_graph_types.h"
#include "contract/run_turn_types.h"
#include "schema/schema.h"

enum { BYTES_PER_TOKEN = 4 }; /* a common average, for providers that report no tokens */

static const struct run_graph_agent *agent_of(const struct run *run,
					      const struct activation *session)
{
	struct graph_numbers body = graph_body(run->graph, session->node);
	return run->graph->nodes[body.at[0]].row->agent;
}

/* A retry of the run gives the session its time again. */
int64_t session_deadline(const struct run *run, const struct activation *session)
{
	const struct run_graph_node *row = run_node(run, session)->row;
	int64_t begun =
		session->started_at > run->retried_at ? session->started_at : run->retried_at;
	return has(row, timeout_us) ? begun + row->timeout_us : 0;
}

/* ---- turns begin --------------------------------------------------------------------------- */

static void emit_turn(struct run *run, int64_t now, struct run_step_entered *body,
		      struct decision *d)
{
	decision_emit(run, d,
		      (struct event){ EVENT_STEP_ENTERED, now, { .run_step_entered = body } });
}

enum engine_answer session_begin(struct run *run, struct activation *session, int64_t now,
				 const struct engine_values *values, struct decision *d)
{
	const struct json *inputs = NULL;
	struct failure fault;
	struct run_value *opening = NULL;
	if (request_render(run, session, values, d, &inputs, &fault) == ENGINE_NEED)
		return ENGINE_NEED;
	if (fault.code.size == 0 && inputs != NULL &&
	    !decision_value(d,
			    request_of_turn(agent_of(run, session), inputs,
					    budget_max_tokens(run, agent_of(run, session)),
					    d->arena),
			    &opening))
		return ENGINE_NEED;
	if (fault.code.size == 0 && opening == NULL)
		fault = request_too_large();
	if (fault.code.size > 0) {
		request_fail_ready(run, session, fault, now, d);
		return ENGINE_DONE;
	}
	struct run_step_entered *body = run_step_entered_new(d->arena);
	SET(body, step, session->path);
	SET(body, opening, opening);
	emit_turn(run, now, body, d);
	return ENGINE_DONE;
}

/* ---- calls ----------------------------------------------------------------------------------- */

static struct str tool_names(const struct run_graph_agent *agent, struct arena *arena)
{
	AUTO(buf) names = { 0 };
	for (size_t i = 0; i < agent->tools.count; i++)
		buf_add_format(&names, "%s" STR_FMT, i == 0 ? "" : ", ",
			       STR_ARG(agent->tools.at[i].name));
	return str_copy(arena, buf_str(&names));
}

static bool has_tool(const struct run_graph_agent *agent, struct str name)
{
	for (size_t i = 0; i < agent->tools.count; i++)
		if (str_equal(agent->tools.at[i].name, name))
			return true;
	return false;
}

/* Why the call is not made; code "" = it is.  Its tool checks the arguments themselves. */
static struct failure check_call(const struct run_graph_agent *agent,
				 const struct run_turn_call *call, size_t number,
				 struct arena *arena)
{
	if (number >= LIMIT_REPLY_CALLS)
		return failure_make(ERROR_LIMIT_REACHED,
				    str_format(arena, "a reply may ask for at most %d calls",
					       LIMIT_REPLY_CALLS));
	if (!has_tool(agent, call->name))
		return failure_make(
			ERROR_NOT_FOUND,
			str_format(arena, "there is no tool " STR_FMT "; the tools are " STR_FMT,
				   STR_ARG(str_head(call->name, LIMIT_NAME_SHOWN)),
				   STR_ARG(tool_names(agent, arena))));
	if (!has(call, arguments))
		return failure_make(
			ERROR_INVALID,
			S("the arguments are not a JSON object; send them again as one"));
	return (struct failure){ S(""), S("") };
}

static bool is_among(struct str_list names, struct str name)
{
	for (size_t i = 0; i < names.count; i++)
		if (str_equal(names.at[i], name))
			return true;
	return false;
}

static const struct run_turn_result *parse_reply(const struct json *reply, struct arena *arena)
{
	struct problems problems = { .arena = arena };
	struct contract_source source = { .json = reply, .lenient = true };
	return reply == NULL ? NULL : run_turn_result_parse(&source, arena, &problems);
}

static size_t call_count(const struct run_turn_result *reply)
{
	return reply != NULL && has(reply, calls) ? reply->calls.count : 0;
}

struct run_call_opened_list session_calls(const struct run *run, const struct activation *turn,
					  const struct json *reply, struct decision *d)
{
	const struct run_graph_agent *agent = run_node(run, turn)->row->agent;
	const struct run_turn_result *parsed = parse_reply(reply, d->arena);
	size_t count = call_count(parsed);
	if (count > LIMIT_REPLY_CALLS_KEPT)
		count = LIMIT_REPLY_CALLS_KEPT;
	struct run_call_opened *at = arena_array(d->arena, struct run_call_opened, count);
	for (size_t i = 0; i < count; i++) {
		const struct run_turn_call *call = &parsed->calls.at[i];
		struct failure fault = check_call(agent, call, i, d->arena);
		at[i] = *run_call_opened_new(d->arena);
		SET(&at[i], name, str_head(call->name, LIMIT_NAME_SHOWN));
		if (fault.code.size > 0)
			SET(&at[i], fault, decision_failure(d, fault));
		else if (has(agent, approve) && is_among(agent->approve, call->name))
			SET(&at[i], approve, true);
	}
	return (struct run_call_opened_list){ at, count };
}

/* The inputs of the node are what the definition fixes or suggests; the model's arguments replace
 * them. */
static const struct json *merge(const struct json *under, const struct json *over,
				struct arena *arena)
{
	size_t room = under->as.object.count + over->as.object.count, count = 0;
	struct json_member *members = arena_array(arena, struct json_member, room);
	for (size_t i = 0; i < under->as.object.count; i++)
		if (json_member(over, under->as.object.at[i].key) == NULL)
			members[count++] = under->as.object.at[i];
	for (size_t i = 0; i < over->as.object.count; i++)
		members[count++] = over->as.object.at[i];
	struct json *merged = arena_new(arena, struct json);
	*merged = (struct json){ .kind = JSON_OBJECT, .as.object = { members, count } };
	return merged;
}

const struct json *session_arguments(struct eval_context *eval_context,
				     const struct activation *call)
{
	static const struct json nothing = { .kind = JSON_OBJECT };
	const struct run_graph_node *row = run_node(eval_context->run, call)->row;
	const struct activation *approval = session_find_approval(call->scope, call->call);
	const struct json *reply = eval_value(eval_context, &session_turn_of(call->scope)->result);
	const struct json *made = json_item(json_member(reply, S("calls")), call->call - 1);
	const struct json *arguments = json_member(made, S("arguments"));
	/* The person may have edited the call. */
	if (approval != NULL && approval != call &&
	    approval->question.decision == RUN_DECISION_MODIFY)
		arguments = json_member(eval_value(eval_context, &approval->result), S("value"));
	if (arguments == NULL || arguments->kind != JSON_OBJECT)
		arguments = &nothing;
	if (row->inputs == NULL || row->inputs->kind != JSON_OBJECT ||
	    row->inputs->as.object.count == 0)
		return arguments;
	return merge(row->inputs, arguments, eval_context->d->arena);
}

/* ---- what follows a turn ------------------------------------------------------------------- */

/* Either the session ends, with an output or a fault, or there is another turn. */
struct verdict {
	bool ends;
	struct failure fault;
	const struct json *output;
	struct str note; /* "" = none */
	bool is_signed;
	struct hash signature;
	int64_t repeats, corrections;
};

static void add_result(struct sha256 *hash, const struct activation *call)
{
	sha256_add(hash, call->fault.code.at, call->fault.code.size);
	sha256_add(hash, call->fault.text.at, call->fault.text.size);
	if (call->result.kind == VALUE_STORED)
		sha256_add(hash, &call->result.hash, sizeof(call->result.hash));
	else
		sha256_add(hash, call->result.text.at, call->result.text.size);
}

/* Two turns with the same signature asked for the same calls and got the same results. */
static struct hash sign(const struct scope *scope, const struct run_turn_result *reply,
			struct arena *arena)
{
	struct sha256 hash;
	sha256_init(&hash);
	for (size_t i = 0; i < reply->calls.count; i++) {
		const struct run_turn_call *call = &reply->calls.at[i];
		const struct activation *made = session_find_call(scope, (uint32_t)i + 1);
		struct str arguments = has(call, arguments)   ? json_print(arena, call->arguments)
				       : has(call, malformed) ? call->malformed
							      : S("");
		uint64_t sizes[] = { call->name.size, arguments.size };
		sha256_add(&hash, sizes, sizeof(sizes));
		sha256_add(&hash, call->name.at, call->name.size);
		sha256_add(&hash, arguments.at, arguments.size);
		if (made != NULL)
			add_result(&hash, made);
	}
	return sha256_finish(&hash);
}

static const struct json *result_of(struct str text, const struct json *json, struct arena *arena)
{
	struct run_turn_result *result = run_turn_result_new(arena);
	SET(result, text, text);
	if (json != NULL)
		SET(result, json, json);
	return run_turn_result_tree(result, arena);
}

/* The argument of the call `submit` that succeeded in this turn. */
static bool was_submitted(struct eval_context *eval_context, const struct scope *scope,
			  const struct json **out)
{
	for (const struct activation *a = scope->first; a != NULL; a = a->next) {
		const struct run_graph_node *row = run_node(eval_context->run, a)->row;
		if (a->call == 0 || a->state != STEP_SUCCEEDED || !has(row, tool) ||
		    !str_equal(row->tool, S("submit")))
			continue;
		*out = json_member(eval_value(eval_context, &a->result), S("result"));
		return true;
	}
	return false;
}

/* Whether a call of the tool has succeeded in any turn. */
static bool was_called(const struct run *run, const struct activation *session, struct str tool)
{
	int64_t node = graph_find(run->graph, session->node, tool);
	for (const struct scope *scope = session->scopes; scope != NULL; scope = scope->next)
		for (const struct activation *a = scope->first; a != NULL; a = a->next)
			if (a->call > 0 && a->node == node && a->state == STEP_SUCCEEDED)
				return true;
	return false;
}

/* The required tools that were not called, as a note; "" = none. */
static struct str missing_tools(const struct run *run, const struct activation *session,
				struct arena *arena)
{
	const struct run_graph_agent *agent = agent_of(run, session);
	AUTO(buf) names = { 0 };
	for (size_t i = 0; has(agent, required_tools) && i < agent->required_tools.count; i++)
		if (!was_called(run, session, agent->required_tools.at[i]))
			buf_add_format(&names, "%s" STR_FMT, names.size == 0 ? "" : ", ",
				       STR_ARG(agent->required_tools.at[i]));
	return names.size == 0 ? S("")
			       : str_format(arena,
					    "You are not done: call " STR_FMT
					    " successfully before you finish.",
					    STR_ARG(buf_str(&names)));
}

/* What is wrong with a final reply that must fit a schema; "" = nothing. */
static struct str check_schema(const struct run_graph_agent *agent, const struct json *json,
			       struct arena *arena)
{
	struct problems problems = { .arena = arena };
	struct schema *schema;
	if (!has(agent, schema))
		return S("");
	if (json == NULL)
		return S("Your reply is not JSON. Reply with one JSON value that fits the schema, "
			 "and nothing else.");
	bool good = schema_compile(agent->schema, NULL, arena, &schema, &problems);
	if (good) {
		good = schema_check(schema, json, arena, &problems);
		schema_done(schema);
	}
	if (good || problems.count == 0)
		return S("");
	AUTO(buf) text = { 0 };
	buf_add(&text, S("Your reply does not fit the schema. Correct it and reply with the JSON "
			 "value alone."));
	for (size_t i = 0; i < problems.count && i < LIMIT_NOTE_PROBLEMS; i++)
		buf_add_format(&text, "\nAt " STR_FMT ": " STR_FMT,
			       STR_ARG(problems.at[i].pointer.size > 0 ? problems.at[i].pointer
								       : S("the top")),
			       STR_ARG(problems.at[i].text));
	return str_copy(arena, str_head(buf_str(&text), LIMIT_NOTE_BYTES));
}

static struct verdict end_with(struct failure fault)
{
	return (struct verdict){ .ends = true, .fault = fault };
}

/* The agent says that it is done: this is the result, unless something is missing. */
static struct verdict judge_result(const struct run *run, const struct activation *session,
				   struct str text, const struct json *json, struct decision *d)
{
	int64_t corrections = session->scopes->turn.corrections;
	struct str note = missing_tools(run, session, d->arena);
	if (note.size == 0)
		note = check_schema(agent_of(run, session), json, d->arena);
	if (note.size == 0)
		return (struct verdict){ .ends = true,
					 .fault = { S(""), S("") },
					 .output = result_of(text, json, d->arena) };
	if (corrections >= LIMIT_CORRECTIONS)
		return end_with(failure_make(
			ERROR_INVALID,
			str_format(d->arena,
				   "after %lld corrections the reply is still not good: " STR_FMT,
				   (long long)corrections, STR_ARG(note))));
	return (struct verdict){ .note = note, .corrections = corrections + 1, .repeats = 1 };
}

/* A reply without calls. */
static struct verdict judge_reply(const struct run *run, const struct activation *session,
				  const struct run_turn_result *reply, struct decision *d)
{
	enum run_turn_stop stop = has(reply, stop) ? reply->stop : RUN_TURN_STOP_END;
	if (stop == RUN_TURN_STOP_REFUSED)
		return end_with(
			failure_make(ERROR_FORBIDDEN,
				     str_format(d->arena, "the model refused to go on: " STR_FMT,
						STR_ARG(str_head(reply->text, LIMIT_NAME_SHOWN)))));
	if (stop == RUN_TURN_STOP_LENGTH)
		return end_with(failure_make(
			ERROR_TOO_LARGE,
			S("the reply reached its limit of tokens before it was complete: raise "
			  "max_tokens of the agent, or give it a smaller task")));
	return judge_result(run, session, reply->text, has(reply, json) ? reply->json : NULL, d);
}

/* A turn with calls: another turn, unless the agent goes round in circles. */
static struct verdict judge_calls(struct eval_context *eval_context,
				  const struct activation *session,
				  const struct run_turn_result *reply)
{
	const struct scope *scope = session->scopes;
	struct arena *arena = eval_context->d->arena;
	const struct json *submitted = NULL;
	if (was_submitted(eval_context, scope, &submitted))
		return judge_result(eval_context->run, session, reply->text, submitted,
				    eval_context->d);
	struct verdict verdict = { .is_signed = true,
				   .signature = sign(scope, reply, arena),
				   .repeats = 1 };
	if (scope->turn.is_signed && hash_equal(&scope->turn.signature, &verdict.signature))
		verdict.repeats = scope->turn.repeats + 1;
	if (verdict.repeats >= LIMIT_REPEATED_TURNS)
		return end_with(failure_make(
			ERROR_LIMIT_REACHED,
			str_format(
				arena,
				"the agent is stuck: %lld turns in a row asked for the same calls "
				"and got the same results",
				(long long)verdict.repeats)));
	if (verdict.repeats * 2 > LIMIT_REPEATED_TURNS)
		verdict.note =
			str_format(arena,
				   "You have asked for the same calls %lld times in a row, and "
				   "the results were the same. Do something else, or finish.",
				   (long long)verdict.repeats);
	return verdict;
}

/* A limit that forbids another turn; code "" = none. */
static struct failure check_limits(const struct run *run, const struct activation *session,
				   int64_t now, struct arena *arena)
{
	const struct run_graph_agent *agent = agent_of(run, session);
	int64_t most = has(agent, max_turns) ? agent->max_turns : LIMIT_SESSION_TURNS;
	int64_t deadline = session_deadline(run, session);
	if (session->items_entered >= most)
		return failure_make(ERROR_LIMIT_REACHED,
				    str_format(arena,
					       "agent " STR_FMT
					       " has taken %lld turns and is not done: raise its "
					       "max_turns, or give it a smaller task",
					       STR_ARG(agent->name), (long long)most));
	if (deadline != 0 && now >= deadline)
		return failure_make(ERROR_TIMEOUT,
				    S("the agent took longer than the step's timeout"));
	if (run->paths.count + LIMIT_REPLY_CALLS > LIMIT_ACTIVATIONS)
		return failure_make(
			ERROR_LIMIT_REACHED,
			str_format(arena, "the run has more than %d steps", LIMIT_ACTIVATIONS));
	return (struct failure){ S(""), S("") };
}

int64_t session_bytes(const struct activation *session)
{
	enum { AROUND = 512 }; /* names, ids and roles of a message */
	int64_t bytes = session->opening.size + AROUND;
	for (const struct scope *scope = session->scopes;
	     scope != NULL && scope->item >= session->scopes->turn.kept_from; scope = scope->next) {
		const struct activation *turn = session_turn_of(scope);
		bytes += AROUND + (int64_t)scope->turn.note.size;
		for (const struct activation *a = scope->first; a != NULL; a = a->next) {
			bool cut = a != turn && a->result.size > LIMIT_RESULT_SHOWN;
			bytes += AROUND + (cut ? LIMIT_RESULT_SHOWN : a->result.size) +
				 (int64_t)a->fault.text.size;
		}
	}
	return bytes;
}

/* Tokens of the newest turn, as its driver reports them, or as the bytes of the transcript suggest. */
static int64_t tokens_used(const struct activation *session)
{
	const struct activation *turn = session_turn_of(session->scopes);
	int64_t bytes = session->opening.size;
	if (turn->tokens > 0)
		return turn->tokens;
	for (const struct scope *scope = session->scopes;
	     scope != NULL && scope->item >= session->scopes->turn.kept_from; scope = scope->next)
		for (const struct activation *a = scope->first; a != NULL; a = a->next)
			bytes += a->result.size < LIMIT_RESULT_SHOWN ? a->result.size
								     : LIMIT_RESULT_SHOWN;
	return bytes / BYTES_PER_TOKEN;
}

/* The first turn that the next transcript has: when the context window is full, the older half goes.
 * Whole turns go, so that no call loses its result. */
static int64_t keep_from(const struct run *run, const struct activation *session,
			 struct decision *d)
{
	const struct run_graph_agent *agent = agent_of(run, session);
	int64_t kept = session->scopes->turn.kept_from, turns = session->items_entered;
	int64_t reply = has(agent, max_tokens) ? agent->max_tokens : LIMIT_REPLY_TOKENS;
	if (!has(agent, context_tokens))
		return kept;
	int64_t used = tokens_used(session);
	if (used * 100 / agent->context_tokens >= LIMIT_CONTEXT_PERCENT)
		decision_warn(d, RUN_WARNING_CONTEXT, session->path,
			      str_format(d->arena,
					 "the transcript fills %d percent or more of the context "
					 "window of %lld tokens: give the agent smaller tasks",
					 LIMIT_CONTEXT_PERCENT, (long long)agent->context_tokens));
	if (used + reply < agent->context_tokens || turns <= kept)
		return kept;
	decision_warn(
		d, RUN_WARNING_CONTEXT, session->path,
		S("the oldest turns were left out of the transcript, because it no longer fits "
		  "the context window"));
	return kept + (turns - kept + 1) / 2;
}

static void emit_next_turn(struct run *run, const struct activation *session, int64_t now,
			   const struct verdict *verdict, struct decision *d)
{
	struct run_step_entered *body = run_step_entered_new(d->arena);
	int64_t kept_from = keep_from(run, session, d);
	if (kept_from > 1)
		SET(body, kept_from, kept_from);
	SET(body, step, session->path);
	if (verdict->note.size > 0)
		SET(body, note, verdict->note);
	if (verdict->is_signed)
		SET(body, signature, verdict->signature);
	if (verdict->repeats > 1)
		SET(body, repeats, verdict->repeats);
	if (verdict->corrections > 0)
		SET(body, corrections, verdict->corrections);
	emit_turn(run, now, body, d);
}

static enum engine_answer leave(struct run *run, struct activation *session, int64_t now,
				struct verdict *verdict, struct eval_context *eval_context)
{
	struct decision *d = eval_context->d;
	struct step_continuation continuation = NO_CONTINUATION;
	struct run_value *value = NULL;
	if (verdict->output != NULL &&
	    !continuation_after_success(eval_context, session, verdict->output, &continuation))
		return ENGINE_NEED;
	if (verdict->output != NULL && !decision_value(d, verdict->output, &value))
		return ENGINE_NEED;
	struct failure fault = verdict->output != NULL ? continuation.fault : verdict->fault;
	if (verdict->output != NULL && value == NULL)
		fault = failure_make(ERROR_TOO_LARGE,
				     S("the output is larger than the limit of a value"));
	body_left(run, session, now, value, fault, fault.code.size > 0 ? NULL : continuation.next,
		  d);
	if (fault.code.size == 0)
		enforce_iteration_limit(run, &continuation, now, d);
	return ENGINE_DONE;
}

/* A model that cannot be reached, or a turn that took too long. */
static struct failure fault_of_turn(const struct scope *scope, struct arena *arena)
{
	return (struct failure){ scope->failed.fault.code,
				 str_format(arena, "turn %lld: " STR_FMT, (long long)scope->item,
					    STR_ARG(scope->failed.fault.text)) };
}

enum engine_answer session_continue(struct run *run, struct activation *session, int64_t now,
				    const struct engine_values *values, struct decision *d)
{
	const struct scope *scope = session->scopes;
	struct eval_context eval_context = eval_context_make(run, session, values, d);
	struct verdict verdict;
	if (scope->failed.path.size > 0) {
		verdict = end_with(fault_of_turn(scope, d->arena));
		return leave(run, session, now, &verdict, &eval_context);
	}
	const struct run_turn_result *reply =
		parse_reply(eval_value(&eval_context, &session_turn_of(scope)->result), d->arena);
	if (eval_context.missing)
		return ENGINE_NEED;
	if (reply == NULL)
		verdict = end_with(failure_make(ERROR_INTERNAL, S("the reply cannot be read")));
	else if (call_count(reply) == 0)
		verdict = judge_reply(run, session, reply, d);
	else
		verdict = judge_calls(&eval_context, session, reply);
	if (eval_context.missing)
		return ENGINE_NEED;
	struct failure limit = check_limits(run, session, now, d->arena);
	if (!verdict.ends && limit.code.size > 0)
		verdict = end_with(limit);
	if (verdict.ends)
		return leave(run, session, now, &verdict, &eval_context);
	emit_next_turn(run, session, now, &verdict, d);
	return ENGINE_DONE;
}
