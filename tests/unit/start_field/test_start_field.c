/* Two rows more in run_start.rows and run_shown.rows, and no other line of code: the fields go from
 * the request to the first event, to the run's state, through its snapshot and into every view. */
#include <criterion/criterion.h>

#include "contract/field_copy.h"
#include "contract/run_event_types.h"
#include "contract/run_outline_types.h"
#include "contract/run_snapshot_types.h"
#include "contract/run_start_types.h"
#include "contract/run_store_types.h"
#include "contract/runtime_types.h"
#include "engine/history_synthesis.h"
#include "engine_rig.h"
#include "views/run_outline.h"
#include "views/view.h"

static const char yaml[] = "name: w\nsteps:\n  - {name: a, tool: echo}\n";
static const char request[] = "{\"workflow\": \"w\", \"inputs\": {}, \"sample_note\": \"blue\", "
			      "\"sample_level\": 3}";
static const char printed[] = "\"sample_note\":\"blue\",\"sample_level\":3";

static bool is_in(struct str text)
{
	size_t at;
	return str_find(text, str_from_c(printed), &at);
}

/* What the handler of POST /api/run does with its body. */
static struct run_start *start_of(struct rig *rig, const char *text)
{
	struct problems problems = { .arena = &rig->arena };
	struct contract_source source = { .json = rig_json(rig, text), .text = str_from_c(text) };
	const struct runtime_workflow_run_request *body =
		runtime_workflow_run_request_parse(&source, &rig->arena, &problems);
	cr_assert(body != NULL);
	struct run_start *start = run_start_new(&rig->arena);
	COPY_FIELDS(runtime_workflow_run_request, body, run_start, start, NULL);
	return start;
}

static void begin(struct rig *rig, const char *text)
{
	rig_init(rig, yaml);
	struct command create = { .kind = COMMAND_CREATE,
				  .inputs = rig_json(rig, "{}"),
				  .start = start_of(rig, text) };
	rig_do(rig, &create);
	rig_compute_all(rig);
}

static const struct json *no_value(void *context, const struct hash *hash)
{
	(void)context, (void)hash;
	return NULL;
}

static struct view_source source_of(struct rig *rig)
{
	return (struct view_source){ .run = rig->run->id,
				     .state = run_state_row(rig->run->state)->word,
				     .graph = rig->graph->rows,
				     .events = rig->history,
				     .event_count = rig->events,
				     .read_value = no_value };
}

static struct str document(const struct timeline *timeline, const struct view *view)
{
	AUTO(buf) text = { 0 };
	struct json_writer writer = { .out = &text };
	struct view_document shown = view->ops->run(timeline);
	view_print(&shown, &writer);
	return str_copy(timeline->arena, buf_str(&text));
}

Test(start_field, is_in_the_first_event_and_in_the_state)
{
	struct rig rig;
	begin(&rig, request);
	cr_assert_eq(rig.history[0].type, EVENT_RUN_CREATED);
	cr_assert(is_in(event_body(&rig.history[0], &rig.arena)));
	cr_assert(str_equal(rig.run->start->sample_note, S("blue")));
	cr_assert_eq(rig.run->start->sample_level, 3);
	rig_done(&rig);
}

Test(start_field, is_in_the_snapshot_and_in_what_is_restored_from_it)
{
	struct rig rig;
	begin(&rig, request);
	struct str text = run_snapshot_of(rig.run, &rig.arena);
	cr_assert(is_in(text), STR_FMT, STR_ARG(text));
	const struct run_snapshot *snapshot;
	struct run *again;
	struct error error;
	cr_assert(run_snapshot_read(text, &rig.arena, &snapshot, &error), "%s", error.text);
	cr_assert(run_restore(snapshot, rig.run->id, rig.graph, &rig.arena, &again, &error), "%s",
		  error.text);
	cr_assert(has(again->start, sample_note) && has(again->start, sample_level));
	cr_assert(str_equal(again->start->sample_note, S("blue")));
	cr_assert(str_equal(run_snapshot_of(again, &rig.arena), text));
	rig_done(&rig);
}

Test(start_field, is_in_every_view)
{
	struct rig rig;
	begin(&rig, request);
	struct view_source source = source_of(&rig);
	AUTO(timeline) timeline = { 0 };
	timeline_read(&timeline, &source, &rig.arena);
	for (int i = 0; i < VIEW_COUNT; i++) {
		const struct view *view = view_at((enum view_number)i);
		struct str text = document(&timeline, view);
		cr_assert(is_in(text), STR_FMT ": " STR_FMT, STR_ARG(view->name), STR_ARG(text));
	}
	cr_assert(is_in(run_outline_text(run_outline(&timeline), &rig.arena)));
	rig_done(&rig);
}

/* A compacted run keeps its first event, and the synthesized rest of its history is read with it.
 */
Test(start_field, is_in_every_view_of_a_compacted_run)
{
	struct rig rig;
	begin(&rig, request);
	struct synthesized_history gone;
	struct run_names names;
	history_synthesize(run_snapshot(rig.run, &rig.arena, &names), rig.graph->rows, rig.run->seq,
			   &rig.arena, &gone);
	cr_assert_gt(gone.count, 0);
	struct event events[8];
	int64_t seqs[8];
	size_t count = 0;
	cr_assert_leq(gone.count + 2, COUNT(events));
	events[count] = rig.history[0];
	seqs[count++] = 1;
	for (size_t i = 0; i < gone.count; i++) {
		events[count] = gone.events[i];
		seqs[count++] = gone.seqs[i];
	}
	events[count] = rig.history[rig.events - 1];
	seqs[count++] = rig.run->seq;
	struct view_source source = source_of(&rig);
	source.events = events;
	source.seqs = seqs;
	source.event_count = count;
	AUTO(timeline) timeline = { 0 };
	timeline_read(&timeline, &source, &rig.arena);
	for (int i = 0; i < VIEW_COUNT; i++)
		cr_assert(is_in(document(&timeline, view_at((enum view_number)i))));
	rig_done(&rig);
}

Test(start_field, is_in_the_row_for_lists)
{
	struct rig rig;
	begin(&rig, request);
	struct run_summary *summary = run_summary_new(&rig.arena);
	SET(summary, steps_ended, 1);
	SET(summary, steps, 1);
	COPY_FIELDS(run_start, rig.run->start, run_summary, summary, NULL);
	cr_assert(is_in(run_summary_text(summary, &rig.arena)));
	rig_done(&rig);
}

Test(start_field, is_absent_where_the_start_does_not_say_it)
{
	struct rig rig;
	begin(&rig, "{\"workflow\": \"w\", \"inputs\": {}}");
	size_t at;
	struct str event = event_body(&rig.history[0], &rig.arena);
	cr_assert_not(str_find(event, S("sample_"), &at));
	cr_assert_not(str_find(run_snapshot_of(rig.run, &rig.arena), S("sample_"), &at));
	struct view_source source = source_of(&rig);
	AUTO(timeline) timeline = { 0 };
	timeline_read(&timeline, &source, &rig.arena);
	for (int i = 0; i < VIEW_COUNT; i++)
		cr_assert_not(str_find(document(&timeline, view_at((enum view_number)i)),
				       S("sample_"), &at));
	rig_done(&rig);
}
