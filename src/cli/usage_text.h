/* cli/usage_text.h -- sums of usage (run.UsageTotal) as text. */
#ifndef CLI_USAGE_TEXT_H
#define CLI_USAGE_TEXT_H

#include "base/buf.h"
#include "base/json.h"

/* The cost in dollars: "$0.0123", "$0.0123+?" when some turns have an unknown cost, "?" when all
 * have. */
void usage_text_cost(const struct json *sum, struct buf *out);
/* One line: cost, turns, tokens, what the cache saved. */
void usage_text_add(const struct json *sum, struct buf *out);

#endif
