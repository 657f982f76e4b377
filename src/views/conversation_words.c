/* views/conversation_words.c -- a conversation as one list of what was said, and that list in four
 * vocabularies. */
#include "views/conversation_words.h"

#include "contract/graph_types.h"
#include "contract/pipeline_types.h"
#include "contract/run_graph_types.h"
#include "contract/run_talk_types.h"
#include "contract/runtime_types.h"
#include "contract/task_types.h"
#include "views/conversation.h"
#include "views/task_chunk.h"
#include "views/view_graph.h"
#include "views/view_tree.h"

enum said_kind {
	SAID_TASK,
	SAID_THOUGHT,
	SAID_TEXT,
	SAID_CALL,
	SAID_RESULT,
	SAID_ERROR,
	SAID_USAGE
};

/* One thing that was said or done. */
struct said {
	enum said_kind kind;
	const struct run_talk *talk;
	const struct run_talk_turn *turn; /* NULL: a message before the first turn */
	const struct run_talk_call *call;
	const struct run_turn_message *message; /* before the first turn */
	struct str text;
	bool from_model; /* of a message before the first turn */
	bool last;       /* a text behind which nothing is called */
	int64_t at;
	struct uuid id, parent;
};

struct said_list {
	const struct timeline *timeline;
	struct said *at;
	size_t count, room;
};

static struct uuid id_of(const struct said_list *list, struct str step, const char *what, size_t n)
{
	struct str number = str_format(list->timeline->arena, "%s %zu", what, n);
	struct str parts[] = { uuid_str(&list->timeline->source->run), step, number };
	return uuid_derive(parts, COUNT(parts));
}

static void list_add(struct said_list *list, struct said said)
{
	if (list->count == list->room) {
		size_t room = list->room == 0 ? 16 : list->room * 2;
		struct said *at = arena_array(list->timeline->arena, struct said, room);
		for (size_t i = 0; i < list->count; i++)
			at[i] = list->at[i];
		list->at = at;
		list->room = room;
	}
	list->at[list->count++] = said;
}

/* ---- the list ---------------------------------------------------------------------------- */

static void add_calls(struct said_list *list, struct said from)
{
	const struct run_talk_turn *turn = from.turn;
	for (size_t i = 0; has(turn, calls) && i < turn->calls.count; i++) {
		const struct run_talk_call *call = &turn->calls.at[i];
		from.call = call;
		from.kind = SAID_CALL;
		from.text = S("");
		from.at = has(call, started_at) ? call->started_at : from.at;
		from.id = id_of(list, turn->step, "call", i);
		list_add(list, from);
		if (!has(call, result) && !has(call, error))
			continue;
		struct said result = from;
		result.kind = SAID_RESULT;
		result.parent = from.id;
		result.id = id_of(list, turn->step, "result", i);
		result.text = has(call, error) ? call->error : call->result;
		result.at = has(call, ended_at) ? call->ended_at : from.at;
		list_add(list, result);
	}
}

static void add_turn(struct said_list *list, const struct run_talk *talk,
		     const struct run_talk_turn *turn, struct uuid task)
{
	int64_t at = has(turn, ended_at)     ? turn->ended_at
		     : has(turn, started_at) ? turn->started_at
					     : list->timeline->created_at;
	struct said said = { .talk = talk, .turn = turn, .at = at, .parent = task };
	if (has(turn, thinking)) {
		said.kind = SAID_THOUGHT;
		said.text = turn->thinking;
		said.id = id_of(list, turn->step, "thought", 0);
		list_add(list, said);
	}
	if (turn->text.size > 0) {
		said.kind = SAID_TEXT;
		said.text = turn->text;
		said.last = !has(turn, calls) || turn->calls.count == 0;
		said.id = id_of(list, turn->step, "text", 0);
		list_add(list, said);
	}
	add_calls(list, said);
	if (has(turn, error)) {
		said.kind = SAID_ERROR;
		said.text = turn->error;
		said.id = id_of(list, turn->step, "error", 0);
		list_add(list, said);
	}
	if (has(turn, usage)) {
		said.kind = SAID_USAGE;
		said.text = S("");
		said.id = id_of(list, turn->step, "usage", 0);
		list_add(list, said);
	}
}

