/* tool/tool_notify.c -- notify: sends a message to a webhook, to Slack or by e-mail.
 *
 * The inputs name the webhook; its address and key are read at every attempt (notify_target.h).  The
 * id of the delivery and the body are the same in every attempt, so a receiver can drop what it has
 * seen; time and signature are new.  Class keyed: the call is repeated after a crash.
 *
 * A response decides what comes next: 2xx is success, 408, 409, 425, 429 and 5xx are transient and
 * may name the time of the next attempt, everything else is final.
 */
#include <stdlib.h>

#include "base/buf.h"
#include "base/limits.h"
#include "net/http_client.h"
#include "net/retry_after.h"
#include "net/webhook_signature.h"
#include "tool/notify_message.h"
#include "tool/notify_target.h"
#include "tool/tool_context.h"

struct notify_call {
	struct tool_running running; /* first */
	uint64_t call;
	struct uuid delivery;
	bool mail;
	int status;
	int64_t retry_after_us;
	struct buf answer; /* the beginning of the response */
};

/* A message that is ready to be sent. */
struct message {
	struct notify_target target;
	struct uuid delivery;
	struct str body;
	struct http_header headers[8];
	size_t header_count;
	struct http_mail mail;
};

/* ---- the response -------------------------------------------------------------------- */

static void head_received(void *context, uint64_t id, const struct http_head *head)
{
	struct notify_call *notify = (struct notify_call *)tool_context_find(context, id);
	if (notify == NULL)
		return;
	notify->status = head->status;
	notify->retry_after_us =
		net_retry_after(head->headers, head->header_count,
				platform_wall_us(loop_platform(notify->running.loop)),
				LIMIT_WEBHOOK_RETRY_AFTER_MS * INT64_C(1000));
}

static bool piece_received(void *context, uint64_t id, struct str bytes)
{
	struct notify_call *notify = (struct notify_call *)tool_context_find(context, id);
	size_t room = notify == NULL ? 0 : LIMIT_WEBHOOK_ANSWER_BYTES - notify->answer.size;
	if (notify != NULL)
		buf_add(&notify->answer, str_head(bytes, bytes.size < room ? bytes.size : room));
	return true;
}

static bool is_transient(int status)
{
	return status == 408 || status == 409 || status == 425 || status == 429 || status >= 500;
}

static void fail_status(const struct notify_call *notify, struct error *error)
{
	AUTO(arena) arena = { 0 };
	struct str text = tool_context_utf8(&arena, buf_str(&notify->answer));
	text = tool_context_whole_characters(str_head(text, text.size < 200 ? text.size : 200));
	fail(error,
	     notify->status == 429          ? ERROR_RATE_LIMITED
	     : is_transient(notify->status) ? ERROR_UNAVAILABLE
					    : ERROR_TOOL_FAILED,
	     "the receiver answered with status %d: " STR_FMT, notify->status, STR_ARG(text));
}

static void request_done(void *context, uint64_t id, const struct error *error)
{
	struct notify_call *notify = (struct notify_call *)tool_context_find(context, id);
	AUTO(arena) arena = { 0 };
	struct tool_result result = { 0 };
	if (notify == NULL)
		return;
	if (error != NULL)
		result.error = *error;
	else if (!notify->mail && (notify->status < 200 || notify->status > 299))
		fail_status(notify, &result.error);
	result.retry_after_us = notify->retry_after_us;
	if (result.error.code == ERROR_NONE) {
		struct run_notify_outputs *outputs = run_notify_outputs_new(&arena);
		SET(outputs, delivery, notify->delivery);
		SET(outputs, status, notify->mail ? 250 : notify->status);
		result.output = TOOL_OUTPUT(run_notify_outputs, outputs, &arena);
	}
	tool_context_done(&notify->running, &result);
	buf_done(&notify->answer);
	free(notify);
}

/* ---- the request --------------------------------------------------------------------- */

static void request_end(struct tool_running *running)
{
	struct notify_call *notify = (struct notify_call *)running;
	http_call_stop(tool_context_http(running->tool_context), notify->call,
		       &running->stop_error);
}

static void add_header(struct message *message, struct str name, struct str value)
{
	message->headers[message->header_count++] = (struct http_header){ name, value };
}

