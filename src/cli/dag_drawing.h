/* cli/dag_drawing.h -- draws the graph of a workflow as text and as SVG; private to cli.
 *
 * Both take runtime.DAGResponse as the server sends it, with the positions that the server computed.
 * Names of steps go through base/terminal_text.h or are escaped.
 */
#ifndef CLI_DAG_DRAWING_H
#define CLI_DAG_DRAWING_H

#include "base/buf.h"
#include "base/json.h"

/* Boxes and lines of characters, one text line per row. */
void dag_text(const struct json *dag, struct buf *out);
/* A complete SVG document, readable on light and dark backgrounds. */
void dag_svg(const struct json *dag, struct str title, struct buf *out);

#endif
