/* effect/turn_request.c -- an opening and a transcript become one request.
 *
 * What a tool returned is told to the model as text, within a limit: the head and the tail of a longer
 * result.  A call that failed is told with its error and the end of its log, because a failing test
 * writes what is wrong to its output.
 */
#include "effect/turn_request.h"

#include "base/buf.h"
#include "base/limits.h"
#include "contract/run_graph_types.h"
#include "contract/run_log_types.h"

struct told_call {
	struct str tool;
	struct failure fault; /* code "" = it succeeded */
	struct value result, log;
	bool shows;            /* its result has a picture or recording for the model */
	struct str instead_of; /* the tool that has failed before; "" = none */
	struct failure before; /* why */
};

struct told_turn {
	struct str note;
	struct value reply; /* absent: of the turn that is requested */
	bool sums;          /* it asked for a summary, and is not told */
	struct told_call *calls;
	size_t call_count;
};

struct turn_source {
	struct value opening;
	struct told_turn *turns; /* oldest first */
	size_t turn_count;
	int64_t left_out;     /* the first turns, which no longer fit the context window */
	struct value summary; /* of these; absent = none */
	bool summarizes;      /* the request asks for a summary of the turns */
	struct hash *needs;
	size_t need_count, need_room;
};

/* ---- the source -------------------------------------------------------------------------- */

static struct failure copy_failure(struct failure from, struct arena *arena)
{
	return (struct failure){ str_copy(arena, from.code), str_copy(arena, from.text) };
}

static struct value copy_value(struct turn_source *source, const struct value *from,
			       struct arena *arena)
{
	struct value value = *from;
	if (from->kind == VALUE_INLINE)
		value.text = str_copy(arena, from->text);
	if (from->kind != VALUE_STORED)
		return value;
	if (source->need_count == source->need_room) {
		source->need_room = source->need_room == 0 ? 16 : source->need_room * 2;
		struct hash *more = arena_array(arena, struct hash, source->need_room);
		for (size_t i = 0; i < source->need_count; i++)
			more[i] = source->needs[i];
		source->needs = more;
	}
	source->needs[source->need_count++] = from->hash;
	return value;
}

static size_t highest_call(const struct scope *scope)
{
	size_t highest = 0;
	for (const struct activation *a = scope->first; a != NULL; a = a->next) {
		highest = a->call > highest ? a->call : highest;
		for (uint32_t i = 0; i < a->refused_count; i++)
			highest = a->refused[i].call > highest ? a->refused[i].call : highest;
	}
	return highest;
}

static void tell_call(struct turn_source *source, const struct run *run, const struct activation *a,
		      struct told_call *call, struct arena *arena)
{
	const struct run_graph_node *row = run_node(run, a)->row;
	call->tool = str_copy(arena, run_node(run, a)->name);
	call->shows = has(row, tool) && str_equal(row->tool, S("view_file"));
	call->fault = copy_failure(a->fault, arena);
	call->result = copy_value(source, &a->result, arena);
	if (a->fault.code.size > 0)
		call->log = copy_value(source, &a->log, arena);
}

/* A call that has failed and was made with another tool: of several, the first. */
static void tell_failed(const struct run *run, const struct activation *a, struct told_call *call,
			struct arena *arena)
{
	call->instead_of = str_copy(arena, run_node(run, a)->name);
	call->before = copy_failure(a->fault, arena);
}

static struct told_turn tell_turn(struct turn_source *source, const struct run *run,
				  const struct scope *scope, const struct activation *asking,
				  struct arena *arena)
{
	struct told_turn turn = { .note = str_copy(arena, scope->turn.note),
				  .sums = scope->turn.summarizes > 0 };
	if (asking->scope == scope)
		return turn;
	turn.call_count = highest_call(scope);
	turn.calls = arena_array(arena, struct told_call, turn.call_count);
	for (const struct activation *a = scope->first; a != NULL; a = a->next) {
		/* A question that was approved led to the call, whose result counts. */
		if (a->call > 0 && a->instead.size > 0)
			tell_failed(run, a, &turn.calls[a->call - 1], arena);
		else if (a->call > 0 && (a->asks_for == 0 || a->state != STEP_SUCCEEDED))
			tell_call(source, run, a, &turn.calls[a->call - 1], arena);
		else if (a->call == 0 && a->state == STEP_SUCCEEDED)
			turn.reply = copy_value(source, &a->result, arena);
		for (uint32_t i = 0; i < a->refused_count; i++)
			turn.calls[a->refused[i].call - 1] =
				(struct told_call){ .tool = str_copy(arena, a->refused[i].name),
						    .fault = copy_failure(a->refused[i].fault,
									  arena) };
	}
	return turn;
}

static bool is_in_session(const struct run *run, const struct activation *turn)
{
	return turn->scope->owner != NULL &&
	       run_node(run, turn->scope->owner)->kind == RUN_NODE_SESSION;
}

