/* contracts/active_run.def as the machine of an active run: every cell of both tables.
 *
 * The expected tables are written out here once more, in the order of the states and inputs, so
 * that no row changes unnoticed.
 */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "active/active_run_machine.h"
#include "base/attributes.h"

static const char *const action_words[] = {
#define ACTION(constant, function, text) #function,
#include "contracts/active_run.def"
};

/* "state x input -> next: action" of every legal cell. */
static const char *const legal_moves[] = {
	"absent x create -> ready: new_state",
	"absent x open -> opening: load",
	"opening x command -> opening: queue",
	"opening x loaded -> deciding: take_and_resume",
	"opening x load_failed -> absent: refuse_and_leave",
	"loading x command -> loading: queue",
	"loading x loaded -> ready: take_and_decide",
	"loading x load_failed -> absent: refuse_and_leave",
	"ready x command -> ready: queue_and_decide",
	"ready x next -> deciding: decide_next",
	"ready x committed -> ready: act",
	"ready x redo -> stale: requeue",
	"ready x redo_later -> stale_full: requeue",
	"ready x answered -> stale: drain",
	"ready x idle -> absent: leave",
	"ready x stop -> absent: discard",
	"deciding x command -> deciding: queue",
	"deciding x need -> fetching: fetch",
	"deciding x decided -> ready: rest",
	"fetching x command -> fetching: queue",
	"fetching x fetched -> deciding: decide_on",
	"fetching x committed -> fetching: act",
	"fetching x redo -> stale: requeue",
	"fetching x redo_later -> stale_full: requeue",
	"fetching x answered -> stale: drain",
	"stale x command -> stale: queue",
	"stale x fetched -> stale: requeue_fetched",
	"stale x committed -> stale: act_and_drain",
	"stale x redo -> stale: requeue",
	"stale x redo_later -> stale_full: requeue",
	"stale x answered -> stale: drain",
	"stale x drained -> loading: load",
	"stale x drained_create -> ready: create_and_decide",
	"stale x drained_gone -> absent: leave",
	"stale_full x command -> stale_full: queue",
	"stale_full x fetched -> stale_full: requeue_fetched",
	"stale_full x redo -> stale_full: requeue",
	"stale_full x redo_later -> stale_full: requeue",
	"stale_full x answered -> stale_full: drain",
	"stale_full x drained -> waiting_to_load: wait_to_load",
	"stale_full x drained_create -> waiting_to_create: wait_to_create",
	"waiting_to_load x command -> waiting_to_load: queue",
	"waiting_to_load x timer -> loading: load",
	"waiting_to_load x stop -> absent: discard",
	"waiting_to_create x command -> waiting_to_create: queue",
	"waiting_to_create x timer -> ready: decide",
	"waiting_to_create x stop -> absent: discard",
};

static const char *const remedy_words[] = {
#define REMEDY(constant, word, text) word,
#include "contracts/active_run.def"
};

/* "outcome of sender -> input: remedy" of every legal cell. */
static const char *const legal_answers[] = {
	"committed of creation -> committed: act on it",
	"committed of subrun -> committed: act on it",
	"committed of start -> committed: act on it",
	"committed of retry -> committed: act on it",
	"committed of request -> committed: act on it",
	"committed of result -> committed: act on it",
	"conflict of creation -> answered: reply conflict",
	"conflict of subrun -> answered: reply conflict",
	"conflict of start -> redo: decide again",
	"conflict of retry -> redo: decide again",
	"conflict of request -> redo: decide again",
	"conflict of result -> redo: decide again",
	"repeated of creation -> answered: reply repeated",
	"repeated of retry -> answered: reply repeated",
	"repeated of request -> answered: reply repeated",
	"guard_refused of creation -> redo: create it queued",
	"guard_refused of start -> answered: stay queued",
	"guard_refused of retry -> redo: create it queued",
	"guard_refused of request -> redo: leave the count alone",
	"guard_refused of result -> redo: leave the count alone",
	"queue_full of creation -> answered: reply overloaded",
	"queue_full of retry -> answered: reply overloaded",
	"budget_refused of creation -> redo: decide again",
	"budget_refused of subrun -> redo: decide again",
	"budget_refused of start -> redo: decide again",
	"budget_refused of retry -> redo: decide again",
	"budget_refused of request -> redo: decide again",
	"budget_refused of result -> redo: decide again",
	"disk_full of creation -> answered: reply storage full",
	"disk_full of subrun -> redo_later: decide again",
	"disk_full of start -> redo_later: decide again",
	"disk_full of retry -> answered: reply storage full",
	"disk_full of request -> answered: reply storage full",
	"disk_full of result -> redo_later: decide again",
};

Test(active_run_machine, every_legal_move_is_the_expected_one)
{
	size_t found = 0;
	char text[128];
	for (enum active_run_state state = 0; state < ACTIVE_RUN_STATE_COUNT; state++)
		for (enum active_run_input input = 0; input < ACTIVE_RUN_INPUT_COUNT; input++) {
			if (!active_run_machine_cell(state, input).legal)
				continue;
			struct active_run_move move = active_run_machine_next(state, input);
			snprintf(text, sizeof(text), "%s x %s -> %s: %s",
				 active_run_state_word(state), active_run_input_word(input),
				 active_run_state_word(move.next), action_words[move.action]);
			cr_assert_lt(found, COUNT(legal_moves), "unexpected: %s", text);
			cr_expect_str_eq(text, legal_moves[found]);
			found++;
		}
	cr_assert_eq(found, COUNT(legal_moves));
}

