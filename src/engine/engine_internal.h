/* engine/engine_internal.h -- what decide.c, advance.c, see.c and verify.c share; private to this room. */
#ifndef ENGINE_INSIDE_H
#define ENGINE_INSIDE_H

#include "contract/run_value_types.h"
#include "engine/decide.h"
#include "engine/effect_events.h"
#include "engine/run.h"

/* ---- making (make.c) ----------------------------------------------------------------- */

/* Adds the event and applies it.  Events come from the state itself, so one that does not fit is
 * our own mistake. */
void decision_emit(struct run *run, struct decision *d, struct event event);
void decision_need_value(struct decision *d, const struct hash *hash);
void decision_stop_effect(struct decision *d, const struct activation *activation);
void decision_close_silently(struct decision *d, const struct uuid *id);
/* The value's text, at NULL when it is over LIMIT_VALUE_BYTES.  False: it is too long to be printed
 * here, and to_print says so. */
MUST_CHECK bool decision_print(struct decision *d, const struct json *json, struct str *out_text);
/* The hash over the prefix and the value's text.  False as above. */
MUST_CHECK bool decision_hash(struct decision *d, struct str prefix, const struct json *json,
			      struct hash *out_hash);
/* R3: short values stand in the event, longer ones are stored by hash.  *out is NULL when the value
 * is over the largest.  False as above. */
MUST_CHECK bool decision_value(struct decision *d, const struct json *json, struct run_value **out);
/* A value of the state once more. */
struct run_value *decision_value_again(struct decision *d, const struct value *value);
struct run_fault *decision_failure(struct decision *d, struct failure from);
struct failure failure_make(enum error_code code, struct str text);
/* What we have printed ourselves. */
const struct json *json_parse_own(struct str text, struct arena *arena);
void decision_add_blob(struct decision *d, struct str bytes, const struct hash *hash);

/* ---- seeing (see.c): what templates and expressions read ------------------------------- */

struct eval_context {
	struct run *run;
	struct scope *scope; /* the innermost */
	const struct engine_values *values;
	struct decision *d;
	/* The step that is being closed, and its result, before its event is there. */
	const struct activation *closing;
	const struct json *output;
	bool missing; /* something is stored and not loaded: decision->needs has it */
};

struct eval_context eval_context_make(struct run *run, struct scope *scope,
				      const struct engine_values *values, struct decision *d);
const struct json *eval_value(struct eval_context *eval_context, const struct value *value);
const struct json *eval_render(struct eval_context *eval_context, const struct json *template);
bool eval_holds(struct eval_context *eval_context, const struct expr *condition);
bool eval_expression(struct eval_context *eval_context, const struct expr *expr,
		     const struct json **out, struct error *error);

/* ---- closing (close.c): what follows from a result -------------------------------------- */

/* What a closing event says in `next`; NULL: nothing. */
struct step_continuation {
	struct run_next *next;
	struct str over; /* what an edge would lead to too often; "" = nothing */
};

/* A good result: the edges taken, whether it runs again.  False: values are missing. */
bool continuation_after_success(struct eval_context *eval_context,
				const struct activation *activation, const struct json *output,
				struct step_continuation *out);
/* A bad one: whether and when it is tried again. */
struct run_next *continuation_after_failure(const struct run *run,
					    const struct activation *activation,
					    const struct failure *fault, int64_t now,
					    struct decision *d);
/* Behind a closing event: an edge that would have led too often ends the run. */
void enforce_iteration_limit(struct run *run, const struct step_continuation *continuation,
			     int64_t now, struct decision *d);

/* A step that has no effect has its result; NULL and code "" are what there is not. */
void decision_emit_computed(struct run *run, const struct activation *activation, int64_t now,
			    struct run_value *output, struct failure fault, struct run_next *next,
			    struct decision *d);

/* The run is called off with this fault (code "" = cancelled): what runs is told to stop. */
void engine_cancel_run(struct run *run, int64_t now, struct str by, struct str reason,
		       struct failure fault, struct decision *d);

/* ---- requests (request.c) --------------------------------------------------------------- */

enum engine_answer request_effect(struct run *run, struct activation *activation, int64_t now,
				  const struct engine_values *values, struct decision *d);
/* A person settles an outcome nobody knows. */
void request_settlement(struct run *run, const struct activation *activation, int64_t now,
			struct decision *d);
/* A step that cannot even start. */
void request_fail_ready(struct run *run, const struct activation *activation, struct failure fault,
			int64_t now, struct decision *d);
/* A wait is over; `fault` code "" = as it should.  False: values are missing. */
bool request_finish_timer(struct run *run, const struct activation *activation, int64_t now,
			  const struct value *data, struct failure fault,
			  const struct engine_values *values, struct decision *d);

/* ---- bodies (body.c, verify.c) ------------------------------------------------------------ */

enum engine_answer body_enter(struct run *run, struct activation *activation, int64_t now,
			      const struct engine_values *values, struct decision *d);
enum engine_answer body_leave(struct run *run, struct activation *activation, int64_t now,
			      const struct engine_values *values, struct decision *d);
/* Output of a body: that of its only node, or {node: output}, as a parallel one always has it. */
const struct json *body_output(struct eval_context *eval_context, struct scope *scope,
			       uint32_t owner);
void body_left(struct run *run, const struct activation *activation, int64_t now,
	       struct run_value *output, struct failure fault, struct run_next *next,
	       struct decision *d);
/* A verification's round: its result, and whether there is another. */
enum engine_answer verify_round(struct run *run, struct activation *activation, int64_t now,
				const struct engine_values *values, struct decision *d);
enum engine_answer body_leave_gate(struct run *run, struct activation *activation, int64_t now,
				   const struct engine_values *values, struct decision *d);

#endif
