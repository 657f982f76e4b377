/* api/merge_patch.c -- the algorithm of RFC 7396, section 2.
 *
 * The recursion is bounded: the JSON reader limits the depth of the patch.
 */
#include "api/merge_patch.h"

static bool is_object(const struct json *json)
{
	return json != NULL && json->kind == JSON_OBJECT;
}

const struct json *merge_patch(const struct json *target, const struct json *patch,
			       struct arena *arena)
{
	if (!is_object(patch))
		return patch;
	size_t before = is_object(target) ? target->as.object.count : 0, count = 0;
	struct json_member *members =
		arena_array(arena, struct json_member, before + patch->as.object.count);
	for (size_t i = 0; i < before; i++)
		if (json_member(patch, target->as.object.at[i].key) == NULL)
			members[count++] = target->as.object.at[i];
	for (size_t i = 0; i < patch->as.object.count; i++) {
		const struct json_member *with = &patch->as.object.at[i];
		if (with->value.kind == JSON_NULL)
			continue;
		members[count] = *with;
		members[count++].value =
			*merge_patch(is_object(target) ? json_member(target, with->key) : NULL,
				     &with->value, arena);
	}
	struct json *merged = arena_new(arena, struct json);
	merged->kind = JSON_OBJECT;
	merged->as.object.at = members;
	merged->as.object.count = count;
	return merged;
}
