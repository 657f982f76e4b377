/* engine/turn_opening.c -- what a turn asks of its model: the prompt or transcript of the inputs, and
 * what the agent says about it.
 *
 * Pictures and recordings are artifacts.  The request names them by their hash, because a value holds at
 * most 1 MiB; the bytes are read when the request is sent (effect/attachments.h).
 */
#include "base/limits.h"
#include "contract/field_copy.h"
#include "contract/run_graph_types.h"
#include "contract/run_turn_types.h"
#include "engine/engine_internal.h"

static size_t attachment_count(struct run_turn_message_list messages)
{
	size_t count = 0;
	for (size_t i = 0; i < messages.count; i++)
		if (has(&messages.at[i], attachments))
			count += messages.at[i].attachments.count;
	return count;
}

/* A message of the input `messages`; an empty list of attachments is none. */
static struct run_turn_message without_empty(const struct run_turn_message *given,
					     struct arena *arena)
{
	if (!has(given, attachments) || given->attachments.count > 0)
		return *given;
	struct run_turn_message *message = run_turn_message_new(arena);
	SET(message, role, given->role);
	SET(message, content, given->content);
	if (has(given, parts))
		SET(message, parts, given->parts);
	return *message;
}

/* The transcript of the input `messages`, if it is a list of messages from user and assistant. */
static bool given_messages(const struct json *given, struct arena *arena,
			   struct run_turn_message *out)
{
	for (size_t i = 0; i < given->as.list.count; i++) {
		struct problems problems = { .arena = arena };
		struct contract_source source = { .json = &given->as.list.at[i] };
		const struct run_turn_message *message =
			run_turn_message_parse(&source, arena, &problems);
		if (message == NULL || !(str_equal(message->role, S("user")) ||
					 str_equal(message->role, S("assistant"))))
			return false;
		out[i] = without_empty(message, arena);
	}
	return true;
}

/* The input `messages`, and `prompt` as the newest message behind them; otherwise all inputs as one
 * message. */
static struct run_turn_message_list messages_of(const struct json *inputs, struct arena *arena)
{
	const struct json *given = json_member(inputs, S("messages"));
	const struct json *prompt = json_member(inputs, S("prompt"));
	bool prompted = prompt != NULL && prompt->kind == JSON_STRING;
	size_t count = given != NULL && given->kind == JSON_LIST ? given->as.list.count : 0;
	struct run_turn_message *messages = arena_array(arena, struct run_turn_message, count + 1);
	if (count > 0 && !given_messages(given, arena, messages))
		count = 0;
	if (count > 0 && !prompted)
		return (struct run_turn_message_list){ messages, count };
	messages[count] = *run_turn_message_new(arena);
	SET(&messages[count], role, S("user"));
	SET(&messages[count], content, prompted ? prompt->as.string : json_print(arena, inputs));
	return (struct run_turn_message_list){ messages, count + 1 };
}

/* The input `attachments`, behind the newest message. */
static struct failure attach(const struct json *given, struct run_turn_message *message,
			     struct arena *arena)
{
	struct problems problems = { .arena = arena };
	size_t count = given->kind == JSON_LIST ? given->as.list.count : 0;
	if (given->kind == JSON_NULL)
		return (struct failure){ S(""), S("") };
	if (given->kind != JSON_LIST || count > LIMIT_TURN_ATTACHMENTS)
		return failure_make(
			ERROR_INVALID,
			str_format(arena,
				   "the input attachments must be a list of at most %d artifacts",
				   LIMIT_TURN_ATTACHMENTS));
	struct run_attachment *at = arena_array(arena, struct run_attachment, count);
	for (size_t i = 0; i < count; i++) {
		struct contract_source source = { .json = &given->as.list.at[i] };
		const struct run_attachment *one = run_attachment_parse(&source, arena, &problems);
		if (one == NULL)
			return failure_make(
				ERROR_INVALID,
				str_format(arena,
					   "item %zu of the input attachments is no picture or "
					   "recording that a model takes: " STR_FMT " " STR_FMT
					   "; give an artifact as write_artifact returns it",
					   i + 1, STR_ARG(problems.at[0].pointer),
					   STR_ARG(problems.at[0].text)));
		at[i] = *one;
	}
	if (count > 0)
		SET(message, attachments, ((struct run_attachment_list){ at, count }));
	return (struct failure){ S(""), S("") };
}

/* The newest message of the list, as a copy that can be changed. */
static struct run_turn_message *newest(struct run_turn_message_list *messages, struct arena *arena)
{
	struct run_turn_message *copy =
		arena_copy(arena, messages->at, messages->count * sizeof(*messages->at));
	messages->at = copy;
	return &copy[messages->count - 1];
}

static struct run_turn_tool_list tools_of(const struct run_graph_agent *agent, struct arena *arena)
{
	struct run_turn_tool *tools = arena_array(arena, struct run_turn_tool, agent->tools.count);
	for (size_t i = 0; i < agent->tools.count; i++) {
		tools[i] = *run_turn_tool_new(arena);
		COPY_FIELDS(run_graph_tool, &agent->tools.at[i], run_turn_tool, &tools[i], NULL);
	}
	return (struct run_turn_tool_list){ tools, agent->tools.count };
}

struct turn_opening turn_opening_make(const struct run_graph_agent *agent, struct str system,
				      const struct json *inputs, int64_t max_tokens,
				      struct arena *arena)
{
	struct run_turn *turn = run_turn_new(arena);
	struct run_turn_message_list messages = messages_of(inputs, arena);
	const struct json *attachments = json_member(inputs, S("attachments"));
	struct failure fault = { S(""), S("") };
	if (has(agent, attachments) && agent->attachments && attachments != NULL)
		fault = attach(attachments, newest(&messages, arena), arena);
	if (fault.code.size > 0)
		return (struct turn_opening){ .fault = fault };
	SET(turn, system, system);
	SET(turn, messages, messages);
	SET(turn, options, agent->options);
	if (has(agent, schema))
		SET(turn, schema, agent->schema);
	if (has(agent, temperature))
		SET(turn, temperature, agent->temperature);
	if (has(agent, max_tokens))
		SET(turn, max_tokens, agent->max_tokens);
	else if (max_tokens > 0)
		SET(turn, max_tokens, max_tokens);
	if (has(agent, tools) && agent->tools.count > 0)
		SET(turn, tools, tools_of(agent, arena));
	return (struct turn_opening){ .request = run_turn_tree(turn, arena),
				      .attachments = (int64_t)attachment_count(messages) };
}

int64_t turn_opening_attachment_bytes(int64_t attachments)
{
	return (attachments < LIMIT_TURN_ATTACHMENTS ? attachments : LIMIT_TURN_ATTACHMENTS) *
	       LIMIT_ATTACHMENT_TOKENS;
}
