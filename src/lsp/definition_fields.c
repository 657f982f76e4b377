/* lsp/definition_fields.c -- walks the types of the contract along a path of the file.
 *
 * The kinds of files are told apart as the compiler does it: by a key at the top.
 */
#include "lsp/definition_fields.h"

#include "contract/graph_types.h"
#include "contract/run_definition_types.h"

struct root_row {
	struct str key; /* at the top of the file; "" = any other file */
	type_function *type;
};

static const struct root_row roots[] = {
	{ { "nodes", 5 }, graph_workflow_type },
	{ { "", 0 }, run_definition_type },
};

struct root_search {
	const struct root_row *found;
};

static bool look_at_top(void *context, const struct yaml_place *place)
{
	struct root_search *search = context;
	for (const struct root_row *row = roots; row->key.size > 0; row++)
		if (place->is_key && place->path.depth == 1 && str_equal(row->key, place->text))
			search->found = row;
	return search->found == NULL;
}

static const struct type *root_type(struct str text)
{
	struct root_search search = { 0 };
	yaml_places_scan(text, look_at_top, &search);
	return search.found == NULL ? roots[COUNT(roots) - 1].type() : search.found->type();
}

const struct field *definition_field_of(const struct type *type, struct str name)
{
	if (type == NULL || type->kind != KIND_ENTITY)
		return NULL;
	for (const struct field *field = type_fields(type); field->shape != SHAPE_END; field++)
		if (!field_is_hook(field) &&
		    (str_equal(field->name, name) ||
		     (field->alias.size > 0 && str_equal(field->alias, name))))
			return field;
	return NULL;
}

bool definition_field_find(struct str text, const struct yaml_path *path,
			   struct definition_field *out)
{
	struct definition_field at = { .type = root_type(text), .shape = SHAPE_ONE };
	for (size_t i = 0; i < path->depth; i++) {
		bool is_item = path->at[i].key.size == 0;
		if (at.shape == SHAPE_LIST || at.shape == SHAPE_MAP) {
			if (is_item != (at.shape == SHAPE_LIST))
				return false;
			at.shape = SHAPE_ONE;
			continue;
		}
		const struct field *field =
			is_item ? NULL : definition_field_of(at.type, path->at[i].key);
		if (field == NULL)
			return false;
		at = (struct definition_field){ field, field_type(field), field->shape };
	}
	*out = at;
	return at.type != NULL;
}

static struct str kind_word(const struct type *type)
{
	switch (type->kind) {
	case KIND_STR:
	case KIND_SECRET:
		return S("text");
	case KIND_INT:
		return S("integer");
	case KIND_REAL:
		return S("number");
	case KIND_BOOL:
		return S("true or false");
	case KIND_TIME:
		return S("time");
	case KIND_UUID:
		return S("id");
	case KIND_HASH:
		return S("hash");
	case KIND_OBJECT:
		return S("mapping");
	case KIND_ANY:
		return S("any value");
	case KIND_ENUM:
	case KIND_ENTITY:
	case KIND_UNION:
		break;
	}
	return type->name;
}

void definition_field_print(const struct field *field, struct buf *out)
{
	const struct type *type = field_type(field);
	if (field->shape == SHAPE_LIST)
		buf_add(out, S("list of "));
	else if (field->shape == SHAPE_MAP)
		buf_add(out, S("mapping to "));
	if (type != NULL && type->kind == KIND_ENUM)
		for (size_t i = 0; i < type->word_count; i++)
			buf_add_format(out, "%s" STR_FMT, i == 0 ? "" : " | ",
				       STR_ARG(type->words[i].name));
	else if (type != NULL)
		buf_add(out, kind_word(type));
	if (field->presence == PRESENCE_REQUIRED)
		buf_add(out, S(", required"));
	else if (field->fallback.size > 0)
		buf_add_format(out, ", default " STR_FMT, STR_ARG(field->fallback));
}
