/* tests/unit/contract_pipeline/pipeline_support.c -- see support.h. */
#include "pipeline_support.h"

static void count_dice(void *context, void *bytes, size_t size)
{
	uint8_t *next = context;
	memset(bytes, ++*next, size);
}

const struct type *type_at(size_t index)
{
	if (index < pipeline_module_type_count)
		return pipeline_module_types[index];
	index -= pipeline_module_type_count;
	return index < pipeline_v1_module_type_count ? pipeline_v1_module_types[index] : NULL;
}

const struct type *type_named(struct str name)
{
	for (size_t i = 0; type_at(i) != NULL; i++)
		if (str_equal(type_at(i)->name, name))
			return type_at(i);
	return NULL;
}

const void *read_as(const struct type *type, struct str text, struct arena *arena,
		    struct str *out_lines)
{
	uint8_t dice = 0;
	struct contract_world world = { .now = 1000000, .random = count_dice, .context = &dice };
	struct problems problems = { .arena = arena };
	const struct json *json;
	struct error error;
	cr_assert(json_read(text, arena, &json, &error), "not JSON: %s", error.text);
	struct contract_source source = { .json = json, .text = text, .world = &world };
	const void *value = contract_parse(type, &source, arena, &problems);
	cr_assert((value == NULL) == (problems.count > 0));
	*out_lines = problems_text(&problems, arena);
	return value;
}

const void *read_good(const struct type *type, struct str text, struct arena *arena)
{
	struct str lines;
	const void *value = read_as(type, text, arena, &lines);
	cr_assert(value != NULL, STR_FMT ": " STR_FMT, STR_ARG(type->name), STR_ARG(lines));
	return value;
}

struct str reprint(const struct type *type, struct str text, struct arena *arena)
{
	struct str once = contract_text(type, read_good(type, text, arena), arena);
	struct str twice = contract_text(type, read_good(type, once, arena), arena);
	assert_str(twice, once);
	return once;
}

void assert_bad(const struct bad *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		AUTO(arena) arena = { 0 };
		const struct type *type = type_named(str_from_c(rows[i].type));
		cr_assert(type != NULL, "%s", rows[i].type);
		struct str lines;
		const void *value = read_as(type, str_from_c(rows[i].text), &arena, &lines);
		cr_assert(value == NULL, "no problem in %s: %s", rows[i].type, rows[i].text);
		assert_str(lines, str_from_c(rows[i].lines));
	}
}
