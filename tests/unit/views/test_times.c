/* Time profiles: the shares are never negative and add up to the whole, for every stream. */
#include <criterion/criterion.h>

#include "base/limits.h"
#include "contract/run_value_types.h"
#include "sample_run.h"
#include "views/time_profile.h"

/* ---- dice -------------------------------------------------------------------------- */

static uint64_t dice;

static uint64_t roll(uint64_t below)
{
	dice ^= dice << 13;
	dice ^= dice >> 7;
	dice ^= dice << 17;
	return dice % below;
}

static void expect_adds_up(const struct time_profile *times)
{
	int64_t sum = 0, at = times->from;
	for (int i = 0; i < TIMES_SHARES; i++) {
		cr_assert_geq(times->us[i], 0);
		sum += times->us[i];
	}
	cr_assert_eq(sum, times->to - times->from);
	for (size_t i = 0; i < times->piece_count; i++) {
		cr_assert_eq(times->pieces[i].from, at);
		cr_assert_gt(times->pieces[i].to, at);
		cr_assert(i == 0 || times->pieces[i].share != times->pieces[i - 1].share);
		at = times->pieces[i].to;
	}
	cr_assert_eq(at, times->to);
}

/* ---- the sweep --------------------------------------------------------------------- */

/* Reference implementation: assigns every moment separately. */
static void count_moments(const struct time_profile_stretch *open, size_t count, int64_t from,
			  int64_t to, int64_t us[TIMES_SHARES])
{
	for (int64_t at = from; at < to; at++) {
		int first = RUN_SHARE_ENGINE;
		for (size_t i = 0; i < count; i++)
			if (open[i].from <= at && at < open[i].to && (int)open[i].share < first)
				first = (int)open[i].share;
		us[first]++;
	}
}

Test(times, every_moment_belongs_to_the_first_thing_that_is_open)
{
	for (uint64_t seed = 1; seed <= 2000; seed++) {
		AUTO(arena) arena = { 0 };
		struct time_profile_stretch open[12];
		struct time_profile times;
		int64_t us[TIMES_SHARES] = { 0 };
		dice = seed * 0x9e3779b97f4a7c15U;
		size_t count = roll(COUNT(open) + 1);
		for (size_t i = 0; i < count; i++)
			open[i] = (struct time_profile_stretch){ (enum run_share)roll(TIMES_SHARES),
								 (int64_t)roll(60) - 10,
								 (int64_t)roll(60) - 10 };
		int64_t from = (int64_t)roll(20), to = (int64_t)roll(50);
		time_profile_sweep(&times, open, count, from, to, &arena);
		expect_adds_up(&times);
		count_moments(open, count, from, to, us);
		for (int i = 0; i < TIMES_SHARES; i++)
			cr_assert_eq(times.us[i], us[i], "seed %llu, share %d",
				     (unsigned long long)seed, i);
	}
}

Test(times, edges_at_the_ends_of_what_a_clock_can_show)
{
	AUTO(arena) arena = { 0 };
	struct time_profile times;
	struct time_profile_stretch open[] = { { RUN_SHARE_TOOL, INT64_MIN, INT64_MAX },
					       { RUN_SHARE_MODEL, 5, INT64_MAX },
					       { RUN_SHARE_MODEL, INT64_MAX, INT64_MIN } };
	time_profile_sweep(&times, open, COUNT(open), 0, 10, &arena);
	expect_adds_up(&times);
	cr_expect_eq(times.us[RUN_SHARE_TOOL], 5);
	cr_expect_eq(times.us[RUN_SHARE_MODEL], 5);
	time_profile_sweep(&times, open, COUNT(open), 10, 0, &arena);
	cr_expect_eq(times.piece_count, 0);
}

/* ---- runs -------------------------------------------------------------------------- */

static void read_times(struct time_profile *times, struct view_source source, int64_t now,
		       struct arena *arena)
{
	AUTO(timeline) timeline = { 0 };
	timeline_read(&timeline, &source, arena);
	time_profile_of(times, &timeline, now);
}

