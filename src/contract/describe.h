/* contract/describe.h -- the reference documents that the program prints about itself.
 *
 * Every document is generated from the rows in contracts/, so it always matches the program:
 *
 *	openapi     OpenAPI 3.1: routes.def and every type of every module
 *	schema      one JSON Schema 2020-12 document with all types in $defs
 *	workflow-schema  JSON Schema of workflow files, in every dialect
 *	typescript  the same types for a client
 *	markdown    the same types for a reader
 *	states events errors config limits metrics   the other .def files
 *	html        all of the above as one page for a browser
 *	listing     every name that a client may rely on, one per line
 *
 * Documents are deterministic: the same program prints the same bytes.  The listing is under version
 * control in tests/golden (`make describe`); the tests compare the other documents with it.
 */
#ifndef CONTRACT_DESCRIBE_H
#define CONTRACT_DESCRIBE_H

#include "base/buf.h"
#include "contract/type.h"

struct description {
	struct str name, text;
	void (*print)(struct buf *out);
};

const struct description *description_at(size_t index); /* NULL after the last */
const struct description *description_find(struct str name);

void describe_openapi(struct buf *out);
void describe_schema_all(struct buf *out);
void describe_workflow_schema(struct buf *out);
void describe_typescript(struct buf *out);
void describe_markdown(struct buf *out);
void describe_states(struct buf *out);
void describe_active_run(struct buf *out); /* the last part of the states */
void describe_events(struct buf *out);
void describe_vocabularies(struct buf *out);
void describe_errors(struct buf *out);
void describe_config(struct buf *out);
void describe_limits(struct buf *out);
void describe_metrics(struct buf *out);
void describe_html(struct buf *out);
void describe_listing(struct buf *out);

/* A projection in the store: a STORED row of projections.def. */
struct stored_row {
	struct str name, source, text;
};

const struct stored_row *stored_row_at(size_t index); /* NULL after the last */

/* JSON Schema 2020-12 of one type.  A reference is `prefix` ("#/$defs/" or "#/components/schemas/")
 * followed by the wire name.  describe_schema() describes what Baton prints: all fields except
 * OPTIONAL ones are required.  describe_schema_input() describes what Baton accepts.  Where the two
 * differ, the name of the second ends in ".Input". */
void describe_schema(const struct type *type, struct str prefix, struct json_writer *writer);
void describe_schema_input(const struct type *type, struct str prefix, struct json_writer *writer);
bool describe_schema_differs(const struct type *type);
/* The same for a file that a person writes: second names and old words are among what it accepts, every
 * reference is `prefix` and the wire name, and every keyword is standard. */
void describe_schema_file(const struct type *type, struct str prefix, struct json_writer *writer);
/* JSON Schema of what Baton accepts as one entity, complete in itself, for a model: other types are
 * written in place, only one that contains itself stands in $defs, and every keyword is standard. */
void describe_schema_whole(const struct type *type, struct json_writer *writer);

/* The section of one type in the Markdown reference. */
void describe_markdown_type(const struct type *type, struct buf *out);
/* Reformats JSON text with one member or item per line, for people and for diff. */
void describe_indented(struct str json, struct buf *out);
/* The OpenAPI document and the HTML page.  The first call prints them under a lock; the text is
 * cached until the program exits.  Any thread may call these functions. */
struct str describe_openapi_kept(void);
struct str describe_workflow_schema_kept(void);
struct str describe_html_kept(void);

#endif
