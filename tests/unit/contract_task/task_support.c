/* tests/unit/contract_task/task_support.c -- see support.h; FOLDER comes from meson.build. */
#include "task_support.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"

const struct type *type_named(struct str name)
{
	for (size_t i = 0; i < task_module_type_count; i++)
		if (str_equal(task_module_types[i]->name, name))
			return task_module_types[i];
	cr_assert_fail("no type " STR_FMT, STR_ARG(name));
	return NULL;
}

struct str file_text(const char *name, struct arena *arena)
{
	AUTO(buf) buf = { 0 };
	char piece[4096];
	size_t size;
	FILE *file = fopen(str_c(arena, str_format(arena, "%s/%s", FOLDER, name)), "rb");
	cr_assert_not_null(file, "no file %s", name);
	while ((size = fread(piece, 1, sizeof(piece), file)) > 0)
		buf_add(&buf, (struct str){ piece, size });
	fclose(file);
	return str_copy(arena, buf_str(&buf));
}

const struct json *tree_of(struct str text, struct arena *arena)
{
	const struct json *json = NULL;
	struct error error;
	cr_assert(json_read(text, arena, &json, &error), "not JSON: %s", error.text);
	return json;
}

static void count_dice(void *context, void *bytes, size_t size)
{
	uint8_t *next = context;
	memset(bytes, ++*next, size);
}

struct outcome read_tree(const struct type *type, const struct json *json, struct str text,
			 struct arena *arena)
{
	uint8_t dice = 0;
	struct contract_world world = { .now = 1000000, .random = count_dice, .context = &dice };
	struct contract_source source = { .json = json, .text = text, .world = &world };
	struct outcome outcome = { .problems = { .arena = arena } };
	outcome.value = contract_parse(type, &source, arena, &outcome.problems);
	outcome.lines = problems_text(&outcome.problems, arena);
	cr_assert((outcome.value == NULL) == (outcome.problems.count > 0));
	return outcome;
}

struct outcome read_text(const struct type *type, struct str text, struct arena *arena)
{
	return read_tree(type, tree_of(text, arena), text, arena);
}

struct str printed(const struct type *type, struct str text, struct arena *arena)
{
	struct outcome outcome = read_text(type, text, arena);
	cr_assert_not_null(outcome.value, STR_FMT ":\n" STR_FMT, STR_ARG(type->name),
			   STR_ARG(outcome.lines));
	return contract_text(type, outcome.value, arena);
}

struct str object_with(const struct json *object, struct str key, struct str value,
		       struct arena *arena)
{
	AUTO(buf) buf = { 0 };
	struct json_writer writer = { .out = &buf };
	json_open(&writer, '{');
	for (size_t i = 0; i < object->as.object.count; i++) {
		const struct json_member *member = &object->as.object.at[i];
		if (str_equal(member->key, key))
			continue;
		json_key(&writer, member->key);
		json_put_tree(&writer, &member->value);
	}
	if (value.at != NULL) {
		json_key(&writer, key);
		json_put_raw(&writer, value);
	}
	json_close(&writer, '}');
	return str_copy(arena, buf_str(&buf));
}

const struct json *least_of(struct str name, struct arena *arena)
{
	const struct json *table = tree_of(file_text("defaults.json", arena), arena);
	const struct json *given = json_member(json_member(table, name), S("given"));
	cr_assert_not_null(given, "defaults.json has no " STR_FMT, STR_ARG(name));
	return given;
}
