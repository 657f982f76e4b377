/* Every view of one run: byte for byte against the goldens, and valid by the contracts. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "contract/pipeline_types.h"
#include "contract/type.h"
#include "contract/pipeline_v1_types.h"
#include "contract/runtime_types.h"
#include "contract/graph_types.h"
#include "contract/task_types.h"
#include "sample_run.h"
#include "views/view_runtime.h"

/* ---- printing ---------------------------------------------------------------------- */

static struct str read_golden(const char *path, struct arena *arena)
{
	AUTO(buf) text = { 0 };
	char piece[4096];
	size_t size;
	FILE *file = fopen(path, "r");
	cr_assert_not_null(file, "%s is not there; VIEWS_GOLDEN=write makes it", path);
	while ((size = fread(piece, 1, sizeof(piece), file)) > 0)
		buf_add(&text, (struct str){ piece, size });
	fclose(file);
	return str_copy(arena, buf_str(&text));
}

static void write_golden(const char *path, struct str text)
{
	FILE *file = fopen(path, "w");
	cr_assert_not_null(file, "%s cannot be written", path);
	cr_assert_eq(fwrite(text.at, 1, text.size, file), text.size);
	cr_assert_eq(fclose(file), 0);
}

static const struct play *const plays[] = { &play_short, &play_long, &play_unwind };

static void compare_goldens(struct sample *sample)
{
	AUTO(timeline) timeline = { 0 };
	timeline_read(&timeline, &sample->source, &sample->arena);
	bool rewrite = getenv("VIEWS_GOLDEN") != NULL;
	for (int i = 0; i < VIEW_COUNT; i++) {
		const struct view *view = view_at((enum view_number)i);
		struct str name = str_format(&sample->arena, GOLDEN "/" STR_FMT "%s.json",
					     STR_ARG(view->name), sample->play->name);
		const char *path = str_c(&sample->arena, name);
		struct str text = view_whole(view, &timeline, &sample->arena);
		if (rewrite)
			write_golden(path, text);
		struct str golden = read_golden(path, &sample->arena);
		cr_expect(str_equal(text, golden),
			  "%s is different; VIEWS_GOLDEN=write rewrites it, git diff shows it",
			  path);
	}
}

Test(views, print_the_sample_as_the_goldens_have_it)
{
	for (size_t i = 0; i < COUNT(plays); i++) {
		struct sample sample;
		sample_init_play(&sample, plays[i]);
		compare_goldens(&sample);
		sample_done(&sample);
	}
}

/* ---- contracts --------------------------------------------------------------------- */

static void expect_valid(const struct view_document *document, struct arena *arena)
{
	for (size_t i = 0; i < document->count; i++) {
		struct str text = contract_text(document->type, document->at[i], arena);
		struct problems problems = { .arena = arena };
		struct error error;
		const struct json *json;
		cr_assert(json_read(text, arena, &json, &error), "%s", error.text);
		struct contract_source source = { .json = json, .text = text };
		const void *value = contract_parse(document->type, &source, arena, &problems);
		struct str found = problems_text(&problems, arena);
		cr_assert(value != NULL, STR_FMT ": " STR_FMT "\n" STR_FMT,
			  STR_ARG(document->type->name), STR_ARG(found), STR_ARG(text));
		/* is_queued is computed when a document is read; Baton prints it itself. */
		if (strstr(str_c(arena, text), "\"is_queued\":true") != NULL)
			continue;
		struct str again = contract_text(document->type, value, arena);
		cr_expect(str_equal(again, text), STR_FMT "\nread and printed again:\n" STR_FMT,
			  STR_ARG(text), STR_ARG(again));
	}
}

static size_t expect_all_valid(const struct view_source *source, struct arena *arena)
{
	size_t documents = 0;
	AUTO(timeline) timeline = { 0 };
	timeline_read(&timeline, source, arena);
	for (int v = 0; v < VIEW_COUNT; v++) {
		const struct view *view = view_at((enum view_number)v);
		struct view_document document = view->ops->run(&timeline);
		cr_expect_eq(document.count, 1);
		expect_valid(&document, arena);
		documents += document.count;
		struct view_documents more = view->ops->more(&timeline);
		for (size_t i = 0; i < more.count; i++) {
			expect_valid(&more.at[i], arena);
			documents += more.at[i].count;
		}
		for (size_t i = 0; i < source->event_count; i++) {
			struct view_group group;
			view_group_make(&group, view, &timeline, i);
			documents += group.count > 0;
			for (size_t n = 0; n < group.count; n++) {
				document = view_group_event(&group, n);
				expect_valid(&document, arena);
			}
		}
	}
	return documents;
}

