/* views/messages.h -- messages that the agents of a run have sent each other.
 *
 * They are events of the run (message.sent), and they stay when its older events are compacted.  The
 * results live in the timeline's arena.
 */
#ifndef VIEWS_MESSAGES_H
#define VIEWS_MESSAGES_H

#include "views/timeline.h"

struct run_message_sent;
struct run_outline;
struct runtime_agent_message;

/* At most `limit` messages, oldest first, in *out.  `after` is the message behind which they begin; zero
 * = all.  False when the run has no such message. */
MUST_CHECK bool messages_list(const struct timeline *timeline, const struct uuid *after,
			      size_t limit, const struct runtime_agent_message ***out,
			      size_t *out_count);
/* The newest ones, for a summary of the run. */
void messages_outline(const struct timeline *timeline, struct run_outline *out);
/* The text of a message; "" when it is not stored. */
struct str messages_text(const struct timeline *timeline, const struct run_message_sent *message);

#endif