static void make_webhook(struct message *message, const struct run_webhook_payload *payload,
			 int64_t now, struct arena *arena)
{
	char id[UUID_TEXT_SIZE];
	struct str delivery = str_copy(arena, uuid_text(&message->delivery, id));
	struct str time = str_format(arena, "%lld", (long long)(now / 1000000));
	message->body = run_webhook_payload_text(payload, arena);
	add_header(message, S("Webhook-Id"), delivery);
	add_header(message, S("Webhook-Timestamp"), time);
	add_header(message, S("Webhook-Signature"),
		   webhook_signature_make(message->target.secret, delivery, time, message->body,
					  arena));
	add_header(message, S("X-Baton-Event"), run_webhook_event_name(payload->event));
}

static void make_message(struct message *message, const struct run_webhook_payload *payload,
			 int64_t now, struct arena *arena)
{
	const struct notify_target *target = &message->target;
	char id[UUID_TEXT_SIZE];
	switch (target->channel) {
	case RUN_WEBHOOK_CHANNEL_WEBHOOK:
		make_webhook(message, payload, now, arena);
		break;
	case RUN_WEBHOOK_CHANNEL_SLACK:
		message->body = notify_message_slack(payload, arena);
		break;
	case RUN_WEBHOOK_CHANNEL_EMAIL:
		message->mail = (struct http_mail){ .from = target->from,
						    .to = target->to,
						    .user = target->user,
						    .password = target->secret,
						    .starttls = target->starttls,
						    .ca_file = target->ca_file };
		message->body =
			notify_message_mail(payload,
					    &(struct notify_mail){ .from = target->from,
								   .to = target->to,
								   .delivery = message->delivery,
								   .now = now },
					    arena);
		return;
	}
	add_header(message, S("Content-Type"), S("application/json"));
	add_header(message, S("Idempotency-Key"),
		   str_copy(arena, uuid_text(&message->delivery, id)));
}

static bool send(const struct tool_host *host, const struct tool_call *call,
		 const struct message *message, uint64_t *out_running, struct error *error)
{
	const struct notify_target *target = &message->target;
	struct notify_call *notify = calloc(1, sizeof(*notify));
	require(notify != NULL);
	notify->delivery = message->delivery;
	notify->mail = target->channel == RUN_WEBHOOK_CHANNEL_EMAIL;
	notify->running.end = request_end;
	tool_context_begin(&notify->running, host, call);
	const struct http_call spec = {
		.mail = notify->mail ? &message->mail : NULL,
		.method = notify->mail ? NULL : "POST",
		.url = target->url,
		.headers = message->headers,
		.header_count = message->header_count,
		.body = message->body,
		.timeouts = { .first_byte_ms = LIMIT_WEBHOOK_TIMEOUT_MS,
			      .idle_ms = LIMIT_WEBHOOK_TIMEOUT_MS,
			      .total_ms = LIMIT_WEBHOOK_TIMEOUT_MS },
		.head = head_received,
		.piece = piece_received,
		.done = request_done,
		.context = host->tool_context,
		.argument = notify->running.id,
	};
	if (http_call_start(tool_context_http(host->tool_context), &spec, &notify->call, error)) {
		*out_running = notify->running.id;
		return true;
	}
	/* The client's message quotes the address, which may be a secret. */
	if (target->url_is_secret && error->code == ERROR_INVALID)
		fail(error, ERROR_INVALID, "the secret url_secret does not hold a valid URL");
	tool_context_forget(&notify->running);
	free(notify);
	return false;
}

static bool start(const struct tool_host *host, const struct tool_call *call, uint64_t *out_running,
		  struct error *error)
{
	AUTO(arena) arena = { 0 };
	const struct run_notify_inputs *inputs =
		TOOL_INPUTS(run_notify_inputs, call, &arena, error);
	struct message message = { 0 };
	if (inputs == NULL || !tool_context_notify_target(host->tool_context, inputs->webhook,
							  &arena, &message.target, error))
		return false;
	int64_t now = platform_wall_us(loop_platform(host->loop));
	struct run_webhook_payload *payload =
		arena_copy(&arena, inputs->payload, sizeof(*inputs->payload));
	if (!has(payload, id))
		SET(payload, id, call->effect);
	if (!has(payload, webhook))
		SET(payload, webhook, inputs->webhook);
	message.delivery = payload->id;
	make_message(&message, payload, now, &arena);
	return send(host, call, &message, out_running, error);
}

const struct tool tool_notify = {
	.name = "notify",
	.text = "Sends a message to a webhook of this server: a signed HTTP request, a Slack message "
		"or an e-mail.",
	.class = RUN_CLASS_KEYED,
	.risk = RUN_RISK_HIGH,
	.timeout_seconds = 60,
	.inputs = run_notify_inputs_type,
	.outputs = run_notify_outputs_type,
	.start = start,
	.stop = tool_context_stop,
};
