/* contract/document_kind.h -- the kinds of documents, the rows of contracts/documents.def.
 *
 * What a document's kind is called and which entity its body is.  What must hold between documents
 * is engine/document_rules.h's.
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

/* The body as what a document of this kind is: strictly, every problem with its place; a body of an
 * older shape comes out as a new one.  NULL with problems.  Syntax is a problem too. */
const void *document_read(enum document_kind kind, struct str body, struct arena *arena,
			  struct problems *problems);
/* A stored body, which was good when it was written: unknown members are skipped. */
const void *document_read_stored(enum document_kind kind, struct str body, struct arena *arena,
				 struct error *error);

#endif
