/* engine/states.c -- the transition tables: a transition without a row is an empty cell. */
#include "engine/states.h"

#define LIVE  false
#define FINAL true

static const struct state_row run_states[] = {
#define STATE_run(constant, word_, life, text) \
	[constant] = { .word = { word_, sizeof(word_) - 1 }, .final = life },
#define STATE_step(constant, word_, life, text)
#define STATE(machine, constant, word_, life, text) STATE_##machine(constant, word_, life, text)
#define MOVE(machine, from, to, cause)
#include "contracts/states.def"
#undef STATE_run
#undef STATE_step
};

static const struct state_row step_states[] = {
#define STATE_run(constant, word_, life, text)
#define STATE_step(constant, word_, life, text) \
	[constant] = { .word = { word_, sizeof(word_) - 1 }, .final = life },
#include "contracts/states.def"
#undef STATE_run
#undef STATE_step
#undef STATE
#undef MOVE
};

#define STATE(machine, constant, word, life, text)
static const bool run_moves[COUNT(run_states)][COUNT(run_states)] = {
#define MOVE_run(from, to) [from][to] = true,
#define MOVE_step(from, to)
#define MOVE(machine, from, to, cause) MOVE_##machine(from, to)
#include "contracts/states.def"
#undef MOVE_run
#undef MOVE_step
};

static const bool step_moves[COUNT(step_states)][COUNT(step_states)] = {
#define MOVE_run(from, to)
#define MOVE_step(from, to) [from][to] = true,
#include "contracts/states.def"
#undef MOVE_run
#undef MOVE_step
#undef MOVE
#undef STATE
};

const struct state_row *run_state_row(enum run_state state)
{
	return &run_states[state];
}

const struct state_row *step_state_row(enum step_state state)
{
	return &step_states[state];
}

size_t run_state_count(void)
{
	return COUNT(run_states);
}

size_t step_state_count(void)
{
	return COUNT(step_states);
}

bool run_may_move(enum run_state from, enum run_state to)
{
	return run_moves[from][to];
}

bool step_may_move(enum step_state from, enum step_state to)
{
	return step_moves[from][to];
}