Test(active_run_machine, every_legal_answer_of_the_writer_is_the_expected_one)
{
	size_t found = 0;
	char text[128];
	for (enum append_outcome outcome = 0; outcome < APPEND_OUTCOME_COUNT; outcome++)
		for (enum append_sender sender = 0; sender < APPEND_SENDER_COUNT; sender++) {
			if (!active_run_answer_cell(outcome, sender).legal)
				continue;
			struct append_answer answer = active_run_answer_next(outcome, sender);
			snprintf(text, sizeof(text), "%s of %s -> %s: %s",
				 active_run_outcome_word(outcome), active_run_sender_word(sender),
				 active_run_input_word(answer.input), remedy_words[answer.remedy]);
			cr_assert_lt(found, COUNT(legal_answers), "unexpected: %s", text);
			cr_expect_str_eq(text, legal_answers[found]);
			found++;
		}
	cr_assert_eq(found, COUNT(legal_answers));
}

/* ---- the empty cells: each stops the process ------------------------------------------- */

struct cell {
	unsigned row, column;
};

ParameterizedTestParameters(active_run_machine, an_illegal_move_stops_the_process)
{
	static struct cell cells[ACTIVE_RUN_STATE_COUNT * ACTIVE_RUN_INPUT_COUNT];
	size_t count = 0;
	for (unsigned state = 0; state < ACTIVE_RUN_STATE_COUNT; state++)
		for (unsigned input = 0; input < ACTIVE_RUN_INPUT_COUNT; input++)
			if (!active_run_machine_cell((enum active_run_state)state,
						     (enum active_run_input)input)
				     .legal)
				cells[count++] = (struct cell){ state, input };
	return cr_make_param_array(struct cell, cells, count, NULL);
}

ParameterizedTest(struct cell *cell, active_run_machine, an_illegal_move_stops_the_process,
		  .signal = SIGABRT)
{
	active_run_machine_next((enum active_run_state)cell->row,
				(enum active_run_input)cell->column);
}

ParameterizedTestParameters(active_run_machine, an_illegal_answer_stops_the_process)
{
	static struct cell cells[APPEND_OUTCOME_COUNT * APPEND_SENDER_COUNT];
	size_t count = 0;
	for (unsigned outcome = 0; outcome < APPEND_OUTCOME_COUNT; outcome++)
		for (unsigned sender = 0; sender < APPEND_SENDER_COUNT; sender++)
			if (!active_run_answer_cell((enum append_outcome)outcome,
						    (enum append_sender)sender)
				     .legal)
				cells[count++] = (struct cell){ outcome, sender };
	return cr_make_param_array(struct cell, cells, count, NULL);
}

ParameterizedTest(struct cell *cell, active_run_machine, an_illegal_answer_stops_the_process,
		  .signal = SIGABRT)
{
	active_run_answer_next((enum append_outcome)cell->row, (enum append_sender)cell->column);
}

/* ---- the shape of the table ------------------------------------------------------------ */

/* From `from` some inputs lead to `to`. */
static bool leads(enum active_run_state from, enum active_run_state to)
{
	bool reached[ACTIVE_RUN_STATE_COUNT] = { [0] = false };
	reached[from] = true;
	for (int round = 0; round < ACTIVE_RUN_STATE_COUNT; round++)
		for (enum active_run_state state = 0; state < ACTIVE_RUN_STATE_COUNT; state++)
			for (enum active_run_input input = 0; input < ACTIVE_RUN_INPUT_COUNT;
			     input++) {
				struct active_run_move move = active_run_machine_cell(state, input);
				if (reached[state] && move.legal)
					reached[move.next] = true;
			}
	return reached[to];
}

Test(active_run_machine, every_state_is_reached_and_left_and_takes_commands)
{
	for (enum active_run_state state = 0; state < ACTIVE_RUN_STATE_COUNT; state++) {
		cr_expect(leads(ACTIVE_RUN_ABSENT, state), "%s", active_run_state_word(state));
		cr_expect(leads(state, ACTIVE_RUN_ABSENT), "%s", active_run_state_word(state));
		cr_expect_eq(active_run_machine_cell(state, INPUT_COMMAND).legal,
			     state != ACTIVE_RUN_ABSENT, "%s", active_run_state_word(state));
	}
}

/* What was decided on a wrong state must never be acted on or told. */
Test(active_run_machine, a_refused_append_leads_to_a_new_state_before_anything_is_decided)
{
	static const enum active_run_input refusals[] = { INPUT_REDO, INPUT_REDO_LATER,
							  INPUT_ANSWERED };
	for (enum active_run_state state = 0; state < ACTIVE_RUN_STATE_COUNT; state++)
		for (size_t i = 0; i < COUNT(refusals); i++) {
			struct active_run_move move = active_run_machine_cell(state, refusals[i]);
			cr_expect(!move.legal || move.next == ACTIVE_RUN_STALE ||
				  move.next == ACTIVE_RUN_STALE_FULL);
			cr_expect(!active_run_machine_cell(ACTIVE_RUN_STALE, INPUT_NEXT).legal);
			cr_expect(
				!active_run_machine_cell(ACTIVE_RUN_STALE_FULL, INPUT_NEXT).legal);
		}
}
