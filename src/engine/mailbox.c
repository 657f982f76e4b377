/* engine/mailbox.c -- decides the calls send_message and read_messages.
 *
 * Both depend on the state only, so they are decided at once, without an effect: a message and the end
 * of the call that sent it are in one append, and so are a reading and its result.  A crash loses both
 * or none.
 */
#include "engine/mailbox.h"

#include "base/buf.h"
#include "base/limits.h"
#include "contract/run_event_types.h"
#include "contract/run_graph_types.h"

/* A call of an agent while it is decided. */
struct mail_call {
	struct run *run;
	const struct activation *activation;
	const struct engine_values *values;
	struct decision *d;
	int64_t now;
	struct str agent;
};

static struct str agent_of(const struct run *run, const struct activation *call)
{
	struct graph_numbers body = graph_body(run->graph, call->scope->owner->node);
	return run->graph->nodes[body.at[0]].row->agent->name;
}

static enum engine_answer refuse(const struct mail_call *call, enum error_code code,
				 struct str text)
{
	request_fail_ready(call->run, call->activation, failure_make(code, text), call->now,
			   call->d);
	return ENGINE_DONE;
}

static enum engine_answer refuse_inputs(const struct mail_call *call,
					const struct problems *problems)
{
	struct error error;
	problems_fail(problems, &error);
	return refuse(call, ERROR_INVALID, str_format(call->d->arena, "inputs: %s", error.text));
}

static void finish(const struct mail_call *call, struct run_value *output)
{
	decision_emit_computed(call->run, call->activation, call->now, output,
			       (struct failure){ S(""), S("") }, NULL, call->d);
}

/* ---- sending ------------------------------------------------------------------------------- */

/* The agents that can get a message of this one. */
static struct str_list other_readers(const struct mail_call *call)
{
	const struct mailbox *mailbox = mailbox_of(call->run);
	struct str *at = arena_array(call->d->arena, struct str, mailbox->inbox_count);
	size_t count = 0;
	for (size_t i = 0; i < mailbox->inbox_count; i++)
		if (!str_equal(mailbox->inboxes[i].agent, call->agent))
			at[count++] = mailbox->inboxes[i].agent;
	return (struct str_list){ at, count };
}

static struct str join(struct str_list names, struct arena *arena)
{
	AUTO(buf) text = { 0 };
	for (size_t i = 0; i < names.count; i++)
		buf_add_format(&text, "%s" STR_FMT, i == 0 ? "" : ", ", STR_ARG(names.at[i]));
	return names.count == 0 ? S("none") : str_copy(arena, buf_str(&text));
}

static bool is_among(struct str_list names, struct str name)
{
	for (size_t i = 0; i < names.count; i++)
		if (str_equal(names.at[i], name))
			return true;
	return false;
}

/* Who gets the message: in *out_to one agent, or "" for all others.  Returns why it cannot be sent;
 * code "" = it can. */
static struct failure find_recipient(const struct mail_call *call,
				     const struct run_send_message_inputs *inputs,
				     const struct message *answered, struct str *out_to)
{
	struct arena *arena = call->d->arena;
	struct str_list readers = other_readers(call);
	bool broadcast = has(inputs, broadcast) && inputs->broadcast;
	*out_to = has(inputs, to) ? inputs->to : S("");
	if (broadcast && has(inputs, to))
		return failure_make(ERROR_INVALID, S("give either to or broadcast, not both"));
	if (!broadcast && !has(inputs, to) && answered != NULL)
		*out_to = answered->from;
	if (!broadcast && out_to->size == 0)
		return failure_make(
			ERROR_INVALID,
			str_format(arena,
				   "the message has no recipient: give to, or broadcast: true; the "
				   "agents that read messages are " STR_FMT,
				   STR_ARG(join(readers, arena))));
	if (!broadcast && !is_among(readers, *out_to))
		return failure_make(
			ERROR_NOT_FOUND,
			str_format(arena,
				   "no other agent " STR_FMT
				   " of this run reads messages; the agents that do are " STR_FMT,
				   STR_ARG(str_head(*out_to, LIMIT_NAME_SHOWN)),
				   STR_ARG(join(readers, arena))));
	if (broadcast && readers.count == 0)
		return failure_make(ERROR_NOT_FOUND,
				    S("no other agent of this run reads messages"));
	return (struct failure){ S(""), S("") };
}

static const struct json *text_json(struct str text, struct arena *arena)
{
	struct json *json = arena_new(arena, struct json);
	*json = (struct json){ .kind = JSON_STRING, .as.string = text };
	return json;
}

