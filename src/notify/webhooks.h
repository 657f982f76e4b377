/* notify/webhooks.h -- webhooks: receivers of notifications about runs.
 *
 * A webhook is a document.  Every committed event that it reports becomes a delivery: a run of its
 * own, with one step that calls the tool `notify`.  So a delivery is recorded before it is sent,
 * retried, recovered after a crash, listed and retained like any other work, and a slow receiver
 * holds up nobody.
 *
 *	struct webhooks *webhooks = webhooks_new(&settings);   (before recovery: open deliveries
 *	                                                        need them)
 *	webhooks_open(webhooks, "http://127.0.0.1:8420");   (after recovery, in a server)
 *
 * A delivery has the labels `delivery` (the webhook), `event` and `source` (the run it is about).
 *
 * On the loop thread, except where noted.
 */
#ifndef NOTIFY_WEBHOOKS_H
#define NOTIFY_WEBHOOKS_H

#include "document/documents.h"
#include "tool/notify_target.h"

struct webhooks;
struct run_webhook;
struct run_webhook_payload;

/* Reads the value of a reference; on any thread. */
typedef bool webhooks_secret(void *context, struct secret reference, struct arena *arena,
			     struct str *out_value, struct error *error);

struct webhooks_settings {
	struct executor *executor;
	struct documents *documents;
	webhooks_secret *secret;
	void *context;
	const char *public_url; /* where people reach the dashboard; "" = the listener */
	const char *ca_file;    /* for mail servers; "" = the system's certificates */
};

/* Reads the webhooks and follows their changes.  They are there before any document that is watched
 * later. */
struct webhooks *webhooks_new(const struct webhooks_settings *settings);
/* Reads a secret of a webhook or a trigger; on any thread. */
MUST_CHECK bool webhooks_read_secret(const struct webhooks *webhooks, struct secret reference,
				     struct arena *arena, struct str *out_value,
				     struct error *error);
/* From now on events are reported.  `address` is the listener's, for links. */
void webhooks_open(struct webhooks *webhooks, struct str address);

/* The notify_target_find of the tool notify; `context` is the webhooks. */
notify_target_find webhooks_target;

/* ---- changing ---------------------------------------------------------------------------- */

/* Creates or replaces a webhook; `webhook` NULL deletes it.  A new webhook, and one that is enabled
 * again, reports events from now on.  The reply is that of documents_change(). */
void webhooks_change(struct webhooks *webhooks, const struct run_webhook *webhook,
		     const struct documents_change *change, executor_replied *replied,
		     void *context, uint64_t argument);

/* ---- deliveries -------------------------------------------------------------------------- */

struct webhook_start {
	struct uuid run; /* the delivery's; a second start with the same id is a CONFLICT */
	struct str webhook, event;
	struct uuid source; /* the run it is about; zero = none */
	int64_t max_retries;
	const struct json *payload; /* run.WebhookPayload */
};

/* Starts a delivery. */
void webhooks_start(struct webhooks *webhooks, const struct webhook_start *start,
		    executor_replied *replied, void *context, uint64_t argument);
/* Sends a test message.  NOT_FOUND: there is no such webhook. */
void webhooks_test(struct webhooks *webhooks, struct str name, struct str by,
		   executor_replied *replied, void *context, uint64_t argument);

/* ---- figures ----------------------------------------------------------------------------- */

struct webhooks_figures {
	uint64_t started; /* deliveries started since the program did */
	int64_t behind;   /* committed events that were not looked at yet */
	size_t webhooks;
};

struct webhooks_figures webhooks_figures(const struct webhooks *webhooks);

#endif
