/* Every entity of every module: documents made from its rows, good ones and one bad one for each
 * thing a row says.  A row that promises what the engine does not hold fails here. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "contract/modules.h"
#include "generate.h"

static void count_up(void *context, void *bytes, size_t size)
{
	(void)context;
	memset(bytes, 7, size);
}

static const struct contract_world world = { .now = 1000000, .random = count_up };

struct outcome {
	const void *value;
	struct problems problems;
	struct str text; /* the document */
};

/* By way of text, as documents come. */
static struct outcome read_as(const struct type *type, const struct json *tree, struct arena *arena)
{
	struct outcome outcome = { .problems = { .arena = arena } };
	outcome.text = json_print(arena, tree);
	struct json *json = arena_new(arena, struct json); /* the value may refer to it */
	*json = json_parse_own(outcome.text, arena);
	struct contract_source source = { .json = json, .text = outcome.text, .world = &world };
	outcome.value = contract_parse(type, &source, arena, &outcome.problems);
	return outcome;
}

static bool is_document(const struct type *type)
{
	return type->kind == KIND_ENTITY || (type->kind == KIND_UNION && type->tag.size > 0);
}

/* Calls `test` for every type there is; the number of types it was called for. */
static size_t for_every(enum type_kind kind, void (*test)(const struct type *type))
{
	const struct contract_module *module;
	const struct type *type;
	size_t count = 0;
	for (size_t i = 0; (module = contract_module_at(i)) != NULL; i++)
		for (size_t j = 0; (type = contract_type_at(module, j)) != NULL; j++)
			if (type->kind == kind) {
				test(type);
				count++;
			}
	return count;
}

/* ---- good documents --------------------------------------------------------------------- */

/* Everything that was given is there again; defaults may have come to it. */
static bool holds(const struct json *printed, const struct json *given)
{
	if (printed == NULL)
		return false;
	if (given->kind == JSON_INT || given->kind == JSON_REAL) {
		double a = given->kind == JSON_INT ? (double)given->as.integer : given->as.real;
		double b =
			printed->kind == JSON_INT ? (double)printed->as.integer : printed->as.real;
		return (printed->kind == JSON_INT || printed->kind == JSON_REAL) && a <= b &&
		       a >= b;
	}
	if (given->kind != printed->kind)
		return false;
	switch (given->kind) {
	case JSON_BOOL:
		return given->as.boolean == printed->as.boolean;
	case JSON_STRING:
		return str_equal(given->as.string, printed->as.string);
	case JSON_LIST:
		for (size_t i = 0; i < given->as.list.count; i++)
			if (!holds(json_item(printed, i), &given->as.list.at[i]))
				return false;
		return given->as.list.count == printed->as.list.count;
	case JSON_OBJECT:
		for (size_t i = 0; i < given->as.object.count; i++)
			if (!holds(json_member(printed, given->as.object.at[i].key),
				   &given->as.object.at[i].value))
				return false;
		return true;
	case JSON_NULL:
	case JSON_INT:
	case JSON_REAL:
		break;
	}
	return true;
}

static void expect_good(const struct type *type, const struct json *tree, const char *what)
{
	AUTO(arena) arena = { 0 };
	struct outcome first = read_as(type, tree, &arena);
	cr_expect(first.value != NULL, STR_FMT ", %s: " STR_FMT "\n" STR_FMT, STR_ARG(type->name),
		  what, STR_ARG(first.text), STR_ARG(problems_text(&first.problems, &arena)));
	if (first.value == NULL)
		return;
	struct str once = contract_text(type, first.value, &arena);
	struct json printed = json_parse_own(once, &arena);
	cr_expect(holds(&printed, tree), STR_FMT ", %s: given   " STR_FMT "\nprinted " STR_FMT,
		  STR_ARG(type->name), what, STR_ARG(first.text), STR_ARG(once));
	struct outcome second = read_as(type, &printed, &arena);
	cr_expect(second.value != NULL, STR_FMT ", %s, read again: " STR_FMT, STR_ARG(type->name),
		  what, STR_ARG(problems_text(&second.problems, &arena)));
	if (second.value == NULL)
		return;
	struct str twice = contract_text(type, second.value, &arena);
	cr_expect(str_equal(once, twice), STR_FMT ", %s: " STR_FMT "\nthen " STR_FMT,
		  STR_ARG(type->name), what, STR_ARG(once), STR_ARG(twice));
}

static void test_good(const struct type *type)
{
	AUTO(arena) arena = { 0 };
	expect_good(type, generate(type, MINIMAL, &arena), "minimal");
	expect_good(type, generate(type, FULL, &arena), "full");
}

