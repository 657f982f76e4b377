/* llm/wire_openai_responses.c -- the format `responses`: OpenAI's Responses API.
 *
 * Nothing is stored at the provider: every request has the whole transcript, and reasoning goes back
 * in its encrypted form, if the provider gave one.
 */
#include "llm/wire.h"

/* ---- the request --------------------------------------------------------------------- */

static void put_text(struct json_writer *w, struct str type, struct str text)
{
	json_open(w, '{');
	wire_put_member(w, S("type"), type);
	wire_put_member(w, S("text"), text);
	json_close(w, '}');
}

static void put_part(struct json_writer *w, const struct run_turn_part *part)
{
	AUTO(arena) arena = { 0 };
	size_t at;
	json_open(w, '{');
	switch (part->kind) {
	case RUN_PART_IMAGE:
		wire_put_member(w, S("type"), S("input_image"));
		wire_put_member(w, S("image_url"), wire_data_url(part, &arena));
		break;
	case RUN_PART_AUDIO:
		wire_put_member(w, S("type"), S("input_audio"));
		json_key(w, S("input_audio"));
		json_open(w, '{');
		wire_put_member(w, S("data"), part->data);
		wire_put_member(w, S("format"),
				str_find(part->media_type, S("mp"), &at) ? S("mp3") : S("wav"));
		json_close(w, '}');
		break;
	}
	json_close(w, '}');
}

static void put_content(struct json_writer *w, const struct run_turn_message *message,
			struct str text)
{
	json_open(w, '[');
	if (text.size > 0)
		put_text(w, S("input_text"), text);
	for (size_t i = 0; has(message, parts) && i < message->parts.count; i++)
		put_part(w, &message->parts.at[i]);
	json_close(w, ']');
}

static void put_user(struct json_writer *w, const struct run_turn_message *message)
{
	json_open(w, '{');
	wire_put_member(w, S("type"), S("message"));
	wire_put_member(w, S("role"), S("user"));
	json_key(w, S("content"));
	put_content(w, message, message->content);
	json_close(w, '}');
}

static void put_result(struct json_writer *w, const struct run_turn_message *message)
{
	AUTO(arena) arena = { 0 };
	bool failed = has(message, failed) && message->failed;
	struct str text = failed ? str_format(&arena, "Error: " STR_FMT, STR_ARG(message->content))
				 : message->content;
	json_open(w, '{');
	wire_put_member(w, S("type"), S("function_call_output"));
	wire_put_member(w, S("call_id"), has(message, call) ? message->call : S(""));
	json_key(w, S("output"));
	if (has(message, parts) && message->parts.count > 0)
		put_content(w, message, text);
	else
		json_put_str(w, text);
	json_close(w, '}');
}

static void put_reasoning(struct json_writer *w, const struct run_turn_thinking *thinking)
{
	if (!has(thinking, data) || !has(thinking, id))
		return;
	json_open(w, '{');
	wire_put_member(w, S("type"), S("reasoning"));
	wire_put_member(w, S("id"), thinking->id);
	json_key(w, S("summary"));
	json_open(w, '[');
	if (thinking->text.size > 0)
		put_text(w, S("summary_text"), thinking->text);
	json_close(w, ']');
	wire_put_member(w, S("encrypted_content"), thinking->data);
	json_close(w, '}');
}

static void put_assistant(struct json_writer *w, const struct run_turn_message *message)
{
	AUTO(arena) arena = { 0 };
	for (size_t i = 0; has(message, thinking) && i < message->thinking.count; i++)
		put_reasoning(w, &message->thinking.at[i]);
	if (message->content.size > 0) {
		json_open(w, '{');
		wire_put_member(w, S("type"), S("message"));
		wire_put_member(w, S("role"), S("assistant"));
		json_key(w, S("content"));
		json_open(w, '[');
		put_text(w, S("output_text"), message->content);
		json_close(w, ']');
		json_close(w, '}');
	}
	for (size_t i = 0; has(message, calls) && i < message->calls.count; i++) {
		const struct run_turn_call *call = &message->calls.at[i];
		json_open(w, '{');
		wire_put_member(w, S("type"), S("function_call"));
		wire_put_member(w, S("call_id"), call->id);
		wire_put_member(w, S("name"), call->name);
		wire_put_member(w, S("arguments"), wire_arguments_text(call, &arena));
		json_close(w, '}');
	}
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
		wire_put_member(w, S("name"), tool->name);
		wire_put_member(w, S("description"), tool->text);
		json_key(w, S("parameters"));
		wire_put_parameters(w, tool);
		json_key(w, S("strict"));
		json_put_bool(w, false);
		json_close(w, '}');
	}
	json_close(w, ']');
}

