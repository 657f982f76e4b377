/* engine/mailbox_state.c -- how events change the inboxes of a run's agents.
 *
 * A snapshot has the messages and the readings as they were recorded.  Restoring applies them in that
 * order, so an inbox is derived and never stored.
 */
#include "engine/mailbox.h"

#include "contract/run_event_types.h"
#include "contract/run_graph_types.h"
#include "contract/run_snapshot_types.h"

/* The name of the agent of a session that reads messages; "" = it does not. */
static struct str reader_name(const struct graph *graph, uint32_t number)
{
	const struct graph_node *session = &graph->nodes[number];
	if (session->kind != RUN_NODE_SESSION || session->body.count == 0 ||
	    graph_find(graph, number, S("read_messages")) < 0)
		return S("");
	return graph->nodes[session->body.at[0]].row->agent->name;
}

/* Inboxes are in the order of the agents' names. */
static void add_inbox(struct mailbox *mailbox, struct str agent)
{
	size_t place = mailbox->inbox_count++;
	for (; place > 0 && str_compare(agent, mailbox->inboxes[place - 1].agent) < 0; place--)
		mailbox->inboxes[place] = mailbox->inboxes[place - 1];
	mailbox->inboxes[place] = (struct inbox){ .agent = agent };
}

struct mailbox *mailbox_of(struct run *run)
{
	if (run->mailbox != NULL)
		return run->mailbox;
	const struct graph *graph = run->graph;
	struct mailbox *mailbox = arena_new(run->arena, struct mailbox);
	size_t most = 0;
	for (uint32_t i = 0; i < graph->node_count; i++)
		most += reader_name(graph, i).size > 0;
	mailbox->inboxes = arena_array(run->arena, struct inbox, most);
	for (uint32_t i = 0; i < graph->node_count; i++) {
		struct str name = reader_name(graph, i);
		if (name.size > 0 && mailbox_find_inbox(mailbox, name) == NULL)
			add_inbox(mailbox, name);
	}
	run->mailbox = mailbox;
	return mailbox;
}

struct inbox *mailbox_find_inbox(const struct mailbox *mailbox, struct str agent)
{
	for (size_t i = 0; i < mailbox->inbox_count; i++)
		if (str_equal(mailbox->inboxes[i].agent, agent))
			return &mailbox->inboxes[i];
	return NULL;
}

const struct message *mailbox_find(const struct mailbox *mailbox, const struct uuid *id)
{
	for (size_t i = 0; i < mailbox->message_count; i++)
		if (uuid_equal(&mailbox->messages[i].id, id))
			return &mailbox->messages[i];
	return NULL;
}

/* Room for one more item of a list. */
#define GROW(arena, list, type, count, room)                             \
	do {                                                             \
		if ((count) == (room)) {                                 \
			(room) = (room) == 0 ? 8 : (room)*2;             \
			type *more = arena_array(arena, type, room);     \
			for (size_t grown = 0; grown < (count); grown++) \
				more[grown] = (list)[grown];             \
			(list) = more;                                   \
		}                                                        \
	} while (0)

static void deliver(struct run *run, struct inbox *inbox, size_t number)
{
	GROW(run->arena, inbox->unread, size_t, inbox->count, inbox->room);
	inbox->unread[inbox->count++] = number;
}

static bool add_message(struct run *run, struct message message, struct error *error)
{
	struct mailbox *mailbox = mailbox_of(run);
	bool broadcast = message.to.size == 0;
	if (mailbox_find(mailbox, &message.id) != NULL)
		return fail(error, ERROR_INVALID, "the message was sent already");
	if (!broadcast && mailbox_find_inbox(mailbox, message.to) == NULL)
		return fail(error, ERROR_INVALID, "agent " STR_FMT " has no inbox",
			    STR_ARG(message.to));
	GROW(run->arena, mailbox->messages, struct message, mailbox->message_count,
	     mailbox->message_room);
	mailbox->messages[mailbox->message_count] = message;
	for (size_t i = 0; i < mailbox->inbox_count; i++) {
		struct inbox *inbox = &mailbox->inboxes[i];
		if (broadcast ? !str_equal(inbox->agent, message.from)
			      : str_equal(inbox->agent, message.to))
			deliver(run, inbox, mailbox->message_count);
	}
	mailbox->message_count++;
	return true;
}

static bool take(struct inbox *inbox, const struct mailbox *mailbox, const struct uuid *id)
{
	size_t place = 0;
	while (place < inbox->count && !uuid_equal(&mailbox->messages[inbox->unread[place]].id, id))
		place++;
	if (place == inbox->count)
		return false;
	inbox->count--;
	for (; place < inbox->count; place++)
		inbox->unread[place] = inbox->unread[place + 1];
	return true;
}

static bool add_reading(struct run *run, struct reading reading, struct error *error)
{
	struct mailbox *mailbox = mailbox_of(run);
	struct inbox *inbox = mailbox_find_inbox(mailbox, reading.agent);
	for (size_t i = 0; i < reading.count; i++)
		if (inbox == NULL || !take(inbox, mailbox, &reading.messages[i]))
			return fail(error, ERROR_INVALID,
				    "agent " STR_FMT " does not have the message unread",
				    STR_ARG(reading.agent));
	GROW(run->arena, mailbox->readings, struct reading, mailbox->reading_count,
	     mailbox->reading_room);
	mailbox->readings[mailbox->reading_count++] = reading;
	return true;
}

