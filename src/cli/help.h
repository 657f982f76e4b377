/* cli/help.h -- what the table of commands says, for people; private to the room. */
#ifndef CLI_HELP_H
#define CLI_HELP_H

#include "cli/cli.h"

/* Every command in a line, by groups. */
void help_all(struct buf *out);
/* One command: usage, sub-commands, options, settings, examples, exit status. */
void help_command(const struct cli_command *command, struct buf *out);
/* All commands as one Markdown page: the printed reference. */
void describe_commands(struct buf *out);
/* The commands' part of `baton describe listing`. */
void describe_commands_listing(struct buf *out);
/* The table itself, for other programs. */
void help_json(const struct cli_command *only, struct buf *out);

#endif
