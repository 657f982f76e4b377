/* tool/notify_message.h -- what a notification says on each channel; pure functions. */
#ifndef TOOL_NOTIFY_MESSAGE_H
#define TOOL_NOTIFY_MESSAGE_H

#include "contract/run_webhook_types.h"

/* The body for an incoming webhook of Slack: JSON with `text`. */
struct str notify_message_slack(const struct run_webhook_payload *payload, struct arena *arena);

/* A whole message with its headers (RFC 5322), in ASCII. */
struct notify_mail {
	struct str from;
	struct str_list to;
	struct uuid delivery; /* the Message-ID is derived from it, so mail programs show it once */
	int64_t now;          /* us, UTC */
};

struct str notify_message_mail(const struct run_webhook_payload *payload,
			       const struct notify_mail *mail, struct arena *arena);

#endif
