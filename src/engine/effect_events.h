/* engine/effect_events.h -- the events that request and finish a call; private to this room.
 *
 * A call is an effect that can be stopped: a tool, a turn or a sub-run.  Each kind has its own event
 * types with almost the same fields.  These functions build them from one struct, both for decisions
 * and for synthesized history.  The caller sets the time of the event.
 */
#ifndef ENGINE_CALL_H
#define ENGINE_CALL_H

#include "contract/event.h"
#include "contract/run_outcome_types.h"
#include "contract/run_value_types.h"

struct run_fault;
struct run_graph_node;
struct run_next;

/* Since version 2, a person settles an unknown outcome. */
enum { EVENT_VERSION = 2 };

struct call_request {
	struct str step;
	struct uuid effect;
	const struct run_value *inputs; /* of a turn: the whole request */
	int64_t attempt;                /* from 1 */
	int64_t due_at;                 /* 0 = never */
	int64_t begun_at;       /* when its timeout began, with the taking of its tree; 0 = now */
	struct str tree;        /* of a contained tool; "" = none */
	struct str folder;      /* of a contained tool: the branch; "" = none */
	struct hash definition; /* of a sub-run */
	int64_t reserved;       /* of a turn, if `reserves` */
	bool reserves;
	struct str_list budgets;            /* named ones that it reserves of */
	struct run_secret_use_list secrets; /* of a tool; count 0 = none */
};

/* A NULL member is absent from the event. */
struct call_end {
	struct str step;
	struct uuid effect;
	enum run_outcome outcome;
	const struct run_value *output;
	const struct run_fault *fault;
	const struct run_next *next;
	const struct run_call_figures *figures; /* of a tool */
	const struct json *usage;               /* of a turn */
	const struct run_value *log;            /* of a tool */
	const struct run_value *files;          /* of a tool, with their number: */
	int64_t file_count;
	struct run_call_opened_list calls; /* of a turn in a session; count 0 = none */
};

struct event call_requested(const struct run_graph_node *node, const struct call_request *from,
			    struct arena *arena);
struct event call_finished(const struct run_graph_node *node, const struct call_end *from,
			   struct arena *arena);

#endif
