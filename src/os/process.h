/* os/process.h -- children: spawned by the loop thread only, watched by id.
 *
 * A child gets exactly argv, an environment of its own, /dev/null or `input` as stdin, pipes for
 * stdout and stderr (each kept up to output_limit bytes, the rest counted), and the descriptors
 * named in `keep`, which it finds as 3, 4, ... in their order; every other one is closed on exec.
 * What matters of a kept one is the open file it stands for: a flock on it is held by the whole
 * tree of the child, so the lock is free only when the tree is dead.
 *
 * The child leads its own session and process group.  done() is called once, on the loop, when
 * the child has exited and both pipes are at their end; a grandchild that keeps a pipe open gets
 * LIMIT_TOOL_KILL_MS after the exit, then the pipe is closed.  What is left of the group is
 * killed just before done().
 *
 * process_end() asks the group to end (SIGTERM) and kills it LIMIT_TOOL_KILL_MS later; an id
 * whose child is done is harmless.  More than LIMIT_CHILDREN at once: ERROR_UNAVAILABLE.
 */
#ifndef OS_PROCESS_H
#define OS_PROCESS_H

#include "base/error.h"
#include "os/loop.h"

enum { PROCESS_KEEP = 8 }; /* descriptors a child can be given */

struct process_result {
	int exit_status;           /* -1 when ended by a signal */
	int signal;                /* 0 when it exited */
	struct str output, errors; /* borrowed for the call of done() */
	uint64_t output_dropped, errors_dropped;
};

struct process_spec {
	const char *const *argv;        /* argv[0] is looked up in PATH */
	const char *const *environment; /* NULL-terminated NAME=value; NULL = empty */
	const char *directory;          /* NULL = ours */
	struct str input;               /* copied; empty = /dev/null */
	bool converse;                  /* stdin stays open for process_write() */
	const int *keep;                /* open descriptors, the child's 3, 4, ... */
	size_t keep_count;
	size_t output_limit;
	/* Standard output as it comes, instead of being kept; borrowed for the call. */
	void (*piece)(void *context, uint64_t argument, struct str bytes);
	void (*done)(void *context, uint64_t argument, const struct process_result *result);
	void *context;
	uint64_t argument;
};

MUST_CHECK bool process_start(struct loop *loop, const struct process_spec *spec,
			      uint64_t *out_process, struct error *error);
/* Into the stdin of a child that converses.  One that is done, has closed it or leaves more than
 * LIMIT_CHILD_INPUT_BYTES unread gets nothing: false. */
bool process_write(struct loop *loop, uint64_t process, struct str bytes);
void process_end(struct loop *loop, uint64_t process);
size_t process_count(struct loop *loop);

#endif
