/* tool/git_output.h -- reads what the script of the git tools prints (tool/git.sh).
 *
 * The text comes from a child process that works on a repository from anywhere: it is read strictly,
 * and what does not fit ends the reading.  Paths that are not UTF-8 get replacement characters.
 * Everything is allocated in the arena.
 */
#ifndef TOOL_GIT_OUTPUT_H
#define TOOL_GIT_OUTPUT_H

#include "contract/run_tool_types.h"

/* `git status --porcelain=v2 -z --branch`.  `whole` = nothing of it was dropped. */
MUST_CHECK bool git_output_status(struct str text, bool whole, struct arena *arena,
				  struct run_git_status_outputs *out_outputs, struct error *error);
/* The changed files and the diff, of which at most `most` bytes are kept, in whole lines. */
MUST_CHECK bool git_output_diff(struct str text, size_t most, struct arena *arena,
				struct run_git_diff_outputs *out_outputs, struct error *error);
MUST_CHECK bool git_output_commit(struct str text, struct arena *arena,
				  struct run_git_commit_outputs *out_outputs, struct error *error);

#endif
