/* engine/activation.h -- state changes of activations, scopes and ready lists, which evolve() is
 * composed of; private to this room. */
#ifndef ENGINE_PLACE_H
#define ENGINE_PLACE_H

#include "engine/run.h"

struct run_next;

struct activation *activation_new(struct run *run, struct scope *scope, uint32_t node);
void activation_ready(struct run *run, struct activation *activation);
void activation_move(struct activation *activation, enum step_state to);
/* A new scope without activations. */
struct scope *scope_new(struct run *run, struct activation *owner, int64_t item);
/* Enters a body: a new scope whose nodes get their activations. */
struct scope *scope_enter(struct run *run, struct activation *owner, int64_t item);
/* Removes a final activation from the state; the caller sets the place's `final`. */
void activation_forget(struct run *run, struct activation *activation);
/* Releases the nodes that no edge can reach any more, if everything else waits for them. */
void activation_release_unreached(struct run *run, struct scope *scope);
/* Removes the scopes of a container from the state. */
void scopes_leave(struct run *run, struct activation *owner);

/* Moves the activation to a final state and applies the consequences: dependents, edges, rounds, the
 * end of its scope.  `next` is the continuation in the closing event, NULL when there is none. */
void activation_end(struct run *run, struct activation *activation, enum step_state state,
		    int64_t at, const struct run_next *next);
/* Whether the activation has failed its body: not with continue_on_error. */
bool activation_is_failure(const struct run *run, const struct activation *activation);
/* The most bodies of a map at once. */
int64_t activation_at_once(const struct run *run, const struct activation *map);
/* Cancels the whole run. */
void run_stop(struct run *run, int64_t at);

/* Whether a retry of the run would execute anything again, and doing so (reopen.c). */
bool reopen_is_possible(const struct run *run);
void reopen_run(struct run *run);
/* Whether a retry can continue inside containers of this kind. */
bool reopen_continues_inside(enum run_node_kind kind);
/* Cancels the whole run, except finally steps, unless the run is abandoned. */
void run_stop(struct run *run, int64_t at);

/* Whether a cancel leaves the activation alone, because finally steps run in every case. */
bool activation_is_exempt(const struct run *run, const struct activation *activation);
/* Starts the finally steps that are left. */
void activation_unwind(struct run *run);

/* Values that a snapshot omits when the state implies them, which is almost always so: whether a
 * node's dependents are released, derived from its newest activation; and the first failed
 * activation of a scope, derived from the activations that the state still has. */
bool place_seems_done(const struct run *run, const struct place *place);
const struct activation *scope_first_failed(const struct run *run, const struct scope *scope);

void ready_list_push(struct run *run, struct ready_list *queue, struct activation *activation);
/* Removes the activation from any position; false when the list does not contain it. */
bool ready_list_remove(struct ready_list *queue, const struct activation *activation);
/* Removes an activation that starts; false when it is not its turn. */
bool activation_take_ready(struct run *run, struct ready_list *queue,
			   struct activation *activation);
struct ready_list *ready_list_of(struct run *run, const struct activation *activation);

#endif