/* Of the messages that a later talk begins with, the talks before have all but the newest. */
static void add_talk(struct said_list *list, const struct run_talk *talk, bool first)
{
	size_t count = talk->messages.count;
	struct uuid task = { { 0 } };
	for (size_t i = first || count == 0 ? 0 : count - 1; i < count; i++) {
		const struct run_turn_message *message = &talk->messages.at[i];
		task = id_of(list, talk->step, "task", i);
		bool begun = talk->turns.count > 0 && has(&talk->turns.at[0], started_at);
		list_add(list,
			 (struct said){ .kind = SAID_TASK,
					.talk = talk,
					.message = message,
					.text = message->content,
					.from_model = str_equal(message->role, S("assistant")),
					.id = task,
					.at = begun ? talk->turns.at[0].started_at
						    : list->timeline->created_at });
	}
	for (size_t i = 0; i < talk->turns.count; i++)
		add_turn(list, talk, &talk->turns.at[i], task);
}

static struct said_list list_of(const struct timeline *timeline)
{
	const struct run_conversation *all = conversation(timeline);
	struct said_list list = { .timeline = timeline };
	for (size_t i = 0; i < all->talks.count; i++)
		add_talk(&list, &all->talks.at[i], i == 0);
	return list;
}

/* ---- pipeline ------------------------------------------------------------------------------ */

static const struct pipeline_driver_usage *driver_usage(const struct said *said,
							struct arena *arena)
{
	struct problems problems = { .arena = arena };
	struct contract_source source = { .json = said->turn->usage, .lenient = true };
	const struct run_turn_usage *usage = run_turn_usage_parse(&source, arena, &problems);
	struct pipeline_driver_usage *out = pipeline_driver_usage_new(arena);
	if (usage == NULL)
		return out;
	SET(out, input_tokens, usage->input_tokens);
	SET(out, output_tokens, usage->output_tokens);
	SET(out, cache_read_tokens, usage->cache_read_tokens);
	SET(out, cache_creation_tokens, usage->cache_creation_tokens);
	if (usage->cost_usd > 0)
		SET(out, cost_usd, usage->cost_usd);
	SET(out, num_turns, 1);
	return out;
}

static const struct pipeline_agentic_message *agentic_message(const struct said_list *list,
							      const struct said *said)
{
	static const enum pipeline_agentic_message_type types[] = {
		[SAID_THOUGHT] = PIPELINE_MESSAGE_THINKING,
		[SAID_TEXT] = PIPELINE_MESSAGE_THINKING,
		[SAID_CALL] = PIPELINE_MESSAGE_TOOL_CALL,
		[SAID_RESULT] = PIPELINE_MESSAGE_TOOL_RESULT,
		[SAID_ERROR] = PIPELINE_MESSAGE_RESULT,
		[SAID_USAGE] = PIPELINE_MESSAGE_USAGE,
	};
	struct arena *arena = list->timeline->arena;
	struct pipeline_agentic_message *out = pipeline_agentic_message_new(arena);
	bool answers = said->kind == SAID_TEXT && said->last;
	SET(out, type, answers ? PIPELINE_MESSAGE_RESULT : types[said->kind]);
	if (said->text.size > 0 && said->kind != SAID_RESULT)
		SET(out, content, said->text);
	SET(out, is_error,
	    said->kind == SAID_ERROR || (said->kind == SAID_RESULT && has(said->call, error)));
	if (said->talk->model.size > 0)
		SET(out, model, said->talk->model);
	if (said->kind == SAID_USAGE)
		SET(out, usage, driver_usage(said, arena));
	if (said->kind != SAID_CALL && said->kind != SAID_RESULT)
		return out;
	const struct uuid *call = said->kind == SAID_CALL ? &said->id : &said->parent;
	SET(out, tool_name, said->call->name);
	SET(out, tool_call_id, timeline_id_text(list->timeline, *call));
	if (said->kind == SAID_RESULT)
		SET(out, tool_output, said->text);
	else if (has(said->call, arguments))
		SET(out, tool_input, said->call->arguments);
	return out;
}