Test(views, keep_the_contracts_at_every_moment_of_the_run)
{
	struct sample sample;
	sample_init(&sample);
	for (size_t count = 1; count <= SAMPLE_EVENTS; count++) {
		struct view_source source = sample_prefix(&sample, count);
		/* 5 runs; agentic, record and trace; one event each but one; steps, checkpoints. */
		size_t events = 5 * count - (count >= 4 ? 1 : 0);
		static const size_t begin[] = { 2, 3, 6, 8, 10 };
		size_t steps = 0, checkpoints = count >= 8 ? 1 : 0;
		for (size_t i = 0; i < COUNT(begin); i++)
			steps += count >= begin[i] ? 1 : 0;
		cr_expect_eq(expect_all_valid(&source, &sample.arena),
			     5 + 3 + events + steps + checkpoints, "after %zu events", count);
	}
	sample_done(&sample);
}

Test(views, keep_the_contracts_at_every_moment_of_the_long_run)
{
	size_t documents = 0;
	for (size_t count = 1; count <= play_long.count; count++) {
		struct sample sample;
		sample_init_play(&sample, &play_long);
		struct view_source source = sample_prefix(&sample, count);
		documents += expect_all_valid(&source, &sample.arena);
		sample_done(&sample);
	}
	cr_expect_gt(documents, 5000);
}

static const char *const every_state[] = {
#define RUN_WORDS(constant_, word_, pipeline_, agentic_, runtime_, task_, graph_, mark_) word_,
#include "contracts/vocabularies.def"
	"a state of a later version",
};

Test(views, keep_the_contracts_in_every_state_that_has_not_ended)
{
	struct sample sample;
	sample_init(&sample);
	size_t tried = 0;
	for (size_t i = 0; i < COUNT(every_state); i++) {
		struct view_source source = sample_prefix(&sample, 3);
		source.state = str_from_c(every_state[i]);
		switch (vocabulary_run_from(source.state)) {
		case VOCABULARY_RUN_QUEUED:
			source.event_count = 1;
			expect_all_valid(&source, &sample.arena);
			tried++;
			break;
		case VOCABULARY_RUN_RUNNING:
		case VOCABULARY_RUN_PAUSED:
		case VOCABULARY_RUN_WAITING_HUMAN:
			expect_all_valid(&source, &sample.arena);
			tried++;
			break;
		case VOCABULARY_RUN_SUCCEEDED:
		case VOCABULARY_RUN_WITH_ISSUES:
		case VOCABULARY_RUN_FAILED:
		case VOCABULARY_RUN_CANCELLED:
		case VOCABULARY_RUN_COUNT:
			break;
		}
	}
	cr_expect_eq(tried, 5);
	sample_done(&sample);
}

/* ---- other ends -------------------------------------------------------------------- */

static struct event read_event(struct sample *sample, const char *name, const char *body)
{
	struct event event;
	struct error error;
	bool good = event_read(str_from_c(name), sample->events[SAMPLE_EVENTS - 1].at,
			       str_from_c(body), &sample->arena, &event, &error);
	cr_assert(good, "%s", error.text);
	return event;
}

#define ASK "\"11111111-2222-4333-8444-555555555503\""