static void test_good_union(const struct type *type)
{
	AUTO(arena) arena = { 0 };
	for (size_t i = 0; i < type->case_count && is_document(type); i++) {
		expect_good(type, generate_case(type, i, MINIMAL, &arena), "a case");
		expect_good(type, generate_case(type, i, FULL, &arena), "a full case");
	}
}

Test(generated, good_documents_of_every_entity)
{
	cr_expect(for_every(KIND_ENTITY, test_good) > 150);
}

Test(generated, good_documents_of_every_case)
{
	cr_expect(for_every(KIND_UNION, test_good_union) > 1);
}

/* ---- bad documents ---------------------------------------------------------------------- */

static size_t tried;

static bool blames(struct str pointer, struct str name)
{
	return str_starts(pointer, S("/")) && str_starts(str_skip(pointer, 1), name) &&
	       (pointer.size == name.size + 1 || pointer.at[name.size + 1] == '/');
}

/* The document must be refused, and `name` must be blamed. */
static void expect_bad(const struct type *type, const struct json *tree, struct str name,
		       const char *what)
{
	AUTO(arena) arena = { 0 };
	struct outcome outcome = read_as(type, tree, &arena);
	bool blamed = false;
	tried++;
	for (size_t i = 0; i < outcome.problems.count; i++)
		blamed = blamed || blames(outcome.problems.at[i].pointer, name);
	cr_expect(outcome.value == NULL && blamed,
		  STR_FMT "." STR_FMT ", %s: not blamed in " STR_FMT "\n" STR_FMT,
		  STR_ARG(type->name), STR_ARG(name), what, STR_ARG(outcome.text),
		  STR_ARG(problems_text(&outcome.problems, &arena)));
}

/* A document that has the field, and what it needs beside it. */
static const struct json *document_with(const struct type *type, const struct field *field,
					struct arena *arena)
{
	const struct json *base = generate(type, MINIMAL, arena);
	if (json_member(base, field->name) != NULL)
		return base;
	if (field->tag_in.size == 0)
		return json_with(base, field->name, generate_field(field, FULL, arena), arena);
	const struct json *full = generate(type, FULL, arena);
	const struct json *tag = json_member(full, field->tag_in);
	const struct json *value = json_member(full, field->name);
	cr_assert(tag != NULL && value != NULL, STR_FMT, STR_ARG(type->name));
	return json_with(json_with(base, field->tag_in, tag, arena), field->name, value, arena);
}

struct trial {
	const struct type *type;
	const struct field *field;
	const struct json *base;
	struct arena *arena;
};

static void try_value(const struct trial *trial, struct json value, const char *what)
{
	expect_bad(trial->type, json_with(trial->base, trial->field->name, &value, trial->arena),
		   trial->field->name, what);
}

static void try_text(const struct trial *trial, const char *text, const char *what)
{
	try_value(trial, json_parse_own(str_from_c(text), trial->arena), what);
}

/* As JSON text: what a value of the kind can never be. */
static const char *wrong_for(enum type_kind kind)
{
	switch (kind) {
	case KIND_STR:
	case KIND_ENUM:
		return "7";
	case KIND_INT:
		return "1.5";
	case KIND_REAL:
	case KIND_BOOL:
	case KIND_TIME:
	case KIND_UUID:
	case KIND_HASH:
	case KIND_SECRET:
	case KIND_OBJECT:
	case KIND_ENTITY:
	case KIND_UNION:
		return "\"neither here nor there\"";
	case KIND_ANY:
		break;
	}
	return NULL;
}

static void try_kinds(const struct trial *trial)
{
	const struct field *field = trial->field;
	const struct type *of = field->of();
	const char *wrong = wrong_for(of->kind);
	if (field->shape == SHAPE_LIST)
		try_text(trial, "{}", "an object for a list");
	else if (field->shape == SHAPE_MAP)
		try_text(trial, "[]", "a list for a map");
	else if (wrong != NULL)
		try_text(trial, wrong, "a wrong kind");
	if (field->shape == SHAPE_ONE && of->kind == KIND_ENUM)
		try_text(trial, "\"no such word\"", "an unknown word");
	if (!field->nullable && (of->kind != KIND_ANY || field->shape != SHAPE_ONE))
		try_text(trial, "null", "null");
}

/* A wrong item among good ones. */
static void try_items(const struct trial *trial)
{
	const struct field *field = trial->field;
	const char *wrong = wrong_for(field->of()->kind);
	if (field->shape == SHAPE_ONE || wrong == NULL)
		return;
	AUTO(buf) text = { 0 };
	bool map = field->shape == SHAPE_MAP;
	size_t count = field->has_length && field->least > 1 ? (size_t)field->least : 1;
	buf_add_char(&text, map ? '{' : '[');
	for (size_t i = 0; i < count; i++) {
		buf_add_format(&text, "%s", i == 0 ? "" : ",");
		if (map)
			buf_add_format(&text, "\"k%zu\":", i);
		buf_add(&text, str_from_c(wrong));
	}
	buf_add_char(&text, map ? '}' : ']');
	try_value(trial, json_parse_own(str_copy(trial->arena, buf_str(&text)), trial->arena),
		  "a wrong item");
}