/* Copies what an event and a snapshot both have. */
#define MESSAGE_COPY(run, from_row, seq_of, at_of)                                               \
	((struct message){                                                                       \
		.seq = (seq_of),                                                                 \
		.at = (at_of),                                                                   \
		.step = str_copy((run)->arena, (from_row)->step),                                \
		.from = str_copy((run)->arena, (from_row)->from),                                \
		.to = has(from_row, to) ? str_copy((run)->arena, (from_row)->to) : S(""),        \
		.subject = has(from_row, subject) ? str_copy((run)->arena, (from_row)->subject)  \
						  : S(""),                                       \
		.type = (from_row)->type,                                                        \
		.id = (from_row)->id,                                                            \
		.thread = (from_row)->thread,                                                    \
		.reply_to =                                                                      \
			has(from_row, reply_to) ? (from_row)->reply_to : (struct uuid){ { 0 } }, \
		.content = run_value_copy(run, (from_row)->content) })

#define READING_COPY(run, from_row, seq_of, at_of)                                               \
	((struct reading){ .seq = (seq_of),                                                      \
			   .at = (at_of),                                                        \
			   .step = str_copy((run)->arena, (from_row)->step),                     \
			   .agent = str_copy((run)->arena, (from_row)->agent),                   \
			   .messages =                                                           \
				   arena_copy((run)->arena, (from_row)->messages.at,             \
					      (from_row)->messages.count * sizeof(struct uuid)), \
			   .count = (from_row)->messages.count })

bool mailbox_apply_sent(struct run *run, const struct run_message_sent *event, int64_t at,
			struct error *error)
{
	return add_message(run, MESSAGE_COPY(run, event, run->seq + 1, at), error);
}

bool mailbox_apply_read(struct run *run, const struct run_message_read *event, int64_t at,
			struct error *error)
{
	return add_reading(run, READING_COPY(run, event, run->seq + 1, at), error);
}

static const struct run_value *print_content(const struct value *from, struct arena *arena)
{
	struct run_value *out = run_value_new(arena);
	if (from->kind == VALUE_STORED) {
		SET(out, sha256, from->hash);
		SET(out, size, from->size);
	} else {
		SET(out, json, json_parse_own(from->text, arena));
	}
	return out;
}

static struct run_snapshot_message print_message(const struct message *from, struct arena *arena)
{
	struct run_snapshot_message *out = run_snapshot_message_new(arena);
	SET(out, seq, from->seq);
	SET(out, at, from->at);
	SET(out, step, from->step);
	SET(out, id, from->id);
	SET(out, type, from->type);
	SET(out, from, from->from);
	if (from->to.size > 0)
		SET(out, to, from->to);
	SET(out, thread, from->thread);
	if (!uuid_is_zero(&from->reply_to))
		SET(out, reply_to, from->reply_to);
	if (from->subject.size > 0)
		SET(out, subject, from->subject);
	SET(out, content, print_content(&from->content, arena));
	return *out;
}

static struct run_snapshot_reading print_reading(const struct reading *from, struct arena *arena)
{
	struct run_snapshot_reading *out = run_snapshot_reading_new(arena);
	SET(out, seq, from->seq);
	SET(out, at, from->at);
	SET(out, step, from->step);
	SET(out, agent, from->agent);
	SET(out, messages, ((struct uuid_list){ from->messages, from->count }));
	return *out;
}

void mailbox_print(const struct mailbox *mailbox, struct arena *arena, struct run_snapshot *out)
{
	struct run_snapshot_message *messages =
		arena_array(arena, struct run_snapshot_message, mailbox->message_count);
	struct run_snapshot_reading *readings =
		arena_array(arena, struct run_snapshot_reading, mailbox->reading_count);
	for (size_t i = 0; i < mailbox->message_count; i++)
		messages[i] = print_message(&mailbox->messages[i], arena);
	for (size_t i = 0; i < mailbox->reading_count; i++)
		readings[i] = print_reading(&mailbox->readings[i], arena);
	if (mailbox->message_count > 0)
		SET(out, messages,
		    ((struct run_snapshot_message_list){ messages, mailbox->message_count }));
	if (mailbox->reading_count > 0)
		SET(out, readings,
		    ((struct run_snapshot_reading_list){ readings, mailbox->reading_count }));
}

bool mailbox_restore(struct run *run, const struct run_snapshot *from, struct error *error)
{
	for (size_t i = 0; has(from, messages) && i < from->messages.count; i++) {
		const struct run_snapshot_message *row = &from->messages.at[i];
		if (!add_message(run, MESSAGE_COPY(run, row, row->seq, row->at), error))
			return false;
	}
	for (size_t i = 0; has(from, readings) && i < from->readings.count; i++) {
		const struct run_snapshot_reading *row = &from->readings.at[i];
		if (!add_reading(run, READING_COPY(run, row, row->seq, row->at), error))
			return false;
	}
	return true;
}
