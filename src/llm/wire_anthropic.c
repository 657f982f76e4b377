/* llm/wire_anthropic.c -- the format `messages`: Anthropic's Messages API.
 *
 * Messages of the user and results of calls between two replies are one message here.  The format
 * has no schema of the reply that accepts every JSON Schema, so the schema goes into the prompt.  It
 * refuses empty texts, and thinking without its signature.
 */
#include "llm/wire.h"

#include "base/limits.h"

/* ---- the request --------------------------------------------------------------------- */

static void put_cache_mark(struct json_writer *w, bool marked)
{
	if (!marked)
		return;
	json_key(w, S("cache_control"));
	json_put_raw(w, S("{\"type\":\"ephemeral\"}"));
}

static void put_text(struct json_writer *w, struct str text, bool marked)
{
	json_open(w, '{');
	wire_put_member(w, S("type"), S("text"));
	wire_put_member(w, S("text"), text);
	put_cache_mark(w, marked);
	json_close(w, '}');
}

static void put_image(struct json_writer *w, const struct run_turn_part *part)
{
	json_open(w, '{');
	wire_put_member(w, S("type"), S("image"));
	json_key(w, S("source"));
	json_open(w, '{');
	wire_put_member(w, S("type"), S("base64"));
	wire_put_member(w, S("media_type"), part->media_type);
	wire_put_member(w, S("data"), part->data);
	json_close(w, '}');
	json_close(w, '}');
}

static size_t part_count(const struct run_turn_message *message)
{
	return has(message, parts) ? message->parts.count : 0;
}

static void put_result(struct json_writer *w, const struct run_turn_message *message, bool marked)
{
	json_open(w, '{');
	wire_put_member(w, S("type"), S("tool_result"));
	wire_put_member(w, S("tool_use_id"), has(message, call) ? message->call : S(""));
	if (message->content.size > 0 || part_count(message) > 0) {
		json_key(w, S("content"));
		json_open(w, '[');
		if (message->content.size > 0)
			put_text(w, message->content, false);
		for (size_t i = 0; i < part_count(message); i++)
			put_image(w, &message->parts.at[i]);
		json_close(w, ']');
	}
	if (has(message, failed) && message->failed) {
		json_key(w, S("is_error"));
		json_put_bool(w, true);
	}
	put_cache_mark(w, marked);
	json_close(w, '}');
}

/* A mark stands on the last block; a picture cannot be the last one then. */
static void put_user(struct json_writer *w, const struct run_turn_message *message, bool marked)
{
	for (size_t i = 0; i < part_count(message); i++)
		put_image(w, &message->parts.at[i]);
	if (message->content.size > 0)
		put_text(w, message->content, marked);
}

static bool can_put_thinking(const struct run_turn_thinking *thinking)
{
	return has(thinking, signature) || (has(thinking, data) && !has(thinking, id));
}

static void put_thinking(struct json_writer *w, const struct run_turn_thinking *thinking)
{
	if (!can_put_thinking(thinking))
		return;
	json_open(w, '{');
	if (has(thinking, signature)) {
		wire_put_member(w, S("type"), S("thinking"));
		wire_put_member(w, S("thinking"), thinking->text);
		wire_put_member(w, S("signature"), thinking->signature);
	} else {
		wire_put_member(w, S("type"), S("redacted_thinking"));
		wire_put_member(w, S("data"), thinking->data);
	}
	json_close(w, '}');
}

static void put_assistant(struct json_writer *w, const struct run_turn_message *message)
{
	for (size_t i = 0; has(message, thinking) && i < message->thinking.count; i++)
		put_thinking(w, &message->thinking.at[i]);
	if (message->content.size > 0)
		put_text(w, message->content, false);
	for (size_t i = 0; has(message, calls) && i < message->calls.count; i++) {
		const struct run_turn_call *call = &message->calls.at[i];
		json_open(w, '{');
		wire_put_member(w, S("type"), S("tool_use"));
		wire_put_member(w, S("id"), call->id);
		wire_put_member(w, S("name"), call->name);
		json_key(w, S("input"));
		wire_put_arguments(w, call);
		json_close(w, '}');
	}
}

static bool is_assistant(const struct run_turn_message *message)
{
	return str_equal(message->role, S("assistant"));
}

/* Whether it has a block at all: empty messages are refused. */
static bool says_something(const struct run_turn_message *message)
{
	bool thinks = false;
	for (size_t i = 0; has(message, thinking) && i < message->thinking.count; i++)
		thinks = thinks || can_put_thinking(&message->thinking.at[i]);
	return message->content.size > 0 || part_count(message) > 0 || thinks ||
	       (has(message, calls) && message->calls.count > 0) ||
	       str_equal(message->role, S("tool"));
}