Test(views, a_rejected_run)
{
	struct sample sample;
	sample_init(&sample);
	sample.events[8] =
		read_event(&sample, "human.finished",
			   "{\"step\": \"ask\", \"effect\": " ASK
			   ", \"outcome\": \"ok\", \"decision\": \"reject\", \"by\": \"ada\"}");
	sample.events[9] = read_event(&sample, "run.finished", "{\"outcome\": \"failed\"}");
	struct view_source source = sample_prefix(&sample, 10);
	expect_all_valid(&source, &sample.arena);
	AUTO(timeline) timeline = { 0 };
	timeline_read(&timeline, &source, &sample.arena);
	cr_expect_eq(timeline.state, VOCABULARY_RUN_FAILED);
	cr_expect(str_equal(timeline.fault, S("failed")), "the outcome stands in for the fault");
	cr_expect_eq(timeline_find(&timeline, S("ask"))->state, VOCABULARY_STEP_FAILED);
	cr_expect_eq(timeline_find(&timeline, S("publish"))->state, VOCABULARY_STEP_SKIPPED);
	cr_expect_eq(timeline_find(&timeline, S("after"))->state, VOCABULARY_STEP_SKIPPED);
	cr_expect(str_equal(timeline_find(&timeline, S("after"))->fault,
			    S("dependency failed: publish")));
	cr_expect(str_equal(view_word(view_find(S("pipeline")), &sample.events[8]),
			    S("approval_rejected")));
	struct view_document document;
	cr_assert(view_event(view_find(S("task")), &timeline, 8, &document));
	const struct task_execution_event *event = document.at[0];
	cr_expect_eq(event->as.hitl_response->response_type, TASK_RESPONSE_REJECTED);
	sample_done(&sample);
}

Test(views, a_run_that_succeeded_and_one_that_was_called_off)
{
	static const struct {
		const char *body, *pipeline, *v1;
		enum vocabulary_run state;
	} ends[] = {
		{ "{\"outcome\": \"ok\", \"outputs\": {\"is\": {}}}", "workflow_completed",
		  "workflow_completed", VOCABULARY_RUN_SUCCEEDED },
		{ "{\"outcome\": \"ok\"}", "workflow_completed", "workflow_completed",
		  VOCABULARY_RUN_SUCCEEDED },
		{ "{\"outcome\": \"cancelled\"}", "workflow_cancelled", "workflow_cancelled",
		  VOCABULARY_RUN_CANCELLED },
	};
	struct sample sample;
	sample_init(&sample);
	for (size_t i = 0; i < COUNT(ends); i++) {
		sample.events[2] = read_event(&sample, "run.finished", ends[i].body);
		/* The stored state was read before the run ended: the stream takes precedence. */
		struct view_source source = sample_prefix(&sample, 3);
		cr_assert(str_equal(source.state, S("running")));
		expect_all_valid(&source, &sample.arena);
		AUTO(timeline) timeline = { 0 };
		timeline_read(&timeline, &source, &sample.arena);
		cr_expect_eq(timeline.state, ends[i].state);
		struct str word = view_word(view_find(S("pipeline")), &sample.events[2]);
		cr_expect(str_equal(word, str_from_c(ends[i].pipeline)));
		word = view_word(view_find(S("pipeline_v1")), &sample.events[2]);
		cr_expect(str_equal(word, str_from_c(ends[i].v1)));
	}
	sample_done(&sample);
}

/* Returns the number of events shown; each looks as it did when it was the newest. */
static size_t compare_events(struct sample *sample)
{
	AUTO(timeline) timeline = { 0 };
	timeline_read(&timeline, &sample->source, &sample->arena);
	size_t compared = 0;
	for (size_t count = 1; count <= sample->play->count; count++) {
		struct view_source source = sample_prefix(sample, count);
		AUTO(timeline) young = { 0 };
		timeline_read(&young, &source, &sample->arena);
		for (int v = 0; v < VIEW_COUNT; v++) {
			const struct view *view = view_at((enum view_number)v);
			struct view_document then, now;
			bool shown = view_event(view, &young, count - 1, &then);
			cr_assert_eq(shown, view_event(view, &timeline, count - 1, &now));
			if (!shown)
				continue;
			struct str before = view_text(&then, &sample->arena);
			cr_expect(str_equal(before, view_text(&now, &sample->arena)), STR_FMT,
				  STR_ARG(before));
			compared++;
		}
	}
	return compared;
}

Test(views, an_event_is_shown_the_same_way_for_ever)
{
	static const size_t shown[] = { 5 * SAMPLE_EVENTS - 1, 225, 84 };
	for (size_t i = 0; i < COUNT(plays); i++) {
		struct sample sample;
		sample_init_play(&sample, plays[i]);
		cr_expect_eq(compare_events(&sample), shown[i]);
		sample_done(&sample);
	}
}

