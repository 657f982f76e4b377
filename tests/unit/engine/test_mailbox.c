/* Messages between the agents of a run.  The rig folds every history from every snapshot of it, so each
 * test here also shows that inboxes are restored as they were. */
#include <stdio.h>

#include "base/limits.h"
#include "contract/run_event_types.h"
#include "contract/run_snapshot_types.h"
#include "engine/engine_rig.h"
#include "engine/history_synthesis.h"
#include "engine/mailbox.h"
#include "engine/snapshot.h"

static struct rig rig;

static void begin(void)
{
	rig_init(&rig, "name: w\nagents:\n"
		       "  ada: {driver: script, tools: [send_message, read_messages]}\n"
		       "  bob: {driver: script, tools: [send_message, read_messages]}\n"
		       "  eve: {driver: script, tools: [send_message]}\n"
		       "steps:\n"
		       "  - {name: a, agent: ada, inputs: {prompt: go}}\n"
		       "  - {name: b, agent: bob, inputs: {prompt: go}}\n"
		       "  - {name: e, agent: eve, inputs: {prompt: go}}\n");
	rig_create(&rig, "{}");
}

static void end(void)
{
	rig_done(&rig);
}

TestSuite(mailbox, .init = begin, .fini = end);

/* A turn whose reply has one call. */
static void call(const char *turn, const char *tool, const char *arguments)
{
	AUTO(buf) reply = { 0 };
	buf_add_format(
		&reply,
		"{\"text\":\"\",\"calls\":[{\"id\":\"1\",\"name\":\"%s\",\"arguments\":%s}]}", tool,
		arguments);
	buf_add_char(&reply, '\0');
	rig_log(&rig);
	rig_finish(&rig, turn, reply.at);
}

static const char *result(const char *step)
{
	return rig_value(&rig, &rig_step(&rig, step)->result);
}

static size_t count_of(const char *text, const char *part)
{
	size_t count = 0;
	while ((text = strstr(text, part)) != NULL) {
		count++;
		text += strlen(part);
	}
	return count;
}

static const struct inbox *inbox(const char *agent)
{
	return mailbox_find_inbox(rig.run->mailbox, str_from_c(agent));
}

Test(mailbox, a_message_is_read_once)
{
	call("a[1]/turn", "send_message", "{\"to\":\"bob\",\"content\":\"hello\"}");
	cr_assert_str_eq(
		rig_log(&rig),
		"turn.finished a[1]/turn\nmessage.sent a[1]/send_message\n"
		"step.computed a[1]/send_message\nstep.entered a\nturn.requested a[2]/turn\n");
	cr_assert_eq(inbox("bob")->count, 1);
	cr_assert_eq(inbox("ada")->count, 0);
	call("b[1]/turn", "read_messages", "{}");
	cr_assert_str_eq(
		rig_log(&rig),
		"turn.finished b[1]/turn\nmessage.read b[1]/read_messages\n"
		"step.computed b[1]/read_messages\nstep.entered b\nturn.requested b[2]/turn\n");
	cr_assert_eq(count_of(result("b[1]/read_messages"), "hello"), 1);
	call("b[2]/turn", "read_messages", "{}");
	cr_assert_str_eq(result("b[2]/read_messages"), "{\"messages\":[],\"unread\":0}");
	cr_assert_str_eq(rig_log(&rig),
			 "turn.finished b[2]/turn\nstep.computed b[2]/read_messages\n"
			 "step.entered b\nturn.requested b[3]/turn\n");
}

Test(mailbox, a_broadcast_reaches_the_other_agents_that_read)
{
	call("e[1]/turn", "send_message", "{\"broadcast\":true,\"content\":\"hello\"}");
	cr_assert_eq(inbox("ada")->count, 1);
	cr_assert_eq(inbox("bob")->count, 1);
	cr_assert_null(inbox("eve"));
	call("a[1]/turn", "send_message", "{\"broadcast\":true,\"content\":\"and me\"}");
	cr_assert_eq(inbox("ada")->count, 1);
	cr_assert_eq(inbox("bob")->count, 2);
}