static struct json in_shape(const struct trial *trial, struct json value)
{
	struct json *item = arena_copy(trial->arena, &value, sizeof(value));
	if (trial->field->shape == SHAPE_LIST)
		return (struct json){ .kind = JSON_LIST, .as.list = { item, 1 } };
	if (trial->field->shape == SHAPE_ONE)
		return value;
	struct json_member *member = arena_new(trial->arena, struct json_member);
	*member = (struct json_member){ .key = S("k"), .value = value };
	return (struct json){ .kind = JSON_OBJECT, .as.object = { member, 1 } };
}

static void try_number(const struct trial *trial, double number, const char *what)
{
	struct json value = { .kind = JSON_REAL, .as.real = number };
	try_value(trial, in_shape(trial, value), what);
}

static void try_rules(const struct trial *trial)
{
	const struct field *field = trial->field;
	if (field->has_low)
		try_number(trial, field->above ? field->low : field->low - 1, "too small");
	if (field->has_high)
		try_number(trial, field->high + 1, "too large");
	if (field->pattern == NULL)
		return;
	static const char *const candidates[] = { "", " ", "!!", "\x01" };
	for (size_t i = 0; i < COUNT(candidates); i++) {
		struct str text = str_from_c(candidates[i]);
		if (pattern_fits(field->pattern, text, trial->arena))
			continue;
		try_value(trial, in_shape(trial, json_string(text)), "against the pattern");
		return;
	}
	cr_expect_fail("everything fits %s", field->pattern);
}

static void try_text_length(const struct trial *trial, uint64_t length, const char *what)
{
	AUTO(buf) text = { 0 };
	for (uint64_t i = 0; i < length; i++)
		buf_add_char(&text, 'x');
	try_value(trial, json_string(str_copy(trial->arena, buf_str(&text))), what);
}

/* The field's own value again and again. */
static void try_count(const struct trial *trial, uint64_t count, const char *what)
{
	struct json *items = arena_array(trial->arena, struct json, (size_t)count);
	struct json_member *members = arena_array(trial->arena, struct json_member, (size_t)count);
	struct field single = *trial->field;
	single.shape = SHAPE_ONE;
	single.has_length = false;
	for (size_t i = 0; i < count; i++) {
		items[i] = *generate_field(&single, MINIMAL, trial->arena);
		members[i].key = str_format(trial->arena, "k%zu", i);
		members[i].value = items[i];
	}
	struct json list = { .kind = JSON_LIST, .as.list = { items, (size_t)count } };
	struct json map = { .kind = JSON_OBJECT, .as.object = { members, (size_t)count } };
	try_value(trial, trial->field->shape == SHAPE_LIST ? list : map, what);
}

static void try_length(const struct trial *trial)
{
	enum { TRIED_MOST = 20000 };
	const struct field *field = trial->field;
	bool text = field->shape == SHAPE_ONE;
	if (field->unique)
		try_count(trial, 2, "two alike");
	if (!field->has_length)
		return;
	if (field->least > 0 && text)
		try_text_length(trial, field->least - 1, "too short");
	else if (field->least > 0)
		try_count(trial, field->least - 1, "too few");
	if (field->most >= TRIED_MOST)
		return;
	if (text)
		try_text_length(trial, field->most + 1, "too long");
	else
		try_count(trial, field->most + 1, "too many");
}

static void test_bad_field(const struct type *type, const struct field *field)
{
	AUTO(arena) arena = { 0 };
	const struct json *base = document_with(type, field, &arena);
	struct trial trial = { type, field, base, &arena };
	if (field->shape == SHAPE_CONST) {
		try_text(&trial, "\"not this\"", "another constant");
		return;
	}
	if (field->presence == PRESENCE_REQUIRED)
		expect_bad(type, json_with(base, field->name, NULL, &arena), field->name,
			   "left out");
	try_kinds(&trial);
	try_items(&trial);
	try_rules(&trial);
	try_length(&trial);
}

/* What is computed is not taken from a document, whatever it says. */
static void test_ignored_field(const struct type *type, const struct field *field)
{
	AUTO(arena) arena = { 0 };
	struct json wrong = json_parse_own(S("[[\"not this\"]]"), &arena);
	const struct json *base = generate(type, MINIMAL, &arena);
	struct outcome outcome =
		read_as(type, json_with(base, field->name, &wrong, &arena), &arena);
	tried++;
	cr_expect(outcome.value != NULL, STR_FMT "." STR_FMT ": " STR_FMT, STR_ARG(type->name),
		  STR_ARG(field->name), STR_ARG(problems_text(&outcome.problems, &arena)));
	if (outcome.value == NULL)
		return;
	size_t at;
	cr_expect(!str_find(contract_text(type, outcome.value, &arena), S("not this"), &at),
		  STR_FMT "." STR_FMT " was taken", STR_ARG(type->name), STR_ARG(field->name));
}

