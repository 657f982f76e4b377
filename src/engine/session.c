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
	const struct run_graph_agent *agent = agent_of(run, session);
	struct failure fault;
	struct turn_opening turn = { 0 };
	struct str system;
	struct run_value *opening = NULL;
	if (request_render(run, session, values, d, &inputs, &fault) == ENGINE_NEED)
		return ENGINE_NEED;
	if (fault.code.size == 0 && !prompt_system(run, session, values, d, agent, &system, &fault))
		return ENGINE_NEED;
	if (fault.code.size == 0 && inputs != NULL) {
		turn = turn_opening_make(agent, system, inputs,
					 budget_max_tokens(run, agent, now, values), d->arena);
		fault = turn.fault;
	}
	if (turn.request != NULL && !decision_value(d, turn.request, &opening))
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
	if (turn.attachments > 0)
		SET(body, attachments, turn.attachments);
	emit_turn(run, now, body, d);
	return ENGINE_DONE;
}

/* ---- what follows a turn ------------------------------------------------------------------- */

/* Either the session ends, with an output or a fault, or there is another turn.  A reply that was sent back
 * too often ends it with both: a definition may recover something from the text. */
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

/* The members of the reply that are outputs: those that the turn itself does not have. */
const struct json *session_outputs(const struct run *run, const struct json *reply,
				   struct arena *arena)
{
	const struct json *json = json_member(reply, S("json"));
	if (run->graph->rules < GRAPH_RULES_REPLY_MEMBERS || json == NULL ||
	    json->kind != JSON_OBJECT || json->as.object.count == 0)
		return reply;
	size_t room = json->as.object.count + reply->as.object.count, count = 0;
	struct json_member *members = arena_array(arena, struct json_member, room);
	for (size_t i = 0; i < json->as.object.count; i++)
		if (json_member(reply, json->as.object.at[i].key) == NULL)
			members[count++] = json->as.object.at[i];
	for (size_t i = 0; i < reply->as.object.count; i++)
		members[count++] = reply->as.object.at[i];
	struct json *outputs = arena_new(arena, struct json);
	*outputs = (struct json){ .kind = JSON_OBJECT, .as.object = { members, count } };
	return outputs;
}

