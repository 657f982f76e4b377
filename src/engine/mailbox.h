/* engine/mailbox.h -- messages between the agents of a run; private to this room.
 *
 * An agent is known by its name in the definition.  Agents with the tool read_messages have an inbox;
 * several steps of one agent share it.  The calls send_message and read_messages are decided in place,
 * like conditions: they have no effect, and the message is recorded in the append that ends the call.
 *
 *	message.sent    the message is in the inbox of its recipients
 *	message.read    messages left the inbox of an agent
 *
 * A message leaves an inbox once, so an agent reads it once.  All messages and readings stay in the
 * state as long as the run does: they are part of its record, and LIMIT_RUN_MESSAGES bounds them.
 */
#ifndef ENGINE_MAILBOX_H
#define ENGINE_MAILBOX_H

#include "contract/run_message_types.h"
#include "engine/engine_internal.h"

struct run_message_read;
struct run_message_sent;
struct run_snapshot;

struct message {
	int64_t seq, at;
	struct str step, from, to, subject; /* to "" = every other agent; subject "" = none */
	enum run_message_kind type;
	struct uuid id, thread, reply_to; /* reply_to zero = none */
	struct value content;
};

struct reading {
	int64_t seq, at;
	struct str step, agent;
	const struct uuid *messages;
	size_t count;
};

struct inbox {
	struct str agent;
	size_t *unread; /* numbers of messages, oldest first */
	size_t count, room;
};

struct mailbox {
	struct inbox *inboxes;
	size_t inbox_count;
	struct message *messages;
	size_t message_count, message_room;
	struct reading *readings;
	size_t reading_count, reading_room;
};

/* ---- state (mailbox_state.c) --------------------------------------------------------------- */

/* Of the run; it is made at the first call. */
struct mailbox *mailbox_of(struct run *run);
struct inbox *mailbox_find_inbox(const struct mailbox *mailbox, struct str agent);
/* NULL = the run has no such message. */
const struct message *mailbox_find(const struct mailbox *mailbox, const struct uuid *id);
/* The events. */
MUST_CHECK bool mailbox_apply_sent(struct run *run, const struct run_message_sent *event,
				   int64_t at, struct error *error);
MUST_CHECK bool mailbox_apply_read(struct run *run, const struct run_message_read *event,
				   int64_t at, struct error *error);
/* Messages and readings for a snapshot, which names stored contents itself. */
void mailbox_print(const struct mailbox *mailbox, struct arena *arena, struct run_snapshot *out);
/* Adds messages and readings of a snapshot. */
MUST_CHECK bool mailbox_restore(struct run *run, const struct run_snapshot *from,
				struct error *error);

/* ---- deciding (mailbox.c) ------------------------------------------------------------------ */

/* Makes a call of send_message or read_messages. */
enum engine_answer mailbox_call(struct run *run, const struct activation *call, int64_t now,
				const struct engine_values *values, struct decision *d);

#endif
