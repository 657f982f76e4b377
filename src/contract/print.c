/* contract/print.c -- prints a typed value as JSON, its members in the order of the rows: as text, or
 * as a tree when the writer builds one.
 *
 * The presence marks decide which members are null and which are left out.  A REQUIRED member that
 * was never set is a bug of the program: it aborts and names the field.
 */
#include "contract/contract_internal.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/time.h"

static void print_value(const struct type *type, const void *value, struct json_writer *writer);

_Noreturn static void never_set(const struct type *type, const struct field *field)
{
	static _Thread_local char text[160];
	snprintf(text, sizeof(text), STR_FMT "." STR_FMT " is set before it is printed",
		 STR_ARG(type->name), STR_ARG(field->name));
	require_failed(text, __FILE__, __LINE__);
}

static void print_member(const struct type *type, const struct field *field, const struct type *of,
			 const void *member, struct json_writer *writer)
{
	struct span span;
	if (field->shape == SHAPE_ONE) {
		const void *at = member;
		if (kind_is_pointed(of->kind))
			memcpy(&at, member, sizeof(at));
		if (at == NULL)
			never_set(type, field);
		print_value(of, at, writer);
		return;
	}
	memcpy(&span, member, sizeof(span));
	bool map = field->shape == SHAPE_MAP;
	json_open(writer, map ? '{' : '[');
	for (size_t i = 0; i < span.count; i++) {
		const char *item = (const char *)span.at + i * (map ? of->entry_size : of->size);
		if (map) {
			struct str key;
			memcpy(&key, item, sizeof(key));
			json_key(writer, key);
			item += of->entry_value;
		}
		print_value(of, item, writer);
	}
	json_close(writer, map ? '}' : ']');
}

static void print_field(const struct type *type, const struct field *field, const struct type *of,
			const void *value, struct json_writer *writer)
{
	enum mark mark = mark_read(value, field);
	if (mark == ABSENT && field->presence == PRESENCE_OPTIONAL)
		return;
	if (mark == ABSENT && field->presence != PRESENCE_COMPUTED &&
	    field->presence != PRESENCE_NULLABLE)
		never_set(type, field);
	json_key(writer, field->name);
	if (mark < DEFAULTED)
		json_put_null(writer);
	else
		print_member(type, field, of, member_read(value, field), writer);
}

static void print_kept(const struct type *type, const void *value, struct json_writer *writer)
{
	struct contract_kept kept;
	memcpy(&kept, (const char *)value + type->kept, sizeof(kept));
	for (size_t i = 0; i < kept.count; i++) {
		json_key(writer, kept.at[i].key);
		json_put_tree(writer, &kept.at[i].value);
	}
}

/* `tag` is the tag of the union around the entity.  It is written first, unless it is a field of the
 * entity itself. */
static void print_entity(const struct type *type, const void *value, struct str tag,
			 struct str tag_value, struct json_writer *writer)
{
	const struct type_ready *ready = type_ready(type);
	json_open(writer, '{');
	if (tag.size > 0) {
		json_key(writer, tag);
		json_put_str(writer, tag_value);
	}
	for (size_t i = 0; i < ready->field_count; i++) {
		const struct field *field = &ready->fields[i];
		if (field_is_hook(field))
			continue;
		if (field->shape != SHAPE_CONST) {
			print_field(type, field, ready->of[i], value, writer);
			continue;
		}
		json_key(writer, field->name);
		json_put_str(writer, field->constant);
	}
	if (type->openness == CONTRACT_KEPT)
		print_kept(type, value, writer);
	json_close(writer, '}');
}

static void print_union(const struct type *type, const void *value, struct json_writer *writer)
{
	uint32_t kind;
	const void *as;
	memcpy(&kind, value, sizeof(kind));
	memcpy(&as, (const char *)value + type->as, sizeof(as));
	require(kind < type->case_count && as != NULL);
	const struct union_case *one = &type->cases[kind];
	if (one->of == NULL)
		json_put_tree(writer, as);
	else if (type_ready(type)->tag_inside[kind])
		print_entity(one->of(), as, (struct str){ NULL, 0 }, (struct str){ NULL, 0 },
			     writer);
	else
		print_entity(one->of(), as, type->tag, one->tag, writer);
}

static void print_text(enum type_kind kind, const void *value, struct json_writer *writer)
{
	char text[HASH_TEXT_SIZE];
	_Static_assert((int)HASH_TEXT_SIZE >= (int)UUID_TEXT_SIZE &&
			       (int)HASH_TEXT_SIZE >= (int)TIME_TEXT_SIZE,
		       "one buffer for all");
	if (kind == KIND_TIME) {
		int64_t us;
		memcpy(&us, value, sizeof(us));
		json_put_str(writer, time_text(us, text));
	} else if (kind == KIND_UUID) {
		json_put_str(writer, uuid_text(value, text));
	} else {
		json_put_str(writer, hash_text(value, text));
	}
}

static void print_number(enum type_kind kind, const void *value, struct json_writer *writer)
{
	if (kind == KIND_REAL) {
		double number;
		memcpy(&number, value, sizeof(number));
		json_put_real(writer, number);
	} else {
		int64_t number;
		memcpy(&number, value, sizeof(number));
		json_put_int(writer, number);
	}
}

static void print_tree(const void *value, struct json_writer *writer)
{
	const struct json *tree;
	memcpy(&tree, value, sizeof(tree));
	require(tree != NULL);
	json_put_tree(writer, tree);
}

static void print_value(const struct type *type, const void *value, struct json_writer *writer)
{
	uint32_t word;
	switch (type->kind) {
	case KIND_STR:
		json_put_str(writer, *(const struct str *)value);
		break;
	case KIND_INT:
	case KIND_REAL:
		print_number(type->kind, value, writer);
		break;
	case KIND_BOOL:
		json_put_bool(writer, *(const bool *)value);
		break;
	case KIND_TIME:
	case KIND_UUID:
	case KIND_HASH:
		print_text(type->kind, value, writer);
		break;
	case KIND_SECRET:
		json_put_str(writer, ((const struct secret *)value)->reference);
		break;
	case KIND_OBJECT:
	case KIND_ANY:
		print_tree(value, writer);
		break;
	case KIND_ENUM:
		memcpy(&word, value, sizeof(word));
		json_put_str(writer, contract_word(type, word));
		break;
	case KIND_ENTITY:
		print_entity(type, value, (struct str){ NULL, 0 }, (struct str){ NULL, 0 }, writer);
		break;
	case KIND_UNION:
		print_union(type, value, writer);
		break;
	}
}

void contract_print(const struct type *type, const void *value, struct json_writer *writer)
{
	require(value != NULL);
	print_value(type, value, writer);
}

struct str contract_text(const struct type *type, const void *value, struct arena *arena)
{
	char memory[BUF_SHORT];
	AUTO(buf) buf = buf_borrowing(memory, sizeof(memory), 0);
	struct json_writer writer = { .out = &buf };
	contract_print(type, value, &writer);
	return str_copy(arena, buf_str(&buf));
}

const struct json *contract_tree(const struct type *type, const void *value, struct arena *arena)
{
	struct json_writer writer = { .builder = json_builder_new(arena) };
	contract_print(type, value, &writer);
	return json_builder_end(writer.builder);
}
