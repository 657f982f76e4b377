/* llm/wire.c -- gathers a reply: what all formats share.
 *
 * Text arrives in JSON strings, which the reader has checked to be whole UTF-8 characters, so a piece
 * never splits one.
 */
#include "llm/wire.h"

#include <stdlib.h>

#include "base/limits.h"
#include "llm/model_fault.h"

const struct wire *wire_find(enum run_model_format format)
{
	switch (format) {
	case RUN_MODEL_CHAT:
		return &wire_openai_chat;
	case RUN_MODEL_RESPONSES:
		return &wire_openai_responses;
	case RUN_MODEL_MESSAGES:
		return &wire_anthropic;
	}
	return &wire_openai_chat;
}

/* ---- life ---------------------------------------------------------------------------- */

static bool event_arrived(void *context, struct str id, struct str type, struct str data)
{
	struct wire_reply *reply = context;
	(void)id;
	if (reply->ended || data.size == 0)
		return true;
	reply->wire->event(reply, type, data);
	return reply->error.code == ERROR_NONE;
}

void wire_reply_init(struct wire_reply *reply, const struct wire *wire, bool streams,
		     wire_piece *piece, void *context)
{
	*reply = (struct wire_reply){
		.wire = wire, .streams = streams, .piece = piece, .context = context
	};
	reply->body = buf_limited(LIMIT_MODEL_BODY_BYTES);
	reply->usage = *run_turn_usage_new(&reply->arena);
	sse_reader_init(&reply->reader, LIMIT_MODEL_EVENT_BYTES, event_arrived, reply);
}

void wire_reply_done(struct wire_reply *reply)
{
	if (reply->wire == NULL)
		return;
	sse_reader_done(&reply->reader);
	for (size_t i = 0; i < reply->block_count; i++) {
		buf_done(&reply->blocks[i].text);
		buf_done(&reply->blocks[i].signature);
	}
	free(reply->blocks);
	buf_done(&reply->text);
	buf_done(&reply->body);
	arena_done(&reply->arena);
	reply->wire = NULL;
}

void wire_reply_feed(struct wire_reply *reply, struct str bytes)
{
	if (reply->error.code != ERROR_NONE || reply->ended)
		return;
	reply->received += bytes.size;
	if (!reply->streams) {
		if (!buf_add(&reply->body, bytes))
			fail(&reply->error, ERROR_INVALID, "the reply is larger than %d bytes",
			     LIMIT_MODEL_BODY_BYTES);
		return;
	}
	if (reply->received > LIMIT_MODEL_STREAM_BYTES) {
		fail(&reply->error, ERROR_INVALID, "the stream does not end within %d bytes",
		     LIMIT_MODEL_STREAM_BYTES);
		return;
	}
	sse_feed(&reply->reader, bytes);
	if (reply->reader.too_long && reply->error.code == ERROR_NONE)
		fail(&reply->error, ERROR_INVALID, "an event of the stream is larger than %d bytes",
		     LIMIT_MODEL_EVENT_BYTES);
}

/* ---- gathering ----------------------------------------------------------------------- */

/* Counts bytes that are kept; false when there are too many. */
static bool keep(struct wire_reply *reply, size_t size)
{
	if (reply->error.code != ERROR_NONE)
		return false;
	reply->bytes += size;
	return reply->bytes <= LIMIT_MODEL_REPLY_BYTES ||
	       fail(&reply->error, ERROR_INVALID,
		    "the reply is larger than %d bytes; lower max_tokens", LIMIT_MODEL_REPLY_BYTES);
}

static void tell(const struct wire_reply *reply, enum llm_part part, struct str delta)
{
	if (reply->piece != NULL && delta.size > 0)
		reply->piece(reply->context, part, delta);
}

void wire_add_text(struct wire_reply *reply, struct str delta)
{
	if (delta.size == 0 || !keep(reply, delta.size))
		return;
	buf_add(&reply->text, delta);
	tell(reply, LLM_PART_TEXT, delta);
}

struct wire_block *wire_block(struct wire_reply *reply, enum llm_part part, int64_t index)
{
	for (size_t i = reply->block_count; i > 0; i--)
		if (reply->blocks[i - 1].part == part && reply->blocks[i - 1].index == index)
			return &reply->blocks[i - 1];
	if (reply->error.code != ERROR_NONE)
		return NULL;
	if (reply->block_count == LIMIT_MODEL_CALLS) {
		fail(&reply->error, ERROR_INVALID,
		     "the reply has more than %d calls of tools and pieces of thinking",
		     LIMIT_MODEL_CALLS);
		return NULL;
	}
	if (reply->block_count == reply->block_room) {
		reply->block_room = reply->block_room == 0 ? 4 : reply->block_room * 2;
		reply->blocks = realloc(reply->blocks, reply->block_room * sizeof(*reply->blocks));
		require(reply->blocks != NULL);
	}
	struct wire_block *block = &reply->blocks[reply->block_count++];
	*block = (struct wire_block){ .part = part, .index = index };
	if (part == LLM_PART_CALL)
		block->text = buf_limited(LIMIT_MODEL_ARGUMENT_BYTES);
	return block;
}

