/* base/json_tree.c -- lookups in a tree, the scratch stack, and detection of duplicate keys.
 *
 * Duplicate keys: most objects have few keys, and a 64-bit filter over size, first and last byte
 * avoids nearly all comparisons.  Large objects use a keyed hash map: comparing every pair of sixty
 * thousand hostile keys would be a denial-of-service attack.
 */
#include "base/json_parts.h"

#include <stdlib.h>

#include "base/map.h"

enum { SMALL_OBJECT = 32 };

void json_place(struct str text, uint32_t line, uint32_t column, uint32_t *out_line,
		uint32_t *out_column)
{
	if (line == 0) {
		size_t offset = column < text.size ? column : text.size;
		size_t start = 0;
		line = 1;
		for (size_t i = 0; i < offset; i++)
			if (text.at[i] == '\n') {
				line++;
				start = i + 1;
			}
		column = (uint32_t)(offset - start + 1);
	}
	*out_line = line;
	*out_column = column;
}

const char *json_kind_name(enum json_kind kind)
{
	static const char *const names[] = {
		[JSON_NULL] = "null",     [JSON_BOOL] = "boolean",  [JSON_INT] = "integer",
		[JSON_REAL] = "number",   [JSON_STRING] = "string", [JSON_LIST] = "list",
		[JSON_OBJECT] = "object",
	};
	require((size_t)kind < COUNT(names));
	return names[kind];
}

const struct json *json_member(const struct json *object, struct str key)
{
	if (object == NULL || object->kind != JSON_OBJECT)
		return NULL;
	for (size_t i = 0; i < object->as.object.count; i++)
		if (str_equal(object->as.object.at[i].key, key))
			return &object->as.object.at[i].value;
	return NULL;
}

const struct json *json_item(const struct json *list, size_t index)
{
	if (list == NULL || list->kind != JSON_LIST || index >= list->as.list.count)
		return NULL;
	return &list->as.list.at[index];
}

struct str json_text(const struct json *json)
{
	return json == NULL || json->kind != JSON_STRING ? S("") : json->as.string;
}

bool json_is_number(const struct json *json)
{
	return json->kind == JSON_INT || json->kind == JSON_REAL;
}

double json_real(const struct json *number)
{
	return number->kind == JSON_INT ? (double)number->as.integer : number->as.real;
}

static bool equal_lists(const struct json *a, const struct json *b)
{
	if (a->as.list.count != b->as.list.count)
		return false;
	for (size_t i = 0; i < a->as.list.count; i++)
		if (!json_equal(&a->as.list.at[i], &b->as.list.at[i]))
			return false;
	return true;
}

static bool equal_objects(const struct json *a, const struct json *b)
{
	if (a->as.object.count != b->as.object.count)
		return false;
	for (size_t i = 0; i < a->as.object.count; i++) {
		const struct json *other = json_member(b, a->as.object.at[i].key);
		if (other == NULL || !json_equal(&a->as.object.at[i].value, other))
			return false;
	}
	return true;
}

bool json_equal(const struct json *a, const struct json *b)
{
	if (a->kind == JSON_INT && b->kind == JSON_INT)
		return a->as.integer == b->as.integer;
	if (json_is_number(a) && json_is_number(b))
		return json_real(a) == json_real(b);
	if (a->kind != b->kind)
		return false;
	switch (a->kind) {
	case JSON_NULL:
		return true;
	case JSON_BOOL:
		return a->as.boolean == b->as.boolean;
	case JSON_STRING:
		return str_equal(a->as.string, b->as.string);
	case JSON_LIST:
		return equal_lists(a, b);
	case JSON_OBJECT:
		return equal_objects(a, b);
	case JSON_INT:
	case JSON_REAL:
		break;
	}
	return false;
}

void json_scratch_grow(struct json_scratch *scratch, size_t size)
{
	size_t room = scratch->room * 2;
	while (room - scratch->size < size)
		room *= 2;
	char *grown = realloc(scratch->heap, room);
	require(grown != NULL);
	if (scratch->heap == NULL && scratch->size > 0)
		memcpy(grown, scratch->at, scratch->size);
	scratch->at = scratch->heap = grown;
	scratch->room = room;
}

void json_scratch_done(struct json_scratch *scratch)
{
	free(scratch->heap);
}

static const struct json_member *duplicate_of_few(const struct json_member *at, size_t count)
{
	uint64_t filter = 0;
	for (size_t i = 0; i < count; i++) {
		struct str key = at[i].key;
		unsigned sum = (unsigned)key.size * 11;
		if (key.size > 0)
			sum += (unsigned char)key.at[0] * 5u + (unsigned char)key.at[key.size - 1];
		uint64_t bit = (uint64_t)1 << (sum & 63);
		if ((filter & bit) != 0)
			for (size_t k = 0; k < i; k++)
				if (str_equal(at[k].key, key))
					return &at[i];
		filter |= bit;
	}
	return NULL;
}

const struct json_member *json_duplicate(const struct json_member *at, size_t count)
{
	if (count <= SMALL_OBJECT)
		return duplicate_of_few(at, count);
	AUTO(map) seen = { 0 };
	static char present;
	for (size_t i = 0; i < count; i++) {
		map_put(&seen, at[i].key, &present);
		if (seen.count != i + 1)
			return &at[i];
	}
	return NULL;
}