Test(views, what_is_not_there_or_not_known_is_no_reason_to_stop)
{
	struct sample sample;
	sample_init(&sample);
	sample.events[2] = read_event(
		&sample, "tool.requested",
		"{\"step\": \"build\", \"effect\": " ASK
		", \"tool\": \"shell\", \"class\": \"contained\", \"inputs\": {\"sha256\": "
		"\"0f4636c78f65d3639ece5a064b5ae753e3408614a14fb18ab4d7540d2c248543\", \"size\": 9}}");
	sample.events[3] = read_event(&sample, "tool.finished",
				      "{\"step\": \"build\", \"effect\": " ASK
				      ", \"outcome\": \"ok\", \"output\": {\"is\": [1, 2]}}");
	sample.events[4] = read_event(&sample, "tool.requested",
				      "{\"step\": \"ghost\", \"effect\": " ASK
				      ", \"tool\": \"shell\", \"class\": \"contained\", "
				      "\"inputs\": {\"is\": {}}}");
	struct view_source source = sample_prefix(&sample, 5);
	expect_all_valid(&source, &sample.arena);
	AUTO(timeline) timeline = { 0 };
	timeline_read(&timeline, &source, &sample.arena);
	const struct timeline_step *build = timeline_find(&timeline, S("build"));
	cr_expect_eq(build->inputs->as.object.count, 0, "the value is gone");
	cr_expect(str_equal(json_print(&sample.arena, build->output), S("{\"value\":[1,2]}")));
	struct view_document document;
	for (int v = 0; v < VIEW_COUNT; v++)
		cr_expect_not(view_event(view_at((enum view_number)v), &timeline, 4, &document),
			      "the graph has no such step");
	sample_done(&sample);
}

/* ---- doors ------------------------------------------------------------------------- */

Test(views, are_found_by_name)
{
	struct error error;
	const struct view *view = NULL;
	cr_assert(view_from(S("graph"), &view, &error));
	cr_expect_eq(view, view_at(VIEW_graph));
	cr_expect_null(view_find(S("Graph")));
	cr_assert_not(view_from(S("nobody"), &view, &error));
	cr_expect_eq(error.code, ERROR_USAGE);
	cr_expect_str_eq(error.text, "unknown view \"nobody\"; expected one of pipeline, "
				     "pipeline_v1, runtime, task, graph");
}

Test(views, the_typed_door_gives_what_the_view_gives)
{
	struct sample sample;
	sample_init(&sample);
	AUTO(timeline) timeline = { 0 };
	timeline_read(&timeline, &sample.source, &sample.arena);
	struct view_document document = view_at(VIEW_runtime)->ops->run(&timeline);
	struct str text = runtime_workflow_result_model_text(
		view_runtime_result(&sample.source, &sample.arena), &sample.arena);
	cr_expect(str_equal(text, view_text(&document, &sample.arena)));
	sample_done(&sample);
}

Test(views, ids_derive_from_run_and_seq)
{
	struct sample sample;
	sample_init(&sample);
	AUTO(timeline) timeline = { 0 };
	timeline_read(&timeline, &sample.source, &sample.arena);
	struct uuid first = timeline_event_id(&timeline, 1),
		    again = timeline_event_id(&timeline, 1);
	struct uuid second = timeline_event_id(&timeline, 2);
	cr_expect(uuid_equal(&first, &again));
	cr_expect_not(uuid_equal(&first, &second));
	struct view_source other = sample.source;
	other.run.bytes[0] ^= 1;
	AUTO(timeline) elsewhere = { 0 };
	timeline_read(&elsewhere, &other, &sample.arena);
	struct uuid foreign = timeline_event_id(&elsewhere, 1);
	cr_expect_not(uuid_equal(&first, &foreign));
	struct view_document document;
	cr_assert(view_event(view_at(VIEW_pipeline), &timeline, 1, &document));
	const struct pipeline_workflow_event *event = document.at[0];
	cr_expect(uuid_equal(&event->id, &second));
	cr_expect_eq(event->sequence, 2);
	sample_done(&sample);
}
