/* tests/unit/contract_runtime/runtime_documents.c -- see documents.h. */
#include "runtime_documents.h"

#include <dirent.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/time.h"

/* ---- files ------------------------------------------------------------------------------ */

static bool file_read(const char *path, struct arena *arena, struct str *out_text)
{
	AUTO(buf) buf = { 0 };
	char piece[4096];
	size_t got;
	FILE *file = fopen(path, "r");
	if (file == NULL)
		return false;
	while ((got = fread(piece, 1, sizeof(piece), file)) > 0)
		buf_add(&buf, (struct str){ piece, got });
	fclose(file);
	*out_text = str_copy(arena, buf_str(&buf));
	return true;
}

static bool tree_read(const struct module *module, const char *folder, struct str name,
		      struct arena *arena, const struct json **out_json)
{
	struct str path, text;
	struct error error;
	path = str_format(arena, "%s/%s/" STR_FMT ".json", module->folder, folder, STR_ARG(name));
	if (!file_read(str_c(arena, path), arena, &text))
		return false;
	cr_assert(json_read(text, arena, out_json, &error), STR_FMT ": %s", STR_ARG(path),
		  error.text);
	return true;
}

/* ---- trees ------------------------------------------------------------------------------ */

static bool same(const struct json *a, const struct json *b)
{
	if (a == NULL || b == NULL)
		return a == b;
	if (a->kind == JSON_OBJECT && b->kind == JSON_OBJECT) {
		bool good = a->as.object.count == b->as.object.count;
		for (size_t i = 0; i < a->as.object.count && good; i++)
			good = same(&a->as.object.at[i].value,
				    json_member(b, a->as.object.at[i].key));
		return good;
	}
	if (a->kind == JSON_LIST && b->kind == JSON_LIST) {
		bool good = a->as.list.count == b->as.list.count;
		for (size_t i = 0; i < a->as.list.count && good; i++)
			good = same(&a->as.list.at[i], &b->as.list.at[i]);
		return good;
	}
	AUTO(arena) arena = { 0 };
	return str_equal(json_print(&arena, a), json_print(&arena, b));
}

static struct json changed(const struct json *tree, struct str pointer, const struct json *value,
			   struct arena *arena);

static struct json changed_object(const struct json *tree, struct str key, struct str rest,
				  const struct json *value, struct arena *arena)
{
	size_t count = tree->as.object.count, at = 0;
	struct json_member *members = arena_array(arena, struct json_member, count + 1);
	if (count > 0)
		memcpy(members, tree->as.object.at, count * sizeof(*members));
	while (at < count && !str_equal(members[at].key, key))
		at++;
	cr_assert(at < count || value != NULL, "there is no " STR_FMT, STR_ARG(key));
	members[at].key = key;
	if (rest.size > 0)
		members[at].value = changed(&members[at].value, rest, value, arena);
	else if (value != NULL)
		members[at].value = *value;
	else
		members[at] = members[--count];
	struct json copy = *tree;
	copy.as.object.at = members;
	copy.as.object.count = at == count && value != NULL ? count + 1 : count;
	return copy;
}

static struct json changed_list(const struct json *tree, struct str key, struct str rest,
				const struct json *value, struct arena *arena)
{
	int64_t at;
	cr_assert(str_to_int(key, &at) && (size_t)at < tree->as.list.count, "there is no " STR_FMT,
		  STR_ARG(key));
	struct json *items = arena_copy(arena, tree->as.list.at,
					tree->as.list.count * sizeof(*tree->as.list.at));
	items[at] = rest.size > 0 ? changed(&items[at], rest, value, arena) : *value;
	struct json copy = *tree;
	copy.as.list.at = items;
	return copy;
}

static struct json changed(const struct json *tree, struct str pointer, const struct json *value,
			   struct arena *arena)
{
	struct str key, rest = str_skip(pointer, 1);
	cr_assert(str_cut(&rest, '/', &key));
	rest = str_skip(pointer, key.size + 1);
	if (tree->kind == JSON_LIST)
		return changed_list(tree, key, rest, value, arena);
	cr_assert_eq(tree->kind, JSON_OBJECT, "nothing can be put at " STR_FMT, STR_ARG(pointer));
	return changed_object(tree, key, rest, value, arena);
}

const struct json *document(const struct module *module, const struct type *type,
			    struct arena *arena, const char *pointer, const char *value)
{
	const struct json *tree, *part = NULL;
	struct error error;
	cr_assert(tree_read(module, "documents", type->name, arena, &tree),
		  "no document of " STR_FMT, STR_ARG(type->name));
	if (pointer == NULL)
		return tree;
	if (value != NULL)
		cr_assert(json_read(str_from_c(value), arena, &part, &error), "%s: %s", value,
			  error.text);
	struct json *copy = arena_new(arena, struct json);
	*copy = changed(tree, str_from_c(pointer), part, arena);
	return copy;
}

