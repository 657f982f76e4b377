/* cli/output.h -- everything that a command prints; for cli and main.c.
 *
 * Results go to stdout, progress and errors to stderr.  No other file of this folder writes to
 * them (tools/layers.txt).  The functions pass every text through base/terminal_text.h, so text
 * from definitions, tools, models and clients cannot control the terminal.  The same bytes are
 * printed into a pipe, because what is piped is often shown on a terminal later.
 */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include "cli/cli.h"

enum cli_output { CLI_RESULT, CLI_PROGRESS }; /* stdout, stderr */

/* Prints the result to stdout and adds a newline if it lacks one. */
int cli_print(struct cli *cli, struct str text);
int cli_print_json(struct cli *cli, const struct json *json);
/* Ends output that was printed line by line: 0 when all of it reached stdout. */
int cli_flush(void);
/* Prints exactly one line: line ends within the arguments become blanks. */
void cli_line(enum cli_output to, const char *format, ...) PRINTF_LIKE(2, 3);
/* Prints a text of several lines.  Whoever builds it adds foreign text with terminal_text_add()
 * without TERMINAL_TEXT_LINES, so that it stays within its line. */
void cli_lines(enum cli_output to, struct str text);
/* Prints the result: several lines that this program has colored.  Foreign text in it went through
 * terminal_text_add() before. */
int cli_print_styled(struct cli *cli, struct str text);
/* Appends foreign text of several lines, each behind the margin: "  | ". */
void cli_block_add(const char *margin, struct str text, struct buf *out);
/* Prints the warnings of a run.Outline or of a result to stderr, one line each. */
void cli_warnings(const struct json *document);
/* Moves the cursor up and erases these lines of the terminal. */
void cli_lines_erase(size_t lines);
/* Prints a JSON document as one line; control characters in it are escaped as JSON does it. */
void cli_json_line(enum cli_output to, struct str json);
/* Prints the result, a JSON document of any number of lines. */
int cli_print_json_text(struct cli *cli, struct str json);
/* Text that a tool wrote, printed piece by piece.  On a terminal control characters become escapes,
 * except colors if `colors` is set, and a piece may end within an escape sequence: the rest is kept
 * until the next piece.  Elsewhere the bytes are printed as they are. */
struct cli_tool_text {
	enum cli_output to;
	bool terminal, colors;
	struct buf kept;
};
struct cli_tool_text cli_tool_text_make(const struct cli *cli, enum cli_output to);
/* `last`: prints what was kept, too.  False when the output takes no more. */
bool cli_tool_text_print(struct cli_tool_text *printer, struct str text, bool last);
/* Prints a piece of a line that this program has styled; foreign text in it went through
 * terminal_text_add() before.  False when the output takes no more. */
bool cli_piece(enum cli_output to, struct str text);
/* Prints bytes as they are, unless stdout is a terminal: then as text. */
bool cli_bytes(const struct cli *cli, struct str bytes);

#endif
