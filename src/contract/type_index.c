/* contract/type_index.c -- data derived once from the rows of a type: name indexes, compiled
 * patterns, default images.
 *
 * The data is built at first use under one lock and published with a release store, so that readers
 * need no lock.  The lock is recursive because a default may contain another type's default.  The
 * memory is never freed: it is as constant as the rows.  A mistake in a row is recorded for
 * contract_self_test(); a type with a mistake must not be used.
 */
#include "contract/contract_internal.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static struct arena memory; /* guarded by lock */

static void mistake(struct type_ready *ready, struct str name, const char *format, ...)
	PRINTF_LIKE(3, 4);

static void mistake(struct type_ready *ready, struct str name, const char *format, ...)
{
	if (ready->mistake.size > 0)
		return;
	va_list list;
	va_start(list, format);
	struct str text = str_format_list(&memory, format, list);
	va_end(list);
	ready->mistake = str_format(&memory, STR_FMT ": " STR_FMT, STR_ARG(name), STR_ARG(text));
}

/* Shorter names first: most comparisons then compare only the two lengths. */
static int name_order(struct str a, struct str b)
{
	if (a.size != b.size)
		return a.size < b.size ? -1 : 1;
	return a.size == 0 ? 0 : memcmp(a.at, b.at, a.size);
}

static int name_compare(const void *a, const void *b)
{
	return name_order(((const struct ready_name *)a)->name,
			  ((const struct ready_name *)b)->name);
}

static void names_sort(struct type_ready *ready, struct ready_name *names, size_t count)
{
	if (count > 1)
		qsort(names, count, sizeof(names[0]), name_compare);
	for (size_t i = 1; i < count; i++)
		if (str_equal(names[i - 1].name, names[i].name))
			mistake(ready, names[i].name, "is declared twice");
	ready->names = names;
	ready->name_count = count;
}

bool ready_find(const struct type_ready *ready, struct str name, const struct ready_name **out_name)
{
	size_t low = 0, high = ready->name_count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = name_order(name, ready->names[middle].name);
		if (order == 0) {
			*out_name = &ready->names[middle];
			return true;
		}
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return false;
}

static void ready_enum(const struct type *type, struct type_ready *ready)
{
	size_t count = type->word_count, old_count = 0;
	while (type->olds[old_count].name.size > 0)
		old_count++;
	struct ready_name *names = arena_array(&memory, struct ready_name, count + old_count);
	for (size_t i = 0; i < count; i++)
		names[i] = (struct ready_name){ type->words[i].name, (uint32_t)i, false };
	for (size_t i = 0; i < old_count; i++)
		names[count + i] =
			(struct ready_name){ type->olds[i].name, type->olds[i].value, true };
	names_sort(ready, names, count + old_count);
}

static bool has_member(const struct type *type, struct str name)
{
	for (const struct field *field = type_fields(type); field->shape != SHAPE_END; field++)
		if (!field_is_hook(field) && str_equal(field->name, name))
			return true;
	return false;
}

static void ready_union(const struct type *type, struct type_ready *ready)
{
	struct ready_name *names = arena_array(&memory, struct ready_name, type->case_count);
	bool *inside = arena_array(&memory, bool, type->case_count);
	size_t count = 0;
	ready->other = SIZE_MAX;
	for (size_t i = 0; i < type->case_count; i++) {
		const struct union_case *one = &type->cases[i];
		if (one->of == NULL) {
			ready->other = i;
			inside[i] = true;
			continue;
		}
		names[count++] = (struct ready_name){ one->tag, (uint32_t)i, false };
		inside[i] = type->tag.size == 0 || has_member(one->of(), type->tag);
	}
	ready->tag_inside = inside;
	names_sort(ready, names, count);
}

static void ready_pattern(struct type_ready *ready, size_t row)
{
	const struct field *field = &ready->fields[row];
	regex_t *regex = arena_new(&memory, regex_t);
	int code = regcomp(regex, field->pattern, REG_EXTENDED | REG_NOSUB);
	if (code == 0) {
		ready->patterns[row] = regex;
		return;
	}
	char text[120];
	regerror(code, regex, text, sizeof(text));
	mistake(ready, field->name, "bad pattern \"%s\": %s", field->pattern, text);
}

