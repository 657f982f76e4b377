/* The timeline of the long run, compared with the engine's state. */
#include <criterion/criterion.h>

#include "contract/graph_types.h"
#include "contract/run_event_types.h"
#include "contract/run_graph_types.h"
#include "contract/run_outline_types.h"
#include "contract/runtime_types.h"
#include "contract/task_types.h"
#include "engine/run.h"
#include "sample_run.h"
#include "views/run_outline.h"

static struct run *fold(struct sample *sample, size_t count)
{
	const struct graph *graph;
	struct error error;
	cr_assert(graph_load(sample_graph_text(sample), &sample->arena, &graph, &error), "%s",
		  error.text);
	struct run *run = run_new(&sample->arena, sample->source.run, graph);
	for (size_t i = 0; i < count; i++)
		cr_assert(evolve(run, &sample->events[i], &error), "%s", error.text);
	return run;
}

/* A pure step has no event before its end, and a step of a body is created by its first event. */
static bool may_be_unseen(const struct run *run, const struct activation *activation)
{
	return activation->state == STEP_PENDING ||
	       (activation->state == STEP_RUNNING &&
		run_starts_itself(run_node(run, activation))) ||
	       activation->state == STEP_CANCELLED;
}

static void compare(const struct run *run, const struct timeline *timeline, size_t count,
		    size_t *same)
{
	for (uint32_t i = 0; i < run->paths.room; i++) {
		const struct activation *activation = run->paths.at[i];
		if (activation == NULL)
			continue;
		const struct timeline_step *step = timeline_find(timeline, activation->path);
		struct str word = step_state_row(activation->state)->word;
		struct str told = step == NULL ? S("none") : vocabulary_step(step->state)->word;
		if (may_be_unseen(run, activation) &&
		    (step == NULL || step->state == VOCABULARY_STEP_PENDING))
			continue;
		cr_assert(str_equal(told, word), STR_FMT " after %zu events: " STR_FMT ", " STR_FMT,
			  STR_ARG(activation->path), count, STR_ARG(word), STR_ARG(told));
		cr_assert_eq(step->ordinal, activation->ordinal);
		cr_assert(str_equal(step->node->name, run_node(run, activation)->name));
		++*same;
	}
}

Test(long, every_step_is_in_the_state_the_engine_has_it_in)
{
	size_t same = 0;
	for (size_t count = 1; count <= play_long.count; count++) {
		struct sample sample;
		sample_init_play(&sample, &play_long);
		struct view_source source = sample_prefix(&sample, count);
		AUTO(timeline) timeline = { 0 };
		timeline_read(&timeline, &source, &sample.arena);
		compare(fold(&sample, count), &timeline, count, &same);
		sample_done(&sample);
	}
	cr_expect_gt(same, 300);
}

Test(long, a_story_that_is_read_on_is_the_story_that_is_read_at_once)
{
	struct sample sample;
	sample_init_play(&sample, &play_long);
	struct view_source source = sample_prefix(&sample, 1);
	AUTO(timeline) whole = { 0 };
	AUTO(timeline) grown = { 0 };
	timeline_read(&whole, &sample.source, &sample.arena);
	timeline_read(&grown, &source, &sample.arena);
	for (size_t count = 2; count <= play_long.count; count++) {
		source = sample_prefix(&sample, count);
		timeline_extend(&grown, count - 1);
	}
	for (int v = 0; v < VIEW_COUNT; v++) {
		const struct view *view = view_at((enum view_number)v);
		cr_expect(str_equal(view_whole(view, &whole, &sample.arena),
				    view_whole(view, &grown, &sample.arena)));
	}
	sample_done(&sample);
}

