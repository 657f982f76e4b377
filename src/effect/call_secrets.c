/* effect/call_secrets.c -- reads secrets and inserts them by the recorded places.
 *
 * Text is never searched for references: the output of a step that looks like one stays text.
 */
#include "effect/call_secrets.h"

#include "active/executor.h"

static bool is_used(const struct call_secrets_read *r, struct str name)
{
	for (size_t i = 0; i < r->use_count; i++)
		if (str_equal(r->uses[i].name, name))
			return true;
	return false;
}

void call_secrets_work(struct executor_read *read, struct store_reader *reader)
{
	struct call_secrets_read *r = (struct call_secrets_read *)read;
	const struct executor_settings *settings = r->settings;
	(void)reader;
	r->values = arena_array(&read->arena, struct str, r->names.count);
	for (size_t i = 0; i < r->names.count; i++) {
		struct str name = r->names.at[i];
		bool used = is_used(r, name);
		struct error error;
		r->values[i] = S("");
		if (settings->secret == NULL)
			(void)!fail(&error, ERROR_SECRET_UNAVAILABLE,
				    "secret " STR_FMT ": this program has no secrets",
				    STR_ARG(name));
		else if (settings->secret(settings->context, name, r->tool, r->workflow, used,
					  &read->arena, &r->values[i], &error))
			continue;
		if (used && r->error.code == ERROR_NONE)
			r->error = error;
	}
}

const struct secret_mask *call_secrets_mask(const struct call_secrets_read *r, struct arena *arena)
{
	return secret_mask_new((struct str_list){ r->values, r->names.count }, arena);
}

static struct str value_of(const struct call_secrets_read *r, struct str name)
{
	for (size_t i = 0; i < r->names.count; i++)
		if (str_equal(r->names.at[i], name))
			return r->values[i];
	return S("");
}

/* The next segment of a JSON pointer is this key. */
static bool is_segment(struct str segment, struct str key)
{
	size_t at = 0;
	for (size_t i = 0; i < key.size; i++) {
		struct str escaped = key.at[i] == '~'   ? S("~0")
				     : key.at[i] == '/' ? S("~1")
							: (struct str){ &key.at[i], 1 };
		if (!str_starts(str_skip(segment, at), escaped))
			return false;
		at += escaped.size;
	}
	return at == segment.size;
}

/* Copies the way to the string, and the string with the value at its place. */
static bool insert(struct json *tree, struct str pointer, int64_t offset, struct str value,
		   struct arena *arena)
{
	struct str segment;
	int64_t index;
	if (pointer.size == 0) {
		if (tree->kind != JSON_STRING || offset < 0 ||
		    (size_t)offset > tree->as.string.size)
			return false;
		struct str text = tree->as.string;
		tree->as.string = str_format(
			arena, STR_FMT STR_FMT STR_FMT, STR_ARG(str_head(text, (size_t)offset)),
			STR_ARG(value), STR_ARG(str_skip(text, (size_t)offset)));
		return true;
	}
	pointer = str_skip(pointer, 1);
	size_t size = 0;
	while (size < pointer.size && pointer.at[size] != '/')
		size++;
	segment = str_head(pointer, size);
	pointer = str_skip(pointer, size);
	if (tree->kind == JSON_LIST) {
		if (!str_to_int(segment, &index) || index < 0 ||
		    (size_t)index >= tree->as.list.count)
			return false;
		struct json *items =
			arena_copy(arena, tree->as.list.at, tree->as.list.count * sizeof(*items));
		tree->as.list.at = items;
		return insert(&items[index], pointer, offset, value, arena);
	}
	if (tree->kind != JSON_OBJECT)
		return false;
	struct json_member *members =
		arena_copy(arena, tree->as.object.at, tree->as.object.count * sizeof(*members));
	for (size_t i = 0; i < tree->as.object.count; i++)
		if (is_segment(segment, members[i].key)) {
			tree->as.object.at = members;
			return insert(&members[i].value, pointer, offset, value, arena);
		}
	return false;
}

/* Backwards, so that the offsets of earlier places in the same string stay right. */
bool call_secrets_fill(const struct call_secrets_read *r, const struct json *inputs,
		       struct arena *arena, const struct json **out_inputs, struct error *error)
{
	struct json *filled = arena_copy(arena, inputs, sizeof(*inputs));
	for (size_t i = r->use_count; i > 0; i--) {
		const struct secret_use *use = &r->uses[i - 1];
		if (!insert(filled, use->pointer, use->offset, value_of(r, use->name), arena))
			return fail(error, ERROR_INTERNAL,
				    "secret " STR_FMT " has no place in the recorded inputs",
				    STR_ARG(use->name));
	}
	*out_inputs = filled;
	return true;
}
