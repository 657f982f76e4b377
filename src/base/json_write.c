/* base/json_write.c -- JSON writer: each piece of text is written directly into the buffer.
 *
 * The exact size of a piece is known before its space is reserved, so a buffer becomes `full` only
 * when the text really does not fit.  A string is first scanned for characters to escape; most
 * strings have none and are copied as a whole.
 */
#include "base/json_parts.h"

#include <stdlib.h>

#include "base/work.h"

/* Appends `size` (at least one) bytes, after a comma where one is needed, and returns their address
 * for the caller to fill; NULL when the buffer's limit would be exceeded. */
static char *piece_add(struct json_writer *writer, size_t size)
{
	size_t comma = writer->needs_comma ? 1 : 0;
	writer->needs_comma = true;
	char *at = buf_reserve(writer->out, comma + size);
	if (at == NULL)
		return NULL;
	*at = ',';
	writer->out->size += comma + size;
	work_add(WORK_PRINTED, comma + size);
	return at + comma;
}

static void put(struct json_writer *writer, const char *text, size_t size)
{
	char *at = piece_add(writer, size);
	if (at != NULL)
		memcpy(at, text, size);
}

void json_open(struct json_writer *writer, char bracket)
{
	if (writer->builder != NULL) {
		json_build_open(writer->builder, bracket);
		return;
	}
	put(writer, &bracket, 1);
	writer->needs_comma = false;
}

void json_close(struct json_writer *writer, char bracket)
{
	if (writer->builder != NULL) {
		json_build_close(writer->builder);
		return;
	}
	writer->needs_comma = false;
	put(writer, &bracket, 1);
}

/* The letter of the two-character escape for `c`, or 0 when there is none. */
static char short_escape(char c)
{
	switch (c) {
	case '"':
	case '\\':
		return c;
	case '\b':
		return 'b';
	case '\f':
		return 'f';
	case '\n':
		return 'n';
	case '\r':
		return 'r';
	case '\t':
		return 't';
	default:
		return 0;
	}
}

static size_t escaped_size(struct str value)
{
	const char *at = value.at, *end = value.at + value.size;
	size_t size = value.size;
	bool high = false;
	for (; (at = json_scan(at, end, &high)) < end; at++)
		size += short_escape(*at) != 0 ? 1 : 5;
	return size;
}

static char *escape(char *out, struct str value)
{
	static const char digits[] = "0123456789abcdef";
	const char *at = value.at, *end = value.at + value.size;
	bool high = false;
	while (at < end) {
		const char *special = json_scan(at, end, &high);
		out = mempcpy(out, at, (size_t)(special - at));
		at = special;
		if (at == end)
			break;
		unsigned char c = (unsigned char)*at++;
		char letter = short_escape((char)c);
		*out++ = '\\';
		if (letter != 0) {
			*out++ = letter;
			continue;
		}
		out = mempcpy(out, "u00", 3);
		*out++ = digits[c >> 4];
		*out++ = digits[c & 15];
	}
	return out;
}

/* Writes the value in quotes, followed by `tail`, which has at most one byte. */
static void put_quoted(struct json_writer *writer, struct str value, struct str tail)
{
	bool high = false;
	bool plain = value.size == 0 ||
		     json_scan(value.at, value.at + value.size, &high) == value.at + value.size;
	char *at = piece_add(writer, (plain ? value.size : escaped_size(value)) + 2 + tail.size);
	if (at == NULL)
		return;
	*at++ = '"';
	if (!plain)
		at = escape(at, value);
	else if (value.size > 0)
		at = mempcpy(at, value.at, value.size);
	*at++ = '"';
	if (tail.size > 0)
		*at = tail.at[0];
}

void json_key(struct json_writer *writer, struct str key)
{
	if (writer->builder != NULL) {
		json_build_key(writer->builder, key);
		return;
	}
	put_quoted(writer, key, S(":"));
	writer->needs_comma = false;
}

/* True when the value went into a tree instead. */
static bool built(struct json_writer *writer, struct json value)
{
	if (writer->builder != NULL)
		json_build_value(writer->builder, value);
	return writer->builder != NULL;
}

void json_put_null(struct json_writer *writer)
{
	if (!built(writer, (struct json){ .kind = JSON_NULL }))
		put(writer, "null", 4);
}

void json_put_bool(struct json_writer *writer, bool value)
{
	if (!built(writer, (struct json){ .kind = JSON_BOOL, .as.boolean = value }))
		put(writer, value ? "true" : "false", value ? 4 : 5);
}

void json_put_int(struct json_writer *writer, int64_t value)
{
	char text[JSON_NUMBER_SIZE];
	if (!built(writer, (struct json){ .kind = JSON_INT, .as.integer = value }))
		put(writer, text, json_int_text(value, text));
}

