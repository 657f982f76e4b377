/* vocabularies.def and projections.def, checked against the enums of the contracts. */
#include <criterion/criterion.h>

#include "contract/graph_types.h"
#include "contract/type.h"
#include "contract/pipeline_types.h"
#include "contract/pipeline_v1_types.h"
#include "contract/run_event_types.h"
#include "contract/run_outcome_types.h"
#include "contract/runtime_types.h"
#include "contract/task_types.h"
#include "sample_run.h"
#include "views/view_runtime.h"

static bool is_word(const struct type *type, struct str word)
{
	uint32_t value;
	return contract_word_find(type, word, &value);
}

Test(vocabularies, every_word_is_one_of_the_seeds_own)
{
	for (int i = 0; i < VOCABULARY_RUN_COUNT; i++) {
		const struct vocabulary_run_row *row = vocabulary_run((enum vocabulary_run)i);
		cr_expect(is_word(pipeline_status_type(), row->pipeline));
		cr_expect(is_word(pipeline_agentic_status_type(), row->agentic));
		cr_expect(is_word(pipeline_v1_agentic_status_type(), row->agentic));
		cr_expect(is_word(runtime_step_status_type(), row->runtime));
		cr_expect(row->task.size == 0 || str_equal(row->task, S("paused")) ||
			  is_word(task_final_status_type(), row->task));
		cr_expect(is_word(graph_task_status_type(), row->graph));
	}
	for (int i = 0; i < VOCABULARY_STEP_COUNT; i++) {
		const struct vocabulary_step_row *row = vocabulary_step((enum vocabulary_step)i);
		cr_expect(is_word(runtime_step_status_type(), row->runtime));
		cr_expect(is_word(graph_step_status_type(), row->graph));
	}
}

static const struct {
	const char *machine, *word;
} states[] = {
#define STATE(machine_, constant_, word_, ending_, text_) { #machine_, word_ },
#define MOVE(machine_, from_, to_, cause_)
#include "contracts/states.def"
#undef STATE
#undef MOVE
};

Test(vocabularies, have_every_state_there_is)
{
	size_t runs = 0, steps = 0;
	for (size_t i = 0; i < COUNT(states); i++) {
		struct str word = str_from_c(states[i].word);
		bool found = false;
		if (strcmp(states[i].machine, "run") == 0) {
			found = str_equal(vocabulary_run(vocabulary_run_from(word))->word, word);
			runs++;
		} else {
			for (int s = 0; s < VOCABULARY_STEP_COUNT; s++)
				found = found ||
					str_equal(vocabulary_step((enum vocabulary_step)s)->word,
						  word);
			steps++;
		}
		cr_expect(found, "%s %s", states[i].machine, states[i].word);
	}
	cr_expect_eq(runs, 7);
	cr_expect_eq(steps, 8);
}

Test(vocabularies, a_state_that_is_not_known_counts_as_running)
{
	cr_expect(str_equal(view_runtime_status(S("hibernating")), S("running")));
	cr_expect(str_equal(view_runtime_status(S("")), S("running")));
	cr_expect(str_equal(view_runtime_status(S("queued")), S("pending")));
	cr_expect(str_equal(view_runtime_status(S("succeeded")), S("success")));
	cr_expect(str_equal(view_runtime_status(S("cancelled")), S("failed")));
}

/* ---- projections ------------------------------------------------------------------- */

static bool is_task_event(struct str word)
{
	const struct type *type = task_execution_event_type();
	for (size_t i = 0; i < type->case_count; i++)
		if (str_equal(type->cases[i].tag, word))
			return true;
	return false;
}

static bool is_event_word(enum view_number view, struct str word)
{
	switch (view) {
	case VIEW_pipeline:
		return is_word(pipeline_event_type_type(), word);
	case VIEW_pipeline_v1:
		return is_word(pipeline_v1_event_type_type(), word);
	case VIEW_runtime:
		return is_word(runtime_stream_event_type_type(), word);
	case VIEW_task:
		return is_task_event(word);
	case VIEW_graph:
		return is_word(graph_step_status_type(), word);
	case VIEW_COUNT:
		break;
	}
	return false;
}

static const struct {
	enum event_type event;
	enum view_number view;
	const char *word;
} fixed[] = {
#define WORD(word_)                  word_
#define BY(function_)                NULL
#define PROJECT(event_, view_, how_) { EVENT_##event_, VIEW_##view_, how_ },
#include "contracts/projections.def"
#undef WORD
#undef BY
#undef PROJECT
};