static struct view_document pipeline_messages(const struct said_list *list)
{
	const void **at = arena_array(list->timeline->arena, const void *, list->count);
	size_t count = 0;
	for (size_t i = 0; i < list->count; i++)
		if (list->at[i].kind != SAID_TASK)
			at[count++] = agentic_message(list, &list->at[i]);
	return view_many("messages", pipeline_agentic_message_type(), at, count);
}

/* ---- runtime ------------------------------------------------------------------------------- */

static const struct json *content_of(const struct said *said, struct arena *arena)
{
	if (said->kind == SAID_CALL)
		return TREE(arena, { S("tool"), view_tree_text(said->call->name) },
			    { S("arguments"),
			      view_tree_copy(has(said->call, arguments) ? said->call->arguments
									: NULL) });
	struct json *text = arena_new(arena, struct json);
	*text = (struct json){ .kind = JSON_STRING, .as.string = said->text };
	return text;
}

static const struct runtime_agent_message *agent_message(const struct said_list *list,
							 const struct said *said)
{
	static const enum runtime_message_type types[] = {
		[SAID_TASK] = RUNTIME_MESSAGE_TASK,
		[SAID_THOUGHT] = RUNTIME_MESSAGE_STATUS,
		[SAID_TEXT] = RUNTIME_MESSAGE_STATUS,
		[SAID_CALL] = RUNTIME_MESSAGE_TOOL_CALL,
		[SAID_RESULT] = RUNTIME_MESSAGE_TOOL_RESULT,
		[SAID_ERROR] = RUNTIME_MESSAGE_ERROR,
	};
	struct arena *arena = list->timeline->arena;
	struct runtime_agent_message *out = runtime_agent_message_new(arena);
	bool answers = (said->kind == SAID_TEXT && said->last) || said->from_model;
	struct str agent = said->talk->agent, other = S("user");
	bool to_agent = (said->kind == SAID_TASK && !said->from_model) || said->kind == SAID_RESULT;
	if (said->call != NULL)
		other = said->call->name;
	SET(out, id, said->id);
	SET(out, type, answers ? RUNTIME_MESSAGE_RESPONSE : types[said->kind]);
	SET(out, sender, to_agent ? other : agent);
	SET(out, recipient, to_agent ? agent : other);
	SET(out, content, content_of(said, arena));
	SET(out, metadata,
	    TREE(arena, { S("step"), view_tree_text(said->turn == NULL ? said->talk->step
								       : said->turn->step) }));
	SET(out, timestamp, said->at);
	if (!uuid_is_zero(&said->parent))
		SET(out, parent_id, said->parent);
	return out;
}

static struct view_document runtime_messages(const struct said_list *list)
{
	const void **at = arena_array(list->timeline->arena, const void *, list->count);
	size_t count = 0;
	for (size_t i = 0; i < list->count; i++)
		if (list->at[i].kind != SAID_USAGE)
			at[count++] = agent_message(list, &list->at[i]);
	return view_many("messages", runtime_agent_message_type(), at, count);
}

/* ---- task ---------------------------------------------------------------------------------- */