void json_put_real(struct json_writer *writer, double value)
{
	char text[JSON_NUMBER_SIZE];
	if (!built(writer, (struct json){ .kind = JSON_REAL, .as.real = value }))
		put(writer, text, json_real_text(value, text));
}

void json_put_str(struct json_writer *writer, struct str value)
{
	if (!built(writer, (struct json){ .kind = JSON_STRING, .as.string = value }))
		put_quoted(writer, value, S(""));
}

void json_put_raw(struct json_writer *writer, struct str text)
{
	require(text.size > 0 && writer->builder == NULL);
	put(writer, text.at, text.size);
}

/* A text of at least `least` more bytes does not fit: then none of it is written. */
static bool is_hopeless(struct json_writer *writer, size_t least)
{
	struct buf *out = writer->out;
	if (out->limit > 0 && least > out->limit - out->size)
		out->full = true;
	return out->full;
}

/* An item is a byte and its comma or bracket at least. */
static void put_list(struct json_writer *writer, const struct json *tree)
{
	if (is_hopeless(writer, 1 + 2 * tree->as.list.count))
		return;
	json_open(writer, '[');
	for (size_t i = 0; i < tree->as.list.count && !writer->out->full; i++)
		json_put_tree(writer, &tree->as.list.at[i]);
	json_close(writer, ']');
}

/* A member is two quotes, a colon, a byte and its comma or bracket at least. */
static void put_object(struct json_writer *writer, const struct json *tree)
{
	if (is_hopeless(writer, 1 + 5 * tree->as.object.count))
		return;
	json_open(writer, '{');
	for (size_t i = 0; i < tree->as.object.count && !writer->out->full; i++) {
		json_key(writer, tree->as.object.at[i].key);
		json_put_tree(writer, &tree->as.object.at[i].value);
	}
	json_close(writer, '}');
}

void json_put_tree(struct json_writer *writer, const struct json *tree)
{
	if (writer->builder != NULL) {
		json_build_tree(writer->builder, tree);
		return;
	}
	switch (tree->kind) {
	case JSON_NULL:
		json_put_null(writer);
		return;
	case JSON_BOOL:
		json_put_bool(writer, tree->as.boolean);
		return;
	case JSON_INT:
		json_put_int(writer, tree->as.integer);
		return;
	case JSON_REAL:
		json_put_real(writer, tree->as.real);
		return;
	case JSON_STRING:
		json_put_str(writer, tree->as.string);
		return;
	case JSON_LIST:
		put_list(writer, tree);
		return;
	case JSON_OBJECT:
		put_object(writer, tree);
		return;
	}
}

/* ---- measuring ------------------------------------------------------------------------- */

static bool take(size_t *room, size_t size)
{
	if (size > *room)
		return false;
	*room -= size;
	return true;
}

static size_t int_size(int64_t value)
{
	uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
	size_t size = value < 0 ? 2 : 1;
	for (; rest >= 10; rest /= 10)
		size++;
	return size;
}

/* A byte needs one byte at least, so a string that cannot fit is not scanned. */
static bool take_string(size_t *room, struct str value)
{
	return value.size < *room && take(room, 2 + escaped_size(value));
}

static bool take_tree(size_t *room, const struct json *tree);

/* Brackets, and a comma behind every item: one too many at most. */
static bool take_list(size_t *room, const struct json *tree)
{
	bool good = tree->as.list.count < *room && take(room, 2 + tree->as.list.count);
	for (size_t i = 0; i < tree->as.list.count && good; i++)
		good = take_tree(room, &tree->as.list.at[i]);
	return good;
}

static bool take_object(size_t *room, const struct json *tree)
{
	bool good = tree->as.object.count < *room && take(room, 2 + 2 * tree->as.object.count);
	for (size_t i = 0; i < tree->as.object.count && good; i++)
		good = take_string(room, tree->as.object.at[i].key) &&
		       take_tree(room, &tree->as.object.at[i].value);
	return good;
}

static bool take_tree(size_t *room, const struct json *tree)
{
	switch (tree->kind) {
	case JSON_NULL:
	case JSON_BOOL:
		return take(room, tree->kind == JSON_NULL || tree->as.boolean ? 4 : 5);
	case JSON_INT:
		return take(room, int_size(tree->as.integer));
	case JSON_REAL:
		return take(room, JSON_NUMBER_SIZE);
	case JSON_STRING:
		return take_string(room, tree->as.string);
	case JSON_LIST:
		return take_list(room, tree);
	case JSON_OBJECT:
		return take_object(room, tree);
	}
	return false;
}

bool json_text_within(const struct json *tree, size_t most)
{
	return take_tree(&most, tree);
}

struct str json_print(struct arena *arena, const struct json *tree)
{
	char memory[BUF_SHORT];
	AUTO(buf) out = buf_borrowing(memory, sizeof(memory), 0);
	struct json_writer writer = { .out = &out };
	json_put_tree(&writer, tree);
	return str_copy(arena, buf_str(&out));
}