static void test_bad(const struct type *type)
{
	for (const struct field *field = type_fields(type); field->shape != SHAPE_END; field++) {
		if (field_is_hook(field))
			continue;
		if (field->presence == PRESENCE_COMPUTED)
			test_ignored_field(type, field);
		else
			test_bad_field(type, field);
	}
}

static void test_unknown_field(const struct type *type)
{
	AUTO(arena) arena = { 0 };
	struct str name = S("no_row_has_this_name");
	struct json value = json_string(S("unheard of"));
	const struct json *tree = json_with(generate(type, MINIMAL, &arena), name, &value, &arena);
	tried++;
	if (type->openness == CONTRACT_CLOSED) {
		expect_bad(type, tree, name, "an unknown field");
		return;
	}
	struct outcome outcome = read_as(type, tree, &arena);
	cr_expect(outcome.value != NULL, STR_FMT ": " STR_FMT, STR_ARG(type->name),
		  STR_ARG(problems_text(&outcome.problems, &arena)));
	if (outcome.value == NULL)
		return;
	size_t at;
	bool printed = str_find(contract_text(type, outcome.value, &arena), S("unheard of"), &at);
	cr_expect(printed == (type->openness == CONTRACT_KEPT), STR_FMT, STR_ARG(type->name));
}

static void test_not_an_object(const struct type *type)
{
	static const char *const texts[] = { "null", "[]", "\"text\"", "1", "true" };
	for (size_t i = 0; i < COUNT(texts) && is_document(type); i++) {
		AUTO(arena) arena = { 0 };
		struct json tree = json_parse_own(str_from_c(texts[i]), &arena);
		struct outcome outcome = read_as(type, &tree, &arena);
		tried++;
		cr_expect(outcome.value == NULL && outcome.problems.count == 1 &&
				  outcome.problems.at[0].pointer.size == 0,
			  STR_FMT ": %s", STR_ARG(type->name), texts[i]);
	}
}

static void test_bad_tag(const struct type *type)
{
	AUTO(arena) arena = { 0 };
	if (!is_document(type))
		return;
	const struct json *base = generate(type, MINIMAL, &arena);
	struct json unknown = json_string(S("a tag that nobody knows")),
		    number = json_parse_own(S("7"), &arena);
	bool open = false;
	for (size_t i = 0; i < type->case_count; i++)
		open = open || type->cases[i].of == NULL;
	expect_bad(type, json_with(base, type->tag, NULL, &arena), type->tag, "no tag");
	expect_bad(type, json_with(base, type->tag, &number, &arena), type->tag, "a number as tag");
	if (!open)
		expect_bad(type, json_with(base, type->tag, &unknown, &arena), type->tag,
			   "an unknown tag");
}

static void test_words(const struct type *type)
{
	uint32_t value;
	for (uint32_t i = 0; i < type->word_count; i++) {
		cr_expect(contract_word_find(type, type->words[i].name, &value) && value == i,
			  STR_FMT, STR_ARG(type->words[i].name));
		cr_expect(str_equal(contract_word(type, i), type->words[i].name));
		cr_expect(type->words[i].text.size > 0, STR_FMT "." STR_FMT " has no text",
			  STR_ARG(type->name), STR_ARG(type->words[i].name));
	}
	for (const struct enum_old *old = type->olds; old->name.size > 0; old++)
		cr_expect(contract_word_find(type, old->name, &value) && value == old->value);
	cr_expect(!contract_word_find(type, S("no such word"), &value));
	cr_expect(!contract_word_find(type, S(""), &value));
}

Test(generated, bad_documents_for_every_field)
{
	cr_expect(for_every(KIND_ENTITY, test_bad) > 150);
	cr_expect(tried > 2000, "only %zu", tried);
}

Test(generated, unknown_fields)
{
	size_t entities = for_every(KIND_ENTITY, test_unknown_field);
	cr_expect(tried >= entities && entities > 150);
}

Test(generated, documents_that_are_no_objects)
{
	size_t entities = for_every(KIND_ENTITY, test_not_an_object);
	for_every(KIND_UNION, test_not_an_object);
	cr_expect(tried >= 5 * entities && entities > 150);
}

Test(generated, bad_tags)
{
	cr_expect(for_every(KIND_UNION, test_bad_tag) > 1);
	cr_expect(tried >= 2);
}

Test(generated, words_of_every_enum)
{
	cr_expect(for_every(KIND_ENUM, test_words) > 25);
}
