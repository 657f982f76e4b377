/* tool/tool_child.h -- one child process of a tool: sandboxed, with a lifeline, a timeout and limits.
 *
 * Used by shell and by custom tools.  The child dies when this process dies (sandbox/sandbox.h).
 * A child that exceeds a limit is killed, and its error is SANDBOX_LIMIT.
 * The caller keeps the struct until `ended` has been called and then calls tool_child_close().
 */
#ifndef TOOL_CHILD_H
#define TOOL_CHILD_H

#include "net/connect_proxy.h"
#include "os/process.h"
#include "sandbox/sandbox.h"
#include "tool/output_log.h"

struct limit_watch;
struct run_call_figures;

struct tool_child {
	struct loop *loop;
	struct sandbox_lifeline lifeline;
	uint64_t process, timer;
	bool timed_out;
	double timeout_seconds;
	const struct sandbox_limits *limits; /* NULL = none */
	struct limit_watch *watch;           /* NULL = none */
	struct connect_proxy *proxy;         /* that it uses; NULL = none */
	uint64_t proxy_line;
	struct error excess; /* the limit that was exceeded; code NONE = none */
	void (*ended)(struct tool_child *child, const struct process_result *result);
	void (*piece)(struct tool_child *child, struct str bytes); /* NULL = collect the output */
	struct output_log *log; /* gets stderr and, with log_stdout, stdout; NULL = none */
	bool log_stdout;
	const struct secret_mask *mask; /* for what the error quotes; NULL = none */
};

struct tool_child_spec {
	const struct sandbox *sandbox;
	const struct sandbox_limits *limits; /* NULL = none; ignored without isolation */
	const struct sandbox_layers *layers; /* NULL = all that the kernel has */
	struct sandbox_spec box;             /* workspace, mounts, command */
	bool network;                   /* it needs the proxy; fails with ISOLATION without one */
	struct connect_proxy *proxy;    /* NULL = there is none */
	struct connect_proxy_user user; /* of the proxy */
	int lock;                       /* inherited by all processes of the child; -1 = none */
	struct str input;
	bool converse;                              /* stdin stays open for process_write() */
	double timeout_seconds;                     /* 0 = none */
	const struct sandbox_variable *environment; /* set inside; never on a command line */
	size_t environment_count;
};

/* Fails with ISOLATION when the sandbox cannot be built, with UNAVAILABLE when too many child
 * processes are running. */
MUST_CHECK bool tool_child_start(struct tool_child *child, struct loop *loop,
				 const struct tool_child_spec *spec, struct error *error);
/* Kills the child and all its descendants; `ended` is called afterwards. */
void tool_child_end(struct tool_child *child);
/* True when the child exited with status 0. Otherwise the error says how it ended and quotes the
 * last lines of its stderr, or of its stdout if that is a log, too, and stderr is empty. */
MUST_CHECK bool tool_child_succeeded(const struct tool_child *child,
				     const struct process_result *result, struct error *error);
/* True when the child did not end by itself: it timed out, exceeded a limit, or a signal killed it.  The sandbox
 * reports signals as exit statuses over 128. */
bool tool_child_was_cut_off(const struct tool_child *child, const struct process_result *result);
/* What its processes used, in the arena: NULL when it was not started. */
const struct run_call_figures *tool_child_figures(const struct tool_child *child,
						  const struct process_result *result,
						  struct arena *arena);
/* True when the command was started, or may have been started. */
bool tool_child_began(const struct tool_child *child);
void tool_child_close(struct tool_child *child);

#endif
