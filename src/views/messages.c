/* views/messages.c -- collects messages from a run's stream. */
#include "views/messages.h"

#include "base/limits.h"
#include "base/utf8.h"
#include "contract/run_event_types.h"
#include "contract/run_outline_types.h"
#include "contract/runtime_types.h"
#include "views/view_tree.h"

static const struct run_message_sent *message_at(const struct timeline *timeline, size_t index)
{
	const struct event *event = &timeline->source->events[index];
	return event->type == EVENT_MESSAGE_SENT ? event->as.run_message_sent : NULL;
}

static const struct json *content_of(const struct timeline *timeline,
				     const struct run_message_sent *message)
{
	const struct run_value *value = message->content;
	if (has(value, sha256))
		return timeline->source->read_value(timeline->source->context, &value->sha256);
	return has(value, json) ? value->json : NULL;
}

struct str messages_text(const struct timeline *timeline, const struct run_message_sent *message)
{
	return json_text(content_of(timeline, message));
}

static enum runtime_message_type type_of(enum run_message_kind kind)
{
	switch (kind) {
	case RUN_MESSAGE_TASK:
		return RUNTIME_MESSAGE_TASK;
	case RUN_MESSAGE_RESPONSE:
		return RUNTIME_MESSAGE_RESPONSE;
	case RUN_MESSAGE_ERROR:
		return RUNTIME_MESSAGE_ERROR;
	case RUN_MESSAGE_STATUS:
		break;
	}
	return RUNTIME_MESSAGE_STATUS;
}

static const struct runtime_agent_message *agent_message(const struct timeline *timeline,
							 size_t index)
{
	static const struct json nothing = { .kind = JSON_NULL };
	const struct run_message_sent *message = message_at(timeline, index);
	const struct json *content = content_of(timeline, message);
	struct runtime_agent_message *out = runtime_agent_message_new(timeline->arena);
	SET(out, id, message->id);
	SET(out, type, type_of(message->type));
	SET(out, sender, message->from);
	if (has(message, to))
		SET(out, recipient, message->to);
	SET(out, content, content == NULL ? &nothing : content);
	SET(out, metadata,
	    TREE(timeline->arena, { S("step"), view_tree_text(message->step) },
		 { S("thread"), view_tree_text(timeline_id_text(timeline, message->thread)) },
		 { S("subject"),
		   has(message, subject) ? view_tree_text(message->subject) : view_tree_none() }));
	SET(out, timestamp, timeline->source->events[index].at);
	if (has(message, reply_to))
		SET(out, parent_id, message->reply_to);
	return out;
}

bool messages_list(const struct timeline *timeline, const struct uuid *after, size_t limit,
		   const struct runtime_agent_message ***out, size_t *out_count)
{
	const struct runtime_agent_message **at =
		arena_array(timeline->arena, const struct runtime_agent_message *, limit);
	size_t count = 0;
	bool begun = uuid_is_zero(after);
	for (size_t i = 0; i < timeline->source->event_count && count < limit; i++) {
		const struct run_message_sent *message = message_at(timeline, i);
		if (message == NULL)
			continue;
		if (begun)
			at[count++] = agent_message(timeline, i);
		else
			begun = uuid_equal(&message->id, after);
	}
	*out = at;
	*out_count = count;
	return begun;
}

static struct run_outline_message outline_message(const struct timeline *timeline, size_t index)
{
	const struct run_message_sent *message = message_at(timeline, index);
	struct run_outline_message *out = run_outline_message_new(timeline->arena);
	SET(out, id, message->id);
	SET(out, at, timeline->source->events[index].at);
	SET(out, from, message->from);
	if (has(message, to))
		SET(out, to, message->to);
	SET(out, thread, message->thread);
	if (has(message, subject))
		SET(out, subject, message->subject);
	SET(out, text, utf8_head(messages_text(timeline, message), LIMIT_MESSAGE_SHOWN_BYTES));
	return *out;
}

void messages_outline(const struct timeline *timeline, struct run_outline *out)
{
	size_t index = timeline->source->event_count, place = LIMIT_OUTLINE_MESSAGES;
	int64_t older = 0;
	struct run_outline_message *at =
		arena_array(timeline->arena, struct run_outline_message, LIMIT_OUTLINE_MESSAGES);
	while (index-- > 0) {
		if (message_at(timeline, index) == NULL)
			continue;
		if (place > 0)
			at[--place] = outline_message(timeline, index);
		else
			older++;
	}
	if (place < LIMIT_OUTLINE_MESSAGES)
		SET(out, messages,
		    ((struct run_outline_message_list){ at + place,
							LIMIT_OUTLINE_MESSAGES - place }));
	if (older > 0)
		SET(out, messages_left_out, older);
}
