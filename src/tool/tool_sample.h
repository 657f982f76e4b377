/* tool/tool_sample.h -- the smallest output that fits the contract of a tool, for simulated calls. */
#ifndef TOOL_TOOL_SAMPLE_H
#define TOOL_TOOL_SAMPLE_H

#include "base/json.h"

struct tool;

/* Every field that a call always returns, with the smallest value of its type; {} for a tool without a
 * contract of its output, and for NULL. */
const struct json *tool_sample(const struct tool *tool, struct arena *arena);

#endif
