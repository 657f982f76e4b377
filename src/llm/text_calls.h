/* llm/text_calls.h -- calls of tools in the text of a reply, for models without calls of their own;
 * private to llm.
 *
 * A call is `TOOL_CALL: {"name": "shell", "arguments": {...}}`, anywhere in the text.  `tool` is accepted
 * for `name`, and `args`, `parameters` and `input` for `arguments`.  A call that is not a JSON object, or
 * has no name, is reported as malformed, so that the model is told.
 */
#ifndef LLM_TEXT_CALLS_H
#define LLM_TEXT_CALLS_H

#include "contract/run_turn_types.h"

/* The calls, and the text without them.  Everything is in the arena. */
struct run_turn_call_list text_calls_parse(struct str text, struct arena *arena,
					   struct str *out_rest);

#endif