Test(long, steps_stand_in_the_order_of_the_definition)
{
	static const char *const order[] = {
		"plan",       "polish",        "note",         "flaky",
		"improve",    "improve/draft", "improve#2",    "improve#2/draft",
		"each",       "each[0]/x",     "each[0]/y",    "each[1]/x",
		"each[1]/y",  "behind",        "both",         "both/left",
		"both/right", "child",         "go",           "pay",
		"ask",        "closing",       "closing/stop", "never",
	};
	struct sample sample;
	sample_init_play(&sample, &play_long);
	AUTO(timeline) timeline = { 0 };
	timeline_read(&timeline, &sample.source, &sample.arena);
	const struct timeline_step **steps = timeline_in_order(&timeline);
	cr_assert_eq(timeline.count, COUNT(order));
	for (size_t i = 0; i < COUNT(order); i++)
		cr_expect(str_equal(steps[i]->path, str_from_c(order[i])), "%s, not " STR_FMT,
			  order[i], STR_ARG(steps[i]->path));
	sample_done(&sample);
}

/* ---- single steps ------------------------------------------------------------------ */

static void expect_step(const struct timeline *timeline, const char *path, const char *state,
			int64_t attempts, size_t calls, const char *fault)
{
	const struct timeline_step *step = timeline_find(timeline, str_from_c(path));
	cr_assert_not_null(step, "%s", path);
	struct str word = vocabulary_step(step->state)->word;
	cr_expect(str_equal(word, str_from_c(state)), "%s: " STR_FMT, path, STR_ARG(word));
	cr_expect_eq(step->attempts, attempts, "%s", path);
	cr_expect_eq(step->call_count, calls, "%s", path);
	cr_expect(str_equal(step->fault, str_from_c(fault)), "%s: " STR_FMT, path,
		  STR_ARG(step->fault));
}

Test(long, attempts_rounds_and_ends)
{
	struct sample sample;
	sample_init_play(&sample, &play_long);
	AUTO(timeline) timeline = { 0 };
	timeline_read(&timeline, &sample.source, &sample.arena);
	expect_step(&timeline, "polish", "skipped", 0, 0, "");
	expect_step(&timeline, "note", "succeeded", 1, 1, "");
	expect_step(&timeline, "flaky", "succeeded", 3, 2, "");
	expect_step(&timeline, "improve", "succeeded", 1, 1, "");
	expect_step(&timeline, "improve#2/draft", "succeeded", 1, 1, "");
	expect_step(&timeline, "each[1]/x", "failed", 1, 1, "tool_failed: exit status 4: gone");
	expect_step(&timeline, "each[1]/y", "skipped", 0, 0, "dependency failed: each[1]/x");
	expect_step(&timeline, "each", "failed", 1, 1,
		    "tool_failed: each[1]/x: exit status 4: gone");
	expect_step(&timeline, "behind", "skipped", 0, 0, "dependency failed: each");
	expect_step(&timeline, "pay", "succeeded", 1, 2, "");
	expect_step(&timeline, "closing", "cancelled", 1, 1, "cancelled");
	expect_step(&timeline, "closing/stop", "cancelled", 1, 1, "cancelled: it was told to stop");
	expect_step(&timeline, "never", "cancelled", 0, 0, "cancelled");
	const struct timeline_step *pay = timeline_find(&timeline, S("pay"));
	cr_expect(str_equal(json_print(&sample.arena, pay->output), S("{\"booked\":true}")),
		  "what a person says it gave");
	cr_expect_eq(timeline.state, VOCABULARY_RUN_CANCELLED);
	cr_expect_eq(timeline.started_at - timeline.created_at, 250000);
	sample_done(&sample);
}

