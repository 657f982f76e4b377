/* tool/git_changes.h -- reads what the commits of a run have changed (run.ChangesQuery to run.Changes).
 *
 * A call with a workspace reads the clone there: NOT_FOUND if it has none.  A call without one reads the branch of
 * the run in the repository.  Neither needs a lock.
 */
#ifndef TOOL_GIT_CHANGES_H
#define TOOL_GIT_CHANGES_H

#include "tool/tool.h"

extern const struct tool git_changes;

#endif
