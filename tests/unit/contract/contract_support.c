/* tests/unit/contract/contract_support.c -- see support.h. */
#include "contract_support.h"

static void count_dice(void *context, void *bytes, size_t size)
{
	uint8_t *next = context;
	memset(bytes, ++*next, size);
}

static uint8_t dice;
struct contract_world test_world = { .now = 1000000, .random = count_dice, .context = &dice };

static struct outcome read_with(const struct type *type, struct str text, struct arena *arena,
				bool lenient)
{
	struct outcome outcome = { .problems = { .arena = arena } };
	const struct json *json;
	struct error error;
	cr_assert(json_read(text, arena, &json, &error), "not JSON: %s", error.text);
	struct contract_source source = {
		.json = json, .text = text, .lenient = lenient, .world = &test_world
	};
	outcome.value = contract_parse(type, &source, arena, &outcome.problems);
	outcome.lines = problems_text(&outcome.problems, arena);
	cr_assert((outcome.value == NULL) == (outcome.problems.count > 0));
	return outcome;
}

struct outcome read_as(const struct type *type, struct str text, struct arena *arena)
{
	return read_with(type, text, arena, false);
}

struct outcome read_leniently(const struct type *type, struct str text, struct arena *arena)
{
	return read_with(type, text, arena, true);
}

const void *read_good(const struct type *type, struct str text, struct arena *arena)
{
	struct outcome outcome = read_as(type, text, arena);
	cr_assert(outcome.value != NULL, STR_FMT, STR_ARG(outcome.lines));
	return outcome.value;
}

struct str round_trip(const struct type *type, struct str text, struct arena *arena)
{
	struct str once = contract_text(type, read_good(type, text, arena), arena);
	struct str twice = contract_text(type, read_good(type, once, arena), arena);
	assert_str(twice, once);
	return once;
}