static struct run_message_sent *make_message(const struct mail_call *call,
					     const struct run_send_message_inputs *inputs,
					     const struct message *answered, struct str to)
{
	struct run_message_sent *body = run_message_sent_new(call->d->arena);
	struct uuid id = engine_effect_id(call->run, call->activation->path, S("message"), 1);
	enum run_message_kind usual = answered == NULL ? RUN_MESSAGE_TASK : RUN_MESSAGE_RESPONSE;
	SET(body, step, call->activation->path);
	SET(body, id, id);
	SET(body, type, has(inputs, type) ? inputs->type : usual);
	SET(body, from, call->agent);
	if (to.size > 0)
		SET(body, to, to);
	SET(body, thread, answered == NULL ? id : answered->thread);
	if (answered != NULL)
		SET(body, reply_to, answered->id);
	if (has(inputs, subject))
		SET(body, subject, inputs->subject);
	return body;
}

static enum engine_answer send_checked(const struct mail_call *call,
				       const struct run_send_message_inputs *inputs,
				       const struct message *answered, struct str to)
{
	struct decision *d = call->d;
	struct run_message_sent *body = make_message(call, inputs, answered, to);
	struct run_send_message_outputs *result = run_send_message_outputs_new(d->arena);
	struct str *one = arena_array(d->arena, struct str, 1);
	struct run_value *content, *output;
	one[0] = to;
	SET(result, id, body->id);
	SET(result, thread, body->thread);
	SET(result, to, to.size > 0 ? ((struct str_list){ one, 1 }) : other_readers(call));
	if (!decision_value(d, text_json(inputs->content, d->arena), &content) ||
	    !decision_value(d, run_send_message_outputs_tree(result, d->arena), &output))
		return ENGINE_NEED;
	if (content == NULL || output == NULL)
		return refuse(call, ERROR_TOO_LARGE, S("the message is too long"));
	SET(body, content, content);
	decision_emit(
		call->run, d,
		(struct event){ EVENT_MESSAGE_SENT, call->now, { .run_message_sent = body } });
	finish(call, output);
	return ENGINE_DONE;
}

static enum engine_answer send(const struct mail_call *call, const struct json *arguments)
{
	struct arena *arena = call->d->arena;
	struct mailbox *mailbox = mailbox_of(call->run);
	struct problems problems = { .arena = arena };
	struct contract_source source = { .json = arguments };
	const struct run_send_message_inputs *inputs =
		run_send_message_inputs_parse(&source, arena, &problems);
	const struct message *answered = NULL;
	struct str to;
	if (inputs == NULL)
		return refuse_inputs(call, &problems);
	if (mailbox->message_count >= LIMIT_RUN_MESSAGES)
		return refuse(call, ERROR_LIMIT_REACHED,
			      str_format(arena,
					 "the agents of this run have sent %d messages, and it "
					 "may have no more",
					 LIMIT_RUN_MESSAGES));
	if (json_print(arena, text_json(inputs->content, arena)).size > LIMIT_MESSAGE_BYTES)
		return refuse(call, ERROR_TOO_LARGE,
			      str_format(arena,
					 "the content has more than %d bytes: write it to a file "
					 "and send its name",
					 LIMIT_MESSAGE_BYTES));
	if (has(inputs, reply_to) && (answered = mailbox_find(mailbox, &inputs->reply_to)) == NULL)
		return refuse(call, ERROR_NOT_FOUND,
			      S("reply_to is not the id of a message of this run"));
	struct failure fault = find_recipient(call, inputs, answered, &to);
	if (fault.code.size > 0) {
		request_fail_ready(call->run, call->activation, fault, call->now, call->d);
		return ENGINE_DONE;
	}
	return send_checked(call, inputs, answered, to);
}

/* ---- reading ------------------------------------------------------------------------------- */

/* The most bytes that the message can have in the result of a call. */
static int64_t bytes_of(const struct message *message)
{
	enum { AROUND = 512, BYTES_OF_ESCAPE = 6 };
	return AROUND + message->content.size +
	       BYTES_OF_ESCAPE * (int64_t)(message->subject.size + message->from.size);
}

