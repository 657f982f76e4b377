/* cli/talk_print.h -- follows a run and prints what its agents say and do; private to cli.
 *
 * The text of the model is the result and goes to stdout; everything else goes to stderr.  On a terminal
 * the text appears while it is written, the thinking before it dimmed.  Elsewhere a text is printed when
 * its turn has ended, and only the last one of a session goes to stdout: the texts between calls are
 * progress.  A call of a tool is one line.
 *
 * The printer keeps what it has printed, so that printing continues there when the server is lost and
 * another one is found.
 */
#ifndef CLI_TALK_PRINT_H
#define CLI_TALK_PRINT_H

#include "cli/cli.h"

struct talk_printer;

/* `chat`: following also ends when the run waits for the signal `message`. */
struct talk_printer *talk_printer_new(struct cli *cli, const struct uuid *run, bool chat);
/* Prints what was said in a chat so far, and continues behind it.  *out_waits: the run waits for a
 * message now.  Returns 0 or the status that the command returns. */
MUST_CHECK int talk_printer_history(struct talk_printer *printer, bool *out_waits);
/* Prints until the run has ended, or in a chat until it waits for a message.  Returns 0, or the status
 * that the command returns; *out_ended tells the two apart. */
MUST_CHECK int talk_printer_follow(struct talk_printer *printer, bool *out_ended);
/* The run has ended: prints its usage and why it failed.  Returns the exit status. */
int talk_printer_end(struct talk_printer *printer);

#endif
