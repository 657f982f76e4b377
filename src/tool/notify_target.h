/* tool/notify_target.h -- where the tool notify sends to: a webhook by its name.
 *
 * The tool knows only names.  Address and key are read when a message is sent, so a changed webhook
 * applies to the next attempt, and no run contains an address with a token.
 */
#ifndef TOOL_NOTIFY_TARGET_H
#define TOOL_NOTIFY_TARGET_H

#include "base/error.h"
#include "contract/run_webhook_types.h"

struct notify_target {
	enum run_webhook_channel channel;
	struct str url;
	bool url_is_secret;
	struct str secret; /* signs, or is the password of the mail server; "" = none */
	struct str from, user;
	struct str_list to;
	bool starttls;
	const char *ca_file; /* NULL = the system's certificates */
};

/* On the loop; the result lives in the arena.  NOT_FOUND: there is no such webhook.
 * SECRET_UNAVAILABLE: its secret cannot be read; the error says what to change. */
typedef bool notify_target_find(void *context, struct str name, struct arena *arena,
				struct notify_target *out_target, struct error *error);

#endif
