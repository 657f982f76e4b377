/* base/json_read.c -- recursive-descent JSON parser: one pass over the text, bounded depth.
 *
 * Every read_* function takes the position where it starts and returns the position behind what it
 * read, or NULL with the error filled; this keeps the position in a register.  The children of a
 * container are collected on a scratch stack and copied into the arena as one array when the
 * container ends.
 */
#include "base/json_parts.h"

#include <stdio.h>

#include "base/limits.h"
#include "base/utf8.h"
#include "base/work.h"

struct reader {
	const char *start, *end;
	struct arena *arena;
	struct json_scratch scratch;
	uint32_t nodes, depth;
	struct error *error;
};

PRINTF_LIKE(4, 5)
static const char *refuse(struct reader *reader, const char *at, enum error_code code,
			  const char *format, ...)
{
	char text[ERROR_TEXT_SIZE];
	va_list list;
	va_start(list, format);
	vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	fail(reader->error, code, "%s", text);
	struct str whole = { reader->start, (size_t)(reader->end - reader->start) };
	json_place(whole, 0, (uint32_t)(at - reader->start), &reader->error->line,
		   &reader->error->column);
	return NULL;
}

/* Fails with "expected ..., found ..." and describes the byte at `at`. */
static const char *refuse_found(struct reader *reader, const char *at, const char *expected)
{
	if (at == reader->end)
		return refuse(reader, at, ERROR_SYNTAX, "expected %s, found the end of the text",
			      expected);
	unsigned char c = (unsigned char)*at;
	if (c > 0x20 && c < 0x7F)
		return refuse(reader, at, ERROR_SYNTAX, "expected %s, found \"%c\"", expected, c);
	return refuse(reader, at, ERROR_SYNTAX, "expected %s, found the byte 0x%02x", expected, c);
}

