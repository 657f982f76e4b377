/* base/terminal_text.h -- makes foreign text safe to print on a terminal.
 *
 * Text from definitions, tools, models and clients can contain characters that a terminal obeys
 * instead of showing: escape sequences move the cursor, change the title or rewrite earlier lines;
 * bidirectional controls show a line in another order than it is stored; invisible characters make
 * two different names look alike.  These functions replace each such character with a visible
 * escape:
 *
 *   control characters (C0, DEL), bytes that are not UTF-8   \x1b \x7f \xff
 *   C1 control characters, bidirectional and invisible ones  \u009b \u202e \U000e0041
 *
 * All other text is copied unchanged.  The result is for people: a text that contains the four
 * characters \x1b looks the same as an escaped ESC.  Pure; no limit of its own (use buf_limited()).
 */
#ifndef BASE_TERMINAL_TEXT_H
#define BASE_TERMINAL_TEXT_H

#include "base/buf.h"

enum terminal_text_flag {
	/* Keep line ends and tabs.  Without it each of them becomes one blank, so that the text
	 * cannot pretend to be several lines. */
	TERMINAL_TEXT_LINES = 1,
	/* Keep color sequences (ESC [ numbers m), except those that conceal text.  The caller
	 * prints TERMINAL_TEXT_RESET behind the text. */
	TERMINAL_TEXT_COLORS = 2,
	/* The text is a JSON document: escapes are those of JSON (\u001b, \udb40\udc41), so the
	 * result has the same meaning.  Line ends and tabs stay. */
	TERMINAL_TEXT_JSON = 4,
};

#define TERMINAL_TEXT_RESET "\033[0m"

/* Appends the text; `flags` are enum terminal_text_flag. */
void terminal_text_add(struct str text, unsigned flags, struct buf *out);
/* Size of the text up to a character or color sequence that ends beyond it.  A reader of a stream
 * prints that much and keeps the rest until more bytes arrive. */
size_t terminal_text_complete(struct str text);
/* Is the character shown as an escape?  Line ends and tabs are. */
bool terminal_text_is_hidden(uint32_t character);

#endif
