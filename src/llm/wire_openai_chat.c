/* llm/wire_openai_chat.c -- the format `chat`: OpenAI's chat completions, which most providers copy.
 *
 * The format has no flag for a failed call and no place for pictures in the result of one: a failure
 * begins with "Error: ", and pictures follow the results in a message of the user.
 */
#include "llm/wire.h"

/* ---- the request --------------------------------------------------------------------- */

static void put_text(struct json_writer *w, struct str text)
{
	json_open(w, '{');
	wire_put_member(w, S("type"), S("text"));
	wire_put_member(w, S("text"), text);
	json_close(w, '}');
}

static struct str audio_format(struct str media_type)
{
	size_t at;
	bool mp3 = str_find(media_type, S("mpeg"), &at) || str_find(media_type, S("mp3"), &at);
	return mp3 ? S("mp3") : S("wav");
}

static void put_part(struct json_writer *w, const struct run_turn_part *part)
{
	AUTO(arena) arena = { 0 };
	json_open(w, '{');
	switch (part->kind) {
	case RUN_PART_IMAGE:
		wire_put_member(w, S("type"), S("image_url"));
		json_key(w, S("image_url"));
		json_open(w, '{');
		wire_put_member(w, S("url"), wire_data_url(part, &arena));
		json_close(w, '}');
		break;
	case RUN_PART_AUDIO:
		wire_put_member(w, S("type"), S("input_audio"));
		json_key(w, S("input_audio"));
		json_open(w, '{');
		wire_put_member(w, S("data"), part->data);
		wire_put_member(w, S("format"), audio_format(part->media_type));
		json_close(w, '}');
		break;
	}
	json_close(w, '}');
}

static bool has_parts(const struct run_turn_message *message)
{
	return has(message, parts) && message->parts.count > 0;
}

static void put_user(struct json_writer *w, const struct run_turn_message *message)
{
	json_open(w, '{');
	wire_put_member(w, S("role"), S("user"));
	json_key(w, S("content"));
	if (has_parts(message)) {
		json_open(w, '[');
		if (message->content.size > 0)
			put_text(w, message->content);
		for (size_t i = 0; i < message->parts.count; i++)
			put_part(w, &message->parts.at[i]);
		json_close(w, ']');
	} else
		json_put_str(w, message->content);
	json_close(w, '}');
}

static void put_call(struct json_writer *w, const struct run_turn_call *call)
{
	AUTO(arena) arena = { 0 };
	json_open(w, '{');
	wire_put_member(w, S("id"), call->id);
	wire_put_member(w, S("type"), S("function"));
	json_key(w, S("function"));
	json_open(w, '{');
	wire_put_member(w, S("name"), call->name);
	wire_put_member(w, S("arguments"), wire_arguments_text(call, &arena));
	json_close(w, '}');
	json_close(w, '}');
}

static void put_assistant(struct json_writer *w, const struct run_turn_message *message,
			  unsigned quirks)
{
	bool calls = has(message, calls) && message->calls.count > 0;
	json_open(w, '{');
	wire_put_member(w, S("role"), S("assistant"));
	json_key(w, S("content"));
	if (message->content.size == 0 && calls)
		json_put_null(w);
	else
		json_put_str(w, message->content);
	if ((quirks & WIRE_REASONING_BACK) != 0 && calls && has(message, thinking)) {
		AUTO(buf) text = { 0 };
		for (size_t i = 0; i < message->thinking.count; i++)
			buf_add(&text, message->thinking.at[i].text);
		wire_put_member(w, S("reasoning_content"), buf_str(&text));
	}
	if (calls) {
		json_key(w, S("tool_calls"));
		json_open(w, '[');
		for (size_t i = 0; i < message->calls.count; i++)
			put_call(w, &message->calls.at[i]);
		json_close(w, ']');
	}
	json_close(w, '}');
}

static void put_result(struct json_writer *w, const struct run_turn_message *message)
{
	AUTO(arena) arena = { 0 };
	bool failed = has(message, failed) && message->failed;
	json_open(w, '{');
	wire_put_member(w, S("role"), S("tool"));
	if (has(message, call))
		wire_put_member(w, S("tool_call_id"), message->call);
	wire_put_member(w, S("content"),
			failed ? str_format(&arena, "Error: " STR_FMT, STR_ARG(message->content))
			       : message->content);
	json_close(w, '}');
}

