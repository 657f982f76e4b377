/* cli/child_command.h -- runs other programs, and this one, as child processes and waits for them; private to cli. */
#ifndef CLI_CHILD_COMMAND_H
#define CLI_CHILD_COMMAND_H

#include "cli/cli.h"

struct process_spec;

/* Result of a child process.  status is -1 if it could not be started; errors then says why. */
struct child_command {
	int status;
	struct str output, errors;
};

/* Starts a child as the spec says, with LIMIT_DOCTOR_CHILD_MS to end, and waits for it.  Output and
 * errors are in the arena. */
struct child_command child_command_run(const struct process_spec *wanted, struct arena *arena);
/* The same without a limit of time. */
struct child_command child_command_wait(const struct process_spec *wanted, struct arena *arena);
/* Runs this program with --json and the same settings: as a client of the server, or as owner of
 * the data folder for as long as it takes.  `here`: on the data folder, whatever --server says. */
struct child_command child_command_baton(const struct cli *cli, bool here, const char *const *words,
					 struct str input, struct arena *arena);

#endif
