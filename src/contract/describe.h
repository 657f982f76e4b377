/* contract/describe.h -- the program prints its own reference.
 *
 * Every document here comes from rows, so none can be wrong about what the program does:
 *
 *	openapi     OpenAPI 3.1: routes.def and every type of every module
 *	schema      one JSON Schema 2020-12 document with all types in $defs
 *	typescript  the same types for a client
 *	markdown    the same types for a reader
 *	states events errors config limits metrics   the other .def files
 *	html        all of it, and the routes, as one page for a browser
 *	listing     every name that a client may rely on, one line each
 *
 * Documents are deterministic: the same program prints the same bytes.  The listing is kept in
 * tests/golden (`make describe`); the tests compare the other documents with it.
 */
#ifndef CONTRACT_DESCRIBE_H
#define CONTRACT_DESCRIBE_H

#include "base/buf.h"
#include "contract/type.h"

struct description {
	struct str name, text;
	void (*print)(struct buf *out);
};

const struct description *description_at(size_t index); /* NULL behind the last */
const struct description *description_find(struct str name);

void describe_openapi(struct buf *out);
void describe_schema_all(struct buf *out);
void describe_typescript(struct buf *out);
void describe_markdown(struct buf *out);
void describe_states(struct buf *out);
void describe_active_run(struct buf *out); /* the last part of the states */
void describe_events(struct buf *out);
void describe_errors(struct buf *out);
void describe_config(struct buf *out);
void describe_limits(struct buf *out);
void describe_metrics(struct buf *out);
void describe_html(struct buf *out);
void describe_listing(struct buf *out);

/* What the store keeps in step with events: the STORED rows of projections.def. */
struct stored_row {
	struct str name, source, text;
};

const struct stored_row *stored_row_at(size_t index); /* NULL behind the last */

/* JSON Schema 2020-12 of one type.  References are `prefix` and the wire name: "#/$defs/" or
 * "#/components/schemas/".  The first form is what Baton prints (all but OPTIONAL required),
 * the second what it takes; where the two differ the second's name ends in ".Input". */
void describe_schema(const struct type *type, struct str prefix, struct json_writer *writer);
void describe_schema_input(const struct type *type, struct str prefix, struct json_writer *writer);
bool describe_schema_differs(const struct type *type);

/* One type's section of the reference page. */
void describe_markdown_type(const struct type *type, struct buf *out);
/* JSON text with one member or item a line, so that it can be read and compared. */
void describe_indented(struct str json, struct buf *out);
/* The OpenAPI document and the page, printed at the first call under a lock and kept as long as the
 * program runs; from any thread. */
struct str describe_openapi_kept(void);
struct str describe_html_kept(void);

#endif
