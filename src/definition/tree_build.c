/* definition/tree_build.c -- trees with places.
 *
 * Arrays double, so that building is linear. */
#include "definition/tree_build.h"

struct json tree_at(struct json json, const struct json *place)
{
	json.line = place == NULL ? 0 : place->line;
	json.column = place == NULL ? 0 : place->column;
	return json;
}

struct json tree_text(struct str text, const struct json *place)
{
	return tree_at((struct json){ .kind = JSON_STRING, .as.string = text }, place);
}

struct json tree_bool(bool value, const struct json *place)
{
	return tree_at((struct json){ .kind = JSON_BOOL, .as.boolean = value }, place);
}

struct json tree_int(int64_t value, const struct json *place)
{
	return tree_at((struct json){ .kind = JSON_INT, .as.integer = value }, place);
}

void tree_add(struct tree_object *object, struct str key, struct json value)
{
	if (object->count == object->room) {
		size_t room = object->room == 0 ? 8 : object->room * 2;
		struct json_member *at = arena_array(object->arena, struct json_member, room);
		for (size_t i = 0; i < object->count; i++)
			at[i] = object->at[i];
		object->at = at;
		object->room = room;
	}
	object->at[object->count++] = (struct json_member){
		.key = key, .line = value.line, .column = value.column, .value = value
	};
}

void tree_add_member(struct tree_object *object, const struct json_member *like, struct json value)
{
	tree_add(object, like->key, value);
	object->at[object->count - 1].line = like->line;
	object->at[object->count - 1].column = like->column;
}

void tree_take(struct tree_object *object, const struct json *from, struct str key)
{
	const struct json *value = json_member(from, key);
	if (value != NULL && value->kind != JSON_NULL)
		tree_add(object, key, *value);
}

struct json tree_object(const struct tree_object *object)
{
	return tree_at(
		(struct json){ .kind = JSON_OBJECT, .as.object = { object->at, object->count } },
		object->place);
}

void tree_append(struct tree_list *list, struct json value)
{
	if (list->count == list->room) {
		size_t room = list->room == 0 ? 8 : list->room * 2;
		struct json *at = arena_array(list->arena, struct json, room);
		for (size_t i = 0; i < list->count; i++)
			at[i] = list->at[i];
		list->at = at;
		list->room = room;
	}
	list->at[list->count++] = value;
}

struct json tree_list(const struct tree_list *list)
{
	return tree_at((struct json){ .kind = JSON_LIST, .as.list = { list->at, list->count } },
		       list->place);
}

/* ---- places --------------------------------------------------------------------------------- */

static bool is_behind(uint32_t line, uint32_t column, uint32_t of_line, uint32_t of_column)
{
	return line != of_line ? line > of_line : column > of_column;
}

/* The last child that does not begin behind the place; -1 = none.  Children are in the order of the
 * text, except those that merge keys and aliases bring from elsewhere. */
static int64_t child_at(const struct json *json, uint32_t line, uint32_t column)
{
	size_t count = json->kind == JSON_OBJECT ? json->as.object.count
		       : json->kind == JSON_LIST ? json->as.list.count
						 : 0;
	int64_t found = -1;
	for (size_t i = 0; i < count; i++) {
		bool member = json->kind == JSON_OBJECT;
		uint32_t l = member ? json->as.object.at[i].line : json->as.list.at[i].line;
		uint32_t c = member ? json->as.object.at[i].column : json->as.list.at[i].column;
		if (!is_behind(l, c, line, column))
			found = (int64_t)i;
	}
	return found;
}

struct str tree_pointer(const struct json *tree, uint32_t line, uint32_t column,
			struct arena *arena)
{
	struct str pointer = S("");
	for (int64_t child; (child = child_at(tree, line, column)) >= 0;) {
		if (tree->kind == JSON_OBJECT) {
			pointer = str_format(arena, STR_FMT "/" STR_FMT, STR_ARG(pointer),
					     STR_ARG(tree->as.object.at[child].key));
			tree = &tree->as.object.at[child].value;
		} else {
			pointer = str_format(arena, STR_FMT "/%lld", STR_ARG(pointer),
					     (long long)child);
			tree = &tree->as.list.at[child];
		}
		if (tree->line == line && tree->column == column &&
		    child_at(tree, line, column) < 0)
			break;
	}
	return pointer;
}
