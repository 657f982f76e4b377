/* tool/works.h -- what calls under way share: their ids, the HTTP client, where lines go.
 *
 * One for a program, on the loop thread.  A call under way begins with a struct tool_running and is
 * found by its id; works_done() gives the id back and calls done().
 *
 *	struct nap { struct tool_running running; uint64_t timer; };
 *	static void woke(void *context, uint64_t id)
 *	{
 *		struct nap *nap = works_find(context, id);
 *		...
 *		works_done(&nap->running, &result);
 *		free(nap);
 *	}
 */
#ifndef TOOL_WORKS_H
#define TOOL_WORKS_H

#include "os/loop.h"
#include "tool/tool.h"

struct tool_works;

struct tool_works_settings {
	struct loop *loop;
	const char *append_root; /* folder of append_line's files; made when first used */
};

struct tool_works *works_new(const struct tool_works_settings *settings);
/* Behind loop_free(): calls that were still under way are forgotten. */
void works_free(struct tool_works *works);
const char *works_append_root(const struct tool_works *works);

/* ---- calls under way ----------------------------------------------------------------- */

struct tool_running {
	struct tool_works *works;
	struct loop *loop;
	uint64_t id;
	struct error told; /* what it was told to end with; code NONE: nothing yet */
	tool_done *done;
	void *context;
	uint64_t argument;
	/* Ends it early, once, behind `told`; NULL: it is short and ends by itself. */
	void (*end)(struct tool_running *running);
};

void works_begin(struct tool_running *running, const struct tool_host *host,
		 const struct tool_call *call);
struct tool_running *works_find(struct tool_works *works, uint64_t id); /* NULL when over */
/* Gives the id back, then calls done() with what it was told to end with, if it was, else with the
 * result.  The memory stays the caller's. */
void works_done(struct tool_running *running, const struct tool_result *result);
/* The stop() of every tool in this room. */
void works_stop(const struct tool_host *host, uint64_t id, const struct error *why);

/* The inputs by their contract, in the arena; NULL with the error. */
#define TOOL_INPUTS(entity, call, arena, error) \
	((const struct entity *)works_inputs(entity##_type(), (call)->inputs, (arena), (error)))
const void *works_inputs(const struct type *type, const struct json *inputs, struct arena *arena,
			 struct error *error);
/* A filled-in entity as the tree that a result is. */
const struct json *works_output(const struct type *type, const void *value, struct arena *arena);
#define TOOL_OUTPUT(entity, value, arena) works_output(entity##_type(), (value), (arena))

/* Bytes as text that JSON can hold: what is no UTF-8 becomes replacement characters. */
struct str works_utf8(struct arena *arena, struct str bytes);

#endif