/* Chooses unread messages of the agent, oldest first, as many as one result may have. */
static size_t choose(const struct mailbox *mailbox, const struct inbox *inbox,
		     const struct run_read_messages_inputs *inputs, const struct message **out)
{
	size_t count = 0;
	int64_t bytes = 0;
	size_t most = has(inputs, limit) && inputs->limit < LIMIT_MESSAGES_READ
			      ? (size_t)inputs->limit
			      : LIMIT_MESSAGES_READ;
	for (size_t i = 0; i < inbox->count && count < most; i++) {
		const struct message *message = &mailbox->messages[inbox->unread[i]];
		if (has(inputs, thread) && !uuid_equal(&message->thread, &inputs->thread))
			continue;
		bytes += bytes_of(message);
		if (count > 0 && bytes > LIMIT_MESSAGES_READ_BYTES)
			break;
		out[count++] = message;
	}
	return count;
}

static struct run_mailbox_message show(const struct message *message, const struct json *content,
				       struct arena *arena)
{
	static const struct json nothing = { .kind = JSON_NULL };
	struct run_mailbox_message *out = run_mailbox_message_new(arena);
	SET(out, id, message->id);
	SET(out, type, message->type);
	SET(out, from, message->from);
	if (message->to.size == 0)
		SET(out, broadcast, true);
	SET(out, thread, message->thread);
	if (!uuid_is_zero(&message->reply_to))
		SET(out, reply_to, message->reply_to);
	if (message->subject.size > 0)
		SET(out, subject, message->subject);
	SET(out, content, content == NULL ? &nothing : content);
	SET(out, sent_at, message->at);
	return *out;
}

static enum engine_answer read_chosen(const struct mail_call *call, const struct inbox *inbox,
				      const struct message **chosen, size_t count)
{
	struct decision *d = call->d;
	struct eval_context eval_context =
		eval_context_make(call->run, call->activation, call->values, d);
	struct run_read_messages_outputs *result = run_read_messages_outputs_new(d->arena);
	struct run_mailbox_message *shown =
		arena_array(d->arena, struct run_mailbox_message, count);
	struct uuid *ids = arena_array(d->arena, struct uuid, count);
	struct run_value *output;
	for (size_t i = 0; i < count; i++) {
		ids[i] = chosen[i]->id;
		shown[i] =
			show(chosen[i], eval_value(&eval_context, &chosen[i]->content), d->arena);
	}
	if (eval_context.missing)
		return ENGINE_NEED;
	SET(result, messages, ((struct run_mailbox_message_list){ shown, count }));
	SET(result, unread, (int64_t)(inbox->count - count));
	if (!decision_value(d, run_read_messages_outputs_tree(result, d->arena), &output))
		return ENGINE_NEED;
	require(output != NULL); /* LIMIT_MESSAGES_READ_BYTES is far below the limit of a value */
	if (count > 0) {
		struct run_message_read *body = run_message_read_new(d->arena);
		SET(body, step, call->activation->path);
		SET(body, agent, call->agent);
		SET(body, messages, ((struct uuid_list){ ids, count }));
		decision_emit(call->run, d,
			      (struct event){ EVENT_MESSAGE_READ,
					      call->now,
					      { .run_message_read = body } });
	}
	finish(call, output);
	return ENGINE_DONE;
}

static enum engine_answer read_unread(const struct mail_call *call, const struct json *arguments)
{
	struct arena *arena = call->d->arena;
	const struct mailbox *mailbox = mailbox_of(call->run);
	const struct inbox *inbox = mailbox_find_inbox(mailbox, call->agent);
	struct problems problems = { .arena = arena };
	struct contract_source source = { .json = arguments };
	const struct run_read_messages_inputs *inputs =
		run_read_messages_inputs_parse(&source, arena, &problems);
	const struct message *chosen[LIMIT_MESSAGES_READ];
	if (inputs == NULL)
		return refuse_inputs(call, &problems);
	require(inbox != NULL); /* the agent has this tool */
	return read_chosen(call, inbox, chosen, choose(mailbox, inbox, inputs, chosen));
}

enum engine_answer mailbox_call(struct run *run, const struct activation *activation, int64_t now,
				const struct engine_values *values, struct decision *d)
{
	struct mail_call call = { .run = run,
				  .activation = activation,
				  .values = values,
				  .d = d,
				  .now = now,
				  .agent = agent_of(run, activation) };
	const struct json *arguments = NULL;
	struct failure fault;
	if (request_render(run, activation, values, d, &arguments, &fault) == ENGINE_NEED)
		return ENGINE_NEED;
	if (fault.code.size == 0 && arguments == NULL)
		fault = request_too_large();
	if (fault.code.size > 0) {
		request_fail_ready(run, activation, fault, now, d);
		return ENGINE_DONE;
	}
	return str_equal(run_node(run, activation)->name, S("send_message"))
		       ? send(&call, arguments)
		       : read_unread(&call, arguments);
}