static void dice(void *context, void *bytes, size_t size)
{
	(void)context;
	memset(bytes, 0x11, size);
}

const void *document_read(const struct type *type, const struct json *json, struct arena *arena,
			  struct problems *problems)
{
	struct contract_world world = { .random = dice };
	cr_assert(time_parse(S("2026-01-12T09:30:00Z"), &world.now));
	struct contract_source source = { .json = json, .world = &world };
	problems->arena = arena;
	const void *value = contract_parse(type, &source, arena, problems);
	cr_assert_eq(value == NULL, problems->count > 0);
	return value;
}

static struct str printed(const struct type *type, const struct json *json, struct arena *arena)
{
	struct problems problems = { 0 };
	const void *value = document_read(type, json, arena, &problems);
	struct str lines = problems_text(&problems, arena);
	cr_assert(value != NULL, STR_FMT ": " STR_FMT, STR_ARG(type->name), STR_ARG(lines));
	return contract_text(type, value, arena);
}

/* ---- good documents --------------------------------------------------------------------- */

static const struct type *type_named(const struct module *module, struct str name)
{
	for (size_t i = 0; i < module->type_count; i++)
		if (str_equal(module->types[i]->name, name))
			return module->types[i];
	return NULL;
}

static size_t entity_count(const struct module *module)
{
	size_t count = 0;
	for (size_t i = 0; i < module->type_count; i++)
		count += module->types[i]->kind == KIND_ENTITY;
	return count;
}

/* Files that are no entity's would be read by nobody. */
static size_t files_of_entities(const struct module *module, const char *folder)
{
	AUTO(arena) arena = { 0 };
	size_t count = 0;
	const char *path = str_c(&arena, str_format(&arena, "%s/%s", module->folder, folder));
	DIR *directory = opendir(path);
	cr_assert_not_null(directory, "%s", path);
	for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
		struct str name = str_from_c(entry->d_name);
		if (!str_ends(name, S(".json")))
			continue;
		const struct type *type = type_named(module, str_head(name, name.size - 5));
		cr_expect(type != NULL && type->kind == KIND_ENTITY, "%s/%s is no entity's", folder,
			  entry->d_name);
		count++;
	}
	closedir(directory);
	return count;
}

void test_every_entity_has_a_document(const struct module *module)
{
	cr_assert_eq(files_of_entities(module, "documents"), entity_count(module));
	cr_assert(files_of_entities(module, "printed") > 0);
}

void test_documents_print_as_they_should(const struct module *module)
{
	for (size_t i = 0; i < module->type_count; i++) {
		AUTO(arena) arena = { 0 };
		const struct type *type = module->types[i];
		const struct json *given, *expected, *got;
		struct error error;
		if (type->kind != KIND_ENTITY)
			continue;
		given = document(module, type, &arena, NULL, NULL);
		if (!tree_read(module, "printed", type->name, &arena, &expected))
			expected = given;
		struct str once = printed(type, given, &arena);
		cr_assert(json_read(once, &arena, &got, &error), "%s", error.text);
		cr_expect(same(got, expected), STR_FMT " is printed as " STR_FMT,
			  STR_ARG(type->name), STR_ARG(once));
		struct str twice = printed(type, got, &arena);
		cr_expect(str_equal(once, twice), STR_FMT " does not come back: " STR_FMT,
			  STR_ARG(type->name), STR_ARG(twice));
	}
}

static bool has_name(const struct type *type, struct str name)
{
	for (const struct field *field = type_fields(type); field->shape != SHAPE_END; field++)
		if (!field_is_hook(field) && str_equal(field->name, name))
			return true;
	for (size_t i = 0; i < type->word_count; i++)
		if (str_equal(type->words[i].name, name))
			return true;
	return false;
}

void test_every_name_is_there(const struct module *module)
{
	AUTO(arena) arena = { 0 };
	struct str text, line, name;
	size_t count = 0;
	const char *path = str_c(&arena, str_format(&arena, "%s/names.txt", module->folder));
	cr_assert(file_read(path, &arena, &text), "%s", path);
	while (str_cut(&text, '\n', &line)) {
		if (line.size == 0 || !str_cut(&line, ' ', &name))
			continue;
		const struct type *type = type_named(module, name);
		cr_assert(type != NULL, "there is no " STR_FMT, STR_ARG(name));
		while (str_cut(&line, ' ', &name)) {
			cr_expect(has_name(type, name), STR_FMT " has no " STR_FMT,
				  STR_ARG(type->name), STR_ARG(name));
			count++;
		}
	}
	cr_assert(count > 0);
}

