/* tool/tool_context.h -- what calls under way share: their ids, the HTTP client, where lines go.
 *
 * One for a program, on the loop thread.  A call under way begins with a struct tool_running and is
 * found by its id; tool_context_done() gives the id back and calls done().
 *
 *	struct nap { struct tool_running running; uint64_t timer; };
 *	static void woke(void *context, uint64_t id)
 *	{
 *		struct nap *nap = tool_context_find(context, id);
 *		...
 *		tool_context_done(&nap->running, &result);
 *		free(nap);
 *	}
 */
#ifndef TOOL_WORKS_H
#define TOOL_WORKS_H

#include "os/loop.h"
#include "tool/tool.h"

struct tool_context;

struct artifacts;
struct custom_tools;
struct http_client;
struct process_pool;
struct line_writer;

struct tool_context_settings {
	struct loop *loop;
	struct custom_tools *customs;      /* custom tools; NULL = there are none */
	struct artifacts *artifacts;       /* what runs keep */
	const char *append_root;           /* folder of append_line's files; made when first used */
	struct str_list private_addresses; /* that requests may go to, beside public ones */
};

/* INVALID: a private address is none. */
MUST_CHECK bool tool_context_new(const struct tool_context_settings *settings,
				 struct tool_context **out_works, struct error *error);
/* Before loop_free(): requests under way end without a word, other calls are forgotten. */
void tool_context_free(struct tool_context *tool_context);
const char *tool_context_append_root(const struct tool_context *tool_context);
struct http_client *tool_context_http(struct tool_context *tool_context);
struct artifacts *tool_context_artifacts(const struct tool_context *tool_context);
struct custom_tools *tool_context_customs(const struct tool_context *tool_context);
struct line_writer *
tool_context_line_writer(const struct tool_context *tool_context); /* of lines.h */
struct process_pool *
tool_context_process_pool(const struct tool_context *tool_context); /* of custom_inside.h */
/* The trust in a custom tool is another one: a process that stayed for it ends. */
void tool_context_trust_changed(struct tool_context *tool_context, struct str name);
/* The port that we listen on, where no request may go. */
void tool_context_listens(struct tool_context *tool_context, int port);

/* ---- calls under way ----------------------------------------------------------------- */

struct tool_running {
	struct tool_context *tool_context;
	struct loop *loop;
	uint64_t id;
	struct error told; /* what it was told to end with; code NONE: nothing yet */
	tool_done *done;
	void *context;
	uint64_t argument;
	/* Ends it early, once, behind `told`; NULL: it is short and ends by itself. */
	void (*end)(struct tool_running *running);
};

void tool_context_begin(struct tool_running *running, const struct tool_host *host,
			const struct tool_call *call);
struct tool_running *tool_context_find(struct tool_context *tool_context,
				       uint64_t id); /* NULL when over */
/* Gives the id back, then calls done(): with the result, unless it has no output and the call was
 * told to end; then with what it was told.  The memory stays the caller's. */
void tool_context_done(struct tool_running *running, const struct tool_result *result);
/* What a call of class once fails with when its work had begun and no answer came: whoever does it
 * may have done it.  `error` is why there is none and becomes OUTCOME_UNKNOWN; what the call was
 * told to end with does not change that, and is not said any more. */
void tool_fail_unknown(struct tool_running *running, const char *what, struct error *error);
/* It never began: the id goes without a word. */
void tool_context_forget(struct tool_running *running);
/* The stop() of every tool in this room. */
void tool_context_stop(const struct tool_host *host, uint64_t id, const struct error *why);

/* The inputs by their contract, in the arena; NULL with the error. */
#define TOOL_INPUTS(entity, call, arena, error)                                               \
	((const struct entity *)tool_context_inputs(entity##_type(), (call)->inputs, (arena), \
						    (error)))
const void *tool_context_inputs(const struct type *type, const struct json *inputs,
				struct arena *arena, struct error *error);
/* A filled-in entity as the tree that a result is. */
const struct json *tool_context_output(const struct type *type, const void *value,
				       struct arena *arena);
#define TOOL_OUTPUT(entity, value, arena) tool_context_output(entity##_type(), (value), (arena))

/* Bytes as text that JSON can hold: what is no UTF-8 becomes replacement characters. */
struct str tool_context_utf8(struct arena *arena, struct str bytes);
/* Text that was cut off somewhere, without a character that is only half there. */
struct str tool_context_whole_characters(struct str text);

#endif
