/* tool/limit_watch.h -- watches a sandboxed command and reports when it exceeds its limits.
 *
 * The watch owns the command's cgroup, if there is one.  From limit_watch_begin() on it checks the
 * command every LIMIT_SANDBOX_CHECK_MS on a reader thread (sandbox/sandbox_limits.h), and calls
 * exceeded() once, on the loop thread, when a limit is exceeded.  limit_watch_end() stops it.
 */
#ifndef TOOL_LIMIT_WATCH_H
#define TOOL_LIMIT_WATCH_H

#include "os/loop.h"
#include "sandbox/sandbox.h"
#include "sandbox/sandbox_limits.h"

struct limit_watch;

typedef void limit_watch_exceeded(void *context, const struct error *excess);

/* `workspace` is the folder whose size is limited; NULL = none.  Fails when the cgroup cannot be
 * made. */
MUST_CHECK bool limit_watch_new(struct loop *loop, const struct sandbox_limits *limits,
				const char *workspace, struct limit_watch **out_watch,
				struct error *error);
/* The group that the command joins; NULL = none. */
const struct cgroup *limit_watch_group(const struct limit_watch *watch);
/* The command runs; `line` is valid until limit_watch_end(). */
void limit_watch_begin(struct limit_watch *watch, const struct sandbox_lifeline *line,
		       limit_watch_exceeded *exceeded, void *context);
/* The command has ended, or was not started: the watch is freed and the group removed, now or when
 * the check in progress is complete.  Returns true when the kernel enforced a limit of the group,
 * which `out_excess` names. */
bool limit_watch_end(struct limit_watch *watch, struct error *out_excess);

#endif
