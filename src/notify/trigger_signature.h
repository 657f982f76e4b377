/* notify/trigger_signature.h -- authenticates a request to a trigger.
 *
 * What authenticates a request depends on its source:
 *
 *	github    X-Hub-Signature-256 over the body.  Neither the time nor X-GitHub-Delivery is signed,
 *	          so a request is known by its body: the same body again is a replay.
 *	gitlab    X-Gitlab-Token, compared with the secret; known by X-Gitlab-Event-UUID, or
 *	          Idempotency-Key, or its body.  With Webhook-Signature, as generic.
 *	generic   Webhook-Signature over Webhook-Id, Webhook-Timestamp and the body
 *	          (net/webhook_signature.h); known by Webhook-Id.
 *
 * Pure; on any thread.
 */
#ifndef NOTIFY_TRIGGER_SIGNATURE_H
#define NOTIFY_TRIGGER_SIGNATURE_H

#include "base/error.h"
#include "contract/run_trigger_types.h"
#include "net/http_server.h"

struct trigger_request {
	const struct http_header *headers;
	size_t header_count;
	struct str body;
	int64_t now; /* us, UTC */
};

enum trigger_verdict {
	TRIGGER_GENUINE,
	TRIGGER_FORGED, /* no signature, or a wrong one */
	TRIGGER_STALE,  /* signed, but too old or from the future */
};

/* `*out_known_by` identifies the request within its trigger, `*out_delivery` names it for people; both
 * live in the arena.  Set only when the request is genuine; otherwise the error says what is wrong. */
enum trigger_verdict trigger_signature_check(enum run_trigger_source source, struct str key,
					     const struct trigger_request *request,
					     struct arena *arena, struct str *out_known_by,
					     struct str *out_delivery, struct error *error);
/* "" when the request has no such header. */
struct str trigger_signature_header(const struct trigger_request *request, struct str name);

#endif
