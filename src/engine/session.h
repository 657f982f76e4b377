/* engine/session.h -- sessions: an agent takes turns and calls tools until it is done; private to this
 * room.
 *
 * A session is a container.  Its body has one node `turn`, which asks the model, and one node for each
 * tool of the agent.  A turn enters a body of its own: `dev[3]` is the third turn of the session `dev`,
 * `dev[3]/turn` its request to the model, `dev[3]/shell` and `dev[3]/shell#2` two calls of one reply.
 * So a turn and a call are ordinary activations: they have effects, attempts, logs and timeouts, and
 * recovery treats them like any others.
 *
 * The bodies of all turns stay in the state until the session ends.  They are the transcript: the
 * opening request, and for each turn its note, the reply, and the results of its calls.  Every one of
 * these values is stored once, when it comes into being.
 *
 *	step.entered    a turn begins; the first one records the opening request
 *	turn.finished   the reply; its calls become activations, or are refused
 *	step.left       the session ends with the last reply, or fails
 */
#ifndef ENGINE_SESSION_H
#define ENGINE_SESSION_H

#include "engine/engine_internal.h"

struct run_call_opened_list;
struct run_next;
struct run_turn_result;
struct run_step_entered;

enum { SESSION_AROUND_MESSAGE = 512 }; /* bytes of names, ids and roles of a message */

/* Whether the scope is a turn of a session. */
bool session_has(const struct run *run, const struct scope *scope);
/* The activation that asked the model in this turn; NULL before there is one. */
struct activation *session_turn_of(const struct scope *scope);

/* ---- evolving (session_state.c) ------------------------------------------------------------ */

void session_enter_turn(struct run *run, struct activation *session,
			const struct run_step_entered *event, int64_t at);
/* Derives the sums over the turns before this one.  The turn before it is over, and has its own sums. */
void session_add_up(struct run *run, struct scope *scope);
/* What a turn adds to the transcript, and whether it has called this required tool with success. */
struct transcript_size session_turn_size(const struct scope *scope);
bool session_turn_called(const struct run *run, const struct scope *scope, struct str tool);
/* Creates the activations of the calls of a reply. */
MUST_CHECK bool session_open_calls(struct run *run, struct activation *turn,
				   struct run_call_opened_list calls, struct error *error);
/* Makes calls ready whose turn it is: calls that only read run beside each other, every other call runs
 * alone, in the order of the reply. */
void session_release_calls(struct run *run, struct scope *scope);
/* A person has approved the call that the question is about. */
void session_open_approved(struct run *run, const struct activation *question);
/* A call has failed, and another tool is called instead. */
void session_open_fallback(struct run *run, struct activation *failed, const struct run_next *next);
/* The activation that made this call, or the question about it; NULL = it was refused. */
const struct activation *session_find_call(const struct scope *scope, uint32_t number);
/* The question about this call; NULL = none was asked. */
const struct activation *session_find_approval(const struct scope *scope, uint32_t number);
/* What failed or was stopped in a turn gets another activation, when the run is retried. */
bool session_can_reopen(const struct run *run, const struct scope *scope);
void session_reopen(struct run *run, struct scope *scope);

/* ---- deciding (session.c) -------------------------------------------------------------------- */

/* The session begins: records its opening request and the first turn. */
enum engine_answer session_begin(struct run *run, struct activation *session, int64_t now,
				 const struct engine_values *values, struct decision *d);
/* A turn is over with all its calls: another one, or the end. */
enum engine_answer session_continue(struct run *run, struct activation *session, int64_t now,
				    const struct engine_values *values, struct decision *d);
/* session_calls.c: */
const struct run_turn_result *session_reply_parse(const struct json *reply, struct arena *arena);
size_t session_call_count(const struct run_turn_result *reply);
/* The calls of a reply as turn.finished records them. */
struct run_call_opened_list session_calls(const struct run *run, const struct activation *turn,
					  const struct json *reply, struct decision *d);
/* The outputs of a step: the reply, and the members of a reply that is a JSON object. */
const struct json *session_outputs(const struct run *run, const struct json *reply,
				   struct arena *arena);
/* What follows from a call that has failed after its retries: NULL, or a call of another tool.  *out_missing:
 * the reply is not loaded. */
struct run_next *session_fallback(struct eval_context *eval_context,
				  const struct activation *failed, struct str code);
/* What is wrong with the arguments that a person has given instead of the model's; "" = nothing. */
struct str session_check_arguments(const struct run *run, const struct activation *question,
				   const struct json *arguments, struct arena *arena);
/* The arguments of a call, over the inputs that its node has; NULL when the reply is not loaded. */
const struct json *session_arguments(struct eval_context *eval_context,
				     const struct activation *call);
/* The most bytes that the transcript of its next turn can have. */
int64_t session_bytes(const struct activation *session);
/* When everything in the session must be over; 0 = never. */
int64_t session_deadline(const struct run *run, const struct activation *session);

#endif