static void put_schema(struct json_writer *w, const struct run_turn *turn)
{
	if (!has(turn, schema))
		return;
	json_key(w, S("text"));
	json_open(w, '{');
	json_key(w, S("format"));
	json_open(w, '{');
	wire_put_member(w, S("type"), S("json_schema"));
	wire_put_member(w, S("name"), S("reply"));
	json_key(w, S("schema"));
	json_put_tree(w, turn->schema);
	json_key(w, S("strict"));
	json_put_bool(w, false);
	json_close(w, '}');
	json_close(w, '}');
}

static void put_input(struct json_writer *w, const struct run_turn *turn)
{
	json_key(w, S("input"));
	json_open(w, '[');
	for (size_t i = 0; i < turn->messages.count; i++) {
		const struct run_turn_message *message = &turn->messages.at[i];
		if (str_equal(message->role, S("assistant")))
			put_assistant(w, message);
		else if (str_equal(message->role, S("tool")))
			put_result(w, message);
		else
			put_user(w, message);
	}
	json_close(w, ']');
}

static bool put_request(const struct wire_request *request, struct json_writer *w,
			struct error *error)
{
	(void)error; /* everything has a place */
	json_open(w, '{');
	wire_put_member(w, S("model"), request->model);
	if (request->turn->system.size > 0)
		wire_put_member(w, S("instructions"), request->turn->system);
	put_input(w, request->turn);
	put_tools(w, request->turn);
	put_schema(w, request->turn);
	/* Models that are told how much to reason refuse a temperature. */
	if (has(request->turn, temperature) && request->effort.size == 0) {
		json_key(w, S("temperature"));
		json_put_real(w, request->turn->temperature);
	}
	json_key(w, S("max_output_tokens"));
	json_put_int(w, request->max_tokens);
	/* Models that do not reason refuse both. */
	if (request->effort.size > 0) {
		json_key(w, S("reasoning"));
		json_open(w, '{');
		wire_put_member(w, S("effort"), request->effort);
		wire_put_member(w, S("summary"), S("auto"));
		json_close(w, '}');
		json_key(w, S("include"));
		json_put_raw(w, S("[\"reasoning.encrypted_content\"]"));
	}
	json_key(w, S("store"));
	json_put_bool(w, false);
	json_key(w, S("stream"));
	json_put_bool(w, request->stream);
	json_close(w, '}');
	return true;
}

/* ---- the reply ----------------------------------------------------------------------- */

static void read_usage(struct wire_reply *reply, const struct json *usage)
{
	if (usage == NULL || usage->kind != JSON_OBJECT)
		return;
	struct run_turn_usage *to = &reply->usage;
	SET(to, input_tokens, wire_int(usage, S("input_tokens")));
	SET(to, output_tokens, wire_int(usage, S("output_tokens")));
	SET(to, cache_read_tokens,
	    wire_int(json_member(usage, S("input_tokens_details")), S("cached_tokens")));
	reply->counted = true;
}

static bool is_type(const struct json *item, const char *type)
{
	return str_equal(json_text(json_member(item, S("type"))), str_from_c(type));
}

/* The text of a message, or the summary or text of a reasoning item. */
static void read_texts(struct wire_reply *reply, const struct json *parts, struct wire_block *block)
{
	const struct json *part;
	for (size_t i = 0; (part = json_item(parts, i)) != NULL; i++) {
		struct str text = json_text(json_member(part, S("text")));
		if (block != NULL)
			wire_block_add(reply, block, text);
		else if (is_type(part, "refusal")) {
			reply->refused = true;
			wire_add_text(reply, json_text(json_member(part, S("refusal"))));
		} else
			wire_add_text(reply, text);
	}
}

