/* os/process.h -- child processes: started on the loop thread only, addressed by id.
 *
 * A child gets exactly argv, its own environment, /dev/null or `input` as stdin, pipes for stdout
 * and stderr (up to output_limit bytes of each are kept, the rest is counted), and the descriptors
 * in `keep`, which become 3, 4, ... in that order; all others are closed on exec.  A child that
 * inherits a descriptor with a flock(2) shares the lock with all its descendants, so the lock is
 * released only when the whole process tree is dead.
 *
 * The child leads its own session and process group.  done() is called once, on the loop thread,
 * when the child has exited and both pipes are at end of file.  If a grandchild keeps a pipe open,
 * the pipe is closed LIMIT_TOOL_KILL_MS after the exit.  What remains of the group is killed just
 * before done().
 *
 * process_end() sends SIGTERM to the group and SIGKILL after LIMIT_TOOL_KILL_MS; it does nothing
 * when the child is done.
 *
 * At most LIMIT_CHILDREN children run at once.  Then, and while other callers wait, process_start()
 * fails with ERROR_UNAVAILABLE: the caller waits with platform_child_await() and starts the child in
 * its callback.
 */
#ifndef OS_PROCESS_H
#define OS_PROCESS_H

#include "base/error.h"
#include "os/loop.h"

enum { PROCESS_KEEP = 8 }; /* maximum of process_spec.keep_count */

struct process_result {
	int exit_status;           /* -1 when a signal ended the child */
	int signal;                /* 0 when the child exited */
	struct str output, errors; /* stdout and stderr, borrowed during done() */
	uint64_t output_dropped, errors_dropped;
};

struct process_spec {
	const char *const *argv;        /* argv[0] is looked up in PATH */
	const char *const *environment; /* NULL-terminated NAME=value; NULL = empty */
	const char *directory;          /* NULL = the current directory */
	struct str input;               /* copied; empty = /dev/null */
	bool converse;                  /* stdin stays open for process_write() */
	const int *keep;                /* open descriptors, the child's 3, 4, ... */
	size_t keep_count;
	size_t output_limit;
	/* If set: receives stdout piece by piece instead of keeping it; the bytes are borrowed. */
	void (*piece)(void *context, uint64_t argument, struct str bytes);
	/* If set: sees everything that arrives from stdout and stderr, also what is not kept. */
	void (*observe)(void *context, uint64_t argument, bool is_stderr, struct str bytes);
	void (*done)(void *context, uint64_t argument, const struct process_result *result);
	void *context;
	uint64_t argument;
};

MUST_CHECK bool process_start(struct loop *loop, const struct process_spec *spec,
			      uint64_t *out_process, struct error *error);
/* Writes to the stdin of a child started with `converse`.  False, and nothing is written, when the
 * child is done, has closed its stdin, or has more than LIMIT_CHILD_INPUT_BYTES left to read. */
bool process_write(struct loop *loop, uint64_t process, struct str bytes);
void process_end(struct loop *loop, uint64_t process);
size_t process_count(struct loop *loop);

/* Runs a program that talks to the person at the terminal, such as an editor: it has this process's
 * standard streams and environment.  Waits until it ends; -1 when a signal ended it.  Not on the loop
 * thread, and without a loop. */
MUST_CHECK bool process_run_at_terminal(const char *const *argv, const char *const *environment,
					int *out_status, struct error *error);

#endif