Test(projections, every_word_is_one_of_the_seeds_own)
{
	size_t words = 0;
	for (size_t i = 0; i < COUNT(fixed); i++) {
		if (fixed[i].word == NULL)
			continue;
		cr_expect(is_event_word(fixed[i].view, str_from_c(fixed[i].word)), "%s",
			  fixed[i].word);
		words++;
	}
	cr_expect_gt(words, 30);
}

/* A BY() function may hide an event. */
static void expect_rows(const struct event *event)
{
	bool seen[VIEW_COUNT] = { 0 };
	for (size_t i = 0; i < COUNT(fixed); i++) {
		if (fixed[i].event != event->type)
			continue;
		struct str word = view_word(view_at(fixed[i].view), event);
		cr_expect_not(seen[fixed[i].view], "one event gives one event");
		seen[fixed[i].view] = true;
		cr_expect(is_event_word(fixed[i].view, word) ||
				  (fixed[i].word == NULL && word.size == 0),
			  STR_FMT, STR_ARG(word));
		if (fixed[i].word != NULL)
			cr_expect(str_equal(word, str_from_c(fixed[i].word)));
	}
	for (int v = 0; v < VIEW_COUNT; v++)
		if (!seen[v])
			cr_expect_eq(view_word(view_at((enum view_number)v), event).size, 0);
}

Test(projections, every_event_is_shown_where_its_row_says_and_nowhere_else)
{
	static const struct play *const plays[] = { &play_short, &play_long, &play_retried,
						    &play_unwind, &play_mail };
	bool met[EVENT_RUN_COMPACTED + 1] = { 0 };
	for (size_t p = 0; p < COUNT(plays); p++) {
		struct sample sample;
		sample_init_play(&sample, plays[p]);
		for (size_t e = 0; e < plays[p]->count; e++) {
			expect_rows(&sample.events[e]);
			met[sample.events[e].type] = true;
		}
		sample_done(&sample);
	}
	for (size_t type = 0; type < event_type_count(); type++)
		/* No vocabulary shows these. */
		cr_expect(met[type] || type == EVENT_DOCUMENT_CHANGED ||
				  type == EVENT_RUN_COMPACTED || type == EVENT_BRANCH_ENDED,
			  STR_FMT " is in no play", STR_ARG(event_name((enum event_type)type)));
}

/* A final failure is an error, a failure that continues a warning; an answer is never an error. */
static enum event_level level_of(const struct event *event)
{
	if (event->type != EVENT_HUMAN_FINISHED && timeline_event_failed(event))
		return EVENT_LEVEL_ERROR;
	return event->type != EVENT_HUMAN_FINISHED && timeline_event_continues(event)
		       ? EVENT_LEVEL_WARNING
		       : event_level(event->type);
}

static size_t compare_levels(struct sample *sample)
{
	AUTO(timeline) timeline = { 0 };
	timeline_read(&timeline, &sample->source, &sample->arena);
	size_t compared = 0;
	for (size_t i = 0; i < sample->play->count; i++) {
		const struct event *event = &sample->events[i];
		struct view_document document;
		if (!view_event(view_at(VIEW_pipeline), &timeline, i, &document))
			continue;
		const struct pipeline_workflow_event *entry = document.at[0];
		bool cancelled = event->type == EVENT_RUN_FINISHED &&
				 event->as.run_finished->outcome == RUN_OUTCOME_CANCELLED;
		enum event_level level = cancelled ? EVENT_LEVEL_INFO : level_of(event);
		cr_expect(
			str_equal(pipeline_event_level_name(entry->level), event_level_name(level)),
			STR_FMT, STR_ARG(event_name(event->type)));
		compared++;
	}
	return compared;
}

Test(projections, levels_of_the_log_agree_with_the_rows)
{
	struct sample sample;
	sample_init(&sample);
	cr_expect_eq(compare_levels(&sample), SAMPLE_EVENTS);
	sample_done(&sample);
	sample_init_play(&sample, &play_long);
	cr_expect_eq(compare_levels(&sample), 45);
	sample_done(&sample);
	for (enum event_level level = EVENT_LEVEL_DEBUG; level <= EVENT_LEVEL_ERROR; level++)
		cr_expect(is_word(pipeline_event_level_type(), event_level_name(level)));
}

Test(projections, what_is_kept_is_the_life_of_the_run)
{
	size_t kept = 0;
	for (size_t type = 0; type < event_type_count(); type++)
		kept += event_persistence((enum event_type)type) == EVENT_PERSISTENCE_KEPT;
	cr_expect_eq(kept, 7,
		     "created, started, cancelling, unwinding, retried, finished, compacted");
}
