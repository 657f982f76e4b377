/* tool/custom_internal.h -- a call of a custom tool, shared by tool_custom.c (one process per call)
 * and process_pool.c (one process for many calls). */
#ifndef TOOL_CUSTOM_INSIDE_H
#define TOOL_CUSTOM_INSIDE_H

#include "tool/tool_child.h"
#include "tool/custom_tools.h"
#include "tool/tool_context.h"

struct custom_call {
	struct tool_running running; /* first */
	struct job job;
	struct arena arena;
	struct tool_host host;
	struct str name, step;
	enum run_effect_class class;
	struct str inputs; /* JSON */
	const char *workspace;
	int lock;              /* of the effect; -1 = not taken yet */
	const char *lock_path; /* of a lock that this call took itself; NULL = it was given */
	char effect[UUID_TEXT_SIZE], run[UUID_TEXT_SIZE];
	struct custom_tool tool; /* as read and verified for this call */
	struct error error;
	uint64_t timer;
	bool spawned;
	bool begun;    /* the program has the inputs: the effect may have happened */
	bool answered; /* the program itself reported its failure */
	struct tool_child child;
	struct custom_call *next; /* in the queue of a pooled process */
	bool pooled;              /* the process pool has it */
};

/* The command line for the sandbox: the program, or the runner with the script.  The environment of
 * a process that serves one call has BATON_EFFECT and BATON_RUN.  `mode` is the runner's last
 * argument: "call" or "lines". */
const char *const *custom_command(const struct custom_call *call, const char *mode,
				  struct sandbox_mount *out_mount, struct arena *arena);
/* Ends the call with this JSON text, or with the error, and frees it.  A call of class once that
 * has begun without an answer ends with OUTCOME_UNKNOWN. */
void custom_finish(struct custom_call *call, struct str output, const struct error *error);

/* ---- the process pool: tools with keep_alive ----------------------------------------- */

struct process_pool;
struct process_pool *process_pool_new(struct loop *loop);
void process_pool_free(struct process_pool *process_pool);
void process_pool_call(struct process_pool *process_pool, struct custom_call *call);
/* The call was stopped. */
void process_pool_stop(struct process_pool *process_pool, struct custom_call *call);
/* The trust in the tool has changed: its process ends after the current call. */
void process_pool_renew(struct process_pool *process_pool, struct str name);

#endif
