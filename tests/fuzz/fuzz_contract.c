/* tests/fuzz/fuzz_contract.c -- any text as every sample type: what parses must print,
 * and what was printed must parse and print to the same text.
 */
#include "sample.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "contract/type.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void no_dice(void *context, void *bytes, size_t size)
{
	(void)context;
	memset(bytes, 7, size);
}

static const struct contract_world world = { .now = 1, .random = no_dice };

static void check_problems(const struct problems *problems, struct arena *arena)
{
	require(problems->count <= LIMIT_PROBLEMS);
	for (size_t i = 0; i < problems->count; i++) {
		require(problems->at[i].text.size > 0 && problems->at[i].text.size < 4096);
		require(problems->at[i].line > 0 && problems->at[i].column > 0);
	}
	problems_text(problems, arena);
}

static const void *parse(const struct type *type, const struct json *json, struct str text,
			 bool lenient, struct arena *arena)
{
	struct problems problems = { .arena = arena };
	struct contract_source source = {
		.json = json, .text = text, .lenient = lenient, .world = &world
	};
	const void *value = contract_parse(type, &source, arena, &problems);
	require((value == NULL) == (problems.count > 0));
	check_problems(&problems, arena);
	return value;
}

static void try_type(const struct type *type, const struct json *json, struct str text,
		     struct arena *arena)
{
	const void *value = parse(type, json, text, true, arena);
	const void *strict = parse(type, json, text, false, arena);
	require(strict == NULL || value != NULL);
	if (value == NULL)
		return;
	struct str once = contract_text(type, value, arena);
	const struct json *again;
	struct error error;
	if (!json_read(once, arena, &again, &error)) {
		fprintf(stderr, "%s\n" STR_FMT "\n", error.text, STR_ARG(once));
		abort();
	}
	value = parse(type, again, once, false, arena);
	require(value != NULL);
	struct str twice = contract_text(type, value, arena);
	if (!str_equal(once, twice)) {
		fprintf(stderr, STR_FMT "\n" STR_FMT "\n", STR_ARG(once), STR_ARG(twice));
		abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO(arena) arena = { 0 };
	struct str text = { (const char *)data, size };
	const struct json *json;
	struct error error;
	if (!json_read(text, &arena, &json, &error))
		return 0;
	for (size_t i = 0; i < sample_module_type_count; i++) {
		const struct type *type = sample_module_types[i];
		if (type->kind == KIND_ENTITY || (type->kind == KIND_UNION && type->tag.size > 0))
			try_type(type, json, text, &arena);
	}
	return 0;
}
