/* Snapshots: what is in one, compaction, and snapshots that are none.  That every history can be
 * taken up at every place in it is shown by the rig, for the histories of all tests here. */
#include "contract/run_outcome_types.h"
#include "contract/run_snapshot_types.h"
#include "contract/run_start_types.h"
#include "engine/engine_rig.h"

static const char mixed[] = "name: w\n"
			    "inputs:\n  who: {type: string}\n"
			    "outputs:\n  all: {from: \"${steps.c.outputs}\"}\n"
			    "steps:\n"
			    "  - {name: a, tool: echo, inputs: {x: \"${inputs.who}\"}}\n"
			    "  - {name: b, tool: box, depends_on: [a], inputs: {y: "
			    "\"${steps.a.outputs.x}\"}}\n"
			    "  - {name: h, human: {question: \"go?\"}, depends_on: [b]}\n"
			    "  - {name: t, wait: {seconds: 1}, depends_on: [b]}\n"
			    "  - {name: c, tool: put, depends_on: [h, t], inputs: {z: "
			    "\"${steps.b.outputs.out} ${steps.h.outputs.by}\"}}\n"
			    "  - {name: d, tool: send, depends_on: [c]}\n"
			    "  - {name: e, tool: echo, depends_on: [d]}\n";

static struct command restarted(struct rig *rig, const char *step)
{
	return (struct command){ .kind = COMMAND_RESTARTED,
				 .step = str_from_c(step),
				 .effect = rig_step(rig, step)->effect };
}

static void drive(struct rig *rig)
{
	rig_init(rig, mixed);
	rig_create(rig, "{\"who\": \"ada\"}");
	rig_compute_all(rig);
	struct command again = restarted(rig, "b");
	rig_do(rig, &again);
	rig_do(rig, &again);
	rig_finish(rig, "b", "{\"out\": \"built\"}");
	rig_finish(rig, "t", "null");
	rig_answer(rig, "h", RUN_DECISION_APPROVE);
	rig_finish(rig, "c", "{\"put\": true}");
	rig_finish(rig, "d", NULL);
	cr_assert_eq(rig->run->state, RUN_FAILED);
}

static const struct run_snapshot *snapshot_of(struct rig *rig)
{
	const struct run_snapshot *snapshot;
	struct error error;
	struct str text = run_snapshot_of(rig->run, &rig->arena);
	bool good = run_snapshot_read(text, &rig->arena, &snapshot, &error);
	cr_assert(good, "%s", error.text);
	return snapshot;
}

static const struct run_snapshot_step *step_of(const struct run_snapshot *snapshot,
					       const char *name)
{
	for (size_t i = 0; i < snapshot->steps.count; i++)
		if (str_equal(snapshot->steps.at[i].step, str_from_c(name)))
			return &snapshot->steps.at[i];
	cr_assert_fail("no step %s", name);
	return NULL;
}

Test(snapshot, keeps_what_steps_gave_and_leaves_what_they_were_given)
{
	struct rig rig;
	drive(&rig);
	const struct run_snapshot *snapshot = snapshot_of(&rig);
	cr_assert_eq(snapshot->steps.count, 7);
	const struct run_snapshot_step *b = step_of(snapshot, "b"), *h = step_of(snapshot, "h");
	/* Nothing reads a's and b's outputs any more, but a result shows them. */
	cr_assert_eq(rig_step(&rig, "b")->output.kind, VALUE_ABSENT);
	cr_assert(has(b, output) && has(step_of(snapshot, "a"), output));
	cr_assert_not(has(b, inputs) || has(b, tree));
	cr_assert_eq(b->restarts.count, 2);
	cr_assert_eq(b->restarts.at[1].attempt, 3);
	cr_assert(has(h, answer) && str_equal(h->answer->by, S("ada")));
	cr_assert_not(has(h, output));
	cr_assert(str_equal(step_of(snapshot, "e")->state, S("skipped")));
	rig_done(&rig);
}

Test(snapshot, of_a_young_run_has_only_the_steps_that_something_happened_to)
{
	struct rig rig;
	rig_init(&rig, mixed);
	rig_create(&rig, "{\"who\": \"ada\"}");
	cr_assert_eq(snapshot_of(&rig)->steps.count, 1);
	rig_compute_all(&rig);
	const struct run_snapshot_step *b = step_of(snapshot_of(&rig), "b");
	cr_assert(has(b, open) && has(b, inputs) && has(b, tree));
	rig_done(&rig);
}

Test(snapshot, names_every_value_it_refers_to)
{
	struct rig rig;
	rig_init(&rig, mixed);
	char inputs[400];
	memset(inputs, 'x', sizeof(inputs));
	memcpy(inputs, "{\"who\": \"", 9);
	memcpy(inputs + sizeof(inputs) - 3, "\"}", 3);
	rig_create(&rig, inputs);
	rig_compute_all(&rig);
	struct run_names names;
	AUTO(arena) arena = { 0 };
	run_snapshot(rig.run, &arena, &names);
	/* The graph, the run's inputs, a's output and what b is given. */
	cr_assert_eq(names.count, 4);
	cr_assert(hash_equal(&names.at[0], &rig.graph->hash));
	rig_done(&rig);
}

static const char beside[] = "name: w\n"
			     "steps:\n"
			     "  - {name: a, condition: \"1 == 1\", next: [{to: b}, {to: b}]}\n"
			     "  - {name: b, join: any, human: {question: \"go?\"}}\n"
			     "  - {name: c, human: {question: \"once more?\"}, next: [{to: b}]}\n";

