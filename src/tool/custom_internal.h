/* tool/custom_internal.h -- a call of a custom tool, shared by tool_custom.c (one process a call)
 * and custom_keep.c (one process for many). */
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
	struct str name;
	enum run_effect_class class;
	struct str inputs; /* JSON */
	const char *workspace;
	int lock;
	char effect[UUID_TEXT_SIZE], run[UUID_TEXT_SIZE];
	struct custom_tool tool; /* as it was when this call looked */
	struct error error;
	uint64_t timer;
	bool spawned;
	bool begun;    /* its program runs, or was asked: it may have done what it is for */
	bool answered; /* and has said how it ended */
	struct tool_child child;
	struct custom_call *next; /* in a keeper's queue */
	bool kept;                /* a keeper has it */
};

/* The command for the sandbox: the program, or the runner of its script; unless it is kept alive,
 * with what tells the call apart in its environment.  `mode` is the runner's: call or lines. */
const char *const *custom_command(const struct custom_call *call, const char *mode,
				  struct sandbox_mount *out_mount, struct arena *arena);
/* Ends it with this JSON text (or the error) and frees it.  One of class once that has begun and
 * not answered ends as unknown. */
void custom_finish(struct custom_call *call, struct str output, const struct error *error);

/* ---- kept-alive tools ---------------------------------------------------------------- */

struct process_pool;
struct process_pool *process_pool_new(struct loop *loop);
void process_pool_free(struct process_pool *process_pool);
void process_pool_call(struct process_pool *process_pool, struct custom_call *call);
/* The call was told to end. */
void process_pool_stop(struct process_pool *process_pool, struct custom_call *call);
/* Somebody trusts it anew, or no more: its process ends, behind the call it is at. */
void process_pool_renew(struct process_pool *process_pool, struct str name);

#endif