void wire_block_add(struct wire_reply *reply, struct wire_block *block, struct str delta)
{
	if (block == NULL || delta.size == 0 || !keep(reply, delta.size))
		return;
	if (!buf_add(&block->text, delta)) {
		fail(&reply->error, ERROR_INVALID,
		     "the arguments of a call of tool " STR_FMT " are larger than %d bytes",
		     STR_ARG(str_head(block->name, LIMIT_QUOTE_BYTES)), LIMIT_MODEL_ARGUMENT_BYTES);
		return;
	}
	if (block->part == LLM_PART_THINKING)
		tell(reply, LLM_PART_THINKING, delta);
}

void wire_block_sign(struct wire_reply *reply, struct wire_block *block, struct str delta)
{
	if (block != NULL && keep(reply, delta.size))
		buf_add(&block->signature, delta);
}

void wire_block_encrypted(struct wire_reply *reply, struct wire_block *block, struct str data)
{
	if (block != NULL && data.size > 0 && block->data.size == 0 && keep(reply, data.size))
		block->data = str_copy(&reply->arena, data);
}

void wire_block_name(struct wire_reply *reply, struct wire_block *block, struct str id,
		     struct str name)
{
	if (block == NULL || !keep(reply, id.size + name.size))
		return;
	if (block->id.size == 0 && id.size > 0)
		block->id = str_copy(&reply->arena, id);
	if (block->named || name.size == 0)
		return;
	block->name = str_copy(&reply->arena, name);
	block->named = true;
	tell(reply, LLM_PART_CALL, block->name);
}

void wire_set_stop(struct wire_reply *reply, enum run_turn_stop stop)
{
	reply->stop = stop;
	reply->stop_known = true;
}

void wire_set_fault(struct wire_reply *reply, const struct json *fault)
{
	if (reply->error.code == ERROR_NONE)
		model_fault_read(0, fault, &reply->error);
}

const struct json *wire_read(struct wire_reply *reply, struct str data, struct arena *arena)
{
	const struct json *json;
	struct error error;
	reply->events++;
	if (json_read(data, arena, &json, &error) && json->kind == JSON_OBJECT)
		return json;
	fail(&reply->error, ERROR_INVALID, "event %zu of the stream is not a JSON object",
	     reply->events);
	return NULL;
}

int64_t wire_int(const struct json *object, struct str key)
{
	const struct json *value = json_member(object, key);
	return value != NULL && value->kind == JSON_INT && value->as.integer > 0 ? value->as.integer
										 : 0;
}

/* ---- the end ------------------------------------------------------------------------- */

static bool is_deeper(const struct json *json, int levels)
{
	bool list = json->kind == JSON_LIST;
	if (!list && json->kind != JSON_OBJECT)
		return false;
	bool deeper = levels == 0;
	size_t count = list ? json->as.list.count : json->as.object.count;
	for (size_t i = 0; i < count && !deeper; i++)
		deeper = is_deeper(list ? &json->as.list.at[i] : &json->as.object.at[i].value,
				   levels - 1);
	return deeper;
}

/* Some models send no arguments at all to a tool without parameters. */
static void read_arguments(struct wire_reply *reply, struct run_turn_call *call, struct str text)
{
	static const struct json nothing = { .kind = JSON_OBJECT };
	const struct json *json;
	struct error error;
	if (str_trim(text).size == 0)
		SET(call, arguments, &nothing);
	else if (json_read(text, &reply->arena, &json, &error) && json->kind == JSON_OBJECT &&
		 !is_deeper(json, LIMIT_REPLY_DEPTH))
		SET(call, arguments, json);
	else
		SET(call, malformed, text);
}

static bool is_taken(const struct run_turn_call *calls, size_t count, struct str id)
{
	for (size_t i = 0; i < count; i++)
		if (str_equal(calls[i].id, id))
			return true;
	return false;
}

static struct run_turn_call_list calls_of(struct wire_reply *reply, struct str prefix)
{
	struct arena *arena = &reply->arena;
	struct run_turn_call *calls = arena_array(arena, struct run_turn_call, reply->block_count);
	size_t count = 0, made = 0;
	for (size_t i = 0; i < reply->block_count; i++) {
		const struct wire_block *block = &reply->blocks[i];
		if (block->part != LLM_PART_CALL)
			continue;
		struct str id = block->id;
		while (id.size == 0 || is_taken(calls, count, id))
			id = str_format(arena, STR_FMT "_%zu", STR_ARG(prefix), ++made);
		calls[count] = *run_turn_call_new(arena);
		SET(&calls[count], id, id);
		/* Answered like a tool that does not exist; the provider gets a name back. */
		SET(&calls[count], name, block->name.size > 0 ? block->name : S("unnamed"));
		read_arguments(reply, &calls[count], buf_str(&block->text));
		count++;
	}
	return (struct run_turn_call_list){ calls, count };
}

