/* engine/step_record.h -- what the state keeps of a step beside its result: attempts, questions, turns
 * and calls of a session; engine/run_state.h has the rest. */
#ifndef ENGINE_STEP_RECORD_H
#define ENGINE_STEP_RECORD_H

#include "base/uuid.h"
#include "contract/run_outcome_types.h"
#include "engine/value.h"

struct run_question;

/* A request of an effect. */
struct restart {
	int64_t seq, at, attempt;
	int64_t due_at; /* 0 = `at` plus the timeout of the definition: no tree was taken */
};

/* A failed attempt that was to be retried. */
struct attempt {
	struct restart request; /* seq 0: the one that started the step, due as usual */
	struct uuid effect;
	int64_t seq, at; /* of the event that closed it */
	enum run_outcome outcome;
	struct failure fault;
	const struct run_call_figures *figures; /* NULL = none */
	struct value output, log, files;
	int64_t file_count;
	int64_t retry_at;
};

/* The attempts of a step, kept only for the run's record. */
struct attempts {
	struct attempt *failed;
	uint32_t failed_count;
	struct restart request;  /* of the newest attempt; seq 0: the one that started it */
	struct restart answered; /* the answer "retry" of a person; seq 0: none */
};

/* A question to a person and its answer; kept because it is part of the run's record. */
struct question {
	struct uuid id;
	const struct run_question *asked; /* NULL: nobody was asked */
	int64_t seq, at;                  /* of the event that asked */
	int64_t level;                    /* escalation level */
	struct restart *passed_on;        /* the escalations, one per level; NULL: unknown */
	bool answered;
	enum run_decision decision;
	struct str comment, by; /* comment "" = none */
	bool continues;         /* a rejection with which the step succeeds */
};

/* Bytes of the turns of a session. */
struct transcript_size {
	int64_t told;    /* the most that a request has of them, with names and roles */
	int64_t results; /* replies and results of calls alone, as far as they are shown */
};

/* A turn of a session: what step.entered has recorded, and sums over the turns before it, so that a
 * decision looks at the newest turn only.  The sums are derived, never stored. */
struct session_turn {
	int64_t entered_seq, entered_at;
	struct str note;       /* "" = none */
	bool is_signed;        /* the turn before had calls: */
	struct hash signature; /* of these calls and their results */
	int64_t repeats;       /* turns in a row with this signature */
	int64_t corrections;   /* notes in a row, this one included */
	int64_t attachments;   /* pictures and recordings of the transcript before the turn */
	int64_t summarizes; /* it asks for a summary of the turns before this one; 0 = it does not */
	int64_t summary;    /* the turn with the summary of what was left out; 0 = none */
	int64_t summaries;  /* turns so far that asked for one, this one included */
	int64_t kept_from;  /* the first turn that the transcript still has */
	struct transcript_size kept; /* of the turns from kept_from to the one before this one */
	/* Of each required tool of the agent, whether a turn before this one has called it with
	 * success; NULL = none. */
	const bool *called;
};

/* A call of a reply that was not made. */
struct refused_call {
	uint32_t call; /* number in the reply, from 1 */
	struct str name;
	struct failure fault;
};

#endif
