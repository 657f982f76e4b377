/* Steps by path, and the answers, failures and dead ends that the long run does not have. */
#include <criterion/criterion.h>

#include "contract/graph_types.h"
#include "contract/run_graph_types.h"
#include "contract/task_types.h"
#include "sample_run.h"

/* Appends other events to the first ones of the long run; returns the new count. */
static size_t go_on(struct sample *sample, size_t count, const struct play_line *lines,
		    size_t line_count)
{
	struct error error;
	for (size_t i = 0; i < line_count; i++) {
		int64_t at = sample->events[count + i - 1].at + lines[i].after_ms * 1000;
		cr_assert(event_read(str_from_c(lines[i].type), at,
				     sample_json(sample, lines[i].body), &sample->arena,
				     &sample->events[count + i], &error),
			  "%s", error.text);
	}
	return count + line_count;
}

static size_t first_of(const struct sample *sample, enum event_type type, const char *path)
{
	size_t i = 0;
	struct str of;
	while (i < sample->play->count && (sample->events[i].type != type ||
					   !timeline_event_of_step(&sample->events[i], &of) ||
					   !str_equal(of, str_from_c(path))))
		i++;
	cr_assert_lt(i, sample->play->count);
	return i;
}

static const struct task_execution_event *task_event_at(const struct timeline *timeline,
							size_t index)
{
	struct view_document document;
	cr_assert(view_event(view_at(VIEW_task), timeline, index, &document));
	return document.at[0];
}

static void expect_says(const struct timeline *timeline, size_t index, const char *words)
{
	struct str says = timeline_format_event(timeline, index);
	cr_expect(str_equal(says, str_from_c(words)), STR_FMT, STR_ARG(says));
}

/* ---- paths ------------------------------------------------------------------------- */

Test(paths, lead_to_a_node_of_the_graph_or_nowhere)
{
	static const struct {
		const char *path;
		bool there;
	} paths[] = {
		{ "improve#7/draft", true },
		{ "improve/draft#2", true },
		{ "each[12]/x", true },
		{ "each#3[0]/y", true },
		{ "improve#1/draft", false },
		{ "improve/ghost", false },
		{ "plan/x", false },
		{ "each[x]/y", false },
		{ "each[0]", false },
		{ "each[-1]/x", false },
		{ "/plan", false },
		{ "plan/", false },
		{ "", false },
		{ "#2", false },
		{ "improve#/draft", false },
		{ "child/one", false },
		{ "each[0]/x/x", false },
	};
	struct sample sample;
	sample_init_play(&sample, &play_long);
	for (size_t i = 0; i < COUNT(paths); i++) {
		struct play_line line = { "step.started", 0, NULL, NULL };
		struct str body = str_format(&sample.arena, "{'step': '%s'}", paths[i].path);
		line.body = str_c(&sample.arena, body);
		struct view_source source = sample_prefix(&sample, 2);
		source.event_count = go_on(&sample, 2, &line, 1);
		AUTO(timeline) timeline = { 0 };
		timeline_read(&timeline, &source, &sample.arena);
		const struct timeline_step *step =
			timeline_find(&timeline, str_from_c(paths[i].path));
		cr_expect_eq(step != NULL, paths[i].there, "%s", paths[i].path);
		struct view_document document;
		cr_expect_eq(view_event(view_at(VIEW_graph), &timeline, 2, &document),
			     paths[i].there, "%s", paths[i].path);
	}
	sample_done(&sample);
}

/* A compacted run may have only the last round of a node: it takes the place of the node. */
Test(paths, a_round_whose_first_is_forgotten_stands_for_its_node)
{
	static const struct play_line line = { "step.entered", 5, "{'step': 'improve#3'}", NULL };
	struct sample sample;
	sample_init_play(&sample, &play_long);
	struct view_source source = sample_prefix(&sample, 2);
	source.event_count = go_on(&sample, 2, &line, 1);
	AUTO(timeline) timeline = { 0 };
	timeline_read(&timeline, &source, &sample.arena);
	cr_expect_eq(timeline.count, source.graph->nodes.count);
	cr_expect_null(timeline_find(&timeline, S("improve")));
	const struct timeline_step *round = timeline_find(&timeline, S("improve#3"));
	cr_assert_not_null(round);
	cr_expect_eq(round->ordinal, 3);
	cr_expect_eq(timeline_in_order(&timeline)[4], round);
	sample_done(&sample);
}