Test(mailbox, ids_are_derived_from_the_call)
{
	call("a[1]/turn", "send_message", "{\"to\":\"bob\",\"content\":\"x\"}");
	call("a[2]/turn", "send_message", "{\"to\":\"bob\",\"content\":\"x\"}");
	const struct mailbox *mailbox = rig.run->mailbox;
	struct uuid expected = engine_effect_id(rig.run, S("a[1]/send_message"), S("message"), 1);
	cr_assert(uuid_equal(&mailbox->messages[0].id, &expected));
	cr_assert_not(uuid_equal(&mailbox->messages[0].id, &mailbox->messages[1].id));
}

Test(mailbox, a_call_that_cannot_be_made_fails_and_the_session_goes_on)
{
	call("a[1]/turn", "send_message", "{\"to\":\"eve\",\"content\":\"x\"}");
	cr_assert_str_eq(rig_state(&rig, "a[1]/send_message"), "failed");
	cr_assert_str_eq(
		str_c(&rig.arena, rig_step(&rig, "a[1]/send_message")->fault.text),
		"no other agent eve of this run reads messages; the agents that do are bob");
	cr_assert_str_eq(rig_state(&rig, "a[2]/turn"), "running");
}

Test(mailbox, a_result_has_as_many_messages_as_a_model_sees_whole)
{
	AUTO(buf) arguments = { 0 };
	buf_add(&arguments, S("{\"to\":\"bob\",\"content\":\""));
	for (size_t i = 0; i < 30000; i++)
		buf_add_char(&arguments, 'x');
	buf_add(&arguments, S("\"}"));
	buf_add_char(&arguments, '\0');
	for (int i = 1; i <= 3; i++) {
		char turn[32];
		snprintf(turn, sizeof(turn), "a[%d]/turn", i);
		call(turn, "send_message", arguments.at);
	}
	call("b[1]/turn", "read_messages", "{}");
	const struct activation *read = rig_step(&rig, "b[1]/read_messages");
	cr_assert_leq(read->result.size, LIMIT_RESULT_SHOWN);
	cr_assert_eq(inbox("bob")->count, 2);
}

Test(mailbox, an_inbox_is_restored_from_a_snapshot)
{
	call("a[1]/turn", "send_message", "{\"to\":\"bob\",\"content\":\"one\"}");
	call("b[1]/turn", "read_messages", "{}");
	call("a[2]/turn", "send_message", "{\"to\":\"bob\",\"content\":\"two\"}");
	AUTO(arena) arena = { 0 };
	struct run_names names;
	struct run *restored;
	struct error error;
	const struct run_snapshot *snapshot = run_snapshot(rig.run, &arena, &names);
	cr_assert(run_restore(snapshot, rig.run->id, rig.run->graph, &arena, &restored, &error),
		  "%s", error.text);
	const struct mailbox *mailbox = mailbox_of(restored);
	const struct inbox *bob = mailbox_find_inbox(mailbox, S("bob"));
	cr_assert_eq(mailbox->message_count, 2);
	cr_assert_eq(bob->count, 1);
	cr_assert_eq(bob->unread[0], 1);
}

/* The events that a snapshot stands for have every message and every reading, at its place. */
Test(mailbox, a_snapshot_tells_messages_and_readings_again)
{
	call("a[1]/turn", "send_message", "{\"to\":\"bob\",\"subject\":\"s\",\"content\":\"one\"}");
	call("b[1]/turn", "read_messages", "{}");
	call("a[2]/turn", "send_message", "{\"broadcast\":true,\"content\":\"two\"}");
	AUTO(arena) arena = { 0 };
	struct run_names names;
	struct synthesized_history told;
	const struct run_snapshot *snapshot = run_snapshot(rig.run, &arena, &names);
	history_synthesize(snapshot, rig.run->graph->rows, rig.run->seq + 1, &arena, &told);
	size_t sent = 0, read = 0;
	for (size_t i = 0; i < told.count; i++) {
		const struct message *message = &rig.run->mailbox->messages[sent];
		if (told.events[i].type == EVENT_MESSAGE_SENT) {
			cr_assert_eq(told.seqs[i], message->seq);
			cr_assert(
				uuid_equal(&told.events[i].as.run_message_sent->id, &message->id));
			sent++;
		}
		read += told.events[i].type == EVENT_MESSAGE_READ;
	}
	cr_assert_eq(sent, 2);
	cr_assert_eq(read, 1);
}
