/* effect/tool_call.h -- a tool call under way; private to this room.
 *
 * effect_tool.c leads a call from its lock to its result; tool_call_files.c lists the files that it changed
 * when its tool has ended; tool_call_host.c chooses where the tool runs.
 */
#ifndef EFFECT_TOOL_CALL_H
#define EFFECT_TOOL_CALL_H

#include "contract/run_class_types.h"
#include "effect/effect.h"
#include "engine/value.h"

struct call_secrets_read;
struct run_call_figures;
struct run_file_changes;
struct run_graph;
struct run_graph_node;
struct run_graph_sandbox;
struct secret_mask;
struct secret_use;
struct tool;
struct tool_host;

/* A call under way, found by its slot. */
struct call {
	struct arena arena; /* first: effects_free() frees it */
	struct executor *executor;
	uint64_t id, active;
	struct str step, tree;
	struct str branch;              /* whose folder it works in; "" = the run's own */
	struct str repository, tracker; /* of the run's profile; "" = it has none */
	struct str plan_path_pattern;   /* of the run; "" = the usual one */
	int64_t run_created_at;
	bool read_only;
	struct uuid effect;
	struct str tool;
	const struct run_graph_sandbox *sandbox; /* of its profile or agent; NULL = the server's */
	struct tool_host *host;                  /* NULL = not chosen yet */
	struct value inputs;               /* a copy: the run's state may be missing for a while */
	const struct json *waiting_inputs; /* of a call that waits for a place; NULL = not read */
	enum run_effect_class class;
	int64_t attempt;
	int lock;         /* -1 = not taken */
	uint64_t running; /* the tool's own id; 0 = not started */
	uint64_t log;     /* of live_log.h; 0 = none */
	struct str workflow;
	struct str_list secret_names; /* of the whole definition: they are masked */
	struct secret_use *uses;      /* secrets of the inputs */
	size_t use_count;
	const struct run_call_figures *figures; /* of its processes; NULL = unknown */
	struct call_secrets_read *secrets; /* NULL = not read yet, or the definition names none */
	const struct secret_mask *mask;
	bool resuming;
	int64_t locked_us;  /* how long it has waited for the lock */
	uint64_t restoring; /* the restore under way; 0 = none */
	bool asking;        /* the tool is asked whether the call happened */
	bool cancelling;    /* the run is being cancelled: the call is not repeated */
	bool no_room;       /* it has met a full disk */
	int64_t started_us; /* when its tool started, by the wall clock */
	/* The tool has ended; the files that it changed are being listed: */
	bool ended;
	uint64_t listing;
	enum run_outcome outcome;
	const struct json *output; /* NULL = none */
	struct error error;        /* code NONE = none */
	int64_t retry_after_us;    /* a retry waits at least so long */
	const struct run_file_changes *files;
};

/* Takes the call off the books and sends its result to the run. */
void tool_call_close(struct call *call, enum run_outcome outcome, const struct json *output,
		     const struct error *error);

/* ---- where it runs (tool_call_host.c) --------------------------------------------------- */

struct str_list tool_call_list_copy(struct arena *arena, struct str_list from);
/* The sandbox that the graph has for the node, else for the whole run, as a copy; NULL = none. */
const struct run_graph_sandbox *tool_call_sandbox(const struct run_graph *graph,
						  const struct run_graph_node *node,
						  struct arena *arena);
/* Sets call->host unless it is set; fails with ISOLATION when this server does not have the sandbox. */
MUST_CHECK bool tool_call_choose_host(struct call *call, const struct tool *tool,
				      struct error *error);

/* ---- files that it changed (tool_call_files.c) ------------------------------------------ */

/* The tool has ended: closes the call when the list is made, or at once if it needs none. */
void tool_call_list_files(struct call *call);
/* The run is being cancelled: the call is closed without the list. */
void tool_call_stop_listing(struct call *call);
/* Adds the list to the command that closes the call. */
void tool_call_attach_files(const struct call *call, struct pending_command *pending);

#endif
