/* cli/usage_text.h -- sums of usage (run.UsageTotal) as text. */
#ifndef CLI_USAGE_TEXT_H
#define CLI_USAGE_TEXT_H

#include "base/buf.h"
#include "base/json.h"
#include "cli/cli.h"

/* The cost in dollars: "$0.0123", "$0.0123+?" when some turns have an unknown cost, "?" when all
 * have. */
void usage_text_cost(const struct json *sum, struct buf *out);
/* One line: cost, turns, tokens, what the cache saved. */
void usage_text_add(const struct json *sum, struct buf *out);

/* The option --budget DOLLARS. */
#define CLI_BUDGET(what)                                             \
	{                                                            \
		.name = "--budget", .value = "DOLLARS", .text = what \
	}
/* Reads an amount of dollars that is not negative. */
MUST_CHECK bool usage_text_dollars(struct cli *cli, const char *text, double *out_dollars);
MUST_CHECK bool usage_text_budget(struct cli *cli, bool *out_given, double *out_dollars,
				  struct error *error);

#endif