static inline const char *skip_blanks(const struct reader *reader, const char *at)
{
	while (at < reader->end && (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t'))
		at++;
	return at;
}

static inline bool is_digit(const struct reader *reader, const char *at)
{
	return at < reader->end && *at >= '0' && *at <= '9';
}

/* ---- strings --------------------------------------------------------------------------- */

/* The value of four hex digits, or -1. */
static int32_t hex_unit(const char *at, const char *end)
{
	if (end - at < 4)
		return -1;
	int32_t unit = 0;
	for (int i = 0; i < 4; i++) {
		char c = at[i], lower = (char)(c | 0x20);
		if (c >= '0' && c <= '9')
			unit = unit << 4 | (c - '0');
		else if (lower >= 'a' && lower <= 'f')
			unit = unit << 4 | (lower - 'a' + 10);
		else
			return -1;
	}
	return unit;
}

/* Reads \uXXXX, with `at` on the backslash; a surrogate pair yields one character. */
static const char *read_unicode(struct reader *reader, const char *at, const char *end, char **out)
{
	int32_t unit = hex_unit(at + 2, end);
	if (unit < 0)
		return refuse(reader, at, ERROR_SYNTAX, "\\u must be followed by four hex digits");
	uint32_t character = (uint32_t)unit;
	const char *next = at + 6;
	if (unit >= 0xD800 && unit <= 0xDFFF) {
		bool pair = unit < 0xDC00 && end - next >= 6 && next[0] == '\\' && next[1] == 'u';
		int32_t low = pair ? hex_unit(next + 2, end) : -1;
		if (low < 0xDC00 || low > 0xDFFF)
			return refuse(
				reader, at, ERROR_SYNTAX,
				"\\u%04x is half of a surrogate pair; the other half is missing",
				(unsigned)unit);
		character = 0x10000 + ((character & 0x3FF) << 10 | ((uint32_t)low & 0x3FF));
		next += 6;
	}
	*out += utf8_encode(character, *out);
	return next;
}

static const char *read_escape(struct reader *reader, const char *at, const char *end, char **out)
{
	static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
	if (at[1] == 'u')
		return read_unicode(reader, at, end, out);
	const char *name = memchr(names, at[1], sizeof(names) - 1);
	if (name == NULL)
		return refuse(reader, at, ERROR_SYNTAX,
			      "unknown escape in a string; expected one of \\\" \\\\ \\/ \\b \\f "
			      "\\n \\r \\t \\u");
	*(*out)++ = values[name - names];
	return at + 2;
}

/* Decodes a string that contains escapes, `end` being its closing quote.  The decoded text is never
 * longer than the original. */
static const char *read_escaped(struct reader *reader, const char *at, const char *end,
				struct str *out)
{
	char *text = arena_take_text(reader->arena, (size_t)(end - at));
	char *next = text;
	while (at < end) {
		const char *escape = memchr(at, '\\', (size_t)(end - at));
		size_t plain = (size_t)((escape == NULL ? end : escape) - at);
		next = mempcpy(next, at, plain);
		at += plain;
		if (escape == NULL)
			break;
		at = read_escape(reader, at, end, &next);
		if (at == NULL)
			return NULL;
	}
	*out = (struct str){ text, (size_t)(next - text) };
	return end + 1;
}

static const char *read_string(struct reader *reader, const char *at, struct str *out)
{
	const char *start = at + 1;
	bool high = false, escaped = false;
	const char *end = json_scan(start, reader->end, &high);
	while (reader->end - end >= 2 && *end == '\\') {
		escaped = true;
		end = json_scan(end + 2, reader->end, &high);
	}
	if (end == reader->end || *end == '\\')
		return refuse(reader, at, ERROR_SYNTAX,
			      "the string that starts here is not closed");
	if (*end != '"')
		return refuse(reader, end, ERROR_SYNTAX,
			      "control character 0x%02x in a string; write it as an escape",
			      (unsigned char)*end);
	struct str text = { start, (size_t)(end - start) };
	size_t bad;
	if (high && !utf8_valid(text, &bad))
		return refuse(reader, start + bad, ERROR_SYNTAX,
			      "the byte 0x%02x is not valid UTF-8 here", (unsigned char)start[bad]);
	if (escaped)
		return read_escaped(reader, start, end, out);
	*out = text;
	return end + 1;
}

/* ---- numbers --------------------------------------------------------------------------- */

/* Appends the digits from `at` on; clears `exact` when they no longer fit in 64 bits. */
static const char *read_digits(const struct reader *reader, const char *at,
			       struct json_number *number)
{
	const uint64_t most = (UINT64_MAX - 9) / 10;
	for (; is_digit(reader, at); at++) {
		if (number->digits > most)
			number->exact = false;
		else
			number->digits = number->digits * 10 + (uint64_t)(*at - '0');
	}
	return at;
}

static const char *read_exponent(struct reader *reader, const char *at, struct json_number *number)
{
	enum { BEYOND_ANY = 100000000 };
	bool negative = at < reader->end && *at == '-';
	if (at < reader->end && (*at == '-' || *at == '+'))
		at++;
	if (!is_digit(reader, at))
		return refuse_found(reader, at, "a digit in the exponent");
	int exponent = 0;
	for (; is_digit(reader, at); at++)
		if (exponent < BEYOND_ANY)
			exponent = exponent * 10 + (*at - '0');
	number->exponent += negative ? -exponent : exponent;
	number->whole = false;
	return at;
}

static const char *read_number(struct reader *reader, const char *at, struct json *out)
{
	const char *start = at;
	struct json_number number = { .negative = *at == '-', .whole = true, .exact = true };
	at += number.negative;
	if (!is_digit(reader, at))
		return refuse_found(reader, at, "a digit after '-'");
	if (*at == '0' && is_digit(reader, at + 1))
		return refuse(reader, at, ERROR_SYNTAX, "a number must not start with 0");
	at = read_digits(reader, at, &number);
	if (at < reader->end && *at == '.') {
		const char *fraction = at + 1;
		at = read_digits(reader, fraction, &number);
		if (at == fraction)
			return refuse_found(reader, at, "a digit after the decimal point");
		number.exponent = -(int)(at - fraction);
		number.whole = false;
	}
	if (at < reader->end && (*at == 'e' || *at == 'E')) {
		at = read_exponent(reader, at + 1, &number);
		if (at == NULL)
			return NULL;
	}
	if (!json_number_value(&number, (struct str){ start, (size_t)(at - start) }, out))
		return refuse(reader, start, ERROR_SYNTAX, "the number is too large for a double");
	return at;
}

/* ---- values ---------------------------------------------------------------------------- */

static const char *read_value(struct reader *reader, const char *at, struct json *out);

static bool enter(struct reader *reader, const char *at)
{
	if (++reader->depth <= LIMIT_JSON_DEPTH)
		return true;
	limit_hit(REJECTION_JSON_DEPTH);
	refuse(reader, at, ERROR_TOO_LARGE, "lists and objects are nested deeper than %d levels",
	       LIMIT_JSON_DEPTH);
	return false;
}

static const char *read_list(struct reader *reader, const char *at, struct json *out)
{
	if (!enter(reader, at))
		return NULL;
	size_t base = reader->scratch.size, count = 0;
	at = skip_blanks(reader, at + 1);
	bool more = at == reader->end || *at != ']';
	while (more) {
		struct json item;
		at = read_value(reader, at, &item);
		if (at == NULL)
			return NULL;
		json_scratch_push(&reader->scratch, &item, sizeof(item));
		count++;
		at = skip_blanks(reader, at);
		if (at == reader->end || (*at != ',' && *at != ']'))
			return refuse_found(reader, at, "',' or ']' after an item");
		more = *at == ',';
		if (more)
			at = skip_blanks(reader, at + 1);
	}
	out->kind = JSON_LIST;
	out->as.list.count = count;
	out->as.list.at = json_scratch_pop(&reader->scratch, base, reader->arena);
	reader->depth--;
	return at + 1;
}

static const char *read_member(struct reader *reader, const char *at, struct json_member *out)
{
	if (at == reader->end || *at != '"')
		return refuse_found(reader, at, "a key in quotes");
	out->line = 0;
	out->column = (uint32_t)(at - reader->start);
	at = read_string(reader, at, &out->key);
	if (at == NULL)
		return NULL;
	at = skip_blanks(reader, at);
	if (at == reader->end || *at != ':')
		return refuse_found(reader, at, "':' after a key");
	return read_value(reader, skip_blanks(reader, at + 1), &out->value);
}

static const char *finish_object(struct reader *reader, const char *at, size_t base, size_t count,
				 struct json *out)
{
	const struct json_member *members = json_scratch_pop(&reader->scratch, base, reader->arena);
	const struct json_member *duplicate = json_duplicate(members, count);
	if (duplicate != NULL)
		return refuse(reader, reader->start + duplicate->column, ERROR_SYNTAX,
			      "duplicate key \"" STR_FMT "\" in the same object",
			      STR_ARG(str_head(duplicate->key, 100)));
	out->kind = JSON_OBJECT;
	out->as.object.count = count;
	out->as.object.at = members;
	reader->depth--;
	return at + 1;
}

static const char *read_object(struct reader *reader, const char *at, struct json *out)
{
	if (!enter(reader, at))
		return NULL;
	size_t base = reader->scratch.size, count = 0;
	at = skip_blanks(reader, at + 1);
	bool more = at == reader->end || *at != '}';
	while (more) {
		struct json_member member;
		at = read_member(reader, at, &member);
		if (at == NULL)
			return NULL;
		json_scratch_push(&reader->scratch, &member, sizeof(member));
		count++;
		at = skip_blanks(reader, at);
		if (at == reader->end || (*at != ',' && *at != '}'))
			return refuse_found(reader, at, "',' or '}' after a member");
		more = *at == ',';
		if (more)
			at = skip_blanks(reader, at + 1);
	}
	return finish_object(reader, at, base, count, out);
}

static const char *read_word(struct reader *reader, const char *at, struct json *out)
{
	struct str rest = { at, (size_t)(reader->end - at) };
	if (str_starts(rest, S("null"))) {
		out->kind = JSON_NULL;
		return at + 4;
	}
	out->kind = JSON_BOOL;
	out->as.boolean = *at == 't';
	if (str_starts(rest, S("true")))
		return at + 4;
	if (str_starts(rest, S("false")))
		return at + 5;
	return refuse_found(reader, at, "a value");
}

static const char *read_value(struct reader *reader, const char *at, struct json *out)
{
	if (at == reader->end)
		return refuse_found(reader, at, "a value");
	if (++reader->nodes > LIMIT_JSON_NODES)
		return refuse(reader, at, ERROR_TOO_LARGE, "the text has more than %d values",
			      LIMIT_JSON_NODES);
	*out = (struct json){ .column = (uint32_t)(at - reader->start) };
	switch (*at) {
	case '"':
		out->kind = JSON_STRING;
		return read_string(reader, at, &out->as.string);
	case '{':
		return read_object(reader, at, out);
	case '[':
		return read_list(reader, at, out);
	case '-':
	case '0':
	case '1':
	case '2':
	case '3':
	case '4':
	case '5':
	case '6':
	case '7':
	case '8':
	case '9':
		return read_number(reader, at, out);
	case 't':
	case 'f':
	case 'n':
		return read_word(reader, at, out);
	default:
		return refuse_found(reader, at, "a value");
	}
}

static bool read_text(struct reader *reader, struct json *out)
{
	struct str text = { reader->start, (size_t)(reader->end - reader->start) };
	if (str_starts(text, S("\xEF\xBB\xBF"))) {
		refuse(reader, reader->start, ERROR_SYNTAX,
		       "the text starts with a byte order mark; save it as UTF-8 without one");
		return false;
	}
	const char *at = read_value(reader, skip_blanks(reader, reader->start), out);
	if (at == NULL)
		return false;
	at = skip_blanks(reader, at);
	if (at == reader->end)
		return true;
	refuse_found(reader, at, "the end of the text after the value");
	return false;
}

bool json_read(struct str text, struct arena *arena, const struct json **out_json,
	       struct error *error)
{
	if (text.size > LIMIT_JSON_BYTES)
		return fail(error, ERROR_TOO_LARGE,
			    "the text has %zu bytes; at most %d are allowed", text.size,
			    LIMIT_JSON_BYTES);
	work_add(WORK_PARSED, text.size);
	_Alignas(16) char first[JSON_SCRATCH_FIRST];
	struct reader reader = {
		.start = text.size == 0 ? "" : text.at,
		.arena = arena,
		.scratch = json_scratch_on(first, sizeof(first)),
		.error = error,
	};
	reader.end = reader.start + text.size;
	struct json root;
	bool good = read_text(&reader, &root);
	json_scratch_done(&reader.scratch);
	if (good)
		*out_json = arena_copy(arena, &root, sizeof(root));
	return good;
}

bool json_fits(struct str text)
{
	size_t values = 1;
	bool quoted = false;
	for (size_t i = 0; i < text.size; i++) {
		char c = text.at[i];
		if (quoted && c == '\\')
			i++;
		else if (c == '"')
			quoted = !quoted;
		else if (!quoted)
			values += c == ',' || c == '[' || c == '{';
	}
	return text.size <= LIMIT_JSON_BYTES && values <= LIMIT_JSON_NODES;
}