/* The activation that asked the model in a turn, if it has replied; NULL. */
static const struct activation *session_reply(const struct scope *scope)
{
	for (const struct activation *a = scope->first; a != NULL; a = a->next)
		if (a->call == 0 && a->state == STEP_SUCCEEDED)
			return a;
	return NULL;
}

struct turn_source *turn_source_new(const struct run *run, const struct activation *turn,
				    struct arena *arena)
{
	struct turn_source *source = arena_new(arena, struct turn_source);
	source->opening = copy_value(source, &turn->inputs, arena);
	if (!is_in_session(run, turn))
		return source;
	const struct scope *newest = turn->scope;
	int64_t until = newest->turn.summarizes; /* turns from here on are not summed up */
	source->left_out = newest->turn.kept_from - 1;
	source->summarizes = until > 0;
	for (const struct scope *at = newest; at != NULL; at = at->next)
		if (newest->turn.summary > 0 && at->item == newest->turn.summary &&
		    session_reply(at) != NULL)
			source->summary = copy_value(source, &session_reply(at)->result, arena);
	size_t count = 0;
	for (const struct scope *at = newest; at != NULL; at = at->next)
		count += at->item >= newest->turn.kept_from && (until == 0 || at->item < until);
	source->turns = arena_array(arena, struct told_turn, count);
	source->turn_count = count;
	for (const struct scope *at = newest; at != NULL; at = at->next)
		if (at->item >= newest->turn.kept_from && (until == 0 || at->item < until))
			source->turns[--count] = tell_turn(source, run, at, turn, arena);
	return source;
}

const struct hash *turn_source_needs(const struct turn_source *source, size_t *out_count)
{
	*out_count = source->need_count;
	return source->needs;
}

/* ---- the request --------------------------------------------------------------------------- */

struct building {
	const struct engine_values *values;
	struct arena *arena;
	struct run_turn_message *messages;
	size_t count;
};

static const struct json *value_json(const struct building *b, const struct value *value)
{
	const struct json *json;
	struct error error;
	switch (value->kind) {
	case VALUE_ABSENT:
		return NULL;
	case VALUE_STORED:
		return b->values->look(b->values->context, &value->hash);
	case VALUE_INLINE:
		break;
	}
	bool good = json_read(value->text, b->arena, &json, &error);
	require(good); /* we have printed it ourselves */
	return json;
}

static struct run_turn_message *add_message(struct building *b, struct str role, struct str content)
{
	struct run_turn_message *message = &b->messages[b->count++];
	*message = *run_turn_message_new(b->arena);
	SET(message, role, role);
	SET(message, content, content);
	return message;
}

static size_t start_of_character(struct str text, size_t at)
{
	while (at > 0 && at < text.size && ((unsigned char)text.at[at] & 0xC0) == 0x80)
		at--;
	return at;
}

/* The head and the tail of a text that is too long. */
static struct str within(struct str text, size_t limit, struct arena *arena)
{
	if (text.size <= limit)
		return text;
	size_t head = start_of_character(text, limit / 2);
	size_t tail = start_of_character(text, text.size - limit / 2);
	return str_format(arena, STR_FMT "\n[%zu bytes left out]\n" STR_FMT,
			  STR_ARG(str_head(text, head)), tail - head,
			  STR_ARG(str_skip(text, tail)));
}

static struct str log_text(const struct building *b, const struct value *value)
{
	struct problems problems = { .arena = b->arena };
	struct contract_source source = { .json = value_json(b, value), .lenient = true };
	const struct run_log *log =
		source.json == NULL ? NULL : run_log_parse(&source, b->arena, &problems);
	AUTO(buf) text = { 0 };
	for (size_t i = 0; log != NULL && i < log->parts.count; i++)
		buf_add(&text, log->parts.at[i].text);
	return str_copy(b->arena, buf_str(&text));
}

static struct str call_text(const struct building *b, const struct told_call *call)
{
	const struct json *result = value_json(b, &call->result);
	if (call->fault.code.size == 0) {
		struct str text = result == NULL                ? S("")
				  : result->kind == JSON_STRING ? result->as.string
								: json_print(b->arena, result);
		if (call->instead_of.size > 0)
			text = str_format(b->arena,
					  "[" STR_FMT " failed (" STR_FMT "); " STR_FMT
					  " was called instead]\n" STR_FMT,
					  STR_ARG(call->instead_of), STR_ARG(call->before.code),
					  STR_ARG(call->tool), STR_ARG(text));
		return within(text, LIMIT_RESULT_SHOWN, b->arena);
	}
	struct str log = log_text(b, &call->log);
	struct str text = str_format(b->arena, STR_FMT ": " STR_FMT "%s" STR_FMT,
				     STR_ARG(call->fault.code), STR_ARG(call->fault.text),
				     log.size > 0 ? "\nIt wrote:\n" : "", STR_ARG(log));
	return within(text, LIMIT_RESULT_SHOWN, b->arena);
}

