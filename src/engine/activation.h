/* engine/activation.h -- activations, scopes and queues: the moves that evolving is made of; private
 * to this room. */
#ifndef ENGINE_PLACE_H
#define ENGINE_PLACE_H

#include "engine/run.h"

struct run_next;

struct activation *activation_new(struct run *run, struct scope *scope, uint32_t node);
void activation_ready(struct run *run, struct activation *activation);
void activation_move(struct activation *activation, enum step_state to);
/* A body without any activation yet. */
struct scope *scope_new(struct run *run, struct activation *owner, int64_t item);
/* A body begins: its nodes get their activations. */
struct scope *scope_enter(struct run *run, struct activation *owner, int64_t item);
/* Forgets what is in the container's bodies. */
void scopes_leave(struct run *run, struct activation *owner);

/* The activation is final in this state; everything that follows follows.  `next` is what the
 * closing event says beside its result, NULL when it says nothing. */
void activation_end(struct run *run, struct activation *activation, enum step_state state,
		    int64_t at, const struct run_next *next);
/* The whole run is called off. */
void run_stop(struct run *run, int64_t at);

/* What a snapshot leaves out, because it is almost always so: whether a node's dependents go on, as
 * its newest activation has it, and the first activation that failed, of those that are there. */
bool place_seems_done(const struct place *place);
const struct activation *scope_first_failed(const struct scope *scope);

void ready_list_push(struct run *run, struct ready_list *queue, struct activation *activation);
/* Takes it out, wherever it stands; false when it is not there. */
bool ready_list_remove(struct ready_list *queue, const struct activation *activation);
struct ready_list *ready_list_of(struct run *run, const struct activation *activation);

#endif
