/* tool/tool_schema.h -- what a model must know to call a tool: the JSON Schema of its inputs.
 *
 * A schema is complete in itself: an object, without references to other documents and without
 * keywords of our own (contract/describe.h).  It is the inputs' contract of a built-in tool, and the
 * declared schema of a custom tool.  Any thread may call these functions.
 */
#ifndef TOOL_TOOL_SCHEMA_H
#define TOOL_TOOL_SCHEMA_H

#include "tool/custom_tools.h"
#include "tool/tool.h"

const struct json *tool_parameters(const struct tool *tool, struct arena *arena);
/* Of a definition with errors: any object. */
const struct json *tool_custom_parameters(const struct custom_tool *tool, struct arena *arena);

/* What its definition says, or else: it can send something to the world, and may do it for good =
 * high; it can change the workspace = medium; it only computes and reads = low. */
enum run_risk tool_custom_risk(const struct custom_tool *tool);

/* How long a call may take, in seconds, unless its inputs say something else. */
double tool_timeout_seconds(const struct tool *tool);
double tool_custom_timeout_seconds(const struct custom_tool *tool);

#endif