Test(times, of_the_short_run)
{
	struct sample sample;
	struct time_profile times;
	sample_init(&sample);
	read_times(&times, sample.source, 0, &sample.arena);
	expect_adds_up(&times);
	cr_expect_eq(times.us[RUN_SHARE_TOOL], (1500 + 2750 + 120) * 1000);
	cr_expect_eq(times.us[RUN_SHARE_WAIT], 2001 * 1000);
	cr_expect_eq(times.us[RUN_SHARE_HUMAN], 60000 * 1000);
	cr_expect_eq(times.us[RUN_SHARE_ENGINE], (4 + 1 + 2) * 1000);
	cr_expect_eq(times.us[RUN_SHARE_FSYNC], 0);
	cr_expect_not(times.compacted);
	sample_done(&sample);
}

Test(times, of_the_long_run_has_every_share_but_that_of_the_disk)
{
	struct sample sample;
	struct time_profile times;
	sample_init_play(&sample, &play_long);
	read_times(&times, sample.source, 0, &sample.arena);
	expect_adds_up(&times);
	for (int i = 0; i < TIMES_SHARES; i++)
		cr_expect_eq(times.us[i] > 0, i != RUN_SHARE_FSYNC, "share %d", i);
	cr_expect_eq(times.us[RUN_SHARE_QUEUE], 250 * 1000);
	cr_expect_eq(times.us[RUN_SHARE_MODEL], 900 * 1000);
	sample_done(&sample);
}

Test(times, at_every_moment_of_both_runs)
{
	const struct play *plays[] = { &play_short, &play_long };
	for (size_t p = 0; p < COUNT(plays); p++)
		for (size_t count = 1; count <= plays[p]->count; count++) {
			struct sample sample;
			struct time_profile times;
			sample_init_play(&sample, plays[p]);
			int64_t now = sample.events[count - 1].at + 700;
			read_times(&times, sample_prefix(&sample, count), now, &sample.arena);
			expect_adds_up(&times);
			cr_expect_eq(times.to, count == plays[p]->count ? now - 700 : now);
			sample_done(&sample);
		}
}

/* Only the share of an open call grows. */
Test(times, while_a_person_is_asked)
{
	struct sample sample;
	struct time_profile first, later;
	sample_init(&sample);
	struct view_source source = sample_prefix(&sample, 8); /* after human.requested */
	int64_t now = sample.events[7].at;
	read_times(&first, source, now + 1000, &sample.arena);
	read_times(&later, source, now + 9000, &sample.arena);
	cr_expect_eq(first.us[RUN_SHARE_HUMAN], 1000);
	cr_expect_eq(later.us[RUN_SHARE_HUMAN], 9000);
	cr_expect_eq(first.us[RUN_SHARE_TOOL], later.us[RUN_SHARE_TOOL]);
	sample_done(&sample);
}

static void tell(struct sample *sample, size_t index, struct run_commit commit)
{
	struct run_commit *told = arena_copy(&sample->arena, &commit, sizeof(commit));
	event_set_origin(&sample->events[index], (struct run_commit_list){ told, 1 }, S(""),
			 &sample->arena);
}

static struct run_commit commit(int64_t first, int64_t last, int64_t made_us, int64_t us)
{
	struct run_commit commit = { 0 };
	SET(&commit, first, first);
	SET(&commit, last, last);
	SET(&commit, made_us, made_us);
	SET(&commit, us, us);
	return commit;
}

/* No request starts before it is on disk. */
Test(times, of_the_disk_are_taken_from_what_waited_for_it)
{
	struct sample sample;
	struct time_profile before, after;
	sample_init(&sample);
	read_times(&before, sample.source, 0, &sample.arena);
	tell(&sample, 3, commit(2, 3, 100, 2000)); /* greet's result and build's request */
	tell(&sample, 8, commit(8, 8, 50, 300));   /* the question */
	read_times(&after, sample.source, 0, &sample.arena);
	expect_adds_up(&after);
	cr_expect_eq(after.commits, 2);
	cr_expect_eq(after.us[RUN_SHARE_FSYNC], 2000 + 300);
	cr_expect_eq(after.us[RUN_SHARE_ENGINE], before.us[RUN_SHARE_ENGINE] + 100 + 50);
	cr_expect_eq(after.us[RUN_SHARE_TOOL], before.us[RUN_SHARE_TOOL] - 2100);
	cr_expect_eq(after.us[RUN_SHARE_HUMAN], before.us[RUN_SHARE_HUMAN] - 350);
	sample_done(&sample);
}

