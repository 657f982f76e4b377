/* notify/webhooks.c -- webhooks in memory, and the start of a delivery.
 *
 * The definition of a delivery is the program's own.  It is passed as text, so that a file of the
 * same name cannot replace it.
 */
#include "notify/webhooks.h"

#include <stdlib.h>

#include "active/executor.h"
#include "active/executor_services.h"
#include "base/limits.h"
#include "base/log.h"
#include "contract/document_kind.h"
#include "contract/run_start_types.h"
#include "contract/run_webhook_types.h"
#include "notify/webhooks_state.h"

/* ---- documents ------------------------------------------------------------------------- */

static void entry_free(struct webhook_entry *entry)
{
	struct arena arena = entry->arena;
	arena_done(&arena);
}

static void remove_entry(struct webhooks *webhooks, struct str name)
{
	struct webhook_entry *entry = map_remove(&webhooks->by_name, name);
	if (entry == NULL)
		return;
	webhooks->enabled -= entry->webhook->enabled;
	entry_free(entry);
}

static void webhook_changed(void *context, const struct watched_document *document)
{
	struct webhooks *webhooks = context;
	struct error error;
	remove_entry(webhooks, document->name);
	if (document->body.size == 0)
		return;
	struct arena arena = { 0 };
	const struct run_stored_webhook *webhook = document_read_stored(
		DOCUMENT_WEBHOOK, str_copy(&arena, document->body), &arena, &error);
	if (webhook == NULL) {
		log_line(LOG_ERROR, "webhook " STR_FMT " reports nothing: %s",
			 STR_ARG(document->name), error.text);
		arena_done(&arena);
		return;
	}
	struct webhook_entry *entry = arena_new(&arena, struct webhook_entry);
	entry->name = str_copy(&arena, document->name);
	entry->webhook = webhook;
	entry->arena = arena;
	map_put(&webhooks->by_name, entry->name, entry);
	webhooks->enabled += webhook->enabled;
	webhook_follower_wake(webhooks);
}

static void cursor_changed(void *context, const struct watched_document *document)
{
	AUTO(arena) arena = { 0 };
	struct error error;
	const struct run_webhook_cursor *cursor = NULL;
	if (document->body.size > 0)
		cursor = document_read_stored(DOCUMENT_WEBHOOK_CURSOR, document->body, &arena,
					      &error);
	if (cursor != NULL)
		webhook_follower_loaded(context, cursor->position);
}

static void documents_loaded(void *context, uint64_t count)
{
	(void)context;
	(void)count;
}

struct webhooks *webhooks_new(const struct webhooks_settings *settings)
{
	struct webhooks *webhooks = calloc(1, sizeof(*webhooks));
	require(webhooks != NULL);
	webhooks->settings = *settings;
	webhooks->link_base = str_from_c(settings->public_url);
	documents_watch(settings->documents, document_kind_name(DOCUMENT_WEBHOOK_CURSOR),
			cursor_changed, documents_loaded, webhooks);
	documents_watch(settings->documents, document_kind_name(DOCUMENT_WEBHOOK), webhook_changed,
			documents_loaded, webhooks);
	return webhooks;
}

void webhooks_open(struct webhooks *webhooks, struct str address)
{
	if (webhooks->link_base.size == 0)
		webhooks->link_base = str_copy(&webhooks->arena, address);
	while (str_ends(webhooks->link_base, S("/")))
		webhooks->link_base.size--;
	webhook_follower_open(webhooks);
}

/* ---- the target ------------------------------------------------------------------------ */

bool webhooks_read_secret(const struct webhooks *webhooks, struct secret reference,
			  struct arena *arena, struct str *out_value, struct error *error)
{
	return webhooks->settings.secret(webhooks->settings.context, reference, arena, out_value,
					 error);
}

static bool read_secret(const struct webhooks *webhooks, struct secret reference,
			const char *member, struct arena *arena, struct str *out_value,
			struct error *error)
{
	if (webhooks_read_secret(webhooks, reference, arena, out_value, error))
		return true;
	error_prefix(error, "%s of the webhook: ", member);
	error->code = ERROR_SECRET_UNAVAILABLE;
	return false;
}

