/* sim/sim_cells.c -- counts the visited cells of contracts/active_run.def.
 *
 * The linker wraps the table lookups, so that every lookup is counted.  A legal cell that no seed
 * visits is an untested transition.
 */
#include <stdio.h>

#include "active/active_run_machine.h"
#include "sim/sim.h"

static unsigned moves[ACTIVE_RUN_STATE_COUNT][ACTIVE_RUN_INPUT_COUNT];
static unsigned answers[APPEND_OUTCOME_COUNT][APPEND_SENDER_COUNT];

struct active_run_move __real_active_run_machine_next(enum active_run_state state,
						      enum active_run_input input);
struct active_run_move __wrap_active_run_machine_next(enum active_run_state state,
						      enum active_run_input input);
struct append_answer __real_active_run_answer_next(enum append_outcome outcome,
						   enum append_sender sender);
struct append_answer __wrap_active_run_answer_next(enum append_outcome outcome,
						   enum append_sender sender);

struct active_run_move __wrap_active_run_machine_next(enum active_run_state state,
						      enum active_run_input input)
{
	moves[state][input]++;
	sim_entered(state, input);
	if (!active_run_machine_cell(state, input).legal)
		printf("illegal: %s in state %s\n", active_run_input_word(input),
		       active_run_state_word(state));
	return __real_active_run_machine_next(state, input);
}

struct append_answer __wrap_active_run_answer_next(enum append_outcome outcome,
						   enum append_sender sender)
{
	answers[outcome][sender]++;
	if (!active_run_answer_cell(outcome, sender).legal)
		printf("illegal: %s of %s\n", active_run_outcome_word(outcome),
		       active_run_sender_word(sender));
	return __real_active_run_answer_next(outcome, sender);
}

size_t sim_cells_print(bool all)
{
	size_t legal = 0, missing = 0;
	for (enum active_run_state state = 0; state < ACTIVE_RUN_STATE_COUNT; state++)
		for (enum active_run_input input = 0; input < ACTIVE_RUN_INPUT_COUNT; input++) {
			if (!active_run_machine_cell(state, input).legal)
				continue;
			legal++;
			missing += moves[state][input] == 0;
			if (all || moves[state][input] == 0)
				printf("%8u  %s x %s\n", moves[state][input],
				       active_run_state_word(state), active_run_input_word(input));
		}
	for (enum append_outcome outcome = 0; outcome < APPEND_OUTCOME_COUNT; outcome++)
		for (enum append_sender sender = 0; sender < APPEND_SENDER_COUNT; sender++) {
			if (!active_run_answer_cell(outcome, sender).legal)
				continue;
			legal++;
			missing += answers[outcome][sender] == 0;
			if (all || answers[outcome][sender] == 0)
				printf("%8u  %s of %s\n", answers[outcome][sender],
				       active_run_outcome_word(outcome),
				       active_run_sender_word(sender));
		}
	printf("%zu of %zu cells of the active run's tables visited\n", legal - missing, legal);
	return missing;
}
