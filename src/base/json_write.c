/* base/json_write.c -- JSON writer: each piece of text is written directly into the buffer.
 *
 * The exact size of a piece is known before its space is reserved, so a buffer becomes `full` only
 * when the text really does not fit.  A string is first scanned for characters to escape; most
 * strings have none and are copied as a whole.
 */
#include "base/json_parts.h"

#include <stdlib.h>

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
	put(writer, &bracket, 1);
	writer->needs_comma = false;
}

void json_close(struct json_writer *writer, char bracket)
{
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
	put_quoted(writer, key, S(":"));
	writer->needs_comma = false;
}

void json_put_null(struct json_writer *writer)
{
	put(writer, "null", 4);
}

void json_put_bool(struct json_writer *writer, bool value)
{
	put(writer, value ? "true" : "false", value ? 4 : 5);
}

void json_put_int(struct json_writer *writer, int64_t value)
{
	char text[JSON_NUMBER_SIZE];
	put(writer, text, json_int_text(value, text));
}

void json_put_real(struct json_writer *writer, double value)
{
	char text[JSON_NUMBER_SIZE];
	put(writer, text, json_real_text(value, text));
}

void json_put_str(struct json_writer *writer, struct str value)
{
	put_quoted(writer, value, S(""));
}

void json_put_raw(struct json_writer *writer, struct str text)
{
	require(text.size > 0);
	put(writer, text.at, text.size);
}

static void put_list(struct json_writer *writer, const struct json *tree)
{
	json_open(writer, '[');
	for (size_t i = 0; i < tree->as.list.count; i++)
		json_put_tree(writer, &tree->as.list.at[i]);
	json_close(writer, ']');
}

static void put_object(struct json_writer *writer, const struct json *tree)
{
	json_open(writer, '{');
	for (size_t i = 0; i < tree->as.object.count; i++) {
		json_key(writer, tree->as.object.at[i].key);
		json_put_tree(writer, &tree->as.object.at[i].value);
	}
	json_close(writer, '}');
}

void json_put_tree(struct json_writer *writer, const struct json *tree)
{
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

struct str json_print(struct arena *arena, const struct json *tree)
{
	AUTO(buf) out = { 0 };
	struct json_writer writer = { .out = &out };
	json_put_tree(&writer, tree);
	return str_copy(arena, buf_str(&out));
}