bool webhooks_target(void *context, struct str name, struct arena *arena,
		     struct notify_target *out_target, struct error *error)
{
	const struct webhooks *webhooks = context;
	const struct webhook_entry *entry = map_get(&webhooks->by_name, name);
	if (entry == NULL)
		return fail(error, ERROR_NOT_FOUND, "there is no webhook called " STR_FMT,
			    STR_ARG(str_head(name, LIMIT_NAME_BYTES)));
	const struct run_stored_webhook *webhook = entry->webhook;
	struct notify_target target = {
		.channel = webhook->channel,
		.url = has(webhook, url) ? webhook->url : S(""),
		.url_is_secret = has(webhook, url_secret),
		.secret = S(""),
		.from = has(webhook, from) ? webhook->from : S(""),
		.user = has(webhook, user) ? webhook->user : S(""),
		.starttls = webhook->security == RUN_MAIL_SECURITY_STARTTLS &&
			    !(has(webhook, url) && str_starts(webhook->url, S("smtps://"))),
		.ca_file =
			webhooks->settings.ca_file[0] == '\0' ? NULL : webhooks->settings.ca_file,
	};
	if (has(webhook, to))
		target.to = webhook->to;
	if ((has(webhook, url_secret) && !read_secret(webhooks, webhook->url_secret, "url_secret",
						      arena, &target.url, error)) ||
	    (has(webhook, secret) &&
	     !read_secret(webhooks, webhook->secret, "secret", arena, &target.secret, error)))
		return false;
	*out_target = target;
	return true;
}

/* ---- deliveries -------------------------------------------------------------------------- */

static struct str definition_of(const struct webhook_start *start, struct arena *arena)
{
	return str_format(
		arena,
		"name: deliver\n"
		"description: Delivers an event to a webhook.\n"
		"inputs:\n"
		"  webhook: {type: string}\n"
		"  payload: {type: object}\n"
		"steps:\n"
		"  - name: send\n"
		"    tool: notify\n"
		"    inputs: {webhook: \"${inputs.webhook}\", payload: \"${inputs.payload}\"}\n"
		/* A final refusal of the receiver is tool_failed. */
		"    retry: {max_retries: %lld, base_delay: 2, max_delay: 300, "
		"on: [unavailable, overloaded, rate_limited, timeout, io]}\n",
		(long long)start->max_retries);
}

void webhooks_start(struct webhooks *webhooks, const struct webhook_start *start,
		    executor_replied *replied, void *context, uint64_t argument)
{
	AUTO(arena) arena = { 0 };
	char source[UUID_TEXT_SIZE];
	struct str_entry labels[3] = { { S("delivery"), start->webhook },
				       { S("event"), start->event } };
	size_t count = 2;
	if (!uuid_is_zero(&start->source))
		labels[count++] =
			(struct str_entry){ S("source"), uuid_text(&start->source, source) };
	struct run_start *kept = run_start_new(&arena);
	SET(kept, by, S("webhooks"));
	SET(kept, labels, ((struct str_map){ labels, count }));
	struct json_member members[2] = {
		{ .key = S("webhook"),
		  .value = { .kind = JSON_STRING, .as.string = start->webhook } },
		{ .key = S("payload"), .value = *start->payload },
	};
	const struct json inputs = { .kind = JSON_OBJECT, .as.object = { members, 2 } };
	const struct executor_start spec = {
		.workflow = S("deliver"),
		.yaml = definition_of(start, &arena),
		.inputs = { .json = &inputs },
		.generated = true,
		.run = start->run,
		.key = { .key = S("") },
		.start = kept,
	};
	webhooks->started++;
	executor_start(webhooks->settings.executor, &spec, replied, context, argument);
}

void webhooks_test(struct webhooks *webhooks, struct str name, struct str by,
		   executor_replied *replied, void *context, uint64_t argument)
{
	AUTO(arena) arena = { 0 };
	const struct webhook_entry *entry = map_get(&webhooks->by_name, name);
	if (entry == NULL) {
		struct error error;
		fail(&error, ERROR_NOT_FOUND, "there is no webhook called " STR_FMT,
		     STR_ARG(str_head(name, LIMIT_NAME_BYTES)));
		replied(context, argument, &(struct executor_reply){ .error = &error });
		return;
	}
	uint8_t dice[16];
	platform_random(executor_config(webhooks->settings.executor)->platform, dice, sizeof(dice));
	struct run_webhook_payload *payload = run_webhook_payload_new(&arena);
	SET(payload, id, uuid_from_random(dice));
	SET(payload, event, RUN_WEBHOOK_EVENT_TEST);
	SET(payload, at, executor_now(webhooks->settings.executor));
	SET(payload, webhook, entry->name);
	SET(payload, text,
	    str_format(&arena, "Test of the webhook " STR_FMT ", requested by " STR_FMT ".",
		       STR_ARG(entry->name), STR_ARG(str_head(by, LIMIT_NAME_BYTES))));
	const struct webhook_start start = {
		.run = payload->id,
		.webhook = entry->name,
		.event = S("test"),
		.max_retries = 0,
		.payload = run_webhook_payload_tree(payload, &arena),
	};
	webhooks_start(webhooks, &start, replied, context, argument);
}

struct webhooks_figures webhooks_figures(const struct webhooks *webhooks)
{
	if (webhooks == NULL)
		return (struct webhooks_figures){ 0 };
	int64_t behind = webhooks->enabled > 0 ? webhooks->newest - webhooks->position : 0;
	return (struct webhooks_figures){ .started = webhooks->started,
					  .behind = behind > 0 ? behind : 0,
					  .webhooks = webhooks->by_name.count };
}