/* A wait whose start was deleted by compaction still has an end. */
Test(paths, an_end_without_a_beginning_is_a_step_of_the_history)
{
	static const struct play_line line = {
		"timer.finished", 5,
		"{'step': 'go', 'effect': '11111111-2222-4333-8444-555555555608', 'outcome': 'ok'}",
		NULL
	};
	struct sample sample;
	sample_init_play(&sample, &play_long);
	struct view_source source = sample_prefix(&sample, 2);
	source.event_count = go_on(&sample, 2, &line, 1);
	AUTO(timeline) timeline = { 0 };
	timeline_read(&timeline, &source, &sample.arena);
	struct view_documents more = view_at(VIEW_task)->ops->more(&timeline);
	cr_assert_eq(more.at[0].count, 1);
	const struct task_step *step = more.at[0].at[0];
	cr_assert_eq(step->parts.count, 1);
	cr_expect(str_equal(step->parts.at[0].as.text->text, S("go succeeded")));
	sample_done(&sample);
}

/* ---- answers ----------------------------------------------------------------------- */

#define PAY  "'step': 'pay', 'effect': '11111111-2222-4333-8444-555555555609'"
#define SURE "'step': 'pay', 'effect': '11111111-2222-4333-8444-555555555610'"
#define ASK  "'step': 'ask', 'effect': '11111111-2222-4333-8444-555555555611'"

Test(answers, it_did_not_happen)
{
	static const struct play_line line = {
		"human.finished", 5,
		"{" SURE ", 'outcome': 'ok', 'decision': 'not_happened', 'by': 'bob'}", NULL
	};
	struct sample sample;
	sample_init_play(&sample, &play_long);
	size_t at = first_of(&sample, EVENT_HUMAN_FINISHED, "pay");
	struct view_source source = sample_prefix(&sample, at);
	source.event_count = go_on(&sample, at, &line, 1);
	AUTO(timeline) timeline = { 0 };
	timeline_read(&timeline, &source, &sample.arena);
	const struct timeline_step *pay = timeline_find(&timeline, S("pay"));
	cr_expect_eq(pay->state, VOCABULARY_STEP_FAILED);
	cr_expect(str_equal(pay->fault, S("it did not happen, says bob")));
	cr_expect_eq(timeline_find(&timeline, S("ask"))->state, VOCABULARY_STEP_SKIPPED);
	cr_expect_eq(timeline_find(&timeline, S("never"))->state, VOCABULARY_STEP_SKIPPED);
	expect_says(&timeline, at, "bob says that pay did not happen");
	cr_expect_eq(task_event_at(&timeline, at)->as.hitl_response->response_type,
		     TASK_RESPONSE_REJECTED);
	sample_done(&sample);
}

Test(answers, it_shall_be_tried_again)
{
	static const struct play_line lines[] = {
		{ "human.finished", 5,
		  "{" SURE ", 'outcome': 'ok', 'decision': 'retry', 'by': 'bob'}", NULL },
		{ "tool.requested", 0,
		  "{'v': 2, " PAY ", 'tool': 'transfer', 'class': 'once', 'inputs': {'is': {}}, "
		  "'attempt': 2}",
		  NULL },
		{ "tool.finished", 7,
		  "{'v': 2, " PAY ", 'outcome': 'ok', 'output': {'is': {'booked': 2}}}", NULL },
	};
	static const enum vocabulary_step states[] = { VOCABULARY_STEP_RETRYING,
						       VOCABULARY_STEP_RUNNING,
						       VOCABULARY_STEP_SUCCEEDED };
	struct sample sample;
	sample_init_play(&sample, &play_long);
	size_t at = first_of(&sample, EVENT_HUMAN_FINISHED, "pay");
	struct view_source source = sample_prefix(&sample, at);
	go_on(&sample, at, lines, COUNT(lines));
	for (size_t i = 0; i < COUNT(lines); i++) {
		source.event_count = at + i + 1;
		AUTO(timeline) timeline = { 0 };
		timeline_read(&timeline, &source, &sample.arena);
		cr_expect_eq(timeline_find(&timeline, S("pay"))->state, states[i], "%zu", i);
	}
	AUTO(timeline) timeline = { 0 };
	timeline_read(&timeline, &source, &sample.arena);
	const struct timeline_step *pay = timeline_find(&timeline, S("pay"));
	cr_expect_eq(pay->attempts, 2);
	cr_expect_eq(pay->call_count, 3);
	cr_expect(str_equal(json_print(&sample.arena, pay->output), S("{\"booked\":2}")));
	expect_says(&timeline, at, "bob requested a retry of pay");
	/* A step starts and ends once in the runtime's stream. */
	struct view_document document;
	cr_expect_not(view_event(view_at(VIEW_runtime), &timeline, at, &document));
	cr_expect_not(view_event(view_at(VIEW_runtime), &timeline, at + 1, &document));
	cr_expect(view_event(view_at(VIEW_runtime), &timeline, at + 2, &document));
	sample_done(&sample);
}

