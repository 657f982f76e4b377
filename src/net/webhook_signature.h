/* net/webhook_signature.h -- signatures of webhooks: those that Baton sends, and those of triggers.
 *
 * Baton signs as Standard Webhooks does.  The signed text is
 *
 *	<Webhook-Id> . <Webhook-Timestamp> . <body>
 *
 * joined by full stops; the timestamp is in seconds since 1970.  The header Webhook-Signature is
 * "v1," and the base64 of the HMAC-SHA256 of that text.  Several signatures, separated by blanks,
 * are alternatives: a sender whose key changes sends two for a while.
 *
 * A key that begins with "whsec_" is the base64 of the real one; any other text is the key itself.
 *
 * Pure, on any thread.
 */
#ifndef NET_WEBHOOK_SIGNATURE_H
#define NET_WEBHOOK_SIGNATURE_H

#include "base/arena.h"
#include "base/str.h"

/* The value of Webhook-Signature. */
struct str webhook_signature_make(struct str key, struct str id, struct str timestamp,
				  struct str body, struct arena *arena);
/* Does one of the signatures of the header fit?  At most LIMIT_TRIGGER_SIGNATURES are compared. */
bool webhook_signature_fits(struct str key, struct str id, struct str timestamp, struct str body,
			    struct str header);
/* X-Hub-Signature-256 of GitHub: "sha256=" and the HMAC of the body in hexadecimal digits. */
bool webhook_signature_github_fits(struct str key, struct str body, struct str header);

#endif
