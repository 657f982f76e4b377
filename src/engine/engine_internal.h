/* engine/engine_internal.h -- declarations shared by the files that make decisions; private to this
 * room. */
#ifndef ENGINE_INSIDE_H
#define ENGINE_INSIDE_H

#include "contract/run_value_types.h"
#include "engine/decide.h"
#include "engine/effect_events.h"
#include "engine/run.h"

/* ---- building a decision (decision_builder.c) ------------------------------------------- */

/* Adds the event to the decision and applies it.  Events are derived from the state, so an event that
 * the state rejects is a bug. */
void decision_emit(struct run *run, struct decision *d, struct event event);
/* Records with the next event that a lenient rule was used, once per step and text. */
void decision_warn(struct decision *d, enum run_warning_code code, struct str step,
		   struct str text);
void decision_need_value(struct decision *d, const struct hash *hash);
/* again: the finally and undo steps of a sub-run are to end, too. */
void decision_stop_effect(struct decision *d, const struct activation *activation, bool again);
/* The step waits until the tree of its workspace is taken. */
void decision_want_tree(struct decision *d, struct decision_tree tree);
void decision_close_silently(struct decision *d, const struct uuid *id);
/* The text of a value; at NULL when it is over LIMIT_VALUE_BYTES.  False when the value is too long to
 * be printed on this thread: to_print then has it. */
MUST_CHECK bool decision_print(struct decision *d, const struct json *json, struct str *out_text);
/* The hash of the prefix and the text of a value.  False as above. */
MUST_CHECK bool decision_hash(struct decision *d, struct str prefix, const struct json *json,
			      struct hash *out_hash);
/* R3: short values are inline in the event, longer ones are stored by hash.  *out is NULL when the
 * value is over the size limit.  False as above. */
MUST_CHECK bool decision_value(struct decision *d, const struct json *json, struct run_value **out);
/* A value of the state, for another event. */
struct run_value *decision_value_again(struct decision *d, const struct value *value);
struct run_fault *decision_failure(struct decision *d, struct failure from);
struct failure failure_make(enum error_code code, struct str text);
/* Parses JSON that this program printed. */
const struct json *json_parse_own(struct str text, struct arena *arena);
void decision_add_blob(struct decision *d, struct str bytes, const struct hash *hash);

/* ---- templates and expressions (eval_context.c) ----------------------------------------- */

struct template_secrets;

struct eval_context {
	struct run *run;
	struct scope *scope; /* the innermost */
	struct str step;     /* for which something is evaluated; "" = the outputs of the run */
	const struct engine_values *values;
	struct decision *d;
	/* The step that is being closed and its result, before its event exists. */
	const struct activation *closing;
	const struct json *output;
	const struct json *state; /* of the graph, with that result; NULL = as it was */
	bool missing;             /* a stored value is not loaded: decision->needs has it */
	bool strict;              /* a lenient rule is a fault instead of a warning: */
	bool quiet;               /* no warnings: missing values are expected here */
	struct failure fault;     /* the first; code "" = none */
};

/* For an activation; NULL = for the run itself. */
struct eval_context eval_context_make(struct run *run, const struct activation *activation,
				      const struct engine_values *values, struct decision *d);
const struct json *eval_value(struct eval_context *eval_context, const struct value *value);
/* The same, with the places of secrets. */
const struct json *eval_render_secrets(struct eval_context *eval_context,
				       const struct json *template,
				       struct template_secrets *secrets);
const struct json *eval_render(struct eval_context *eval_context, const struct json *template);
bool eval_holds(struct eval_context *eval_context, const struct expr *condition);
bool eval_expression(struct eval_context *eval_context, const struct expr *expr,
		     const struct json **out, struct error *error);

/* ---- continuations (continuation.c) ------------------------------------------------------ */

/* The continuation in the `next` of a closing event; NULL: none. */
struct step_continuation {
	struct run_next *next;
	struct str over; /* the step that an edge would start too often; "" = none */
	/* The step fails because of its rounds, although its result is good; code "" = it does not. */
	struct failure fault;
};

#define NO_CONTINUATION ((struct step_continuation){ NULL, S(""), { S(""), S("") } })

/* After a success: the edges taken, and whether the step runs again.  False: values are missing. */
bool continuation_after_success(struct eval_context *eval_context,
				const struct activation *activation, const struct json *output,
				struct step_continuation *out);
/* The most rounds of a node with on_limit; a fault when its `max` is no number of rounds. */
int64_t continuation_rounds(struct eval_context *eval_context, const struct graph_node *node,
			    struct failure *out_fault);
/* After a failure: whether and when the step is retried. */
struct run_next *continuation_after_failure(const struct run *run,
					    const struct activation *activation,
					    const struct failure *fault, int64_t now,
					    struct decision *d);
/* The retry is not before this time. */
void continuation_delay(struct run_next *next, int64_t earliest);
/* After a closing event: cancels the run if an edge would start a step too often. */
void enforce_iteration_limit(struct run *run, const struct step_continuation *continuation,
			     int64_t now, struct decision *d);