static struct task_part task_part_of(const struct said_list *list, const struct said *said)
{
	struct arena *arena = list->timeline->arena;
	static const struct json nothing = { .kind = JSON_OBJECT };
	if (said->kind == SAID_CALL) {
		struct task_tool_call *call = task_tool_call_new(arena);
		struct task_tool_call_part *part = task_tool_call_part_new(arena);
		SET(call, id, timeline_id_hex(list->timeline, "tc_", said->id));
		SET(call, tool_name, said->call->name);
		SET(call, args, has(said->call, arguments) ? said->call->arguments : &nothing);
		SET(part, tool_call, call);
		return (struct task_part){ .kind = TASK_PART_TOOL_CALL, .as.tool_call = part };
	}
	if (said->kind == SAID_RESULT) {
		struct task_tool_result *result = task_tool_result_new(arena);
		struct task_tool_result_part *part = task_tool_result_part_new(arena);
		SET(result, tool_call_id, timeline_id_hex(list->timeline, "tc_", said->parent));
		SET(result, result, has(said->call, result) ? said->call->result : S(""));
		if (has(said->call, error))
			SET(result, error, said->call->error);
		SET(part, tool_result, result);
		return (struct task_part){ .kind = TASK_PART_TOOL_RESULT, .as.tool_result = part };
	}
	struct task_text_part *part = task_text_part_new(arena);
	SET(part, text, said->text);
	return (struct task_part){ .kind = TASK_PART_TEXT, .as.text = part };
}

static struct run_attachment_list attachments_of(const struct said *said)
{
	if (said->kind == SAID_TASK && said->message != NULL && has(said->message, attachments))
		return said->message->attachments;
	if (said->kind == SAID_RESULT && has(said->call, attachments))
		return said->call->attachments;
	return (struct run_attachment_list){ NULL, 0 };
}

/* A picture or a recording, at the address of its artifact. */
static struct task_part media_part(const struct said_list *list, const struct run_attachment *media)
{
	struct arena *arena = list->timeline->arena;
	struct str address =
		str_format(arena, "/api/runs/" STR_FMT "/artifacts/" STR_FMT "?version=%lld",
			   STR_ARG(timeline_id_text(list->timeline, list->timeline->source->run)),
			   STR_ARG(media->name), (long long)media->version);
	struct str format = run_media_type_name(media->media_type), kind;
	str_cut(&format, '/', &kind);
	if (str_equal(kind, S("audio"))) {
		struct task_audio_part *part = task_audio_part_new(arena);
		SET(part, audio_url, address);
		SET(part, format, str_equal(format, S("mpeg")) ? S("mp3") : format);
		return (struct task_part){ .kind = TASK_PART_AUDIO, .as.audio = part };
	}
	struct task_image_part *part = task_image_part_new(arena);
	SET(part, image_url, address);
	SET(part, alt_text, media->name);
	SET(part, format, str_equal(format, S("jpeg")) ? S("jpg") : format);
	return (struct task_part){ .kind = TASK_PART_IMAGE, .as.image = part };
}

/* The step of the turn of said[first], and of what follows in the same turn. */
static const struct task_step *task_turn(const struct said_list *list, size_t first, size_t count)
{
	struct arena *arena = list->timeline->arena;
	const struct said *said = &list->at[first];
	struct task_step *step = task_step_new(arena);
	size_t room = count, shown = 0;
	for (size_t i = 0; i < count; i++)
		room += attachments_of(&said[i]).count;
	struct task_part *parts = arena_array(arena, struct task_part, room);
	for (size_t i = 0; i < count; i++) {
		struct run_attachment_list media = attachments_of(&said[i]);
		if (said[i].kind == SAID_USAGE || said[i].kind == SAID_THOUGHT)
			continue;
		parts[shown++] = task_part_of(list, &said[i]);
		for (size_t k = 0; k < media.count; k++)
			parts[shown++] = media_part(list, &media.at[k]);
	}
	if (shown == 0)
		return NULL;
	struct str path = said->turn == NULL ? said->talk->step : said->turn->step;
	SET(step, step_id,
	    timeline_id_hex(list->timeline, "step_",
			    said->turn == NULL
				    ? said->id
				    : task_chunk_step(&list->timeline->source->run, path)));
	SET(step, timestamp, said->at);
	SET(step, agent_name,
	    said->turn == NULL && !said->from_model ? S("user") : said->talk->agent);
	SET(step, task_id, said->talk->step);
	SET(step, parts, ((struct task_part_list){ parts, shown }));
	return step;
}

