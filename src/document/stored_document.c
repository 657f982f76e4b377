/* document/stored_document.c -- a stored document as its entity. */
#include "document/stored_document.h"

bool stored_document_read(struct store_reader *reader, enum document_kind kind, struct str name,
			  struct arena *arena, const void **out_value, int64_t *out_revision,
			  struct error *error)
{
	struct store_document row;
	bool found;
	const void *value = NULL;
	if (!reader->ops->read_document(reader, document_kind_name(kind), name, arena, &row, &found,
					error))
		return false;
	if (found) {
		value = document_read_stored(kind, row.body, arena, error);
		if (value == NULL)
			return false;
	}
	*out_value = value;
	if (out_revision != NULL)
		*out_revision = found ? row.revision : 0;
	return true;
}
