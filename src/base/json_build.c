/* base/json_build.c -- trees that are made without text: copies, and what a writer builds.
 *
 * Children of the lists and objects that are still open wait on one scratch stack, as in
 * json_read.c, and are copied into the arena in one piece when their container is closed.
 */
#include "base/json_parts.h"

#include <stdlib.h>

#include "base/limits.h"
#include "base/work.h"

/* ---- copies ---------------------------------------------------------------------------- */

static struct json real_value(double value)
{
	if (json_real_is_whole(value))
		return (struct json){ .kind = JSON_INT, .as.integer = (int64_t)value };
	return (struct json){ .kind = JSON_REAL, .as.real = value };
}

static struct json copy_value(struct arena *arena, const struct json *from);

static struct json copy_list(struct arena *arena, const struct json *from)
{
	size_t count = from->as.list.count;
	struct json *items = arena_copy(arena, from->as.list.at, count * sizeof(*items));
	work_add(WORK_COPIED, count * sizeof(*items));
	for (size_t i = 0; i < count; i++)
		items[i] = copy_value(arena, &items[i]);
	return (struct json){ .kind = JSON_LIST, .as.list = { items, count } };
}

static struct json copy_object(struct arena *arena, const struct json *from)
{
	size_t count = from->as.object.count;
	struct json_member *members =
		arena_copy(arena, from->as.object.at, count * sizeof(*members));
	work_add(WORK_COPIED, count * sizeof(*members));
	for (size_t i = 0; i < count; i++)
		members[i] = (struct json_member){ .key = str_copy(arena, members[i].key),
						   .value = copy_value(arena, &members[i].value) };
	return (struct json){ .kind = JSON_OBJECT, .as.object = { members, count } };
}

static struct json copy_value(struct arena *arena, const struct json *from)
{
	switch (from->kind) {
	case JSON_NULL:
		break;
	case JSON_BOOL:
		return (struct json){ .kind = JSON_BOOL, .as.boolean = from->as.boolean };
	case JSON_INT:
		return (struct json){ .kind = JSON_INT, .as.integer = from->as.integer };
	case JSON_REAL:
		return real_value(from->as.real);
	case JSON_STRING:
		return (struct json){ .kind = JSON_STRING,
				      .as.string = str_copy(arena, from->as.string) };
	case JSON_LIST:
		return copy_list(arena, from);
	case JSON_OBJECT:
		return copy_object(arena, from);
	}
	return (struct json){ .kind = JSON_NULL };
}

const struct json *json_copy(struct arena *arena, const struct json *tree)
{
	struct json root = copy_value(arena, tree);
	return arena_copy(arena, &root, sizeof(root));
}

/* ---- building -------------------------------------------------------------------------- */

/* A list or object that is open.  The outermost frame collects the one value itself. */
struct frame {
	bool object;
	size_t base, count; /* of its children on the scratch stack */
	struct str key;     /* of the member that comes next */
};

struct json_builder {
	struct arena *arena;
	struct json_scratch scratch;
	struct frame frames[LIMIT_JSON_DEPTH + 1];
	size_t depth;
	_Alignas(16) char first[JSON_SCRATCH_FIRST];
};

struct json_builder *json_builder_new(struct arena *arena)
{
	struct json_builder *builder = malloc(sizeof(*builder));
	require(builder != NULL);
	builder->arena = arena;
	builder->scratch = json_scratch_on(builder->first, sizeof(builder->first));
	builder->depth = 0;
	builder->frames[0] = (struct frame){ 0 };
	return builder;
}

const struct json *json_builder_end(struct json_builder *builder)
{
	require(builder->depth == 0 && builder->frames[0].count == 1);
	const struct json *root = json_scratch_pop(&builder->scratch, 0, builder->arena);
	json_scratch_done(&builder->scratch);
	free(builder);
	return root;
}

/* What is added is complete and in the builder's arena. */
static void add(struct json_builder *builder, struct json value)
{
	struct frame *frame = &builder->frames[builder->depth];
	if (frame->object) {
		struct json_member member = { .key = frame->key, .value = value };
		json_scratch_push(&builder->scratch, &member, sizeof(member));
	} else {
		json_scratch_push(&builder->scratch, &value, sizeof(value));
	}
	frame->count++;
}

/* The value's text belongs to the caller: a copy of it goes into the tree. */
void json_build_value(struct json_builder *builder, struct json value)
{
	add(builder, copy_value(builder->arena, &value));
}

/* A list or an object can be large: it is shared. */
void json_build_tree(struct json_builder *builder, const struct json *tree)
{
	bool shared = tree->kind == JSON_LIST || tree->kind == JSON_OBJECT;
	add(builder, shared ? *tree : copy_value(builder->arena, tree));
}

void json_build_key(struct json_builder *builder, struct str key)
{
	builder->frames[builder->depth].key = str_copy(builder->arena, key);
}

void json_build_open(struct json_builder *builder, char bracket)
{
	require(builder->depth < LIMIT_JSON_DEPTH);
	builder->frames[++builder->depth] =
		(struct frame){ .object = bracket == '{', .base = builder->scratch.size };
}

void json_build_close(struct json_builder *builder)
{
	require(builder->depth > 0);
	const struct frame *frame = &builder->frames[builder->depth--];
	size_t count = frame->count;
	const void *children = json_scratch_pop(&builder->scratch, frame->base, builder->arena);
	struct json value = { .kind = frame->object ? JSON_OBJECT : JSON_LIST };
	if (frame->object) {
		value.as.object.at = children;
		value.as.object.count = count;
	} else {
		value.as.list.at = children;
		value.as.list.count = count;
	}
	add(builder, value);
}