static struct view_document task_steps(const struct said_list *list)
{
	const void **at = arena_array(list->timeline->arena, const void *, list->count);
	size_t count = 0;
	for (size_t i = 0, next; i < list->count; i = next) {
		next = i + 1;
		while (list->at[i].turn != NULL && next < list->count &&
		       list->at[next].turn == list->at[i].turn)
			next++;
		const struct task_step *step = task_turn(list, i, next - i);
		if (step != NULL)
			at[count++] = step;
	}
	return view_many("history", task_step_type(), at, count);
}

/* ---- graph --------------------------------------------------------------------------------- */

static struct graph_tool_call_list graph_calls(const struct said_list *list, size_t at)
{
	struct arena *arena = list->timeline->arena;
	struct graph_tool_call *calls =
		arena_array(arena, struct graph_tool_call, list->count - at);
	size_t count = 0;
	for (size_t i = at; i < list->count && list->at[i].turn == list->at[at].turn; i++) {
		if (list->at[i].kind != SAID_CALL)
			continue;
		struct graph_tool_call *call = graph_tool_call_new(arena);
		SET(call, id, list->at[i].id);
		SET(call, server, S(""));
		SET(call, tool, list->at[i].call->name);
		if (has(list->at[i].call, arguments))
			SET(call, arguments, list->at[i].call->arguments);
		calls[count++] = *call;
	}
	return (struct graph_tool_call_list){ calls, count };
}

/* A turn is one message of the model with its calls, and one of the tool for each result. */
static bool graph_message_of(const struct said_list *list, size_t index, struct graph_message *out)
{
	const struct said *said = &list->at[index];
	bool first = index == 0 || list->at[index - 1].turn != said->turn;
	bool spoken = said->kind == SAID_TEXT || (said->kind == SAID_CALL && first);
	if (!spoken && said->kind != SAID_TASK && said->kind != SAID_RESULT)
		return false;
	SET(out, role,
	    said->kind == SAID_RESULT                      ? GRAPH_ROLE_TOOL
	    : said->kind == SAID_TASK && !said->from_model ? GRAPH_ROLE_USER
							   : GRAPH_ROLE_ASSISTANT);
	SET(out, content, said->text);
	SET(out, timestamp, said->at);
	if (spoken)
		SET(out, tool_calls, graph_calls(list, index));
	return true;
}

static struct view_document graph_state_of(const struct said_list *list)
{
	struct arena *arena = list->timeline->arena;
	if (has(list->timeline->source->graph, state))
		return view_one(list->timeline, "state", graph_state_type(),
				view_graph_state(list->timeline));
	struct graph_state *state = graph_state_new(arena);
	struct graph_message *messages = arena_array(arena, struct graph_message, list->count);
	size_t count = 0;
	for (size_t i = 0; i < list->count; i++) {
		messages[count] = *graph_message_new(arena);
		count += graph_message_of(list, i, &messages[count]);
	}
	SET(state, messages, ((struct graph_message_list){ messages, count }));
	SET(state, current_agent, list->count == 0 ? S("") : list->at[list->count - 1].talk->agent);
	return view_one(list->timeline, "state", graph_state_type(), state);
}

bool conversation_in(const struct timeline *timeline, const struct view *view,
		     struct view_document *out_document, struct error *error)
{
	struct said_list list = list_of(timeline);
	if (view == view_at(VIEW_pipeline))
		*out_document = pipeline_messages(&list);
	else if (view == view_at(VIEW_runtime))
		*out_document = runtime_messages(&list);
	else if (view == view_at(VIEW_task))
		*out_document = task_steps(&list);
	else if (view == view_at(VIEW_graph))
		*out_document = graph_state_of(&list);
	else
		return fail(error, ERROR_USAGE,
			    "the vocabulary " STR_FMT
			    " has no messages of agents; use pipeline, runtime, task or graph",
			    STR_ARG(view->name));
	return true;
}
