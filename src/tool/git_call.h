/* tool/git_call.h -- a call of a git tool: one or two children with a script, git_prelude.sh and one more.
 *
 * tool_git.c, tool_git_files.c and tool_git_branch.c fill a git_call, and start it with git_call_begin().  When a
 * child has ended, `read` turns what it printed into the output of the call, or starts the next child with
 * git_call_spawn() and returns NULL with an error of code NONE.
 */
#ifndef TOOL_GIT_CALL_H
#define TOOL_GIT_CALL_H

#include "base/buf.h"
#include "tool/tool_child.h"
#include "tool/tool_context.h"

enum { GIT_CALL_VARIABLES = 24, GIT_CALL_MOUNTS = 4, GIT_CALL_PATHS = 64 };

struct git_place;

struct git_call {
	struct tool_running running; /* first */
	struct tool_child child;
	struct arena arena;
	struct tool_host host;
	const char *script; /* git or git_repository */
	const char *operation;
	const char *workspace;  /* the run's folder; NULL = it is not used */
	const char *repository; /* of git.sh: folder in the workspace */
	bool read_only;         /* the workspace is */
	bool keeps_owners;      /* another call may be at work in the workspace */
	int lock;
	double timeout_seconds;
	size_t diff_bytes;
	struct str_list paths;
	bool paths_as_input; /* there is more room for them than among the arguments */
	struct str input;    /* other bytes for its stdin; lives in the arena */
	struct sandbox_variable variables[GIT_CALL_VARIABLES];
	size_t variable_count;
	/* The user's repository (git_place.h) is the workspace of the sandbox, or mounted beside it. */
	bool in_repository;
	const struct git_place *place;  /* NULL = not mounted */
	const struct git_place *target; /* the run's; NULL = not looked for */
	bool place_at_once;             /* the first child sees it */
	struct buf bytes;               /* stdout of a child whose output is longer than text */
	size_t bytes_limit;             /* 0 = it is text */
	const struct json *(*read)(struct git_call *git, const struct process_result *result,
				   struct error *error);
	/* Of a commit that is looked up after it was cut off: */
	struct error error;
	bool verifying;
	bool waiting;      /* for a place for a child, or for the repository */
	tool_asked *asked; /* of a probe; NULL = a call */
	void *context;
	uint64_t argument;
};

struct git_call *git_call_new(const struct tool_host *host, const struct tool_call *call,
			      const char *operation);
void git_call_free(struct git_call *git);
struct git_call *git_call_of(struct tool_child *child);
void git_call_set(struct git_call *git, struct str name, struct str value);
void git_call_set_number(struct git_call *git, struct str name, int64_t value);
/* The folder of the workspace, and paths in it. */
void git_call_take_place(struct git_call *git, struct str repository, struct str_list paths);
/* Starts a child; child.ended is set. */
MUST_CHECK bool git_call_spawn(struct git_call *git, double timeout_seconds, struct error *error);
/* True when the script ended well.  Its own refusals have exit statuses of their own and a sentence on stderr. */
MUST_CHECK bool git_call_succeeded(const struct git_call *git, const struct process_result *result,
				   struct error *error);
/* Starts the call, whose children end with git_call_ended() unless child.ended is set; frees it on failure. */
MUST_CHECK bool git_call_begin(struct git_call *git, const struct tool_call *call,
			       uint64_t *out_running, struct error *error);
/* The same for a call that needs the repository of the run.  The first child sees it only if `at_once` is set. */
MUST_CHECK bool git_call_begin_in(struct git_call *git, const struct tool_call *call, bool at_once,
				  uint64_t *out_running, struct error *error);
void git_call_ended(struct tool_child *child, const struct process_result *result);
void git_call_finish(struct git_call *git, const struct tool_result *result);

#endif
