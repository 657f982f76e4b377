/* contracts/states.def as tables, and the ids that are derived. */
#include "engine/engine_rig.h"

static bool run_move(size_t from, size_t to)
{
	return run_may_move((enum run_state)from, (enum run_state)to);
}

static bool step_move(size_t from, size_t to)
{
	return step_may_move((enum step_state)from, (enum step_state)to);
}

static bool run_final(size_t state)
{
	return run_state_row((enum run_state)state)->final;
}

static bool step_final(size_t state)
{
	return step_state_row((enum step_state)state)->final;
}

static bool run_reopened(size_t state)
{
	return state == RUN_FAILED;
}

static bool step_reopened(size_t state)
{
	return state == STEP_FAILED || state == STEP_CANCELLED;
}

/* From the first state everything is reached, a live state has a way out, a final one has none, but
 * for those that a retry reopens. */
static void check_machine(size_t count, bool (*move)(size_t, size_t), bool (*final)(size_t),
			  bool (*reopened)(size_t))
{
	bool reached[16] = { true };
	cr_assert(count <= COUNT(reached));
	for (size_t round = 0; round < count; round++)
		for (size_t from = 0; from < count; from++)
			for (size_t to = 0; to < count; to++)
				reached[to] = reached[to] || (reached[from] && move(from, to));
	for (size_t from = 0; from < count; from++) {
		size_t ways = 0;
		for (size_t to = 0; to < count; to++)
			ways += move(from, to);
		cr_assert(reached[from], "state %zu is never reached", from);
		cr_assert_eq(ways == 0, final(from) && !reopened(from),
			     "state %zu has %zu ways out", from, ways);
		for (size_t to = 0; reopened(from) && to < count; to++)
			cr_assert_not(move(from, to) && final(to));
		cr_assert_not(move(from, from));
	}
}

Test(states, machines_are_whole)
{
	check_machine(run_state_count(), run_move, run_final, run_reopened);
	check_machine(step_state_count(), step_move, step_final, step_reopened);
}

Test(states, words_are_distinct_and_not_empty)
{
	for (size_t i = 0; i < step_state_count(); i++) {
		struct str word = step_state_row((enum step_state)i)->word;
		cr_assert(word.size > 0);
		for (size_t k = i + 1; k < step_state_count(); k++)
			cr_assert_not(str_equal(word, step_state_row((enum step_state)k)->word));
	}
	for (size_t i = 0; i < run_state_count(); i++) {
		struct str word = run_state_row((enum run_state)i)->word;
		cr_assert(word.size > 0);
		for (size_t k = i + 1; k < run_state_count(); k++)
			cr_assert_not(str_equal(word, run_state_row((enum run_state)k)->word));
	}
}

Test(states, what_is_not_a_row_does_not_happen)
{
	cr_assert_not(step_may_move(STEP_PENDING, STEP_SUCCEEDED));
	cr_assert_not(step_may_move(STEP_WAITING_HUMAN, STEP_RUNNING));
	cr_assert_not(step_may_move(STEP_SKIPPED, STEP_PENDING));
	cr_assert_not(run_may_move(RUN_WAITING_HUMAN, RUN_SUCCEEDED));
	cr_assert_not(run_may_move(RUN_CANCELLED, RUN_RUNNING));
	cr_assert_not(run_may_move(RUN_SUCCEEDED, RUN_RUNNING));
}

Test(states, effect_ids_are_stable_and_distinct)
{
	struct rig rig;
	rig_init(&rig, "name: w\nsteps:\n  - {name: a, tool: put}\n");
	struct run other = *rig.run;
	other.id.bytes[15] ^= 1;
	struct uuid ids[] = {
		engine_effect_id(rig.run, S("a"), S("tool"), 1),
		engine_effect_id(rig.run, S("a"), S("tool"), 2),
		engine_effect_id(rig.run, S("a"), S("timer"), 1),
		engine_effect_id(rig.run, S("b"), S("tool"), 1),
		engine_effect_id(rig.run, S("at"), S("ool"), 1),
		engine_effect_id(rig.run, S("a"), S("tool1"), 1),
		engine_effect_id(rig.run, S("a"), S("tool"), 11),
		engine_effect_id(&other, S("a"), S("tool"), 1),
	};
	for (size_t i = 0; i < COUNT(ids); i++) {
		cr_assert_eq(ids[i].bytes[6] >> 4, 4, "version 4");
		cr_assert_eq(ids[i].bytes[8] >> 6, 2, "variant");
		for (size_t k = i + 1; k < COUNT(ids); k++)
			cr_assert_not(uuid_equal(&ids[i], &ids[k]), "%zu and %zu", i, k);
	}
	struct uuid again = engine_effect_id(rig.run, S("a"), S("tool"), 1);
	cr_assert(uuid_equal(&ids[0], &again));
	char text[UUID_TEXT_SIZE];
	cr_assert_str_eq(str_c(&rig.arena, uuid_text(&again, text)),
			 "f599ff3c-b74c-4200-b21e-536898a4c8ef");
	rig_create(&rig, "{}");
	cr_assert(uuid_equal(&rig_step(&rig, "a")->effect, &again));
	rig_done(&rig);
}
