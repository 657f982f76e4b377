/* contract/field_copy.c -- copies the fields that two entities share, by name. */
#include "contract/field_copy.h"

#include <string.h>

#include "contract/contract_internal.h"

static size_t member_size(const struct field *field, const struct type *of)
{
	if (field->shape != SHAPE_ONE)
		return sizeof(struct span);
	return kind_is_pointed(of->kind) ? sizeof(void *) : of->size;
}

/* Scalars, ids and enums are copied whole; text is copied into the arena. */
static bool is_plain(const struct field *field, const struct type *of)
{
	return field->shape == SHAPE_ONE && !kind_is_pointed(of->kind) && of->kind != KIND_OBJECT &&
	       of->kind != KIND_ANY && of->kind != KIND_SECRET;
}

static void copy_member(const struct field *from_field, const void *from,
			const struct field *to_field, void *to, const struct type *of,
			struct arena *arena)
{
	require(arena == NULL || is_plain(from_field, of));
	memcpy(member_of(to, to_field), member_read(from, from_field), member_size(from_field, of));
	if (arena != NULL && of->kind == KIND_STR) {
		struct str text;
		memcpy(&text, member_read(from, from_field), sizeof(text));
		text = str_copy(arena, text);
		memcpy(member_of(to, to_field), &text, sizeof(text));
	}
	mark_write(to, to_field, GIVEN);
}

void contract_copy_fields(const struct type *from_type, const void *from,
			  const struct type *to_type, void *to, struct arena *arena)
{
	const struct type_ready *left = type_ready(from_type), *right = type_ready(to_type);
	for (size_t i = 0; i < left->field_count; i++) {
		const struct field *from_field = &left->fields[i], *to_field;
		const struct ready_name *found;
		if (from_field->shape > SHAPE_MAP || mark_read(from, from_field) < DEFAULTED ||
		    !ready_find(right, from_field->name, &found) || found->old)
			continue;
		to_field = &right->fields[found->row];
		if (to_field->shape == from_field->shape && right->of[found->row] == left->of[i])
			copy_member(from_field, from, to_field, to, left->of[i], arena);
	}
}