/* The pictures of the results from `from` to `to`, in one message. */
static void put_parts_of_results(struct json_writer *w, const struct run_turn *turn, size_t from,
				 size_t to)
{
	size_t count = 0;
	for (size_t i = from; i < to; i++)
		count += has_parts(&turn->messages.at[i]);
	if (count == 0)
		return;
	json_open(w, '{');
	wire_put_member(w, S("role"), S("user"));
	json_key(w, S("content"));
	json_open(w, '[');
	for (size_t i = from; i < to; i++) {
		const struct run_turn_message *message = &turn->messages.at[i];
		AUTO(arena) arena = { 0 };
		if (!has_parts(message))
			continue;
		put_text(w, str_format(&arena, "Returned by the call " STR_FMT ":",
				       STR_ARG(has(message, call) ? message->call : S(""))));
		for (size_t p = 0; p < message->parts.count; p++)
			put_part(w, &message->parts.at[p]);
	}
	json_close(w, ']');
	json_close(w, '}');
}

static bool is_role(const struct run_turn_message *message, const char *role)
{
	return str_equal(message->role, str_from_c(role));
}

static void put_messages(struct json_writer *w, const struct wire_request *request)
{
	AUTO(arena) arena = { 0 };
	const struct run_turn *turn = request->turn;
	struct str system = (request->quirks & WIRE_JSON_OBJECT) != 0
				    ? wire_system_with_schema(turn, &arena)
				    : turn->system;
	json_key(w, S("messages"));
	json_open(w, '[');
	if (system.size > 0) {
		json_open(w, '{');
		wire_put_member(w, S("role"), S("system"));
		wire_put_member(w, S("content"), system);
		json_close(w, '}');
	}
	for (size_t i = 0; i < turn->messages.count; i++) {
		const struct run_turn_message *message = &turn->messages.at[i];
		size_t begin = i;
		if (is_role(message, "assistant"))
			put_assistant(w, message, request->quirks);
		else if (!is_role(message, "tool"))
			put_user(w, message);
		else {
			put_result(w, message);
			while (i + 1 < turn->messages.count &&
			       is_role(&turn->messages.at[i + 1], "tool"))
				put_result(w, &turn->messages.at[++i]);
			put_parts_of_results(w, turn, begin, i + 1);
		}
	}
	json_close(w, ']');
}

static void put_tools(struct json_writer *w, const struct run_turn *turn)
{
	if (!has(turn, tools) || turn->tools.count == 0)
		return;
	json_key(w, S("tools"));
	json_open(w, '[');
	for (size_t i = 0; i < turn->tools.count; i++) {
		const struct run_turn_tool *tool = &turn->tools.at[i];
		json_open(w, '{');
		wire_put_member(w, S("type"), S("function"));
		json_key(w, S("function"));
		json_open(w, '{');
		wire_put_member(w, S("name"), tool->name);
		wire_put_member(w, S("description"), tool->text);
		json_key(w, S("parameters"));
		wire_put_parameters(w, tool);
		json_close(w, '}');
		json_close(w, '}');
	}
	json_close(w, ']');
}

static void put_schema(struct json_writer *w, const struct wire_request *request)
{
	if (!has(request->turn, schema))
		return;
	json_key(w, S("response_format"));
	if ((request->quirks & WIRE_JSON_OBJECT) != 0) {
		json_put_raw(w, S("{\"type\":\"json_object\"}"));
		return;
	}
	json_open(w, '{');
	wire_put_member(w, S("type"), S("json_schema"));
	json_key(w, S("json_schema"));
	json_open(w, '{');
	wire_put_member(w, S("name"), S("reply"));
	json_key(w, S("schema"));
	json_put_tree(w, request->turn->schema);
	json_close(w, '}');
	json_close(w, '}');
}

static bool put_request(const struct wire_request *request, struct json_writer *w,
			struct error *error)
{
	(void)error; /* everything has a place */
	json_open(w, '{');
	wire_put_member(w, S("model"), request->model);
	put_messages(w, request);
	put_tools(w, request->turn);
	put_schema(w, request);
	/* Models that are told how much to reason refuse a temperature. */
	if (has(request->turn, temperature) && request->effort.size == 0) {
		json_key(w, S("temperature"));
		json_put_real(w, request->turn->temperature);
	}
	json_key(w, (request->quirks & WIRE_COMPLETION_TOKENS) != 0 ? S("max_completion_tokens")
								    : S("max_tokens"));
	json_put_int(w, request->max_tokens);
	if (request->effort.size > 0)
		wire_put_member(w, S("reasoning_effort"), request->effort);
	json_key(w, S("stream"));
	json_put_bool(w, request->stream);
	if (request->stream) {
		json_key(w, S("stream_options"));
		json_put_raw(w, S("{\"include_usage\":true}"));
	}
	json_close(w, '}');
	return true;
}