static struct run_turn_thinking_list thinking_of(struct wire_reply *reply)
{
	struct arena *arena = &reply->arena;
	struct run_turn_thinking *thinking =
		arena_array(arena, struct run_turn_thinking, reply->block_count);
	size_t count = 0;
	for (size_t i = 0; i < reply->block_count; i++) {
		const struct wire_block *block = &reply->blocks[i];
		bool empty = block->text.size == 0 && block->signature.size == 0 &&
			     block->data.size == 0;
		if (block->part != LLM_PART_THINKING || empty)
			continue;
		struct run_turn_thinking *one = &thinking[count++];
		*one = *run_turn_thinking_new(arena);
		SET(one, text, buf_str(&block->text));
		if (block->id.size > 0)
			SET(one, id, block->id);
		if (block->signature.size > 0)
			SET(one, signature, buf_str(&block->signature));
		if (block->data.size > 0)
			SET(one, data, block->data);
	}
	return (struct run_turn_thinking_list){ thinking, count };
}

static void read_body(struct wire_reply *reply)
{
	const struct json *json;
	struct error error;
	if (reply->error.code != ERROR_NONE || reply->ended)
		return;
	if (!json_read(buf_str(&reply->body), &reply->arena, &json, &error)) {
		fail(&reply->error, ERROR_UNAVAILABLE,
		     "the reply is not complete: its %zu bytes are not JSON", reply->body.size);
		return;
	}
	reply->wire->body(reply, json);
}

bool wire_reply_end(struct wire_reply *reply, struct str prefix, struct llm_result *out_result,
		    struct error *error)
{
	if (!reply->streams)
		read_body(reply);
	if (reply->error.code != ERROR_NONE) {
		*error = reply->error;
		return false;
	}
	if (!reply->ended || !reply->stop_known)
		return fail(error, ERROR_UNAVAILABLE,
			    "the reply was cut: it ended after %zu bytes without the end that the "
			    "format %s requires",
			    reply->received, reply->wire->name);
	struct run_turn_call_list calls = calls_of(reply, prefix);
	enum run_turn_stop stop = reply->stop;
	if (reply->refused)
		stop = RUN_TURN_STOP_REFUSED;
	else if (stop == RUN_TURN_STOP_END && calls.count > 0)
		stop = RUN_TURN_STOP_CALLS;
	else if (stop == RUN_TURN_STOP_CALLS && calls.count == 0)
		stop = RUN_TURN_STOP_END;
	*out_result = (struct llm_result){ .text = buf_str(&reply->text),
					   .thinking = thinking_of(reply),
					   .calls = calls,
					   .stop = stop,
					   .usage = reply->counted ? &reply->usage : NULL };
	return true;
}

/* ---- writing requests ---------------------------------------------------------------- */

void wire_put_member(struct json_writer *writer, struct str key, struct str value)
{
	json_key(writer, key);
	json_put_str(writer, value);
}

void wire_put_arguments(struct json_writer *writer, const struct run_turn_call *call)
{
	if (has(call, arguments)) {
		json_put_tree(writer, call->arguments);
		return;
	}
	json_open(writer, '{');
	if (has(call, malformed))
		wire_put_member(writer, S("malformed"), call->malformed);
	json_close(writer, '}');
}

struct str wire_arguments_text(const struct run_turn_call *call, struct arena *arena)
{
	AUTO(buf) text = { 0 };
	struct json_writer writer = { .out = &text };
	wire_put_arguments(&writer, call);
	return str_copy(arena, buf_str(&text));
}

/* Providers refuse a schema that is not one of an object. */
void wire_put_parameters(struct json_writer *writer, const struct run_turn_tool *tool)
{
	if (json_member(tool->parameters, S("type")) != NULL)
		json_put_tree(writer, tool->parameters);
	else
		json_put_raw(writer, S("{\"type\":\"object\",\"properties\":{}}"));
}

struct str wire_system_with_schema(const struct run_turn *turn, struct arena *arena)
{
	if (!has(turn, schema))
		return turn->system;
	return str_format(arena,
			  STR_FMT
			  "%sYour final reply must be one JSON value, without other text, that "
			  "is valid against this JSON Schema:\n" STR_FMT,
			  STR_ARG(turn->system), turn->system.size == 0 ? "" : "\n\n",
			  STR_ARG(json_print(arena, turn->schema)));
}

struct str wire_data_url(const struct run_turn_part *part, struct arena *arena)
{
	return str_format(arena, "data:" STR_FMT ";base64," STR_FMT, STR_ARG(part->media_type),
			  STR_ARG(part->data));
}
