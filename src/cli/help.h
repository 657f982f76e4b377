/* cli/help.h -- prints the command table as text, Markdown and JSON; private to cli. */
#ifndef CLI_HELP_H
#define CLI_HELP_H

#include "cli/cli.h"

/* One line per command, by group. */
void help_all(struct buf *out);
/* One command: usage, subcommands, options, settings, examples, exit status. */
void help_command(const struct cli_command *command, struct buf *out);
/* The help of one command, or of all (NULL), as a man page (roff). */
void help_man(const struct cli_command *command, struct buf *out);
/* All commands as one Markdown page (`baton describe commands`). */
void describe_commands(struct buf *out);
/* The commands' part of `baton describe listing`. */
void describe_commands_listing(struct buf *out);
/* The table as JSON: of one command, or of all commands (NULL). */
void help_json(const struct cli_command *only, struct buf *out);

#endif
