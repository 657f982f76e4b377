/* active/executor_command.h -- commands to a run that exists: a person's answer; pause, resume, cancel
 * and signal.  run_commands.h says how a command is replied to. */
#ifndef ACTIVE_EXECUTOR_COMMAND_H
#define ACTIVE_EXECUTOR_COMMAND_H

#include "active/run_commands.h"
#include "engine/decide.h"

/* ---- answer -------------------------------------------------------------------------- */

struct executor_answer {
	struct uuid request; /* the question; zero = the only one that `run` waits with */
	struct uuid run;     /* zero = whichever run the question belongs to */
	enum run_decision decision;
	struct str comment, by;
	bool final;                  /* a rejection fails the step, whatever its definition says */
	const struct hash *revision; /* of the question that the person saw; NULL = any */
	struct executor_value value; /* goes with the answer */
	struct idempotency_key key;
	struct str request_id; /* of the client's request; "" = none */
};

/* NOT_FOUND: no such run.  CONFLICT: the question is not open, belongs to another run, or is
 * another revision. */
void executor_answer(struct executor *executor, const struct executor_answer *answer,
		     executor_replied *replied, void *context, uint64_t argument);

/* ---- pause, resume, cancel, signal --------------------------------------------------- */

struct executor_command {
	enum command_kind kind; /* COMMAND_PAUSE, _RESUME, _CANCEL, _RETRY or _SIGNAL */
	struct uuid run;
	struct str by, reason;
	struct str name;            /* SIGNAL */
	struct executor_value data; /* SIGNAL: none = null; RESUME: a new budget in dollars */
	struct idempotency_key key;
	struct str request_id; /* of the client's request; "" = none */
};

/* NOT_FOUND: no such run.  CONFLICT: the run has ended, or its state does not allow this.  A cancel
 * is accepted under any load and, from its reserve, on a full disk. */
void executor_command(struct executor *executor, const struct executor_command *command,
		      executor_replied *replied, void *context, uint64_t argument);

#endif
