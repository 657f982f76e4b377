/* base/log.c -- every log line is one write(2).
 *
 * A line is built in a local buffer and written with a single write(2), so lines of several threads
 * or processes that share stderr do not mix.  Lines carry no time stamp: base has no clock, and
 * supervisors add time stamps anyway.  A text that is too long is truncated and ends in "...".
 */
#include "base/log.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/terminal_text.h"
#include "base/utf8.h"

enum { TEXT_SIZE = 2048, RUN_ID_SIZE = 36, RUN_PREFIX_SIZE = 64 };
enum { FIELDS_MOST = 12, FIELD_SIZE = 256, NAME_SIZE = 32 };
/* An escaped byte takes up to six bytes. */
enum {
	LINE_SIZE = TEXT_SIZE * 6 + 128 + FIELDS_MOST * (FIELD_SIZE * 6 + NAME_SIZE + 8),
};

static struct log_settings current = { .least = LOG_INFO };

static const char *const level_names[] = { "debug", "info", "warning", "error", "silent" };

void log_setup(struct log_settings settings)
{
	current = settings;
}

/* Copies or escapes the character at the start of the text, which is valid UTF-8; adds to *size and
 * returns the character's size. */
static size_t escape_character(struct str text, char *out, size_t *size)
{
	char memory[16];
	AUTO(buf) one = buf_borrowing(memory, sizeof(memory), 0);
	uint32_t character;
	size_t bytes = utf8_decode(text, &character);
	terminal_text_add(str_head(text, bytes), TERMINAL_TEXT_JSON, &one);
	memcpy(out + *size, one.at, one.size);
	*size += one.size;
	return bytes;
}

/* Escapes what a terminal would obey instead of show and, in JSON, quotes and backslashes. */
static size_t escape(struct str text, bool json, char *out)
{
	static const char digits[] = "0123456789abcdef";
	size_t size = 0;
	for (size_t i = 0; i < text.size; i++) {
		unsigned char c = (unsigned char)text.at[i];
		if (json && (c == '"' || c == '\\')) {
			out[size++] = '\\';
			out[size++] = (char)c;
		} else if (c == '\n' || c == '\t' || c == '\r') {
			out[size++] = '\\';
			out[size++] = c == '\n' ? 'n' : c == '\t' ? 't' : 'r';
		} else if (c < 0x20 || c == 0x7F) {
			memcpy(out + size, "\\u00", 4);
			out[size + 4] = digits[c >> 4];
			out[size + 5] = digits[c & 15];
			size += 6;
		} else if (c >= 0x80) {
			i += escape_character(str_skip(text, i), out, &size) - 1;
		} else {
			out[size++] = (char)c;
		}
	}
	return size;
}

static void write_all(const char *at, size_t size)
{
	while (size > 0) {
		ssize_t count = write(STDERR_FILENO, at, size);
		if (count < 0 && errno == EINTR)
			continue;
		if (count <= 0)
			return; /* stderr is gone: there is nowhere to report it */
		at += count;
		size -= (size_t)count;
	}
}

/* Formats the text of a line.  A text that is too long is truncated and ends in "..."; bytes that
 * are not UTF-8 become '?', because a JSON line must be valid UTF-8. */
PRINTF_LIKE(2, 0)
static struct str make_text(char text[TEXT_SIZE], const char *format, va_list list)
{
	int written = vsnprintf(text, TEXT_SIZE, format, list);
	if (written < 0)
		return S("");
	size_t size = (size_t)written;
	if (size >= TEXT_SIZE) {
		size = TEXT_SIZE - 1;
		memcpy(text + size - 3, "...", 3);
	}
	struct str rest = { text, size };
	for (size_t bad; !utf8_valid(rest, &bad); rest = str_skip(rest, bad + 1))
		text[rest.at + bad - text] = '?';
	return (struct str){ text, size };
}

static size_t add(char *line, size_t at, struct str text)
{
	memcpy(line + at, text.at, text.size);
	return at + text.size;
}

/* Adds the fields: before the text in JSON, behind it in plain lines. */
static size_t add_fields(char *line, size_t at, const struct log_field *fields, size_t count)
{
	bool json = current.json, first = true;
	for (size_t i = 0; i < count && i < FIELDS_MOST; i++) {
		struct str value = str_head(fields[i].value, FIELD_SIZE);
		size_t bad;
		if (value.size == 0 || !utf8_valid(value, &bad))
			continue;
		at = add(line, at, json ? S("\"") : first ? S(" (") : S(" "));
		at = add(line, at, str_head(str_from_c(fields[i].name), NAME_SIZE));
		at = add(line, at, json ? S("\":\"") : S("="));
		at += escape(value, json, line + at);
		at = add(line, at, json ? S("\",") : S(""));
		first = false;
	}
	return json || first ? at : add(line, at, S(")"));
}

PRINTF_LIKE(5, 0)
static void write_line(enum log_level level, struct str run_id, const struct log_field *fields,
		       size_t count, const char *format, va_list list)
{
	if (level < current.least || level >= LOG_SILENT)
		return;
	char text[TEXT_SIZE], line[LINE_SIZE], run_prefix[RUN_PREFIX_SIZE] = "";
	struct str message = make_text(text, format, list);
	if (run_id.size > 0)
		snprintf(run_prefix, sizeof(run_prefix),
			 current.json ? "\"run_id\":\"" STR_FMT "\"," : "run " STR_FMT ": ",
			 STR_ARG(str_head(run_id, RUN_ID_SIZE)));
	int head = snprintf(line, sizeof(line), current.json ? "{\"level\":\"%s\",%s" : "%s: %s",
			    level_names[level], run_prefix);
	size_t end = (size_t)head;
	if (current.json) {
		end = add_fields(line, end, fields, count);
		end = add(line, end, S("\"text\":\""));
	}
	end += escape(message, current.json, line + end);
	if (!current.json)
		end = add_fields(line, end, fields, count);
	end = add(line, end, current.json ? S("\"}\n") : S("\n"));
	write_all(line, end);
}

void log_line(enum log_level level, const char *format, ...)
{
	va_list list;
	va_start(list, format);
	write_line(level, S(""), NULL, 0, format, list);
	va_end(list);
}

void log_run(enum log_level level, struct str run_id, const char *format, ...)
{
	va_list list;
	va_start(list, format);
	write_line(level, run_id, NULL, 0, format, list);
	va_end(list);
}

void log_with(enum log_level level, const struct log_field *fields, size_t count,
	      const char *format, ...)
{
	va_list list;
	va_start(list, format);
	write_line(level, S(""), fields, count, format, list);
	va_end(list);
}
