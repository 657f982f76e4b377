/* cli/agent_run.h -- starts a run of an agent of the registry; private to cli.
 *
 * The command chooses the run's id and keeps it, so that repeating the request after a lost connection
 * cannot start a second run: a conflict on the second attempt means that the first one arrived.
 */
#ifndef CLI_AGENT_RUN_H
#define CLI_AGENT_RUN_H

#include "cli/cli.h"
#include "cli/upload.h"

struct run_agentic_request;

struct agent_start {
	struct uuid run;
	struct run_agentic_request *request; /* body of POST /api/agentic */
	struct uploads uploads;              /* pictures and recordings for the goal */
	bool requested, started;
};

/* `goal` NULL = none: a chat. */
void agent_start_make(struct cli *cli, struct str agent, const char *goal, bool chat,
		      struct agent_start *out_start);
/* Sends the request unless it was sent, and prints the run's id as progress unless `quiet`.  Returns 0
 * or the status that the command returns. */
MUST_CHECK int agent_start_send(struct cli *cli, struct agent_start *start, bool quiet);

/* baton agent run */
MUST_CHECK bool agent_run_prepare(struct cli *cli, struct error *error);
int agent_run(struct cli *cli);

#endif
