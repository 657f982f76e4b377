/* contract/self_test.c -- finds mistakes in rows that the compiler accepts.
 *
 * type_index.c checks defaults, patterns and names when it builds a type's derived data.  This file
 * checks that the words of each row fit together.  A unit test runs it over the types of all modules.
 */
#include "contract/contract_internal.h"

#include <string.h>

#include "base/map.h"

/* The text of the first mistake in a row; NULL when the row is valid. */
static const char *presence_mistake(const struct field *field, const struct type *of)
{
	if (field->presence == PRESENCE_NULLABLE && !field->nullable)
		return "no presence word (REQUIRED, OPTIONAL, NULLABLE, DEFAULT, GENERATED, COMPUTED)";
	if (field->presence == PRESENCE_MADE && field->shape != SHAPE_ONE)
		return "only a single value can be GENERATED";
	if (field->presence == PRESENCE_MADE && field->making == CONTRACT_MAKE_now &&
	    of->kind != KIND_TIME)
		return "GENERATED(now) needs TIME";
	if (field->making == CONTRACT_MAKE_uuid_hex && of->kind != KIND_STR)
		return "GENERATED(uuid_hex) needs STR";
	if (field->making == CONTRACT_MAKE_uuid4 && of->kind != KIND_STR && of->kind != KIND_UUID)
		return "GENERATED(uuid4) needs UUID or STR";
	if (field->prefix.size > 0 && (field->presence != PRESENCE_MADE || of->kind != KIND_STR))
		return "PREFIX needs a GENERATED STR";
	return NULL;
}

static const char *rule_mistake(const struct field *field, const struct type *of)
{
	bool number = of->kind == KIND_INT || of->kind == KIND_REAL;
	bool many = field->shape == SHAPE_LIST || field->shape == SHAPE_MAP;
	if ((field->has_low || field->has_high) && !number)
		return "RANGE, AT_LEAST and ABOVE are for INT and REAL";
	if (field->has_low && field->has_high && field->low > field->high)
		return "empty range";
	if (field->has_length && !many && of->kind != KIND_STR)
		return "LENGTH is for STR, LIST and MAP";
	if (field->has_length && field->least > field->most)
		return "empty length";
	if (field->pattern != NULL && of->kind != KIND_STR)
		return "PATTERN is for STR";
	if (field->unique && field->shape != SHAPE_LIST)
		return "UNIQUE is for LIST";
	if (of->kind == KIND_UNION && of->tag.size == 0 && field->tag_in.size == 0)
		return "a union without a tag of its own needs TAG_IN";
	if (field->tag_in.size > 0 && of->kind != KIND_UNION)
		return "TAG_IN is for unions";
	return NULL;
}

static const struct field *field_named(const struct type *type, struct str name)
{
	const struct field *field = type_fields(type);
	for (; field->shape != SHAPE_END; field++)
		if (!field_is_hook(field) && str_equal(field->name, name))
			return field;
	return NULL;
}

static bool enum_has(const struct type *type, struct str word)
{
	for (size_t i = 0; i < type->word_count; i++)
		if (str_equal(type->words[i].name, word))
			return true;
	return false;
}

/* The member that carries the tag must allow every tag of the union. */
static bool carrier_can_say(const struct field *carrier, struct str tag)
{
	if (carrier->shape == SHAPE_CONST)
		return str_equal(carrier->constant, tag);
	const struct type *of = field_type(carrier);
	if (carrier->shape != SHAPE_ONE)
		return false;
	return of->kind == KIND_STR || (of->kind == KIND_ENUM && enum_has(of, tag));
}

static bool test_tag_in(const struct type *type, const struct field *field, struct error *error)
{
	const struct field *sibling = field_named(type, field->tag_in);
	const struct type *of = field_type(field);
	if (sibling == NULL)
		return fail(error, ERROR_INVALID,
			    STR_FMT "." STR_FMT ": TAG_IN(\"" STR_FMT "\") is not a field",
			    STR_ARG(type->name), STR_ARG(field->name), STR_ARG(field->tag_in));
	for (size_t i = 0; i < of->case_count; i++)
		if (of->cases[i].of != NULL && sibling->shape != SHAPE_CONST &&
		    !carrier_can_say(sibling, of->cases[i].tag))
			return fail(error, ERROR_INVALID,
				    STR_FMT "." STR_FMT ": unknown tag \"" STR_FMT "\": \"" STR_FMT
					    "\" cannot say it",
				    STR_ARG(type->name), STR_ARG(field->name),
				    STR_ARG(of->cases[i].tag), STR_ARG(field->tag_in));
	return true;
}

static bool test_entity(const struct type *type, struct error *error)
{
	for (const struct field *field = type_fields(type); field->shape != SHAPE_END; field++) {
		if (field_is_hook(field) || field->shape == SHAPE_CONST)
			continue;
		const char *mistake = presence_mistake(field, field_type(field));
		if (mistake == NULL)
			mistake = rule_mistake(field, field_type(field));
		if (mistake != NULL)
			return fail(error, ERROR_INVALID, STR_FMT "." STR_FMT ": %s",
				    STR_ARG(type->name), STR_ARG(field->name), mistake);
		if (field->tag_in.size > 0 && !test_tag_in(type, field, error))
			return false;
	}
	return true;
}

static bool test_union(const struct type *type, struct error *error)
{
	for (size_t i = 0; i < type->case_count; i++) {
		const struct union_case *one = &type->cases[i];
		if (one->of == NULL)
			continue;
		const struct field *carrier =
			type->tag.size == 0 ? NULL : field_named(one->of(), type->tag);
		if (carrier != NULL && !carrier_can_say(carrier, one->tag))
			return fail(error, ERROR_INVALID,
				    STR_FMT "." STR_FMT ": unknown tag \"" STR_FMT "\": " STR_FMT
					    "." STR_FMT " cannot say it",
				    STR_ARG(type->name), STR_ARG(one->member), STR_ARG(one->tag),
				    STR_ARG(one->of()->name), STR_ARG(carrier->name));
	}
	return true;
}

static bool test_type(const struct type *type, struct error *error)
{
	if (type->kind == KIND_ENTITY && !test_entity(type, error))
		return false;
	if (type->kind == KIND_UNION && !test_union(type, error))
		return false;
	const struct type_ready *ready = type_ready(type);
	if (ready->mistake.size > 0)
		return fail(error, ERROR_INVALID, STR_FMT "." STR_FMT, STR_ARG(type->name),
			    STR_ARG(ready->mistake));
	return true;
}

bool contract_self_test(const struct type *const *types, size_t count, struct error *error)
{
	AUTO(map) names = { 0 };
	static char mark;
	for (size_t i = 0; i < count; i++) {
		if (map_get(&names, types[i]->name) != NULL)
			return fail(error, ERROR_INVALID, STR_FMT ": two types have this name",
				    STR_ARG(types[i]->name));
		map_put(&names, types[i]->name, &mark);
		if (!test_type(types[i], error))
			return false;
	}
	return true;
}
