/* cli/problem_print.h -- the problems of a workflow file, as check and workflow validate print them; private to cli.
 *
 * The first line of a problem is FILE:LINE:COLUMN: MESSAGE, as compilers print it and editors parse it; a
 * warning has "warning: " in front of its message.  On a terminal, or with --format full, the line of the file
 * follows with a mark under the place, and what would mend the problem.
 */
#ifndef CLI_PROBLEM_PRINT_H
#define CLI_PROBLEM_PRINT_H

#include "cli/cli.h"

#define PROBLEM_FORMAT_OPTION                                                                   \
	{                                                                                       \
		.name = "--format", .value = "FORMAT",                                          \
		.text = "full: with the line, a mark and the fix; short: one line per problem " \
			"(default: full on a terminal)"                                         \
	}

/* Reads --format: false when it is neither full nor short. */
MUST_CHECK bool problem_format_read(struct cli *cli, struct error *error);
/* Prints the problems and warnings of a runtime.WorkflowValidationResponse. */
void problem_print_all(struct cli *cli, const char *file, struct str text,
		       const struct json *result);

#endif