/* ---- the reply ----------------------------------------------------------------------- */

static enum run_turn_stop stop_of(struct str word)
{
	if (str_equal(word, S("stop")))
		return RUN_TURN_STOP_END;
	if (str_equal(word, S("tool_calls")) || str_equal(word, S("function_call")))
		return RUN_TURN_STOP_CALLS;
	if (str_equal(word, S("length")))
		return RUN_TURN_STOP_LENGTH;
	if (str_equal(word, S("content_filter")))
		return RUN_TURN_STOP_REFUSED;
	return RUN_TURN_STOP_OTHER;
}

static void read_usage(struct wire_reply *reply, const struct json *usage)
{
	if (usage == NULL || usage->kind != JSON_OBJECT)
		return;
	const struct json *details = json_member(usage, S("prompt_tokens_details"));
	const struct json *cost = json_member(usage, S("cost"));
	int64_t cached = wire_int(details, S("cached_tokens"));
	struct run_turn_usage *to = &reply->usage;
	SET(to, input_tokens, wire_int(usage, S("prompt_tokens")));
	SET(to, output_tokens, wire_int(usage, S("completion_tokens")));
	SET(to, cache_read_tokens,
	    cached > 0 ? cached : wire_int(usage, S("prompt_cache_hit_tokens")));
	if (cost != NULL && json_is_number(cost) && json_real(cost) >= 0)
		SET(to, cost_usd, json_real(cost));
	reply->counted = true;
}

/* A provider that numbers no calls sends each whole. */
static void read_calls(struct wire_reply *reply, const struct json *calls)
{
	const struct json *call;
	for (size_t i = 0; (call = json_item(calls, i)) != NULL; i++) {
		const struct json *function = json_member(call, S("function"));
		const struct json *number = json_member(call, S("index"));
		int64_t index = number != NULL && number->kind == JSON_INT
					? number->as.integer
					: 1000000 + (int64_t)reply->block_count;
		struct wire_block *block = wire_block(reply, LLM_PART_CALL, index);
		wire_block_name(reply, block, json_text(json_member(call, S("id"))),
				json_text(json_member(function, S("name"))));
		wire_block_add(reply, block, json_text(json_member(function, S("arguments"))));
	}
}

/* A message, or a piece of one. */
static void read_message(struct wire_reply *reply, const struct json *message)
{
	struct str reasoning = json_text(json_member(message, S("reasoning_content")));
	struct str refusal = json_text(json_member(message, S("refusal")));
	if (reasoning.size == 0)
		reasoning = json_text(json_member(message, S("reasoning")));
	if (reasoning.size > 0)
		wire_block_add(reply, wire_block(reply, LLM_PART_THINKING, 0), reasoning);
	wire_add_text(reply, json_text(json_member(message, S("content"))));
	if (refusal.size > 0) {
		reply->refused = true;
		wire_add_text(reply, refusal);
	}
	read_calls(reply, json_member(message, S("tool_calls")));
}

static bool read_fault(struct wire_reply *reply, const struct json *json)
{
	const struct json *fault = json_member(json, S("error"));
	if (fault == NULL || fault->kind == JSON_NULL)
		return false;
	wire_set_fault(reply, json);
	return true;
}

static void read_choice(struct wire_reply *reply, const struct json *json, struct str member)
{
	const struct json *choice = json_item(json_member(json, S("choices")), 0);
	struct str word = json_text(json_member(choice, S("finish_reason")));
	read_message(reply, json_member(choice, member));
	if (word.size > 0)
		wire_set_stop(reply, stop_of(word));
	read_usage(reply, json_member(json, S("usage")));
}

static void event(struct wire_reply *reply, struct str type, struct str data)
{
	AUTO(arena) arena = { 0 };
	(void)type;
	if (str_equal(str_trim(data), S("[DONE]"))) {
		reply->ended = true;
		return;
	}
	const struct json *json = wire_read(reply, data, &arena);
	if (json != NULL && !read_fault(reply, json))
		read_choice(reply, json, S("delta"));
}

static void body(struct wire_reply *reply, const struct json *json)
{
	if (read_fault(reply, json))
		return;
	read_choice(reply, json, S("message"));
	reply->ended = true;
}

const struct wire wire_openai_chat = { .name = "chat",
				       .path = "/chat/completions",
				       .request = put_request,
				       .event = event,
				       .body = body };