/* Jumping clocks, missing commits, impossible durations: the long run with random numbers. */
Test(times, of_histories_that_nobody_has_lived)
{
	for (uint64_t seed = 1; seed <= 300; seed++) {
		struct sample sample;
		struct time_profile times;
		dice = seed * 0x9e3779b97f4a7c15U;
		sample_init_play(&sample, seed % 2 == 0 ? &play_long : &play_short);
		size_t all = sample.play->count, count = 0;
		int64_t at = sample.events[0].at;
		for (size_t i = 0; i < all; i++) {
			if (i > 0 && roll(8) == 0)
				continue; /* absent */
			sample.events[count] = sample.events[i];
			at += roll(5) == 0 ? -(int64_t)roll(5000000) : (int64_t)roll(3000000);
			sample.events[count].at = i == 0 ? sample.events[0].at : at;
			if (roll(2) == 0)
				tell(&sample, count,
				     commit((int64_t)roll(all + 9), (int64_t)roll(all + 9),
					    (int64_t)roll(90000) - 9,
					    roll(50) == 0 ? INT64_MAX : (int64_t)roll(900000)));
			count++;
		}
		sample.source.event_count = count;
		read_times(&times, sample.source, at + (int64_t)roll(1000), &sample.arena);
		expect_adds_up(&times);
		sample_done(&sample);
	}
}

/* ---- the document and the spans ---------------------------------------------------- */

Test(times, are_told_as_a_document_that_reads_back)
{
	struct sample sample;
	AUTO(timeline) timeline = { 0 };
	sample_init_play(&sample, &play_long);
	timeline_read(&timeline, &sample.source, &sample.arena);
	const struct run_time *time = time_profile_document(&timeline, 0);
	const struct run_shares *shares = time->shares;
	cr_expect_eq(shares->model + shares->tool + shares->subrun + shares->paused +
			     shares->human + shares->wait + shares->queue + shares->fsync +
			     shares->engine,
		     time->wall_us);
	struct contract_source source = { 0 };
	struct problems problems = { .arena = &sample.arena };
	struct error error;
	cr_assert(
		json_read(run_time_text(time, &sample.arena), &sample.arena, &source.json, &error));
	cr_expect_not_null(run_time_parse(&source, &sample.arena, &problems));
	sample_done(&sample);
}

static size_t count_spans(const struct run_span *span, int64_t *depth, int64_t level)
{
	size_t count = 1 + (has(span, left_out) ? (size_t)span->left_out : 0);
	if (level > *depth)
		*depth = level;
	for (size_t i = 0; i < span->spans.count; i++)
		count += count_spans(&span->spans.at[i], depth, level + 1);
	return count;
}

Test(spans, are_as_deep_as_was_asked_and_the_rest_is_counted)
{
	struct sample sample;
	AUTO(timeline) timeline = { 0 };
	sample_init_play(&sample, &play_long);
	timeline_read(&timeline, &sample.source, &sample.arena);
	int64_t whole_depth = 0;
	size_t whole = count_spans(trace_spans(&timeline, 0, LIMIT_SPAN_DEPTH), &whole_depth, 1);
	cr_expect_eq(whole_depth, 3);
	for (int64_t depth = 1; depth <= 4; depth++) {
		int64_t seen = 0;
		cr_expect_eq(count_spans(trace_spans(&timeline, 0, depth), &seen, 1), whole);
		cr_expect_eq(seen, depth < whole_depth ? depth : whole_depth);
	}
	sample_done(&sample);
}

Test(spans, name_attempts_where_there_were_several)
{
	struct sample sample;
	AUTO(timeline) timeline = { 0 };
	sample_init_play(&sample, &play_long);
	timeline_read(&timeline, &sample.source, &sample.arena);
	const struct run_span *span = trace_spans(&timeline, 0, 8), *flaky = NULL;
	for (size_t i = 0; i < span->spans.count; i++)
		if (str_equal(span->spans.at[i].name, S("flaky")))
			flaky = &span->spans.at[i];
	cr_assert_not_null(flaky);
	cr_assert_eq(flaky->spans.count, 2);
	cr_expect(str_equal(flaky->spans.at[0].name, S("attempt 1")));
	cr_expect(str_equal(flaky->spans.at[0].state, S("retrying")));
	cr_expect_eq(flaky->us, (200 + 646 + 300 + 50) * 1000);
	sample_done(&sample);
}