/* The outputs that the step publishes and the reply does not have. */
static struct str missing_outputs(const struct run_graph_agent *agent, const struct json *json,
				  struct arena *arena)
{
	AUTO(buf) names = { 0 };
	for (size_t i = 0; has(agent, expects) && i < agent->expects.count; i++)
		if (json_member(json, agent->expects.at[i]) == NULL)
			buf_add_format(&names, "%s" STR_FMT, names.size == 0 ? "" : ", ",
				       STR_ARG(agent->expects.at[i]));
	return str_copy(arena, buf_str(&names));
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

/* The required tools that were not called, as a note; "" = none. */
static struct str missing_tools(const struct run *run, const struct activation *session,
				struct arena *arena)
{
	const struct run_graph_agent *agent = agent_of(run, session);
	const bool *called = session->scopes->turn.called;
	AUTO(buf) names = { 0 };
	for (size_t i = 0; has(agent, required_tools) && i < agent->required_tools.count; i++)
		if ((called == NULL || !called[i]) &&
		    !session_turn_called(run, session->scopes, agent->required_tools.at[i]))
			buf_add_format(&names, "%s" STR_FMT, names.size == 0 ? "" : ", ",
				       STR_ARG(agent->required_tools.at[i]));
	return names.size == 0 ? S("")
			       : str_format(arena,
					    "You are not done: call " STR_FMT
					    " successfully before you finish.",
					    STR_ARG(buf_str(&names)));
}

/* The required files that do not exist, as a note; "" = none.  A check that has failed is a fault. */
static struct str missing_files(struct eval_context *eval_context, const struct activation *session,
				struct failure *out_fault)
{
	const struct run *run = eval_context->run;
	int64_t node = graph_find(run->graph, session->node, S("check_files"));
	const struct activation *check = NULL;
	for (const struct activation *a = session->scopes->first; a != NULL; a = a->next)
		if (a->call > 0 && a->node == node && check == NULL)
			check = a;
	if (!has(agent_of(run, session), required_files) || check == NULL)
		return S("");
	if (check->fault.code.size > 0) {
		*out_fault = check->fault;
		return S("");
	}
	AUTO(buf) names = { 0 };
	const struct json *missing =
		json_member(eval_value(eval_context, &check->result), S("missing"));
	for (size_t i = 0; json_item(missing, i) != NULL; i++)
		buf_add_format(&names, "%s" STR_FMT, i == 0 ? "" : ", ",
			       STR_ARG(json_text(json_item(missing, i))));
	return names.size == 0
		       ? S("")
		       : str_format(
				 eval_context->d->arena,
				 "You are not done: these files are missing in the workspace: " STR_FMT
				 ".",
				 STR_ARG(str_head(buf_str(&names), LIMIT_NOTE_BYTES)));
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
	bool good = schema_compile_formats(agent->schema, NULL, has(agent, format_assertion), arena,
					   &schema, &problems);
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
static struct verdict judge_result(struct eval_context *eval_context,
				   const struct activation *session, struct str text,
				   const struct json *json)
{
	const struct run *run = eval_context->run;
	struct decision *d = eval_context->d;
	struct failure fault = { S(""), S("") };
	int64_t corrections = session->scopes->turn.corrections;
	struct str note = missing_tools(run, session, d->arena);
	if (note.size == 0)
		note = missing_files(eval_context, session, &fault);
	if (fault.code.size > 0)
		return end_with(fault);
	if (note.size == 0)
		note = check_schema(agent_of(run, session), json, d->arena);
	struct str missing =
		note.size > 0
			? S("")
			: missing_outputs(agent_of(run, session),
					  json != NULL && json->kind == JSON_OBJECT ? json : NULL,
					  d->arena);
	if (missing.size > 0 && corrections == 0)
		note = str_format(
			d->arena,
			"Your reply lacks " STR_FMT
			". Reply with one JSON object that has these members, and nothing "
			"else.",
			STR_ARG(missing));
	else if (missing.size > 0 && has(run->graph->rows, strict) && run->graph->rows->strict)
		return end_with(failure_make(ERROR_INVALID,
					     str_format(d->arena,
							"the reply lacks the outputs " STR_FMT
							", also after it was sent back",
							STR_ARG(missing))));
	if (note.size == 0 && missing.size > 0)
		decision_warn(
			d, RUN_WARNING_MISSING, str_copy(d->arena, session->path),
			str_format(d->arena,
				   "the reply lacks the outputs " STR_FMT
				   ", also after it was sent back; they are null; ask for them "
				   "in the prompt",
				   STR_ARG(missing)));
	if (note.size == 0)
		return (struct verdict){
			.ends = true,
			.fault = { S(""), S("") },
			.output = session_outputs(run, result_of(text, json, d->arena), d->arena),
		};
	if (corrections >= LIMIT_CORRECTIONS) {
		struct verdict verdict = end_with(failure_make(
			ERROR_INVALID,
			str_format(d->arena,
				   "after %lld corrections the reply is still not good: " STR_FMT,
				   (long long)corrections, STR_ARG(note))));
		verdict.output = result_of(text, NULL, d->arena);
		return verdict;
	}
	return (struct verdict){ .note = note, .corrections = corrections + 1, .repeats = 1 };
}

/* A reply without calls. */
static struct verdict judge_reply(struct eval_context *eval_context,
				  const struct activation *session,
				  const struct run_turn_result *reply)
{
	struct decision *d = eval_context->d;
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
	return judge_result(eval_context, session, reply->text,
			    has(reply, json) ? reply->json : NULL);
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
		return judge_result(eval_context, session, reply->text, submitted);
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
	if (session->items_entered - session->scopes->turn.summaries >= most)
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
	const struct scope *newest = session->scopes;
	return session->opening.size + SESSION_AROUND_MESSAGE +
	       turn_opening_attachment_bytes(newest->turn.attachments) + newest->turn.kept.told +
	       session_turn_size(newest).told;
}

/* Tokens of the newest turn, as its driver reports them, or as the bytes of the transcript suggest. */
static int64_t tokens_used(const struct activation *session)
{
	const struct scope *newest = session->scopes;
	int64_t tokens = session_turn_of(newest)->tokens;
	int64_t bytes = session->opening.size + newest->turn.kept.results +
			session_turn_size(newest).results;
	return tokens > 0 ? tokens : bytes / BYTES_PER_TOKEN;
}

static bool summarizes(const struct run *run, const struct activation *session)
{
	const struct run_graph_agent *agent = agent_of(run, session);
	return has(agent, on_full) && agent->on_full == RUN_FULL_SUMMARIZES;
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
	if (!summarizes(run, session))
		decision_warn(
			d, RUN_WARNING_CONTEXT, session->path,
			S("the oldest turns were left out of the transcript, because it no longer "
			  "fits the context window"));
	return kept + (turns - kept + 1) / 2;
}

/* Pictures and recordings of the next transcript: those before this turn, and what this turn looked at. */
static int64_t attachments_of(const struct run *run, const struct scope *scope)
{
	int64_t count = scope->turn.attachments;
	for (const struct activation *a = scope->first; a != NULL; a = a->next) {
		const struct run_graph_node *row = run_node(run, a)->row;
		count += a->call > 0 && a->state == STEP_SUCCEEDED && has(row, tool) &&
			 str_equal(row->tool, S("view_file"));
	}
	return count;
}

/* What the next turn needs to know of this one. */
static void set_verdict(struct run_step_entered *body, const struct verdict *verdict)
{
	if (verdict->note.size > 0)
		SET(body, note, verdict->note);
	if (verdict->is_signed)
		SET(body, signature, verdict->signature);
	if (verdict->repeats > 1)
		SET(body, repeats, verdict->repeats);
	if (verdict->corrections > 0)
		SET(body, corrections, verdict->corrections);
}

/* If the window is full and the older turns shall be summed up, the next turn asks for the summary, and
 * carries what the turn behind it needs. */
static void emit_next_turn(struct run *run, const struct activation *session, int64_t now,
			   const struct verdict *verdict, struct decision *d)
{
	struct run_step_entered *body = run_step_entered_new(d->arena);
	const struct session_turn *turn = &session->scopes->turn;
	int64_t kept_from = keep_from(run, session, d);
	int64_t attachments = attachments_of(run, session->scopes), summaries = turn->summaries;
	bool sums = kept_from > turn->kept_from && summarizes(run, session);
	if (attachments > 0)
		SET(body, attachments, attachments);
	if (sums)
		SET(body, summarizes, kept_from);
	if (turn->summary > 0)
		SET(body, summary, turn->summary);
	if (summaries + sums > 0)
		SET(body, summaries, summaries + sums);
	if (sums)
		kept_from = turn->kept_from;
	if (kept_from > 1)
		SET(body, kept_from, kept_from);
	SET(body, step, session->path);
	set_verdict(body, verdict);
	emit_turn(run, now, body, d);
}

/* The summary is there: the transcript goes on with it, behind the turns that it replaces.  An empty one
 * replaces them by nothing. */
static void emit_after_summary(struct run *run, const struct activation *session, int64_t now,
			       const struct run_turn_result *reply, struct decision *d)
{
	struct run_step_entered *body = run_step_entered_new(d->arena);
	const struct session_turn *turn = &session->scopes->turn;
	const struct verdict before = { .note = turn->note,
					.is_signed = turn->is_signed,
					.signature = turn->signature,
					.repeats = turn->repeats,
					.corrections = turn->corrections };
	if (turn->attachments > 0)
		SET(body, attachments, turn->attachments);
	if (reply->text.size > 0)
		SET(body, summary, session->scopes->item);
	SET(body, summaries, turn->summaries);
	SET(body, kept_from, turn->summarizes);
	SET(body, step, session->path);
	set_verdict(body, &before);
	emit_turn(run, now, body, d);
}

static enum engine_answer leave(struct run *run, struct activation *session, int64_t now,
				struct verdict *verdict, struct eval_context *eval_context)
{
	struct decision *d = eval_context->d;
	struct step_continuation continuation = NO_CONTINUATION;
	struct run_value *value = NULL;
	bool good = verdict->fault.code.size == 0;
	if (good &&
	    !continuation_after_success(eval_context, session, verdict->output, &continuation))
		return ENGINE_NEED;
	if (verdict->output != NULL && !decision_value(d, verdict->output, &value))
		return ENGINE_NEED;
	struct failure fault = good ? continuation.fault : verdict->fault;
	if (good && value == NULL)
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
	const struct run_turn_result *reply = session_reply_parse(
		eval_value(&eval_context, &session_turn_of(scope)->result), d->arena);
	if (eval_context.missing)
		return ENGINE_NEED;
	if (reply != NULL && scope->turn.summarizes > 0) {
		emit_after_summary(run, session, now, reply, d);
		return ENGINE_DONE;
	}
	if (reply == NULL)
		verdict = end_with(failure_make(ERROR_INTERNAL, S("the reply cannot be read")));
	else if (session_call_count(reply) == 0)
		verdict = judge_reply(&eval_context, session, reply);
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
