/* cli/man_page.c -- prints help as a man page.
 *
 * The page is made from the text of the help, so it has the same sections and the same words.  A
 * line without indentation is the title of a section; an indented line is a term and its
 * description, except in usage and examples, which keep their lines.
 */
#include <string.h>

#include "cli/help.h"

/* Escapes text for roff.  A line must not begin with a control character. */
static void add_text(struct str text, struct buf *out)
{
	if (str_starts(text, S(".")) || str_starts(text, S("'")))
		buf_add(out, S("\\&"));
	for (size_t i = 0; i < text.size; i++) {
		if (text.at[i] == '\\')
			buf_add(out, S("\\e"));
		else if (text.at[i] == '-')
			buf_add(out, S("\\-"));
		else
			buf_add_char(out, text.at[i]);
	}
}

static void add_line(const char *macro, struct str text, struct buf *out)
{
	buf_add(out, str_from_c(macro));
	add_text(text, out);
	buf_add_char(out, '\n');
}

static void add_title(struct str title, struct buf *out)
{
	buf_add(out, S(".SH \""));
	for (size_t i = 0; i < title.size; i++) {
		char c = title.at[i];
		buf_add_char(out, c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c);
	}
	buf_add(out, S("\"\n"));
}

/* "  term   description": at least two blanks end the term, one if it fills its column. */
static void add_term(struct str line, struct buf *out)
{
	enum { COLUMN = 26 };
	struct str rest = str_skip(line, 2);
	size_t at;
	bool wide = !str_find(rest, S("  "), &at);
	if (wide)
		at = rest.size > COLUMN && rest.at[COLUMN] == ' ' ? COLUMN : rest.size;
	buf_add(out, S(".TP\n"));
	add_line(".B ", str_trim(str_head(rest, at)), out);
	if (at < rest.size)
		add_line("", str_trim(str_skip(rest, at)), out);
}

static void add_sections(struct str text, struct buf *out)
{
	struct str line;
	bool kept = false; /* within a section that keeps its lines */
	while (str_cut(&text, '\n', &line)) {
		if (line.size == 0)
			continue;
		if (!str_starts(line, S("  "))) {
			buf_add(out, kept ? S(".fi\n") : S(""));
			kept = str_equal(line, S("Usage")) || str_equal(line, S("Examples"));
			add_title(str_equal(line, S("Usage")) ? S("Synopsis") : line, out);
			buf_add(out, kept ? S(".nf\n") : S(""));
		} else if (kept) {
			add_line("", str_trim(line), out);
		} else {
			add_term(line, out);
		}
	}
	buf_add(out, kept ? S(".fi\n") : S(""));
}

static void add_head(const char *name, const char *text, struct buf *out)
{
	buf_add_format(out, ".TH \"%s\" 1 \"\" \"baton %s\" \"Baton\"\n.SH NAME\n", name,
		       BATON_VERSION);
	add_text(str_from_c(name), out);
	buf_add(out, S(" \\- "));
	add_text(str_from_c(text), out);
	buf_add_char(out, '\n');
}

void help_man(const struct cli_command *command, struct buf *out)
{
	AUTO(buf) text = { 0 };
	AUTO(arena) arena = { 0 };
	struct str rest, first;
	if (command != NULL) {
		help_command(command, &text);
		add_head(str_format(&arena, "baton-%s", command->name).at, command->text, out);
	} else {
		help_all(&text);
		add_head("baton", "durable runs of agents and tools", out);
		buf_add(out, S(".SH SYNOPSIS\n.B baton\nCOMMAND [ARGUMENT...] [OPTION...]\n"));
	}
	rest = buf_str(&text);
	(void)!str_cut(&rest, '\n', &first); /* the sentence is in the head */
	if (command == NULL) {               /* so is the synopsis; the hint at the end is below */
		size_t at;
		require(str_find(rest, S("\n\n"), &at));
		rest = str_skip(rest, at + 1);
		while (!str_ends(rest, S("\n\n")))
			rest.size--;
	}
	add_sections(rest, out);
	buf_add(out, S(".SH \"SEE ALSO\"\n"));
	buf_add(out, command != NULL ? S(".BR baton (1)\n")
				     : S("A page for each command, such as\n.BR baton\\-run (1);\n"
					 ".B baton config list\nfor all settings.\n"));
}