/* Emits the result of a step without an effect; NULL and code "" = absent. */
void decision_emit_computed(struct run *run, const struct activation *activation, int64_t now,
			    struct run_value *output, struct failure fault, struct run_next *next,
			    struct decision *d);

/* The deadline of finally and undo steps that start now. */
int64_t engine_unwind_due_at(const struct run *run, int64_t now);
/* Cancels the run with this fault (code "" = cancelled) and stops its open effects. */
void engine_cancel_run(struct run *run, int64_t now, struct str by, struct str reason,
		       struct failure fault, struct decision *d);

/* ---- people (answer.c) --------------------------------------------------------------------- */

enum engine_answer answer_decide(struct run *run, const struct command *command,
				 const struct engine_values *values, struct decision *d,
				 struct error *error);
/* Ends a question with this answer, which fits it, or because its time is over. */
enum engine_answer answer_finish(struct run *run, struct activation *activation,
				 const struct command *command, const struct engine_values *values,
				 struct decision *d, struct error *error);

/* ---- retries of the run (reopen.c) -------------------------------------------------------- */

/* Refuses the retry of a run that cannot be retried. */
enum engine_answer reopen_check(const struct run *run, struct error *error);

/* ---- requests (request.c) --------------------------------------------------------------- */

enum engine_answer request_effect(struct run *run, struct activation *activation, int64_t now,
				  const struct engine_values *values, struct decision *d);
struct run_graph_agent;
/* The canonical request of an agent's first turn (turn_opening.c). */
struct turn_opening {
	const struct json *request; /* run.Turn; NULL = there is a fault */
	int64_t attachments;        /* pictures and recordings in it */
	struct failure fault;
};
struct turn_opening turn_opening_make(const struct run_graph_agent *agent, struct str system,
				      const struct json *inputs, int64_t max_tokens,
				      struct arena *arena);
struct run_graph_template;
/* Renders a template (prompt_render.c).  False: values are missing. */
MUST_CHECK bool prompt_render(struct run *run, const struct activation *activation,
			      const struct engine_values *values, struct decision *d,
			      const struct run_graph_template *template, struct str *out_text,
			      struct failure *out_fault);
/* The inputs with the input `prompt`. */
const struct json *prompt_add(const struct json *inputs, struct str text, struct arena *arena);
/* The system prompt of the activation's agent.  False: values are missing. */
MUST_CHECK bool prompt_system(struct run *run, const struct activation *activation,
			      const struct engine_values *values, struct decision *d,
			      const struct run_graph_agent *agent, struct str *out_text,
			      struct failure *out_fault);
/* What a budget reckons for so many attachments: a token has at least one byte. */
int64_t turn_opening_attachment_bytes(int64_t attachments);
/* The inputs of a step, rendered; *out is NULL when they are over LIMIT_VALUE_BYTES. */
enum engine_answer request_render(struct run *run, const struct activation *activation,
				  const struct engine_values *values, struct decision *d,
				  const struct json **out, struct failure *out_fault);
struct failure request_too_large(void);
/* The tree that was taken for this step; NULL when there is none yet. */
const struct engine_tree *request_tree(const struct activation *activation,
				       const struct engine_values *values);
void request_want_tree(const struct run *run, const struct activation *activation,
		       struct decision *d);
/* Asks a person to settle an unknown outcome. */
void request_settlement(struct run *run, const struct activation *activation, int64_t now,
			struct decision *d);
/* Fails a ready step that cannot start. */
void request_fail_ready(struct run *run, const struct activation *activation, struct failure fault,
			int64_t now, struct decision *d);
/* Ends a wait; `fault` code "" = success.  False: values are missing. */
bool request_finish_timer(struct run *run, const struct activation *activation, int64_t now,
			  const struct value *data, struct failure fault,
			  const struct engine_values *values, struct decision *d);

/* ---- bodies (container.c, verify.c) -------------------------------------------------------- */

enum engine_answer body_enter(struct run *run, struct activation *activation, int64_t now,
			      const struct engine_values *values, struct decision *d);
enum engine_answer body_leave(struct run *run, struct activation *activation, int64_t now,
			      const struct engine_values *values, struct decision *d);
/* The output of a body: that of its only node, or {node: output}; always the latter for parallel. */
const struct json *body_output(struct eval_context *eval_context, struct scope *scope,
			       uint32_t owner);
void body_left(struct run *run, const struct activation *activation, int64_t now,
	       struct run_value *output, struct failure fault, struct run_next *next,
	       struct decision *d);
/* Ends a round of a verification: its result, and whether there is another round. */
enum engine_answer verify_round(struct run *run, struct activation *activation, int64_t now,
				const struct engine_values *values, struct decision *d);
enum engine_answer body_leave_gate(struct run *run, struct activation *activation, int64_t now,
				   const struct engine_values *values, struct decision *d);

#endif
