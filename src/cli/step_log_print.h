/* cli/step_log_print.h -- prints the log of a step: what its tool wrote to stdout and stderr.
 *
 * What the tool wrote to stdout goes to stdout, what it wrote to stderr goes to stderr; notes about
 * attempts and gaps go to stderr.  On a terminal, control characters become visible escapes, except
 * colors (base/terminal_text.h); elsewhere every byte is printed as it is stored.
 */
#ifndef CLI_STEP_LOG_PRINT_H
#define CLI_STEP_LOG_PRINT_H

#include "cli/cli.h"

struct step_log_state;

/* Reads the arguments of `baton logs RUN STEP`. */
MUST_CHECK bool step_log_prepare(struct cli *cli, const char *step,
				 struct step_log_state **out_state, struct error *error);
int step_log_run(struct cli *cli, struct step_log_state *state, const struct uuid *run);

/* Appends the last lines of a step's log, and the command that prints all of it.  False when there is
 * no text, or when it cannot be read. */
bool step_log_add_tail(struct cli *cli, const struct uuid *run, struct str step, struct buf *out);

#endif
