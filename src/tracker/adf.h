/* tracker/adf.h -- the Atlassian Document Format of Jira's descriptions and comments, to and from Markdown.
 *
 * Pure.
 *
 * Every kind of block and mark that Jira's editor makes has its Markdown; of an unknown one the text is
 * kept.  Text is not escaped: it is for reading.  Colors, alignment and widths are dropped, pictures become
 * their names.  Deeper than LIMIT_ADF_DEPTH and beyond LIMIT_ADF_BYTES, the rest is left out.
 */
#ifndef TRACKER_ADF_H
#define TRACKER_ADF_H

#include "base/json.h"

struct str adf_to_markdown(const struct json *document, struct arena *arena);
/* A document with the text as paragraphs, split at empty lines; what is in ``` fences is a code block. */
const struct json *adf_from_text(struct str text, struct arena *arena);

#endif