/* The stored state is older than the stream, or the stream does not determine the state. */
Test(long, a_run_is_queued_paused_and_at_work)
{
	static const struct {
		size_t count;
		const char *row;
		enum vocabulary_run state;
	} moments[] = {
		{ 1, "running", VOCABULARY_RUN_QUEUED },
		{ 2, "queued", VOCABULARY_RUN_RUNNING },
		{ 2, "paused", VOCABULARY_RUN_PAUSED },
		{ 36, "running", VOCABULARY_RUN_PAUSED },
		{ 39, "paused", VOCABULARY_RUN_RUNNING },
		{ 42, "waiting_human", VOCABULARY_RUN_WAITING_HUMAN },
	};
	struct sample sample;
	sample_init_play(&sample, &play_long);
	for (size_t i = 0; i < COUNT(moments); i++) {
		struct view_source source = sample_prefix(&sample, moments[i].count);
		source.state = str_from_c(moments[i].row);
		AUTO(timeline) timeline = { 0 };
		timeline_read(&timeline, &source, &sample.arena);
		cr_expect_eq(timeline.state, moments[i].state, "%zu: %d", i, (int)timeline.state);
	}
	sample_done(&sample);
}

/* Version 1 did not ask a person about an unknown outcome. */
Test(long, an_unknown_outcome_of_version_1_has_failed)
{
	static const struct {
		const char *body;
		enum vocabulary_step state;
		bool failed;
	} writers[] = {
		{ "{'step': 'pay', 'effect': '11111111-2222-4333-8444-555555555609', "
		  "'outcome': 'unknown'}",
		  VOCABULARY_STEP_FAILED, true },
		{ "{'v': 2, 'step': 'pay', 'effect': '11111111-2222-4333-8444-555555555609', "
		  "'outcome': 'unknown'}",
		  VOCABULARY_STEP_RUNNING, false },
	};
	for (size_t i = 0; i < COUNT(writers); i++) {
		struct sample sample;
		struct error error;
		sample_init_play(&sample, &play_long);
		size_t last = 0;
		while (sample.events[last].type != EVENT_TOOL_FINISHED ||
		       sample.events[last].as.run_tool_finished->outcome != RUN_OUTCOME_UNKNOWN)
			last++;
		cr_assert(event_read(S("tool.finished"), sample.events[last].at,
				     sample_json(&sample, writers[i].body), &sample.arena,
				     &sample.events[last], &error));
		struct view_source source = sample_prefix(&sample, last + 1);
		AUTO(timeline) timeline = { 0 };
		timeline_read(&timeline, &source, &sample.arena);
		cr_expect_eq(timeline_find(&timeline, S("pay"))->state, writers[i].state);
		cr_expect_eq(timeline_event_failed(&sample.events[last]), writers[i].failed);
		cr_expect_eq(timeline_event_continues(&sample.events[last]), !writers[i].failed);
		sample_done(&sample);
	}
}

/* ---- single views ------------------------------------------------------------------ */

Test(long, a_sub_run_is_a_session)
{
	struct sample sample;
	sample_init_play(&sample, &play_long);
	AUTO(timeline) timeline = { 0 };
	timeline_read(&timeline, &sample.source, &sample.arena);
	struct view_documents more = view_at(VIEW_graph)->ops->more(&timeline);
	cr_assert_eq(more.count, 3);
	const struct timeline_step *child = timeline_find(&timeline, S("child"));
	const struct graph_sub_agent_session *session = NULL;
	size_t found = 0;
	for (size_t i = 0; i < more.at[2].count; i++) {
		const struct graph_sub_agent_session *one = more.at[2].at[i];
		found += uuid_equal(&one->session_id, &child->effect);
		session = uuid_equal(&one->session_id, &child->effect) ? one : session;
	}
	cr_assert_eq(found, 1);
	cr_expect(uuid_equal(&session->session_id, &child->effect));
	cr_expect(str_equal(session->agent_name, S("report")));
	cr_expect(str_equal(session->summary, S("{\"pages\":3}")));
	cr_expect_eq(session->status, GRAPH_SESSION_COMPLETED);
	const struct graph_trace_log *trace = more.at[0].at[0];
	size_t last = trace->sub_agent_sessions.count - 1;
	cr_assert_eq(trace->sub_agent_sessions.count, more.at[2].count);
	cr_expect(str_equal(trace->sub_agent_sessions.at[last].key, S("child")));
	cr_expect_eq(trace->sub_agent_sessions.at[last].value.message_count, 2);
	sample_done(&sample);
}