/* What the tool view_file has found. */
static void attach(const struct building *b, const struct told_call *call,
		   struct run_turn_message *message)
{
	struct problems problems = { .arena = b->arena };
	struct contract_source source = { .json = value_json(b, &call->result), .lenient = true };
	const struct run_attachment *shown =
		call->shows && source.json != NULL && call->fault.code.size == 0
			? run_attachment_parse(&source, b->arena, &problems)
			: NULL;
	if (shown != NULL)
		SET(message, attachments, ((struct run_attachment_list){ shown, 1 }));
}

/* A reply that cannot be read is told as nothing; the engine would have failed the session. */
static void build_reply(struct building *b, const struct told_turn *turn)
{
	struct problems problems = { .arena = b->arena };
	struct contract_source source = { .json = value_json(b, &turn->reply), .lenient = true };
	const struct run_turn_result *reply =
		source.json == NULL ? NULL : run_turn_result_parse(&source, b->arena, &problems);
	if (reply == NULL)
		return;
	struct run_turn_message *message = add_message(b, S("assistant"), reply->text);
	size_t count = has(reply, calls) ? reply->calls.count : 0;
	if (has(reply, thinking))
		SET(message, thinking, reply->thinking);
	if (count > 0)
		SET(message, calls, reply->calls);
	for (size_t i = 0; i < count && i < turn->call_count; i++) {
		struct run_turn_message *result =
			add_message(b, S("tool"), call_text(b, &turn->calls[i]));
		SET(result, call, reply->calls.at[i].id);
		SET(result, tool, reply->calls.at[i].name);
		attach(b, &turn->calls[i], result);
		if (turn->calls[i].fault.code.size > 0)
			SET(result, failed, true);
	}
}

/* The last message of the opening, with what replaces the turns that were left out. */
static struct str with_summary(const struct building *b, const struct turn_source *source)
{
	struct str content = b->messages[b->count - 1].content;
	struct str summary = json_text(json_member(value_json(b, &source->summary), S("text")));
	if (summary.size == 0)
		return str_format(b->arena, STR_FMT "\n\n[The first %lld turns are left out here.]",
				  STR_ARG(content), (long long)source->left_out);
	return str_format(
		b->arena,
		STR_FMT
		"\n\n[The first %lld turns are left out here. Your summary of them:]\n" STR_FMT,
		STR_ARG(content), (long long)source->left_out,
		STR_ARG(within(summary, LIMIT_SUMMARY_BYTES, b->arena)));
}

#define SUMMARY_PROMPT                                                                             \
	"The conversation above no longer fits your context window and will be replaced by your "  \
	"summary. Write down what you need to go on: the task, what was done and found out, with " \
	"names of files and exact values, what failed, and what is left to do. Reply with the "    \
	"summary alone."

/* The turns that leave, and the question for their summary; without tools and schema. */
static const struct run_turn *summary_request(struct building *b, const struct run_turn *opening)
{
	struct run_turn *request = run_turn_new(b->arena);
	add_message(b, S("user"), S(SUMMARY_PROMPT));
	SET(request, system, opening->system);
	SET(request, messages, ((struct run_turn_message_list){ b->messages, b->count }));
	SET(request, options, opening->options);
	if (has(opening, tools)) /* providers refuse calls of tools that are not declared */
		SET(request, tools, opening->tools);
	if (has(opening, max_tokens))
		SET(request, max_tokens, opening->max_tokens);
	return request;
}

const struct run_turn *turn_request_build(const struct turn_source *source,
					  const struct engine_values *values, struct arena *arena,
					  struct error *error)
{
	struct building b = { .values = values, .arena = arena };
	struct problems problems = { .arena = arena };
	struct contract_source from = { .json = value_json(&b, &source->opening), .lenient = true };
	const struct run_turn *opening = run_turn_parse(&from, arena, &problems);
	if (opening == NULL) {
		problems_fail(&problems, error);
		return NULL;
	}
	if (source->turn_count == 0 && !source->summarizes)
		return opening;
	size_t room = opening->messages.count + 1;
	for (size_t i = 0; i < source->turn_count; i++)
		room += 2 + source->turns[i].call_count;
	b.messages = arena_array(arena, struct run_turn_message, room);
	for (size_t i = 0; i < opening->messages.count; i++)
		b.messages[b.count++] = opening->messages.at[i];
	if (source->left_out > 0 && b.count > 0)
		SET(&b.messages[b.count - 1], content, with_summary(&b, source));
	for (size_t i = 0; i < source->turn_count; i++) {
		const struct told_turn *turn = &source->turns[i];
		if (turn->sums)
			continue;
		if (turn->note.size > 0)
			add_message(&b, S("user"), turn->note);
		build_reply(&b, turn);
	}
	if (source->summarizes)
		return summary_request(&b, opening);
	struct run_turn *request = arena_copy(arena, opening, sizeof(*opening));
	SET(request, messages, ((struct run_turn_message_list){ b.messages, b.count }));
	return request;
}
