/* cli/arguments.h -- options as parsed from argv; private to cli. */
#ifndef CLI_ARGUMENTS_H
#define CLI_ARGUMENTS_H

#include "cli/cli.h"

struct cli_parsed_option {
	const struct cli_option *option; /* a common or command option; NULL = a setting's flag */
	const struct config_row *row;    /* the setting; NULL = an option */
	const char *value;
};

#endif
