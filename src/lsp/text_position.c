/* lsp/text_position.c -- UTF-16 code units, characters and bytes. */
#include "lsp/text_position.h"

#include "base/utf8.h"

struct str text_line(struct str text, uint32_t number)
{
	struct str line = S("");
	for (uint32_t i = 0; i <= number; i++)
		if (!str_cut(&text, '\n', &line))
			return S("");
	if (line.size > 0 && line.at[line.size - 1] == '\r')
		line.size--;
	return line;
}

/* The size of the next character, and its UTF-16 code units; a byte that is none counts as one. */
static size_t step(struct str rest, size_t *units)
{
	uint32_t character = 0;
	size_t size = utf8_decode(rest, &character);
	*units = character > 0xFFFF ? 2 : 1;
	return size == 0 ? 1 : size;
}

size_t text_bytes(struct str line, int64_t character, bool utf8)
{
	size_t at = 0, units = 0, width;
	if (character <= 0)
		return 0;
	if (utf8)
		return (uint64_t)character < line.size ? (size_t)character : line.size;
	while (at < line.size && units < (uint64_t)character) {
		at += step(str_skip(line, at), &width);
		units += width;
	}
	return at < line.size ? at : line.size;
}

int64_t text_characters(struct str line, size_t bytes, bool utf8)
{
	size_t at = 0, units = 0, width;
	if (utf8)
		return (int64_t)(bytes < line.size ? bytes : line.size);
	while (at < line.size && at < bytes) {
		at += step(str_skip(line, at), &width);
		units += width;
	}
	return (int64_t)units;
}

size_t text_column_bytes(struct str line, uint32_t column)
{
	size_t at = 0, width;
	for (uint32_t i = 0; i < column && at < line.size; i++)
		at += step(str_skip(line, at), &width);
	return at < line.size ? at : line.size;
}

bool text_position_read(struct str text, const struct json *json, bool utf8,
			struct text_position *out)
{
	const struct json *line = json_member(json, S("line"));
	const struct json *character = json_member(json, S("character"));
	if (line == NULL || line->kind != JSON_INT || character == NULL ||
	    character->kind != JSON_INT || line->as.integer < 0 || line->as.integer > UINT32_MAX)
		return false;
	out->line = (uint32_t)line->as.integer;
	out->byte = text_bytes(text_line(text, out->line), character->as.integer, utf8);
	return true;
}

static void put_position(struct json_writer *writer, struct str name, uint32_t line,
			 int64_t character)
{
	json_key(writer, name);
	json_open(writer, '{');
	json_key(writer, S("line"));
	json_put_int(writer, line);
	json_key(writer, S("character"));
	json_put_int(writer, character);
	json_close(writer, '}');
}

void text_span_put(struct json_writer *writer, struct str text, struct text_position from,
		   struct text_position end, bool utf8)
{
	json_key(writer, S("range"));
	json_open(writer, '{');
	put_position(writer, S("start"), from.line,
		     text_characters(text_line(text, from.line), from.byte, utf8));
	put_position(writer, S("end"), end.line,
		     text_characters(text_line(text, end.line), end.byte, utf8));
	json_close(writer, '}');
}

void text_range_put(struct json_writer *writer, struct str text, struct text_position from,
		    size_t size, bool utf8)
{
	text_span_put(writer, text, from, (struct text_position){ from.line, from.byte + size },
		      utf8);
}
