/* base/log.c -- one line, one write.
 *
 * The line is built in a local buffer and leaves in a single write(2), so lines of several
 * threads or processes on one stderr do not mix.  There is no clock in base, and a supervisor
 * stamps lines anyway.  A text too long for the buffer is cut, visibly.
 */
#include "base/log.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/utf8.h"

enum { TEXT_SIZE = 2048, RUN_ID_SIZE = 36, ABOUT_SIZE = 64, LINE_SIZE = TEXT_SIZE * 6 + 128 };

static struct log_settings current = { .least = LOG_INFO };

static const char *const level_names[] = { "debug", "info", "warning", "error", "silent" };

void log_setup(struct log_settings settings)
{
	current = settings;
}

/* Control characters and, in JSON, quotes and backslashes; bytes that are no UTF-8 become '?'
 * because a JSON line must stay one. */
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
			return; /* nobody to tell */
		at += count;
		size -= (size_t)count;
	}
}

PRINTF_LIKE(3, 0)
static void write_line(enum log_level level, struct str run_id, const char *format, va_list list)
{
	if (level < current.least || level >= LOG_SILENT)
		return;
	char text[TEXT_SIZE];
	int written = vsnprintf(text, sizeof(text), format, list);
	if (written < 0)
		return;
	size_t size = (size_t)written;
	if (size >= sizeof(text)) {
		size = sizeof(text) - 1;
		memcpy(text + size - 3, "...", 3);
	}
	struct str rest = { text, size };
	for (size_t bad; !utf8_valid(rest, &bad); rest = str_skip(rest, bad + 1))
		text[rest.at + bad - text] = '?';

	char line[LINE_SIZE], about[ABOUT_SIZE] = "";
	if (run_id.size > 0)
		snprintf(about, sizeof(about),
			 current.json ? "\"run_id\":\"" STR_FMT "\"," : "run " STR_FMT ": ",
			 STR_ARG(str_head(run_id, RUN_ID_SIZE)));
	int head = snprintf(line, sizeof(line),
			    current.json ? "{\"level\":\"%s\",%s\"text\":\"" : "%s: %s",
			    level_names[level], about);
	size_t end = (size_t)head + escape((struct str){ text, size }, current.json, line + head);
	const char *tail = current.json ? "\"}\n" : "\n";
	memcpy(line + end, tail, strlen(tail));
	write_all(line, end + strlen(tail));
}

void log_line(enum log_level level, const char *format, ...)
{
	va_list list;
	va_start(list, format);
	write_line(level, S(""), format, list);
	va_end(list);
}

void log_run(enum log_level level, struct str run_id, const char *format, ...)
{
	va_list list;
	va_start(list, format);
	write_line(level, run_id, format, list);
	va_end(list);
}