/* An item that is complete.  What its pieces have brought is not taken again. */
static void read_item(struct wire_reply *reply, const struct json *item, int64_t index,
		      bool has_text)
{
	struct str id = json_text(json_member(item, S("id")));
	if (is_type(item, "message") && !has_text)
		read_texts(reply, json_member(item, S("content")), NULL);
	if (is_type(item, "reasoning")) {
		struct wire_block *block = wire_block(reply, LLM_PART_THINKING, index);
		if (block == NULL)
			return;
		if (block->id.size == 0)
			block->id = str_copy(&reply->arena, id);
		if (block->text.size == 0)
			read_texts(reply, json_member(item, S("summary")), block);
		wire_block_encrypted(reply, block,
				     json_text(json_member(item, S("encrypted_content"))));
	}
	if (is_type(item, "function_call")) {
		struct wire_block *block = wire_block(reply, LLM_PART_CALL, index);
		wire_block_name(reply, block, json_text(json_member(item, S("call_id"))),
				json_text(json_member(item, S("name"))));
		if (block != NULL && block->text.size == 0)
			wire_block_add(reply, block, json_text(json_member(item, S("arguments"))));
	}
}

static enum run_turn_stop stop_of_incomplete(const struct json *response)
{
	struct str reason =
		json_text(json_member(json_member(response, S("incomplete_details")), S("reason")));
	if (str_equal(reason, S("max_output_tokens")))
		return RUN_TURN_STOP_LENGTH;
	return str_equal(reason, S("content_filter")) ? RUN_TURN_STOP_REFUSED : RUN_TURN_STOP_OTHER;
}

/* The response as a whole, at its end. */
static void read_response(struct wire_reply *reply, const struct json *response)
{
	struct str status = json_text(json_member(response, S("status")));
	read_usage(reply, json_member(response, S("usage")));
	if (str_equal(status, S("completed")))
		wire_set_stop(reply, RUN_TURN_STOP_END);
	else if (str_equal(status, S("incomplete")))
		wire_set_stop(reply, stop_of_incomplete(response));
	else {
		wire_set_fault(reply, response);
		return;
	}
	reply->ended = true;
}

static void read_delta(struct wire_reply *reply, struct str type, const struct json *json)
{
	struct str delta = json_text(json_member(json, S("delta")));
	int64_t index = wire_int(json, S("output_index"));
	if (str_equal(type, S("response.output_text.delta")))
		wire_add_text(reply, delta);
	else if (str_equal(type, S("response.refusal.delta"))) {
		reply->refused = true;
		wire_add_text(reply, delta);
	} else if (str_equal(type, S("response.reasoning_summary_text.delta")) ||
		   str_equal(type, S("response.reasoning_text.delta")))
		wire_block_add(reply, wire_block(reply, LLM_PART_THINKING, index), delta);
	else if (str_equal(type, S("response.function_call_arguments.delta")))
		wire_block_add(reply, wire_block(reply, LLM_PART_CALL, index), delta);
}

static void event(struct wire_reply *reply, struct str name, struct str data)
{
	AUTO(arena) arena = { 0 };
	(void)name; /* the type in the data is the same */
	const struct json *json = wire_read(reply, data, &arena);
	if (json == NULL)
		return;
	struct str type = json_text(json_member(json, S("type")));
	const struct json *item = json_member(json, S("item"));
	int64_t index = wire_int(json, S("output_index"));
	if (str_ends(type, S(".delta")))
		read_delta(reply, type, json);
	else if (str_equal(type, S("response.output_item.added")) && is_type(item, "function_call"))
		wire_block_name(reply, wire_block(reply, LLM_PART_CALL, index),
				json_text(json_member(item, S("call_id"))),
				json_text(json_member(item, S("name"))));
	else if (str_equal(type, S("response.output_item.done")))
		read_item(reply, item, index, reply->text.size > 0);
	else if (str_equal(type, S("response.completed")) ||
		 str_equal(type, S("response.incomplete")) || str_equal(type, S("response.failed")))
		read_response(reply, json_member(json, S("response")));
	else if (str_equal(type, S("error")))
		wire_set_fault(reply, json);
}

static void body(struct wire_reply *reply, const struct json *json)
{
	const struct json *output = json_member(json, S("output")), *item;
	for (size_t i = 0; (item = json_item(output, i)) != NULL; i++)
		read_item(reply, item, (int64_t)i, false);
	read_response(reply, json);
}

const struct wire wire_openai_responses = { .name = "responses",
					    .path = "/responses",
					    .request = put_request,
					    .event = event,
					    .body = body };