/* b began before b#2 and ends after it: b#2 is forgotten, and so is not the newest any more. */
Test(snapshot, a_forgotten_number_is_not_given_again)
{
	struct rig rig;
	rig_init(&rig, beside);
	rig_create(&rig, "{}");
	struct uuid second = rig_step(&rig, "b#2")->effect;
	rig_answer(&rig, "b#2", RUN_DECISION_APPROVE);
	rig_answer(&rig, "b", RUN_DECISION_APPROVE);
	const struct run_snapshot *snapshot = snapshot_of(&rig);
	cr_assert(has(snapshot, gone) && snapshot->gone.count == 1);
	cr_assert(str_equal(snapshot->gone.at[0], S("b#2")));
	rig_answer(&rig, "c", RUN_DECISION_APPROVE);
	cr_assert(!uuid_equal(&rig_step(&rig, "b#3")->effect, &second));
	cr_assert_not(has(snapshot_of(&rig), gone));
	rig_answer(&rig, "b#3", RUN_DECISION_APPROVE);
	cr_assert_eq(rig.run->state, RUN_SUCCEEDED);
	rig_done(&rig);
}

/* ---- compaction ---------------------------------------------------------------------- */

static struct command compact(int64_t floor)
{
	return (struct command){ .kind = COMMAND_COMPACT, .floor = floor };
}

Test(snapshot, an_ended_run_can_be_compacted_once)
{
	struct rig rig;
	drive(&rig);
	int64_t updated = rig.run->updated_at, seq = rig.run->seq;
	struct command whole = compact(seq + 1), more = compact(seq + 3);
	rig_refused(&rig, &more, ERROR_CONFLICT);
	rig_do(&rig, &whole);
	cr_assert_eq(rig.run->floor, seq + 1);
	cr_assert_eq(rig.run->seq, seq + 1);
	cr_assert_eq(rig.run->updated_at, updated);
	cr_assert_eq(rig.run->state, RUN_FAILED);
	rig_refused(&rig, &whole, ERROR_CONFLICT);
	rig_done(&rig);
}

Test(snapshot, a_live_run_goes_on_behind_its_floor)
{
	struct rig rig;
	rig_init(&rig, mixed);
	rig_create(&rig, "{\"who\": \"ada\"}");
	rig_compute_all(&rig);
	struct command none = compact(1), some = compact(3);
	rig_refused(&rig, &none, ERROR_CONFLICT);
	rig_do(&rig, &some);
	rig_finish(&rig, "b", "{\"out\": \"built\"}");
	cr_assert_str_eq(rig_state(&rig, "t"), "running");
	rig_done(&rig);
}

Test(snapshot, a_run_that_is_not_there_cannot_be_compacted)
{
	struct rig rig;
	rig_init(&rig, mixed);
	struct command any = compact(2);
	rig_refused(&rig, &any, ERROR_NOT_FOUND);
	rig_done(&rig);
}

Test(snapshot, carries_how_long_a_start_wants_the_events_kept)
{
	struct rig rig;
	rig_init(&rig, mixed);
	struct run_start start = { .retention_days = 0, .is.retention_days = GIVEN };
	struct command create = { .kind = COMMAND_CREATE,
				  .inputs = rig_json(&rig, "{\"who\": \"ada\"}"),
				  .start = &start };
	rig_do(&rig, &create);
	cr_assert(has(rig.run->start, retention_days));
	cr_assert_eq(rig.run->start->retention_days, 0);
	cr_assert(has(snapshot_of(&rig), retention_days));
	rig_done(&rig);
}

/* ---- what is none -------------------------------------------------------------------- */

static void refused(struct rig *rig, const char *text)
{
	const struct run_snapshot *snapshot;
	struct run *run;
	struct error error;
	AUTO(arena) arena = { 0 };
	bool good = run_snapshot_read(str_from_c(text), &arena, &snapshot, &error) &&
		    run_restore(snapshot, rig->run->id, rig->graph, &arena, &run, &error);
	cr_assert_not(good, "%s", text);
}

/* The snapshot with one piece of it replaced. */
static const char *with(struct rig *rig, const char *piece, const char *other)
{
	const char *text = str_c(&rig->arena, run_snapshot_of(rig->run, &rig->arena));
	const char *at = strstr(text, piece);
	cr_assert(at != NULL, "%s is not in %s", piece, text);
	return str_c(&rig->arena, str_format(&rig->arena, "%.*s%s%s", (int)(at - text), text, other,
					     at + strlen(piece)));
}

Test(snapshot, of_another_graph_or_with_unknown_words_is_refused)
{
	struct rig rig;
	drive(&rig);
	refused(&rig, "");
	refused(&rig, "{}");
	refused(&rig, with(&rig, "\"definition\":\"", "\"definition\":\"00"));
	refused(&rig, with(&rig, "\"state\":\"failed\"", "\"state\":\"asleep\""));
	refused(&rig, with(&rig, "\"state\":\"skipped\"", "\"state\":\"lost\""));
	refused(&rig, with(&rig, "\"step\":\"b\"", "\"step\":\"nobody\""));
	refused(&rig, with(&rig, "\"arrivals\":6", "\"arrivals\":-6"));
	rig_done(&rig);
}

Test(snapshot, whose_steps_became_ready_in_no_order_is_refused)
{
	struct rig rig;
	rig_init(&rig, "name: w\nsteps:\n  - {name: a, tool: box}\n  - {name: b, tool: box}\n");
	rig_create(&rig, "{}");
	refused(&rig, with(&rig, "\"arrival\":2", "\"arrival\":1"));
	refused(&rig, with(&rig, "\"arrival\":2", "\"arrival\":3"));
	refused(&rig, with(&rig, "\"arrival\":2", "\"arrival\":-2"));
	refused(&rig, with(&rig, "\"arrivals\":2", "\"arrivals\":1"));
	rig_done(&rig);
}
