/* tool/tool_child.h -- one child process of a tool: in the sandbox, tied to us, with an end to its
 * time.
 *
 * What shell and custom tools have in common.  The caller keeps the struct (in its call) until
 * `ended` was called, and then calls tool_child_close().
 */
#ifndef TOOL_CHILD_H
#define TOOL_CHILD_H

#include "os/process.h"
#include "sandbox/sandbox.h"

struct tool_child {
	struct loop *loop;
	struct sandbox_lifeline tie;
	uint64_t process, timer;
	bool timed_out;
	double timeout_seconds;
	void (*ended)(struct tool_child *child, const struct process_result *result);
	void (*piece)(struct tool_child *child, struct str bytes); /* NULL = output is kept */
};

struct tool_child_spec {
	const struct sandbox *sandbox;
	struct sandbox_spec box; /* workspace, mounts, network, command */
	int lock;                /* every process of the tree inherits it */
	struct str input;
	bool converse;          /* stdin stays open for process_write() */
	double timeout_seconds; /* 0 = none */
};

/* ISOLATION when the sandbox cannot be built, UNAVAILABLE when every child's place is taken. */
MUST_CHECK bool tool_child_start(struct tool_child *child, struct loop *loop,
				 const struct tool_child_spec *spec, struct error *error);
void tool_child_end(struct tool_child *child); /* it and all its descendants; `ended` follows */
/* Did it do what it was asked?  If not, the error says what happened, with the end of its stderr.
 */
MUST_CHECK bool tool_child_succeeded(const struct tool_child *child,
				     const struct process_result *result, struct error *error);
/* It did not come to an end of its own: its time was over, or a signal ended it, which the sandbox
 * tells of as exit statuses over 128. */
bool tool_child_was_cut_off(const struct tool_child *child, const struct process_result *result);
/* Its command was started, or may have been. */
bool tool_child_began(const struct tool_child *child);
void tool_child_close(struct tool_child *child);

#endif