Test(long, the_record_has_every_attempt_and_every_answer)
{
	struct sample sample;
	sample_init_play(&sample, &play_long);
	AUTO(timeline) timeline = { 0 };
	timeline_read(&timeline, &sample.source, &sample.arena);
	struct view_documents more = view_at(VIEW_runtime)->ops->more(&timeline);
	const struct runtime_workflow_result *record = more.at[0].at[0];
	size_t found = 0;
	for (size_t i = 0; i < record->steps.count; i++) {
		const struct runtime_step_result *step = &record->steps.at[i];
		if (str_equal(step->step_id, S("flaky"))) {
			cr_expect_eq(step->retry_count, 2);
			cr_assert_eq(step->messages.count, 4);
			cr_expect_eq(step->messages.at[1].type, RUNTIME_MESSAGE_ERROR);
			cr_expect_eq(step->messages.at[3].type, RUNTIME_MESSAGE_TOOL_RESULT);
			found++;
		} else if (str_equal(step->step_id, S("pay"))) {
			cr_assert_eq(step->messages.count, 4);
			cr_expect_eq(step->messages.at[2].type, RUNTIME_MESSAGE_TASK);
			cr_expect_eq(step->messages.at[3].type, RUNTIME_MESSAGE_RESPONSE);
			found++;
		}
	}
	cr_expect_eq(found, 2);
	sample_done(&sample);
}

/* ---- the outline ------------------------------------------------------------------- */

static void check_outline(const struct run_outline *made, const struct timeline *timeline,
			  struct arena *arena)
{
	struct error error;
	const struct json *json;
	struct str text = run_outline_text(made, arena);
	cr_assert(json_read(text, arena, &json, &error), "%s", error.text);
	struct problems problems = { .arena = arena };
	struct contract_source source = { .json = json, .text = text };
	const struct run_outline *read = run_outline_parse(&source, arena, &problems);
	cr_assert(read != NULL && problems.count == 0);
	cr_assert_eq(read->steps.count, timeline->count);
	for (size_t i = 0; i < read->steps.count; i++) {
		const struct run_outline_step *step = &read->steps.at[i];
		const struct timeline_step *from = timeline_find(timeline, step->step);
		cr_assert_not_null(from);
		cr_assert(str_equal(step->state, vocabulary_step(from->state)->word));
		cr_assert_eq(has(step, ended_at), from->ended);
		cr_assert_eq(has(step, request), from->state == VOCABULARY_STEP_WAITING_HUMAN,
			     STR_FMT, STR_ARG(step->step));
		bool known = !has(step, within);
		for (size_t before = 0; before < i; before++)
			known |= str_equal(read->steps.at[before].step, step->within);
		cr_assert(known, STR_FMT " stands before what it is in", STR_ARG(step->step));
	}
}

Test(run_outline, says_of_every_step_what_the_story_says)
{
	size_t with_people = 0, inside = 0;
	for (size_t count = 1; count <= play_long.count; count++) {
		struct sample sample;
		sample_init_play(&sample, &play_long);
		struct view_source source = sample_prefix(&sample, count);
		AUTO(timeline) timeline = { 0 };
		timeline_read(&timeline, &source, &sample.arena);
		const struct run_outline *made = run_outline(&timeline);
		check_outline(made, &timeline, &sample.arena);
		cr_assert_eq(made->seq, (int64_t)count);
		for (size_t i = 0; i < made->steps.count; i++) {
			with_people += has(&made->steps.at[i], question);
			inside += has(&made->steps.at[i], within);
		}
		sample_done(&sample);
	}
	cr_assert_gt(with_people, 0);
	cr_assert_gt(inside, 0);
}
