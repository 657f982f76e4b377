/* One stored event becomes a group of events: its order, ids, limits and words. */
#include <criterion/criterion.h>

#include "base/limits.h"
#include "contract/pipeline_types.h"
#include "contract/run_event_types.h"
#include "contract/run_log_types.h"
#include "contract/run_value_types.h"
#include "sample_run.h"

/* The first tool call of the sample, with this many changed files and `left_out` further ones. */
static size_t change(struct sample *sample, size_t files, int64_t left_out)
{
	struct arena *arena = &sample->arena;
	struct run_file_change *at = arena_array(arena, struct run_file_change, files);
	size_t i = 0;
	for (size_t k = 0; k < files; k++) {
		at[k] = *run_file_change_new(arena);
		SET(&at[k], path, str_format(arena, "file-%zu", k));
		SET(&at[k], change, (enum run_file_change_kind)(k % 3));
		if (at[k].change != RUN_FILE_DELETED)
			SET(&at[k], size, (int64_t)k);
	}
	struct run_file_changes *changes = run_file_changes_new(arena);
	SET(changes, files, ((struct run_file_change_list){ at, files }));
	if (left_out > 0)
		SET(changes, left_out, left_out);
	struct run_value *value = run_value_new(arena);
	SET(value, json, run_file_changes_tree(changes, arena));
	while (sample->events[i].type != EVENT_TOOL_FINISHED)
		i++;
	struct run_tool_finished *body = arena_copy(arena, sample->events[i].as.run_tool_finished,
						    sizeof(struct run_tool_finished));
	SET(body, files, value);
	SET(body, file_count, (int64_t)files);
	sample->events[i].as.run_tool_finished = body;
	return i;
}

static const struct pipeline_workflow_event *shown(const struct view_group *group, size_t n)
{
	return view_group_event(group, n).at[0];
}

Test(groups, the_event_itself_comes_first_and_keeps_its_id)
{
	struct sample sample;
	struct view_group group;
	AUTO(timeline) timeline = { 0 };
	sample_init(&sample);
	size_t index = change(&sample, 4, 0);
	timeline_read(&timeline, &sample.source, &sample.arena);
	view_group_make(&group, view_at(VIEW_pipeline), &timeline, index);
	cr_assert_eq(group.count, 5);
	static const char *const words[] = { "stage_completed", "file_created", "file_modified",
					     "file_deleted", "file_created" };
	struct uuid ids[5];
	for (size_t n = 0; n < 5; n++) {
		const struct pipeline_workflow_event *event = shown(&group, n);
		cr_expect(str_equal(group.parts[n].word, str_from_c(words[n])));
		cr_expect_eq(event->sequence, (int64_t)index + 1);
		ids[n] = event->id;
		for (size_t k = 0; k < n; k++)
			cr_expect_not(uuid_equal(&ids[k], &ids[n]));
		cr_expect(n == 0 || uuid_equal(&event->parent_id, &ids[0]));
	}
	struct uuid first = timeline_event_id(&timeline, (int64_t)index + 1);
	struct uuid third = timeline_part_id(&timeline, (int64_t)index + 1, 2);
	cr_expect(uuid_equal(&ids[0], &first));
	cr_expect(uuid_equal(&ids[2], &third));
	cr_expect(
		str_equal(json_text(json_member(shown(&group, 2)->data, S("path"))), S("file-1")));
	sample_done(&sample);
}

Test(groups, the_last_event_says_how_many_were_left_out)
{
	struct sample sample;
	struct view_group group;
	sample_init(&sample);
	size_t index = change(&sample, LIMIT_EVENT_GROUP + 10, 90);
	AUTO(timeline) timeline = { 0 };
	timeline_read(&timeline, &sample.source, &sample.arena);
	view_group_make(&group, view_at(VIEW_pipeline), &timeline, index);
	cr_assert_eq(group.count, LIMIT_EVENT_GROUP);
	cr_expect_eq(group.left_out, 11 + 90);
	const struct json *last = shown(&group, group.count - 1)->data;
	cr_expect_eq(json_member(last, S("left_out"))->as.integer, 101);
	cr_expect_eq(json_member(last, S("part"))->as.integer, LIMIT_EVENT_GROUP - 1);
	cr_expect_eq(json_member(last, S("parts"))->as.integer, LIMIT_EVENT_GROUP);
	cr_expect_null(json_member(shown(&group, group.count - 2)->data, S("left_out")));
	cr_expect_leq(LIMIT_EVENT_GROUP, event_facts_most(&sample.events[index]));
	/* A view without a word for files has nothing to leave out. */
	view_group_make(&group, view_at(VIEW_runtime), &timeline, index);
	cr_expect_eq(group.count, 1);
	cr_expect_eq(group.left_out, 0);
	sample_done(&sample);
}

Test(groups, are_within_the_bound_that_the_event_alone_gives)
{
	static const struct play *const plays[] = { &play_short, &play_long, &play_retried,
						    &play_unwind };
	size_t groups = 0;
	for (size_t p = 0; p < COUNT(plays); p++) {
		struct sample sample;
		AUTO(timeline) timeline = { 0 };
		sample_init_play(&sample, plays[p]);
		timeline_read(&timeline, &sample.source, &sample.arena);
		for (size_t i = 0; i < plays[p]->count; i++)
			for (int v = 0; v < VIEW_COUNT; v++) {
				struct view_group group;
				view_group_make(&group, view_at((enum view_number)v), &timeline, i);
				cr_expect_leq(group.count, event_facts_most(&sample.events[i]));
				groups += group.count > 1;
			}
		sample_done(&sample);
	}
	cr_expect_gt(groups, 5, "failed steps have an error behind their end");
}
