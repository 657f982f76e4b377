/* lsp/definition_fields.h -- what the contract says about a place of a workflow file. */
#ifndef LSP_DEFINITION_FIELDS_H
#define LSP_DEFINITION_FIELDS_H

#include "base/buf.h"
#include "contract/type.h"
#include "lsp/yaml_places.h"

struct definition_field {
	const struct field *field; /* the last named field on the way; NULL at the top */
	const struct type *type;   /* of the value, of an item where a list is meant */
	enum shape shape;          /* SHAPE_ONE, or the list or map whose items have this type */
};

/* False when the contract does not know the place: an unknown field, or something inside free JSON. */
bool definition_field_find(struct str text, const struct yaml_path *path,
			   struct definition_field *out);
/* The field of an entity with this name or old name; NULL = none. */
const struct field *definition_field_of(const struct type *type, struct str name);
/* "list of text, default []": the type of a field for a person. */
void definition_field_print(const struct field *field, struct buf *out);

#endif
