/* notify/webhook_payload.h -- what a delivery says about an event; private to this room.
 *
 * Made of the event and of the first event of its run alone, so the same event gives the same payload
 * whenever it is read.  On a reader thread; results live in the arena.
 */
#ifndef NOTIFY_WEBHOOK_PAYLOAD_H
#define NOTIFY_WEBHOOK_PAYLOAD_H

#include "contract/run_webhook_types.h"
#include "store/store.h"

struct run_created;

/* Could the event be reported?  Cheap: it looks at the type alone. */
bool webhook_payload_wants(const struct store_event_row *row);

/* What of a run its payloads need. */
struct webhook_source {
	struct uuid id;
	int64_t created_at;
	const struct run_created
		*created; /* NULL = it cannot be read: its events are not reported */
	bool is_delivery;
};

MUST_CHECK bool webhook_payload_source(struct store_reader *reader, const struct uuid *run,
				       struct arena *arena, struct webhook_source *out_source,
				       struct error *error);

/* The payload without id and webhook; NULL when the event is not reported. */
const struct run_webhook_payload *webhook_payload_make(const struct store_event_row *row,
						       const struct webhook_source *source,
						       struct str link_base, struct arena *arena);
/* Does the webhook report this event of this run? */
bool webhook_payload_matches(const struct run_stored_webhook *webhook,
			     const struct run_webhook_payload *payload);

#endif
