/* engine/states.h -- the states of runs and steps and their transitions: contracts/states.def. */
#ifndef ENGINE_STATES_H
#define ENGINE_STATES_H

#include <stdbool.h>

#include "base/str.h"

enum run_state {
#define STATE_run(constant, word, life, text) constant,
#define STATE_step(constant, word, life, text)
#define STATE(machine, constant, word, life, text) STATE_##machine(constant, word, life, text)
#define MOVE(machine, from, to, cause)
#include "contracts/states.def"
#undef STATE_run
#undef STATE_step
};

enum step_state {
#define STATE_run(constant, word, life, text)
#define STATE_step(constant, word, life, text) constant,
#include "contracts/states.def"
#undef STATE_run
#undef STATE_step
#undef STATE
#undef MOVE
};

struct state_row {
	struct str word;
	bool final;
};

const struct state_row *run_state_row(enum run_state state);
const struct state_row *step_state_row(enum step_state state);
size_t run_state_count(void);
size_t step_state_count(void);
/* Whether states.def has a row for the transition. */
bool run_may_move(enum run_state from, enum run_state to);
bool step_may_move(enum step_state from, enum step_state to);

#endif
