/* lsp/text_position.h -- positions of the Language Server Protocol in a text.
 *
 * A position is a line and a character of it, both from 0.  The protocol counts UTF-16 code units, or bytes if client
 * and server agreed on "utf-8".
 */
#ifndef LSP_TEXT_POSITION_H
#define LSP_TEXT_POSITION_H

#include "base/json.h"
#include "base/str.h"

struct text_position {
	uint32_t line;
	size_t byte; /* of the line */
};

/* The line without its line end; "" behind the last one. */
struct str text_line(struct str text, uint32_t line);
/* Characters of the protocol to bytes; behind the end of the line it is the end. */
size_t text_bytes(struct str line, int64_t character, bool utf8);
int64_t text_characters(struct str line, size_t bytes, bool utf8);
/* Characters as base/yaml.h counts them, from 0, to bytes. */
size_t text_column_bytes(struct str line, uint32_t column);

/* {"line": n, "character": n} */
bool text_position_read(struct str text, const struct json *json, bool utf8,
			struct text_position *out);
/* {"start": {...}, "end": {...}} of `size` bytes from the position on. */
void text_range_put(struct json_writer *writer, struct str text, struct text_position from,
		    size_t size, bool utf8);
/* The same from position to position. */
void text_span_put(struct json_writer *writer, struct str text, struct text_position from,
		   struct text_position end, bool utf8);

#endif
