/* cli/value_text.h -- prints inputs and outputs for people; private to cli. */
#ifndef CLI_VALUE_TEXT_H
#define CLI_VALUE_TEXT_H

#include "base/buf.h"
#include "base/json.h"

/* Appends each member of the object behind the margin: "name: value".  A text of several lines
 * follows below its name with a bar before each line; other values are JSON.  Long values are cut
 * after LIMIT_SHOWN_VALUE_LINES or LIMIT_SHOWN_VALUE_BYTES, and the line says so. */
void value_text_add(const struct json *object, const char *margin, struct buf *out);

#endif