static void put_messages(struct json_writer *w, const struct wire_request *request)
{
	const struct run_turn *turn = request->turn;
	json_key(w, S("messages"));
	json_open(w, '[');
	for (size_t i = 0; i < turn->messages.count; i++) {
		const struct run_turn_message *message = &turn->messages.at[i];
		if (!says_something(message))
			continue;
		json_open(w, '{');
		wire_put_member(w, S("role"), is_assistant(message) ? S("assistant") : S("user"));
		json_key(w, S("content"));
		json_open(w, '[');
		if (is_assistant(message))
			put_assistant(w, message);
		for (; !is_assistant(message) && i < turn->messages.count &&
		       !is_assistant(&turn->messages.at[i]);
		     i++) {
			const struct run_turn_message *one = &turn->messages.at[i];
			bool marked = request->cache && i + 1 == turn->messages.count;
			if (str_equal(one->role, S("tool")))
				put_result(w, one, marked);
			else
				put_user(w, one, marked);
		}
		i -= !is_assistant(message);
		json_close(w, ']');
		json_close(w, '}');
	}
	json_close(w, ']');
}

static void put_tools(struct json_writer *w, const struct wire_request *request)
{
	const struct run_turn *turn = request->turn;
	if (!has(turn, tools) || turn->tools.count == 0)
		return;
	json_key(w, S("tools"));
	json_open(w, '[');
	for (size_t i = 0; i < turn->tools.count; i++) {
		const struct run_turn_tool *tool = &turn->tools.at[i];
		json_open(w, '{');
		wire_put_member(w, S("name"), tool->name);
		wire_put_member(w, S("description"), tool->text);
		json_key(w, S("input_schema"));
		wire_put_parameters(w, tool);
		put_cache_mark(w, request->cache && i + 1 == turn->tools.count);
		json_close(w, '}');
	}
	json_close(w, ']');
}

static bool check_parts(const struct run_turn *turn, struct error *error)
{
	for (size_t i = 0; i < turn->messages.count; i++)
		for (size_t p = 0; p < part_count(&turn->messages.at[i]); p++)
			if (turn->messages.at[i].parts.at[p].kind == RUN_PART_AUDIO)
				return fail(error, ERROR_INVALID,
					    "message %zu has a recording, and the format messages "
					    "takes no audio: use a model that listens, or give a "
					    "transcript",
					    i + 1);
	return true;
}

static bool put_request(const struct wire_request *request, struct json_writer *w,
			struct error *error)
{
	AUTO(arena) arena = { 0 };
	int64_t budget = request->thinking_tokens, most = request->max_tokens;
	struct str system = wire_system_with_schema(request->turn, &arena);
	if (!check_parts(request->turn, error))
		return false;
	json_open(w, '{');
	wire_put_member(w, S("model"), request->model);
	/* Thinking counts, and must leave room for a reply. */
	json_key(w, S("max_tokens"));
	json_put_int(w, most > budget ? most : most + budget);
	if (system.size > 0) {
		json_key(w, S("system"));
		json_open(w, '[');
		put_text(w, system, request->cache);
		json_close(w, ']');
	}
	put_messages(w, request);
	put_tools(w, request);
	if (budget > 0) {
		json_key(w, S("thinking"));
		json_open(w, '{');
		wire_put_member(w, S("type"), S("enabled"));
		json_key(w, S("budget_tokens"));
		json_put_int(w, budget);
		json_close(w, '}');
	} else if (has(request->turn, temperature)) {
		/* Thinking excludes it.  The scale of this API ends at 1. */
		double temperature = request->turn->temperature;
		json_key(w, S("temperature"));
		json_put_real(w, temperature < 1 ? temperature : 1);
	}
	if (request->effort.size > 0) {
		json_key(w, S("output_config"));
		json_open(w, '{');
		wire_put_member(w, S("effort"), request->effort);
		json_close(w, '}');
	}
	json_key(w, S("stream"));
	json_put_bool(w, request->stream);
	json_close(w, '}');
	return true;
}

/* ---- the reply ----------------------------------------------------------------------- */

static enum run_turn_stop stop_of(struct str word)
{
	if (str_equal(word, S("end_turn")) || str_equal(word, S("stop_sequence")))
		return RUN_TURN_STOP_END;
	if (str_equal(word, S("tool_use")))
		return RUN_TURN_STOP_CALLS;
	if (str_equal(word, S("max_tokens")) || str_equal(word, S("model_context_window_exceeded")))
		return RUN_TURN_STOP_LENGTH;
	if (str_equal(word, S("refusal")))
		return RUN_TURN_STOP_REFUSED;
	return RUN_TURN_STOP_OTHER;
}

static int64_t sum(int64_t a, int64_t b)
{
	return a > INT64_MAX - b ? INT64_MAX : a + b;
}

/* The numbers are totals so far.  This API counts cached tokens apart from the input; tokens that are
 * written to the cache stay apart, because they have their own price. */
