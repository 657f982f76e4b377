/* active/idempotency.h -- idempotency keys of commands: one command at a time for each key.
 *
 * The claim belongs to the pending command and ends with it.
 */
#ifndef ACTIVE_IDEMPOTENCY_H
#define ACTIVE_IDEMPOTENCY_H

#include "active/pending_command.h"

/* Calls granted(pending) when no other command has the key: at once when there is no key. */
void idempotency_claim_take(struct executor *executor, struct pending_command *pending,
			    const struct idempotency_key *key,
			    void (*granted)(struct pending_command *pending));
void idempotency_claim_release(struct pending_command *pending);
/* On a reader thread: looks the command's key up in the store.  CONFLICT when it was used for
 * another request. */
MUST_CHECK bool idempotency_claim_look_up(const struct pending_command *pending,
					  struct store_reader *reader, struct arena *arena,
					  struct store_request *out_known, bool *out_repeated,
					  struct error *error);
/* The row that remembers the key with the command's append. */
void idempotency_claim_fill(const struct pending_command *pending, const struct uuid *subject,
			    int64_t now, struct store_request *out_request);

#endif
