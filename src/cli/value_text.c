/* cli/value_text.c -- prints inputs and outputs for people. */
#include "cli/value_text.h"

#include "base/limits.h"
#include "base/terminal_text.h"

static void add_cut(size_t left, const char *unit, struct buf *out)
{
	buf_add_format(out, "… (%zu more %s; --json prints all)\n", left, unit);
}

/* A text that fits on a line, or as much of it as is shown. */
static void add_line(struct str text, struct buf *out)
{
	size_t most = LIMIT_SHOWN_VALUE_BYTES;
	struct str shown = str_head(text, most);
	while (shown.size < text.size && shown.size > 0 &&
	       ((unsigned char)text.at[shown.size] & 0xC0) == 0x80)
		shown.size--; /* not within a character */
	terminal_text_add(shown, 0, out);
	if (shown.size < text.size)
		add_cut(text.size - shown.size, "bytes", out);
	else
		buf_add_char(out, '\n');
}

static void add_lines(struct str text, const char *margin, struct buf *out)
{
	struct str line;
	size_t count = 0, bytes = 0, left = 0;
	while (str_ends(text, S("\n")))
		text.size--;
	while (str_cut(&text, '\n', &line)) {
		bytes += line.size;
		if (count >= LIMIT_SHOWN_VALUE_LINES || bytes > LIMIT_SHOWN_VALUE_BYTES) {
			left++;
			continue;
		}
		buf_add_format(out, "%s  | ", margin);
		terminal_text_add(line, 0, out);
		buf_add_char(out, '\n');
		count++;
	}
	if (left > 0) {
		buf_add_format(out, "%s  ", margin);
		add_cut(left, "lines", out);
	}
}

void value_text_add(const struct json *object, const char *margin, struct buf *out)
{
	AUTO(arena) arena = { 0 };
	if (object == NULL || object->kind != JSON_OBJECT)
		return;
	for (size_t i = 0; i < object->as.object.count; i++) {
		const struct json_member *member = &object->as.object.at[i];
		struct str text = json_text(&member->value);
		bool is_text = member->value.kind == JSON_STRING;
		size_t at;
		buf_add(out, str_from_c(margin));
		terminal_text_add(member->key, 0, out);
		buf_add_char(out, ':');
		if (is_text && str_find(str_trim(text), S("\n"), &at)) {
			buf_add_char(out, '\n');
			add_lines(text, margin, out);
			continue;
		}
		buf_add_char(out, ' ');
		add_line(is_text ? str_trim(text) : json_print(&arena, &member->value), out);
	}
}
