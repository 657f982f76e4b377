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

/* Scalars, ids and enums are copied whole; text, maps of text and trees are copied into the arena. */
static bool can_be_copied(const struct field *field, const struct type *of)
{
	if (field->shape == SHAPE_MAP)
		return of->kind == KIND_STR;
	return field->shape == SHAPE_ONE && !kind_is_pointed(of->kind) && of->kind != KIND_SECRET;
}

static struct str_map text_map_copy(struct str_map map, struct arena *arena)
{
	struct str_entry *entries = arena_array(arena, struct str_entry, map.count);
	for (size_t i = 0; i < map.count; i++)
		entries[i] = (struct str_entry){ str_copy(arena, map.at[i].key),
						 str_copy(arena, map.at[i].value) };
	return (struct str_map){ entries, map.count };
}

/* Copies what the member points to. */
static void copy_target(const struct field *field, void *to, const struct type *of,
			struct arena *arena)
{
	void *member = member_of(to, field);
	if (field->shape == SHAPE_MAP) {
		struct str_map map;
		memcpy(&map, member, sizeof(map));
		map = text_map_copy(map, arena);
		memcpy(member, &map, sizeof(map));
	} else if (of->kind == KIND_STR) {
		struct str text;
		memcpy(&text, member, sizeof(text));
		text = str_copy(arena, text);
		memcpy(member, &text, sizeof(text));
	} else if (of->kind == KIND_OBJECT || of->kind == KIND_ANY) {
		const struct json *tree;
		memcpy(&tree, member, sizeof(tree));
		tree = json_copy(arena, tree);
		memcpy(member, &tree, sizeof(tree));
	}
}

static void copy_member(const struct field *from_field, const void *from,
			const struct field *to_field, void *to, const struct type *of,
			struct arena *arena)
{
	require(arena == NULL || can_be_copied(from_field, of));
	memcpy(member_of(to, to_field), member_read(from, from_field), member_size(from_field, of));
	if (arena != NULL)
		copy_target(to_field, to, of, arena);
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
