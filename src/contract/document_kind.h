/* contract/document_kind.h -- the kinds of documents: the rows of contracts/documents.def.
 *
 * A kind has a name and the entity of its body.  The rules between documents are in
 * engine/document_rules.h.
 */
#ifndef CONTRACT_DOCUMENT_H
#define CONTRACT_DOCUMENT_H

#include "contract/contract.h"

enum document_kind {
#define DOCUMENT(constant, kind, entity, rules, text) DOCUMENT_##constant,
#include "contracts/documents.def"
#undef DOCUMENT
};

struct str document_kind_name(enum document_kind kind);
bool document_kind_from(struct str name, enum document_kind *out_kind);
size_t document_kind_count(void);
const struct type *document_type(enum document_kind kind); /* of the body */

/* The name of the document that holds a version of a stored workflow.  The newest version comes first
 * in the order of names. */
struct str document_version_name(struct str workflow, int64_t version, struct arena *arena);

/* Parses a body strictly as the entity of its kind.  A body of an older shape is converted to the
 * current one.  NULL when there are problems, which include syntax errors; each has its place. */
const void *document_read(enum document_kind kind, struct str body, struct arena *arena,
			  struct problems *problems);
/* Parses a stored body, which was valid when it was written: unknown members are ignored. */
const void *document_read_stored(enum document_kind kind, struct str body, struct arena *arena,
				 struct error *error);

#endif
