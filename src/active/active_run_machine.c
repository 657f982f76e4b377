/* active/active_run_machine.c -- rows of contracts/active_run.def as tables: the illegal cell is
 * the empty one.
 */
#include "active/active_run_machine.h"

#include "base/error.h"

static const struct active_run_move moves[ACTIVE_RUN_STATE_COUNT][ACTIVE_RUN_INPUT_COUNT] = {
#define MOVE(state, input, next, action) \
	[ACTIVE_RUN_##state][INPUT_##input] = { true, ACTIVE_RUN_##next, ACTION_##action },
#include "contracts/active_run.def"
};

static const struct append_answer answers[APPEND_OUTCOME_COUNT][APPEND_SENDER_COUNT] = {
#define ANSWER(outcome, sender, input, remedy) \
	[OUTCOME_##outcome][SENDER_##sender] = { true, INPUT_##input, REMEDY_##remedy },
#include "contracts/active_run.def"
};

static const char *const state_words[] = {
#define STATE(constant, word, text) word,
#include "contracts/active_run.def"
};

static const char *const input_words[] = {
#define INPUT(constant, word, text) word,
#include "contracts/active_run.def"
};

static const char *const outcome_words[] = {
#define OUTCOME(constant, word, text) word,
#include "contracts/active_run.def"
};

static const char *const sender_words[] = {
#define SENDER(constant, word, text) word,
#include "contracts/active_run.def"
};

struct active_run_move active_run_machine_cell(enum active_run_state state,
					       enum active_run_input input)
{
	return moves[state][input];
}

struct append_answer active_run_answer_cell(enum append_outcome outcome, enum append_sender sender)
{
	return answers[outcome][sender];
}

struct active_run_move active_run_machine_next(enum active_run_state state,
					       enum active_run_input input)
{
	struct active_run_move move = active_run_machine_cell(state, input);
	require(move.legal);
	return move;
}

struct append_answer active_run_answer_next(enum append_outcome outcome, enum append_sender sender)
{
	struct append_answer answer = active_run_answer_cell(outcome, sender);
	require(answer.legal);
	return answer;
}

const char *active_run_state_word(enum active_run_state state)
{
	return state_words[state];
}

const char *active_run_input_word(enum active_run_input input)
{
	return input_words[input];
}

const char *active_run_outcome_word(enum append_outcome outcome)
{
	return outcome_words[outcome];
}

const char *active_run_sender_word(enum append_sender sender)
{
	return sender_words[sender];
}
