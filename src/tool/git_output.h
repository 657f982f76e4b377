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

/* A branch that a run has in the user's repository. */
struct git_claim {
	struct str branch, base, base_branch, tip;
};
MUST_CHECK bool git_output_claim(struct str text, struct arena *arena, struct git_claim *out_claim,
				 struct error *error);
MUST_CHECK bool git_output_checkout(struct str text, struct arena *arena,
				    struct run_git_checkout_outputs *out_outputs,
				    struct error *error);

/* Commits on their way to the user's repository. */
struct git_pack {
	struct str branch, commit, count;
	struct str bytes; /* borrowed */
};
MUST_CHECK bool git_output_pack(struct str bytes, struct arena *arena, struct git_pack *out_pack,
				struct error *error);
MUST_CHECK bool git_output_publish(struct str text, struct arena *arena,
				   struct run_git_publish_outputs *out_outputs,
				   struct error *error);

/* Of a diff at most `diff_bytes` are kept, in whole lines; 0 = there is none. */
MUST_CHECK bool git_output_changes(struct str text, size_t diff_bytes, struct arena *arena,
				   struct run_changes *out_changes, struct error *error);

MUST_CHECK bool git_output_snapshot(struct str text, struct arena *arena,
				    struct run_git_snapshot_outputs *out_outputs,
				    struct error *error);
MUST_CHECK bool git_output_restore(struct str text, struct arena *arena,
				   struct run_git_restore_outputs *out_outputs,
				   struct error *error);
MUST_CHECK bool git_output_hooks(struct str text, struct arena *arena,
				 struct run_git_hooks_outputs *out_outputs, struct error *error);

#endif
