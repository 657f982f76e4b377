/* contract/scalar_types.c -- the scalar types, and accessors of the type tables.
 *
 * Scalars are types like any other, so that LIST(str) and LIST(entity) follow the same rule. */
#include "contract/contract_internal.h"

#include <string.h>

#define SCALAR(name_, kind_, item_, wire_)                                    \
	const struct type *name_##_type(void)                                 \
	{                                                                     \
		static const struct type type = {                             \
			.kind = kind_,                                        \
			.name = { wire_, sizeof(wire_) - 1 },                 \
			.text = { "", 0 },                                    \
			.size = sizeof(item_),                                \
			.entry_size = sizeof(struct name_##_entry),           \
			.entry_value = offsetof(struct name_##_entry, value), \
		};                                                            \
		return &type;                                                 \
	}

SCALAR(str, KIND_STR, struct str, "string")
SCALAR(int, KIND_INT, int64_t, "integer")
SCALAR(real, KIND_REAL, double, "number")
SCALAR(bool, KIND_BOOL, bool, "boolean")
SCALAR(time, KIND_TIME, int64_t, "time")
SCALAR(uuid, KIND_UUID, struct uuid, "uuid")
SCALAR(hash, KIND_HASH, struct hash, "hash")
SCALAR(secret, KIND_SECRET, struct secret, "secret")
SCALAR(object, KIND_OBJECT, const struct json *, "object")
SCALAR(any, KIND_ANY, const struct json *, "any")

const struct field *type_fields(const struct type *type)
{
	static const struct field none = { .shape = SHAPE_END };
	return type->fields == NULL ? &none : type->fields();
}

bool field_is_hook(const struct field *field)
{
	return field->shape == SHAPE_CHECK || field->shape == SHAPE_COMPUTE;
}

const struct type *field_type(const struct field *field)
{
	return field->of == NULL ? NULL : field->of();
}

struct str contract_word(const struct type *type, uint32_t value)
{
	require(type->kind == KIND_ENUM && value < type->word_count);
	return type->words[value].name;
}

bool contract_word_find(const struct type *type, struct str word, uint32_t *out_value)
{
	require(type->kind == KIND_ENUM);
	const struct ready_name *name;
	if (!ready_find(type_ready(type), word, &name))
		return false;
	*out_value = name->row;
	return true;
}
