/* cli/run_lookup.h -- runs as people name them; private to cli.
 *
 * A run is named by its id, by the first digits of its id (at least UUID_PREFIX_LEAST) if no other
 * run begins with them, or as @last: the newest run, or the run it belongs to if it is a sub-run.
 * prepare() checks the form; the run is found later, because only the server knows the runs.
 */
#ifndef CLI_RUN_LOOKUP_H
#define CLI_RUN_LOOKUP_H

#include "cli/cli.h"

struct run_name {
	const char *text;
	struct uuid first, last; /* the ids that the text may stand for; equal = found */
	bool newest;             /* @last */
};

/* Checks the form.  `what` names the argument in the error: "RUN". */
MUST_CHECK bool run_name_parse(const char *text, const char *what, struct run_name *out_name,
			       struct error *error);
/* Finds the run; later calls are free.  Returns 0 on success, else the status that the command
 * returns, after the error was printed. */
MUST_CHECK int run_name_find(struct cli *cli, struct run_name *name);
/* Does the id begin with the digits? */
bool run_name_fits(const struct run_name *name, struct str id);
/* Appends an id to a list for an error about an ambiguous name; the list is bounded. */
void run_name_candidate_add(struct str id, struct str about, size_t count, struct buf *list);

#endif