/* ---- bad documents ---------------------------------------------------------------------- */

void test_mistakes(const struct module *module)
{
	for (size_t i = 0; i < module->mistake_count; i++) {
		AUTO(arena) arena = { 0 };
		const struct mistake *mistake = &module->mistakes[i];
		const struct type *type = mistake->type();
		struct problems problems = { 0 };
		document_read(type,
			      document(module, type, &arena, mistake->pointer, mistake->value),
			      &arena, &problems);
		struct str lines = problems_text(&problems, &arena);
		struct str expected = str_format(&arena, "%s\n", mistake->problems);
		cr_expect(str_equal(lines, expected),
			  STR_FMT " with %s at %s\ngot      " STR_FMT "expected " STR_FMT,
			  STR_ARG(type->name), mistake->value == NULL ? "nothing" : mistake->value,
			  mistake->pointer, STR_ARG(lines), STR_ARG(expected));
	}
}

/* Some problem of the entity's mistakes is at this field or inside it. */
static bool field_is_mistaken(const struct module *module, const struct type *type,
			      const struct field *field, const char *words)
{
	AUTO(arena) arena = { 0 };
	struct str at = str_format(&arena, "/" STR_FMT, STR_ARG(field->name));
	for (size_t i = 0; i < module->mistake_count; i++) {
		struct str lines = str_from_c(module->mistakes[i].problems), line;
		if (module->mistakes[i].type() != type)
			continue;
		while (str_cut(&lines, '\n', &line)) {
			size_t place;
			if (str_starts(line, at) && line.size > at.size &&
			    (line.at[at.size] == ':' || line.at[at.size] == '/') &&
			    str_find(line, str_from_c(words), &place))
				return true;
		}
	}
	return false;
}

static void expect_mistake(const struct module *module, const struct type *type,
			   const struct field *field, bool ruled, const char *words)
{
	cr_expect(!ruled || field_is_mistaken(module, type, field, words),
		  STR_FMT "." STR_FMT ": no mistake says \"%s\"", STR_ARG(type->name),
		  STR_ARG(field->name), words);
}

static void expect_check(const struct module *module, const struct type *type)
{
	for (size_t i = 0; i < module->mistake_count; i++)
		if (module->mistakes[i].type() == type)
			return;
	cr_expect(false, STR_FMT ": no mistake for its checks", STR_ARG(type->name));
}

void test_every_rule_has_a_mistake(const struct module *module)
{
	for (size_t i = 0; i < module->type_count; i++) {
		const struct type *type = module->types[i];
		const struct field *field = type_fields(type);
		for (; field->shape != SHAPE_END; field++) {
			if (field->shape == SHAPE_CHECK)
				expect_check(module, type);
			if (field_is_hook(field) || field->shape == SHAPE_CONST)
				continue;
			expect_mistake(module, type, field, field->has_low,
				       field->above ? "must be above" : "must be at least");
			expect_mistake(module, type, field, field->has_high, "must be at most");
			expect_mistake(module, type, field, field->has_length, "must have at ");
			expect_mistake(module, type, field, field->pattern != NULL,
				       "does not match");
			expect_mistake(module, type, field, field->unique, "is listed twice");
			expect_mistake(module, type, field, field_type(field)->kind == KIND_ENUM,
				       "is not one of");
			expect_mistake(module, type, field, field->alias.size > 0,
				       "is the old name of");
		}
	}
}

/* Every REQUIRED field of the documents, left out, is missed by name. */
void test_required_fields_are_missed(const struct module *module)
{
	size_t count = 0;
	for (size_t i = 0; i < module->type_count; i++) {
		const struct type *type = module->types[i];
		const struct field *field = type_fields(type);
		for (; field->shape != SHAPE_END; field++) {
			AUTO(arena) arena = { 0 };
			if (field_is_hook(field) || field->presence != PRESENCE_REQUIRED)
				continue;
			struct str pointer = str_format(&arena, "/" STR_FMT, STR_ARG(field->name));
			struct problems problems = { 0 };
			document_read(type,
				      document(module, type, &arena, str_c(&arena, pointer), NULL),
				      &arena, &problems);
			struct str lines = problems_text(&problems, &arena);
			struct str expected =
				str_format(&arena, STR_FMT ": is required\n", STR_ARG(pointer));
			cr_expect(str_equal(lines, expected), STR_FMT ": " STR_FMT,
				  STR_ARG(type->name), STR_ARG(lines));
			count++;
		}
	}
	cr_assert(count > 0);
}
