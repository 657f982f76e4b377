/* contract/builders_runtime.c -- the builders copy instead of modifying in place, because the JSON
 * tree of a default is shared by all values of the type. */
#include "contract/builders_runtime.h"

#include <string.h>

static const struct json *object_with(const struct json *object, struct arena *arena,
				      struct str key, const struct json *value)
{
	size_t count = object->as.object.count, at = 0;
	struct json_member *members = arena_array(arena, struct json_member, count + 1);
	if (count > 0)
		memcpy(members, object->as.object.at, count * sizeof(*members));
	while (at < count && !str_equal(members[at].key, key))
		at++;
	members[at] = (struct json_member){ .key = key, .value = *value };
	struct json *copy = arena_new(arena, struct json);
	*copy = *object;
	copy->as.object.at = members;
	copy->as.object.count = at == count ? count + 1 : count;
	return copy;
}

static struct runtime_task_input *copy_of(const struct runtime_task_input *input,
					  struct arena *arena)
{
	return arena_copy(arena, input, sizeof(*input));
}

const struct runtime_task_input *
runtime_task_input_with_context(const struct runtime_task_input *input, struct arena *arena,
				struct str key, const struct json *value)
{
	struct runtime_task_input *copy = copy_of(input, arena);
	SET(copy, context, object_with(input->context, arena, key, value));
	return copy;
}

const struct runtime_task_input *
runtime_task_input_with_metadata(const struct runtime_task_input *input, struct arena *arena,
				 struct str key, const struct json *value)
{
	struct runtime_task_input *copy = copy_of(input, arena);
	SET(copy, metadata, object_with(input->metadata, arena, key, value));
	return copy;
}

const struct runtime_task_output *runtime_task_output_failure(struct arena *arena,
							      struct str task_id, struct str error)
{
	struct runtime_task_output *output = runtime_task_output_new(arena);
	SET(output, task_id, task_id);
	SET(output, success, false);
	SET(output, error, error);
	return output;
}
