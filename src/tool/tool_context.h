/* tool/tool_context.h -- state shared by running calls: ids, HTTP client, queues.
 *
 * A program has one, used on the loop thread only.  The struct of a running call begins with a
 * struct tool_running and is found by its id; tool_context_done() releases the id and calls done().
 *
 *	struct sleep_call { struct tool_running running; uint64_t timer; };
 *	static void timer_fired(void *context, uint64_t id)
 *	{
 *		struct sleep_call *sleep = (struct sleep_call *)tool_context_find(context, id);
 *		...
 *		tool_context_done(&sleep->running, &result);
 *		free(sleep);
 *	}
 */
#ifndef TOOL_WORKS_H
#define TOOL_WORKS_H

#include "os/loop.h"
#include "tool/tool.h"
#include "tool/tool_text.h"

struct tool_context;

struct artifacts;
struct custom_tools;
struct http_client;
struct process_pool;
struct line_writer;
struct trackers;
struct notify_target;

struct tool_context_settings {
	struct loop *loop;
	struct custom_tools *customs; /* NULL = no custom tools */
	struct artifacts *artifacts;
	struct trackers *trackers; /* freed with the context; NULL = no trackers */
	const char *append_root;   /* folder of append_line's files; created on first use */
	struct str_list
		private_addresses; /* that HTTP tools may reach in addition to public ones */
};

/* Fails with INVALID when a private address cannot be parsed. */
MUST_CHECK bool tool_context_new(const struct tool_context_settings *settings,
				 struct tool_context **out_context, struct error *error);
/* Call before loop_free().  Running calls are dropped; their done() is not called. */
void tool_context_free(struct tool_context *tool_context);
const char *tool_context_append_root(const struct tool_context *tool_context);
struct http_client *tool_context_http(struct tool_context *tool_context);
struct artifacts *tool_context_artifacts(const struct tool_context *tool_context);
struct trackers *tool_context_trackers(const struct tool_context *tool_context);
struct custom_tools *tool_context_customs(const struct tool_context *tool_context);
struct line_writer *
tool_context_line_writer(const struct tool_context *tool_context); /* line_writer.h */
struct process_pool *
tool_context_process_pool(const struct tool_context *tool_context); /* custom_internal.h */
/* Call when the trust in a custom tool has changed: its pooled process ends. */
void tool_context_trust_changed(struct tool_context *tool_context, struct str name);
/* Sets the port of our own server, which HTTP tools may not reach. */
void tool_context_listens(struct tool_context *tool_context, int port);

/* Where the tool notify sends to (notify_target.h); once, before the first call. */
void tool_context_set_notify(struct tool_context *tool_context,
			     bool (*find)(void *context, struct str name, struct arena *arena,
					  struct notify_target *out_target, struct error *error),
			     void *context);
/* CONFIGURATION when this program has no webhooks. */
MUST_CHECK bool tool_context_notify_target(const struct tool_context *tool_context, struct str name,
					   struct arena *arena, struct notify_target *out_target,
					   struct error *error);

/* ---- running calls ------------------------------------------------------------------- */
struct tool_running {
	struct tool_context *tool_context;
	struct loop *loop;
	uint64_t id;
	struct error stop_error;        /* the error given to stop(); code NONE = not stopped */
	const struct secret_mask *mask; /* the caller's, valid until done(); NULL = none */
	struct output_log *log;         /* the caller's, valid until done(); NULL = none */
	tool_done *done;
	void *context;
	uint64_t argument;
	/* Ends the call early; called at most once, after stop_error is set.  NULL = the call is
	 * short and is left to end by itself. */
	void (*end)(struct tool_running *running);
};

void tool_context_begin(struct tool_running *running, const struct tool_host *host,
			const struct tool_call *call);
struct tool_running *tool_context_find(struct tool_context *tool_context,
				       uint64_t id); /* NULL = it has ended */
/* Releases the id, then calls done(): with stop_error if the call was stopped and has no output,
 * else with the result.  The caller still owns the memory. */
void tool_context_done(struct tool_running *running, const struct tool_result *result);
/* For a call of class once whose work began and gave no answer, so that its effect may have
 * happened: turns `error` (the reason) into OUTCOME_UNKNOWN and clears stop_error, so that done()
 * gets this error even if the call was stopped.  `what` begins the message: "it was started". */
void tool_fail_unknown(struct tool_running *running, const char *what, struct error *error);
/* For a call that did not start: releases the id without calling done(). */
void tool_context_forget(struct tool_running *running);
/* The stop() of all built-in tools. */
void tool_context_stop(const struct tool_host *host, uint64_t id, const struct error *why);

/* Parses the inputs by their type into the arena; NULL on failure. */
#define TOOL_INPUTS(entity, call, arena, error)                                               \
	((const struct entity *)tool_context_inputs(entity##_type(), (call)->inputs, (arena), \
						    (error)))
const void *tool_context_inputs(const struct type *type, const struct json *inputs,
				struct arena *arena, struct error *error);
/* A path of the inputs as the kernel takes it; a NUL byte, which would truncate it, is INVALID. */
MUST_CHECK bool tool_context_path(struct str path, struct arena *arena, const char **out_path,
				  struct error *error);
/* Converts an entity into JSON for a result. */
const struct json *tool_context_output(const struct type *type, const void *value,
				       struct arena *arena);
#define TOOL_OUTPUT(entity, value, arena) tool_context_output(entity##_type(), (value), (arena))

#endif
