/* tool/tool_text.h -- bytes of tools as text. */
#ifndef TOOL_TOOL_TEXT_H
#define TOOL_TOOL_TEXT_H

#include "base/str.h"

/* Converts bytes to UTF-8: invalid bytes become replacement characters. */
struct str tool_context_utf8(struct arena *arena, struct str bytes);
/* Drops an incomplete character at the end of truncated text. */
struct str tool_context_whole_characters(struct str text);

#endif