/* The default is parsed like a document, so it must satisfy the rules of its own row. */
static void ready_default(struct type_ready *ready, size_t row, void *image)
{
	const struct field *field = &ready->fields[row];
	const struct json *json;
	struct error error;
	if (!json_read(field->fallback, &memory, &json, &error)) {
		mistake(ready, field->name, "bad default " STR_FMT ": %s", STR_ARG(field->fallback),
			error.text);
		return;
	}
	if (json->kind == JSON_NULL && field->nullable) {
		mark_write(image, field, IS_NULL);
		return;
	}
	struct problems problems = { .arena = &memory };
	struct parse parse = { .arena = &memory,
			       .problems = &problems,
			       .room = LIMIT_CONTRACT_BYTES };
	struct path path = { .depth = 0 };
	struct str tag = { NULL, 0 };
	if (field->tag_in.size > 0) {
		mistake(ready, field->name, "a TAG_IN field cannot have a default");
		return;
	}
	parse_member(&parse, &path, field, (struct rules){ field, ready->patterns[row] }, tag, json,
		     image);
	if (problems.count > 0)
		mistake(ready, field->name, "bad default " STR_FMT ": " STR_FMT "%s" STR_FMT,
			STR_ARG(field->fallback), STR_ARG(problems.at[0].pointer),
			problems.at[0].pointer.size > 0 ? ": " : "", STR_ARG(problems.at[0].text));
	mark_write(image, field, DEFAULTED);
}

static void ready_image(const struct type *type, struct type_ready *ready)
{
	void *image = arena_take(&memory, type->size);
	for (size_t i = 0; i < ready->field_count; i++) {
		const struct field *field = &ready->fields[i];
		if (field_is_hook(field) || field->shape == SHAPE_CONST)
			continue;
		if (field->presence == PRESENCE_DEFAULT)
			ready_default(ready, i, image);
		else if (field->presence == PRESENCE_NULLABLE ||
			 field->presence == PRESENCE_COMPUTED)
			mark_write(image, field, IS_NULL);
	}
	ready->image = image;
}

static void ready_entity(const struct type *type, struct type_ready *ready)
{
	const struct field *fields = type_fields(type);
	size_t count = 0, name_count = 0;
	while (fields[count].shape != SHAPE_END)
		count++;
	ready->fields = fields;
	ready->field_count = count;
	ready->of = arena_array(&memory, const struct type *, count);
	ready->patterns = arena_array(&memory, const regex_t *, count);
	struct ready_name *names = arena_array(&memory, struct ready_name, 2 * count);
	for (size_t i = 0; i < count; i++) {
		const struct field *field = &fields[i];
		ready->of[i] = field_type(field);
		ready->has_tag_in |= field->tag_in.size > 0;
		ready->has_hooks |= field_is_hook(field);
		if (field_is_hook(field))
			continue;
		names[name_count++] = (struct ready_name){ field->name, (uint32_t)i, false };
		if (field->alias.size > 0)
			names[name_count++] =
				(struct ready_name){ field->alias, (uint32_t)i, true };
		if (field->pattern != NULL)
			ready_pattern(ready, i);
	}
	names_sort(ready, names, name_count);
	ready_image(type, ready);
}

static const struct type_ready *build(const struct type *type)
{
	struct type_ready *ready = arena_new(&memory, struct type_ready);
	type->state->building = true;
	if (type->kind == KIND_ENUM)
		ready_enum(type, ready);
	else if (type->kind == KIND_UNION)
		ready_union(type, ready);
	else
		ready_entity(type, ready);
	type->state->building = false;
	atomic_store_explicit(&type->state->ready, ready, memory_order_release);
	return ready;
}

const struct type_ready *type_ready(const struct type *type)
{
	require(type->state != NULL);
	const struct type_ready *ready =
		atomic_load_explicit(&type->state->ready, memory_order_acquire);
	if (ready != NULL)
		return ready;
	pthread_mutex_lock(&lock);
	ready = atomic_load_explicit(&type->state->ready, memory_order_relaxed);
	if (ready == NULL && !type->state->building)
		ready = build(type);
	pthread_mutex_unlock(&lock);
	return ready;
}

void contract_init(const struct type *const *types, size_t count)
{
	for (size_t i = 0; i < count; i++)
		type_ready(types[i]);
}

void *contract_new(const struct type *type, struct arena *arena)
{
	require(type->kind == KIND_ENTITY);
	const struct type_ready *ready = type_ready(type);
	require(ready->mistake.size == 0);
	return arena_copy(arena, ready->image, type->size);
}
