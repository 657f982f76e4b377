/* views/view_tree.c -- optional members: a value knows whether it is present, so TREE() can list
 * every member and omit the absent ones. */
#include "views/view_tree.h"

#include "base/attributes.h"
#include "base/time.h"

const struct json *view_tree_object(struct arena *arena, const struct tree_member *members,
				    size_t count)
{
	struct json_member *kept = arena_array(arena, struct json_member, count);
	size_t kept_count = 0;
	for (size_t i = 0; i < count; i++)
		if (members[i].value.there)
			kept[kept_count++] = (struct json_member){ .key = members[i].key,
								   .value = members[i].value.json };
	struct json *object = arena_new(arena, struct json);
	*object = (struct json){ .kind = JSON_OBJECT, .as.object = { kept, kept_count } };
	return object;
}

const struct json *view_tree_merge(struct arena *arena, const struct json *first,
				   const struct json *second)
{
	if (second == NULL || second->kind != JSON_OBJECT)
		return first;
	struct json_writer writer = { .builder = json_builder_new(arena) };
	json_open(&writer, '{');
	for (size_t i = 0; i < first->as.object.count; i++) {
		json_key(&writer, first->as.object.at[i].key);
		json_put_tree(&writer, &first->as.object.at[i].value);
	}
	for (size_t i = 0; i < second->as.object.count; i++) {
		const struct json_member *member = &second->as.object.at[i];
		if (json_member(first, member->key) != NULL)
			continue;
		json_key(&writer, member->key);
		json_put_tree(&writer, &member->value);
	}
	json_close(&writer, '}');
	return json_builder_end(writer.builder);
}

struct tree_value view_tree_none(void)
{
	return (struct tree_value){ .there = false };
}

struct tree_value view_tree_text(struct str text)
{
	return (struct tree_value){ true, { .kind = JSON_STRING, .as.string = text } };
}

struct tree_value view_tree_text_if(struct str text)
{
	return text.size > 0 ? view_tree_text(text) : view_tree_none();
}

struct tree_value view_tree_bool(bool value)
{
	return (struct tree_value){ true, { .kind = JSON_BOOL, .as.boolean = value } };
}

struct tree_value view_tree_int(int64_t number)
{
	return (struct tree_value){ true, { .kind = JSON_INT, .as.integer = number } };
}

struct tree_value view_tree_time(struct arena *arena, int64_t us)
{
	char text[TIME_TEXT_SIZE];
	return view_tree_text(str_copy(arena, time_text(us, text)));
}

struct tree_value view_tree_copy(const struct json *tree)
{
	return tree == NULL ? view_tree_none() : (struct tree_value){ true, *tree };
}
