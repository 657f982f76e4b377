/* notify/webhooks_state.h -- struct webhooks, for this room alone. */
#ifndef NOTIFY_WEBHOOKS_STATE_H
#define NOTIFY_WEBHOOKS_STATE_H

#include "base/map.h"
#include "notify/webhooks.h"

struct run_stored_webhook;

/* A webhook in memory. */
struct webhook_entry {
	struct arena arena; /* owns the webhook and this entry's name */
	struct str name;
	const struct run_stored_webhook *webhook;
};

struct webhooks {
	struct webhooks_settings settings;
	struct arena arena;
	struct map by_name; /* -> struct webhook_entry */
	size_t enabled;
	struct str link_base; /* "https://host": links begin with it */

	/* the follower */
	bool open;
	bool busy;        /* a page is read, or its deliveries are started */
	bool again;       /* there may be more events */
	int64_t position; /* everything up to here is done; -1 = not known yet */
	int64_t stored;   /* the stored position */
	int64_t newest;   /* of the newest notice */
	uint64_t started;
};

/* Looks for new events, unless that is under way. */
void webhook_follower_wake(struct webhooks *webhooks);
/* The stored position was read or changed; 0 = there is none. */
void webhook_follower_loaded(struct webhooks *webhooks, int64_t position);
void webhook_follower_open(struct webhooks *webhooks);

#endif
