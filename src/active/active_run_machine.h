/* active/active_run_machine.h -- the states of an active run, as a table
 * (contracts/active_run.def).
 *
 * The machine is pure: a state and an input give the next state and one action.  The shell
 * (active_run.c, commit_cycle.c) finds out which input has come, asks the machine, and performs the
 * action.  A pair that the table does not have is a broken invariant: require() stops the process.
 * `baton describe states` prints the table.
 *
 * The writer's answer to an append becomes an input by a second table: the outcome, and whose
 * command the append carries.
 */
#ifndef ACTIVE_ACTIVE_RUN_MACHINE_H
#define ACTIVE_ACTIVE_RUN_MACHINE_H

#include <stdbool.h>
#include <stddef.h>

enum active_run_state {
#define STATE(constant, word, text) ACTIVE_RUN_##constant,
#include "contracts/active_run.def"
	ACTIVE_RUN_STATE_COUNT
};

enum active_run_input {
#define INPUT(constant, word, text) INPUT_##constant,
#include "contracts/active_run.def"
	ACTIVE_RUN_INPUT_COUNT
};

enum active_run_action {
#define ACTION(constant, function, text) ACTION_##constant,
#include "contracts/active_run.def"
	ACTIVE_RUN_ACTION_COUNT
};

enum append_outcome {
#define OUTCOME(constant, word, text) OUTCOME_##constant,
#include "contracts/active_run.def"
	APPEND_OUTCOME_COUNT
};

enum append_sender {
#define SENDER(constant, word, text) SENDER_##constant,
#include "contracts/active_run.def"
	APPEND_SENDER_COUNT
};

enum append_remedy {
#define REMEDY(constant, word, text) REMEDY_##constant,
#include "contracts/active_run.def"
	APPEND_REMEDY_COUNT
};

struct active_run_move {
	bool legal;
	enum active_run_state next;
	enum active_run_action action;
};

struct append_answer {
	bool legal;
	enum active_run_input input;
	enum append_remedy remedy;
};

/* A cell of the tables; an illegal one has legal = false. */
struct active_run_move active_run_machine_cell(enum active_run_state state,
					       enum active_run_input input);
struct append_answer active_run_answer_cell(enum append_outcome outcome, enum append_sender sender);

/* The same for the shell: an illegal cell stops the process. */
struct active_run_move active_run_machine_next(enum active_run_state state,
					       enum active_run_input input);
struct append_answer active_run_answer_next(enum append_outcome outcome, enum append_sender sender);

/* The words of the rows, for messages. */
const char *active_run_state_word(enum active_run_state state);
const char *active_run_input_word(enum active_run_input input);
const char *active_run_outcome_word(enum append_outcome outcome);
const char *active_run_sender_word(enum append_sender sender);

#endif