static void read_usage(struct wire_reply *reply, const struct json *usage)
{
	if (usage == NULL || usage->kind != JSON_OBJECT)
		return;
	struct run_turn_usage *to = &reply->usage;
	int64_t read = wire_int(usage, S("cache_read_input_tokens"));
	int64_t made = wire_int(usage, S("cache_creation_input_tokens"));
	if (json_member(usage, S("input_tokens")) != NULL) {
		SET(to, input_tokens, sum(wire_int(usage, S("input_tokens")), read));
		SET(to, cache_read_tokens, read);
		SET(to, cache_creation_tokens, made);
	}
	SET(to, output_tokens, wire_int(usage, S("output_tokens")));
	reply->counted = true;
}

static bool is_type(const struct json *json, const char *type)
{
	return str_equal(json_text(json_member(json, S("type"))), str_from_c(type));
}

/* The beginning of a block in a stream, or a whole block. */
static void read_block(struct wire_reply *reply, const struct json *content, int64_t index,
		       bool whole)
{
	if (is_type(content, "text"))
		wire_add_text(reply, json_text(json_member(content, S("text"))));
	else if (is_type(content, "thinking")) {
		struct wire_block *block = wire_block(reply, LLM_PART_THINKING, index);
		wire_block_add(reply, block, json_text(json_member(content, S("thinking"))));
		wire_block_sign(reply, block, json_text(json_member(content, S("signature"))));
	} else if (is_type(content, "redacted_thinking")) {
		wire_block_encrypted(reply, wire_block(reply, LLM_PART_THINKING, index),
				     json_text(json_member(content, S("data"))));
	} else if (is_type(content, "tool_use")) {
		AUTO(arena) arena = { 0 };
		const struct json *input = json_member(content, S("input"));
		struct wire_block *block = wire_block(reply, LLM_PART_CALL, index);
		wire_block_name(reply, block, json_text(json_member(content, S("id"))),
				json_text(json_member(content, S("name"))));
		/* In a stream the arguments follow, and the input is an empty object. */
		if (whole && input != NULL && json_text_within(input, LIMIT_MODEL_BODY_BYTES))
			wire_block_add(reply, block, json_print(&arena, input));
	}
}

static void read_delta(struct wire_reply *reply, const struct json *delta, int64_t index)
{
	if (is_type(delta, "text_delta"))
		wire_add_text(reply, json_text(json_member(delta, S("text"))));
	else if (is_type(delta, "thinking_delta"))
		wire_block_add(reply, wire_block(reply, LLM_PART_THINKING, index),
			       json_text(json_member(delta, S("thinking"))));
	else if (is_type(delta, "signature_delta"))
		wire_block_sign(reply, wire_block(reply, LLM_PART_THINKING, index),
				json_text(json_member(delta, S("signature"))));
	else if (is_type(delta, "input_json_delta"))
		wire_block_add(reply, wire_block(reply, LLM_PART_CALL, index),
			       json_text(json_member(delta, S("partial_json"))));
}

static void read_stop(struct wire_reply *reply, const struct json *from)
{
	struct str word = json_text(json_member(from, S("stop_reason")));
	if (word.size > 0)
		wire_set_stop(reply, stop_of(word));
}

static void event(struct wire_reply *reply, struct str name, struct str data)
{
	AUTO(arena) arena = { 0 };
	(void)name; /* the type in the data is the same */
	const struct json *json = wire_read(reply, data, &arena);
	if (json == NULL)
		return;
	int64_t index = wire_int(json, S("index"));
	if (is_type(json, "message_start"))
		read_usage(reply, json_member(json_member(json, S("message")), S("usage")));
	else if (is_type(json, "content_block_start"))
		read_block(reply, json_member(json, S("content_block")), index, false);
	else if (is_type(json, "content_block_delta"))
		read_delta(reply, json_member(json, S("delta")), index);
	else if (is_type(json, "message_delta")) {
		read_stop(reply, json_member(json, S("delta")));
		read_usage(reply, json_member(json, S("usage")));
	} else if (is_type(json, "message_stop"))
		reply->ended = true;
	else if (is_type(json, "error"))
		wire_set_fault(reply, json);
}

static void body(struct wire_reply *reply, const struct json *json)
{
	const struct json *content = json_member(json, S("content")), *block;
	if (is_type(json, "error")) {
		wire_set_fault(reply, json);
		return;
	}
	for (size_t i = 0; (block = json_item(content, i)) != NULL; i++)
		read_block(reply, block, (int64_t)i, true);
	read_stop(reply, json);
	read_usage(reply, json_member(json, S("usage")));
	reply->ended = true;
}

const struct wire wire_anthropic = { .name = "messages",
				     .path = "/messages",
				     .request = put_request,
				     .event = event,
				     .body = body };
