/* active/run_changes.h -- what the commits of a run have changed, read by git in a sandboxed child.
 *
 * From the clone in the run's workspace, which has commits that are not published yet; if there is none, from the
 * run's branch in the repository.  On the loop thread.
 */
#ifndef ACTIVE_RUN_CHANGES_H
#define ACTIVE_RUN_CHANGES_H

#include "base/error.h"
#include "base/json.h"
#include "base/uuid.h"

struct executor;
struct run_changes_query;

struct run_changes_request {
	struct uuid run;
	bool workspace_removed;
	struct str repository;                 /* that the run is about; "" = none */
	const struct run_changes_query *query; /* copied */
};

/* Called once, on the loop, never from inside executor_read_changes().  `changes` is a run.Changes; NULL = the
 * error says why. */
typedef void run_changes_done(void *context, uint64_t argument, const struct json *changes,
			      const struct error *error);

/* UNAVAILABLE when too many child processes are running. */
MUST_CHECK bool executor_read_changes(struct executor *executor,
				      const struct run_changes_request *request,
				      run_changes_done *done, void *context, uint64_t argument,
				      struct error *error);

#endif
