/* cli/arguments.h -- options as they were given; private to the room. */
#ifndef CLI_ARGUMENTS_H
#define CLI_ARGUMENTS_H

#include "cli/cli.h"

struct cli_given {
	const struct cli_option *option; /* one of the command's, or NULL */
	const struct config_row *row;    /* and then a setting's flag */
	const char *value;
};

#endif
