/* engine/session_calls.c -- the calls of a reply: which are made, with which arguments, and by which other
 * tool when one has failed. */
#include "engine/session.h"

#include "base/buf.h"
#include "base/limits.h"
#include "contract/run_event_types.h"
#include "contract/run_graph_types.h"
#include "contract/run_turn_types.h"
#include "schema/schema.h"

#define DELEGATE    S("delegate")
#define CHECK_FILES S("check_files")

const struct run_turn_result *session_reply_parse(const struct json *reply, struct arena *arena)
{
	struct problems problems = { .arena = arena };
	struct contract_source source = { .json = reply, .lenient = true };
	return reply == NULL ? NULL : run_turn_result_parse(&source, arena, &problems);
}

size_t session_call_count(const struct run_turn_result *reply)
{
	return reply != NULL && has(reply, calls) ? reply->calls.count : 0;
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

/* JSON with a member twice is refused, because it is not known which of the two is meant. */
static struct str wrong_arguments(const struct run_turn_call *call, struct arena *arena)
{
	const struct json *json;
	struct error error;
	size_t at;
	if (has(call, malformed) && !json_read(call->malformed, arena, &json, &error) &&
	    str_find(str_from_c(error.text), S("duplicate key"), &at))
		return str_format(arena, "the arguments cannot be read: %s; send each member once",
				  error.text);
	return S("the arguments are not a JSON object; send them again as one");
}

static bool is_among(struct str_list names, struct str name)
{
	for (size_t i = 0; i < names.count; i++)
		if (str_equal(names.at[i], name))
			return true;
	return false;
}

/* The agent that the call delegates to. */
static struct str delegate_of(const struct run_turn_call *call)
{
	return json_text(json_member(call->arguments, S("agent")));
}

static bool delegates(const struct run_graph_agent *agent, struct str name)
{
	return has(agent, sub_agents) && str_equal(name, DELEGATE);
}

static struct failure check_delegate(const struct run_graph_agent *agent,
				     const struct run_turn_call *call, struct arena *arena)
{
	AUTO(buf) names = { 0 };
	if (!delegates(agent, call->name) || is_among(agent->sub_agents, delegate_of(call)))
		return (struct failure){ S(""), S("") };
	for (size_t i = 0; i < agent->sub_agents.count; i++)
		buf_add_format(&names, "%s" STR_FMT, i == 0 ? "" : ", ",
			       STR_ARG(agent->sub_agents.at[i]));
	return failure_make(ERROR_NOT_FOUND,
			    str_format(arena,
				       "there is no agent \"" STR_FMT
				       "\" to delegate to; the agents are " STR_FMT,
				       STR_ARG(str_head(delegate_of(call), LIMIT_NAME_SHOWN)),
				       STR_ARG(buf_str(&names))));
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
		return failure_make(ERROR_INVALID, wrong_arguments(call, arena));
	return check_delegate(agent, call, arena);
}

struct run_call_opened_list session_calls(const struct run *run, const struct activation *turn,
					  const struct json *reply, struct decision *d)
{
	const struct run_graph_agent *agent = run_node(run, turn)->row->agent;
	const struct run_turn_result *parsed = session_reply_parse(reply, d->arena);
	size_t count = session_call_count(parsed);
	if (count > LIMIT_REPLY_CALLS_KEPT)
		count = LIMIT_REPLY_CALLS_KEPT;
	if (turn->scope->turn.summarizes > 0)
		return (struct run_call_opened_list){ NULL, 0 };
	struct run_call_opened *at = arena_array(d->arena, struct run_call_opened, count + 1);
	bool ends = count == 0;
	for (size_t i = 0; i < count; i++) {
		const struct run_turn_call *call = &parsed->calls.at[i];
		struct failure fault = check_call(agent, call, i, d->arena);
		at[i] = *run_call_opened_new(d->arena);
		SET(&at[i], name, str_head(call->name, LIMIT_NAME_SHOWN));
		if (fault.code.size > 0)
			SET(&at[i], fault, decision_failure(d, fault));
		else if (has(agent, approve) && is_among(agent->approve, call->name))
			SET(&at[i], approve, true);
		if (fault.code.size == 0 && delegates(agent, call->name))
			SET(&at[i], node,
			    str_format(d->arena, "delegate_" STR_FMT, STR_ARG(delegate_of(call))));
		ends = ends || str_equal(call->name, S("submit"));
	}
	/* Whether the files exist is found out by a call behind those of the reply. */
	if (ends && has(agent, required_files) && count < LIMIT_REPLY_CALLS_KEPT) {
		at[count] = *run_call_opened_new(d->arena);
		SET(&at[count], name, CHECK_FILES);
		count++;
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

/* The arguments of the model, or those that a person has given instead. */
static const struct json *given_arguments(struct eval_context *eval_context,
					  const struct activation *call)
{
	static const struct json nothing = { .kind = JSON_OBJECT };
	const struct activation *approval = session_find_approval(call->scope, call->call);
	const struct json *reply = eval_value(eval_context, &session_turn_of(call->scope)->result);
	const struct json *made = json_item(json_member(reply, S("calls")), call->call - 1);
	const struct json *arguments = json_member(made, S("arguments"));
	/* The person may have edited the call. */
	if (approval != NULL && approval != call &&
	    approval->question.decision == RUN_DECISION_MODIFY)
		arguments = json_member(eval_value(eval_context, &approval->result), S("value"));
	return arguments == NULL || arguments->kind != JSON_OBJECT ? &nothing : arguments;
}

const struct json *session_arguments(struct eval_context *eval_context,
				     const struct activation *call)
{
	const struct run_graph_node *row = run_node(eval_context->run, call)->row;
	const struct json *arguments = given_arguments(eval_context, call);
	if (row->inputs == NULL || row->inputs->kind != JSON_OBJECT ||
	    row->inputs->as.object.count == 0)
		return arguments;
	return merge(row->inputs, arguments, eval_context->d->arena);
}

/* ---- schemas ------------------------------------------------------------------------------- */

static const struct run_graph_agent *agent_around(const struct run *run, const struct scope *scope)
{
	struct graph_numbers body = graph_body(run->graph, scope->owner->node);
	return run->graph->nodes[body.at[0]].row->agent;
}

/* The first problem of the arguments with the schema of the tool; "" = they fit. */
static struct str check_arguments(const struct run_graph_agent *agent, struct str tool,
				  const struct json *arguments, struct arena *arena)
{
	struct problems problems = { .arena = arena };
	struct schema *schema;
	const struct json *parameters = NULL;
	for (size_t i = 0; i < agent->tools.count; i++)
		if (str_equal(agent->tools.at[i].name, tool))
			parameters = agent->tools.at[i].parameters;
	if (parameters == NULL || !schema_compile(parameters, NULL, arena, &schema, &problems))
		return S("");
	bool good = schema_check(schema, arguments, arena, &problems);
	schema_done(schema);
	if (good || problems.count == 0)
		return S("");
	return str_format(arena, STR_FMT "%s" STR_FMT, STR_ARG(problems.at[0].pointer),
			  problems.at[0].pointer.size > 0 ? " " : "", STR_ARG(problems.at[0].text));
}

struct str session_check_arguments(const struct run *run, const struct activation *question,
				   const struct json *arguments, struct arena *arena)
{
	struct str tool = run->graph->nodes[question->asks_for - 1].name;
	struct str problem =
		check_arguments(agent_around(run, question->scope), tool, arguments, arena);
	return problem.size == 0
		       ? S("")
		       : str_format(arena,
				    "the tool " STR_FMT " refuses these arguments: " STR_FMT
				    "; the question stays open",
				    STR_ARG(tool), STR_ARG(problem));
}

/* ---- fallbacks ----------------------------------------------------------------------------- */

/* Another tool may succeed; a refusal or wrong arguments would be the same again. */
static bool may_pass(struct str code)
{
	enum error_code known;
	return error_code_from_name(code, &known) &&
	       (error_row(known)->retry == ERROR_RETRY_AGAIN || known == ERROR_TOOL_FAILED ||
		known == ERROR_TIMEOUT);
}

static bool was_tried(const struct run *run, const struct activation *failed, struct str name)
{
	for (const struct activation *a = failed->scope->first; a != NULL; a = a->next)
		if (a->call == failed->call && str_equal(run_node(run, a)->name, name))
			return true;
	return false;
}

/* The first of the fallbacks that was not tried and takes the arguments; those of the newest call first. */
static struct str next_tool(struct eval_context *eval_context, const struct activation *failed)
{
	const struct run *run = eval_context->run;
	const struct run_graph_agent *agent = agent_around(run, failed->scope);
	const struct json *arguments = given_arguments(eval_context, failed);
	for (const struct activation *a = failed->scope->first; a != NULL; a = a->next) {
		const struct run_graph_node *row = run_node(run, a)->row;
		if (a->call != failed->call || !has(row, fallbacks))
			continue;
		for (size_t i = 0; i < row->fallbacks.count; i++)
			if (!was_tried(run, failed, row->fallbacks.at[i]) &&
			    check_arguments(agent, row->fallbacks.at[i], arguments,
					    eval_context->d->arena)
					    .size == 0)
				return row->fallbacks.at[i];
	}
	return S("");
}

struct run_next *session_fallback(struct eval_context *eval_context,
				  const struct activation *failed, struct str code)
{
	struct arena *arena = eval_context->d->arena;
	struct scope *scope = failed->scope;
	const struct run *run = eval_context->run;
	struct str name = may_pass(code) ? next_tool(eval_context, failed) : S("");
	int64_t node = graph_find(run->graph, scope->owner->node, name);
	if (name.size == 0 || node < 0)
		return NULL;
	struct run_next *next = run_next_new(arena);
	struct str *then = arena_copy(arena, &name, sizeof(name));
	uint32_t count = run_place(run, scope, (uint32_t)node)->count;
	SET(next, then, ((struct str_list){ then, 1 }));
	SET(next, fallback,
	    count == 0 ? str_format(arena, STR_FMT "/" STR_FMT, STR_ARG(scope->path), STR_ARG(name))
		       : str_format(arena, STR_FMT "/" STR_FMT "#%u", STR_ARG(scope->path),
				    STR_ARG(name), count + 1));
	return next;
}
