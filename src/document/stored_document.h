/* document/stored_document.h -- a stored document, parsed as its entity.
 *
 * On a reader thread; results live in the arena.
 */
#ifndef DOCUMENT_STORED_DOCUMENT_H
#define DOCUMENT_STORED_DOCUMENT_H

#include "contract/document_kind.h"
#include "store/store.h"

/* *out_value is NULL and the revision 0 when there is no such document.  out_revision may be NULL. */
MUST_CHECK bool stored_document_read(struct store_reader *reader, enum document_kind kind,
				     struct str name, struct arena *arena, const void **out_value,
				     int64_t *out_revision, struct error *error);

#endif