Test(answers, nobody_answered)
{
	static const struct play_line line = {
		"human.finished", 5,
		"{" ASK ", 'outcome': 'ok', 'decision': 'timeout', 'by': 'baton'}", NULL
	};
	struct sample sample;
	sample_init_play(&sample, &play_long);
	size_t at = first_of(&sample, EVENT_HUMAN_FINISHED, "ask");
	struct view_source source = sample_prefix(&sample, at);
	source.event_count = go_on(&sample, at, &line, 1);
	AUTO(timeline) timeline = { 0 };
	timeline_read(&timeline, &source, &sample.arena);
	cr_expect_eq(timeline_find(&timeline, S("ask"))->state, VOCABULARY_STEP_FAILED);
	expect_says(&timeline, at, "nobody answered ask in time");
	cr_expect_eq(task_event_at(&timeline, at)->as.hitl_response->response_type,
		     TASK_RESPONSE_TIMEOUT);
	sample_done(&sample);
}

/* ---- failures ---------------------------------------------------------------------- */

#define CHILD(number) "'step': 'child', 'effect': '11111111-2222-4333-8444-5555555556" number "'"

/* A retried sub-run is another run and therefore another session. */
Test(failures, each_attempt_at_a_sub_run_is_a_session)
{
	static const struct play_line lines[] = {
		{ "subrun.finished", 5,
		  "{'v': 2, " CHILD(
			  "07") ", 'outcome': 'failed', 'fault': {'code': 'tool_failed', "
				"'text': 'no paper'}, 'next': {'retry_at': '2026-01-12T09:31:00Z'}}",
		  NULL },
		{ "subrun.requested", 9,
		  "{'v': 2, " CHILD(
			  "77") ", 'name': 'report', 'definition': "
				"'0f4636c78f65d3639ece5a064b5ae753e3408614a14fb18ab4d7540d2c248543', "
				"'inputs': {'is': {}}, 'attempt': 2}",
		  NULL },
	};
	struct sample sample;
	sample_init_play(&sample, &play_long);
	size_t at = first_of(&sample, EVENT_SUBRUN_FINISHED, "child");
	struct view_source source = sample_prefix(&sample, at);
	source.event_count = go_on(&sample, at, lines, COUNT(lines));
	AUTO(timeline) timeline = { 0 };
	timeline_read(&timeline, &source, &sample.arena);
	struct view_documents more = view_at(VIEW_graph)->ops->more(&timeline);
	cr_assert_eq(more.count, 3);
	/* Behind those of the agents' turns. */
	size_t sessions = more.at[2].count;
	cr_assert_geq(sessions, 2);
	const struct graph_sub_agent_session *first = more.at[2].at[sessions - 2],
					     *second = more.at[2].at[sessions - 1];
	cr_expect_eq(first->status, GRAPH_SESSION_FAILED);
	cr_expect(str_equal(first->summary, S("tool_failed: no paper")));
	cr_expect_eq(second->status, GRAPH_SESSION_RUNNING);
	cr_expect_not(uuid_equal(&first->session_id, &second->session_id));
	const struct graph_trace_log *trace = more.at[0].at[0];
	cr_expect(str_equal(trace->sub_agent_sessions.at[sessions - 1].key, S("child, attempt 2")));
	const struct task_execution_event *error = task_event_at(&timeline, at);
	cr_assert_eq(error->kind, TASK_EVENT_ERROR);
	cr_expect(error->as.error->recoverable);
	cr_expect(str_equal(error->as.error->error_type, S("tool_failed")));
	sample_done(&sample);
}

Test(failures, a_run_whose_time_is_over)
{
	static const struct play_line line = {
		"run.cancelling", 5,
		"{'by': 'baton', 'fault': {'code': 'timeout', 'text': 'its time is over'}}", NULL
	};
	struct sample sample;
	sample_init_play(&sample, &play_long);
	size_t at = first_of(&sample, EVENT_TIMER_FINISHED, "go");
	struct view_source source = sample_prefix(&sample, at);
	source.event_count = go_on(&sample, at, &line, 1);
	AUTO(timeline) timeline = { 0 };
	timeline_read(&timeline, &source, &sample.arena);
	cr_expect_eq(timeline.state, VOCABULARY_RUN_RUNNING, "it is not paused any more");
	cr_expect_eq(timeline_find(&timeline, S("go"))->state, VOCABULARY_STEP_CANCELLED);
	cr_expect_eq(timeline_find(&timeline, S("behind"))->state, VOCABULARY_STEP_SKIPPED);
	cr_expect(str_equal(view_word(view_at(VIEW_pipeline), &sample.events[at]),
			    S("system_error")));
	cr_expect_not(task_event_at(&timeline, at)->as.error->recoverable);
	expect_says(&timeline, at, "the run is being cancelled: timeout: its time is over");
	sample_done(&sample);
}
