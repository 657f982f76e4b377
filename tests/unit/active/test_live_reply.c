/* Replies that are being written: one copy of their text, lists by run, limits, and one timer. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "active/executor_state.h"
#include "base/limits.h"

static struct executor executor;
static size_t timers, flushes;
static platform_callback *timer_callback;
static const struct uuid run_a = { { 1 } }, run_b = { { 2 } };

static uint64_t timer_start(struct platform *system, int64_t delay_us, platform_callback *callback,
			    void *context, uint64_t argument)
{
	(void)system;
	(void)argument;
	cr_assert_eq(context, &executor);
	cr_assert_eq(delay_us, LIMIT_LIVE_REPLY_FLUSH_MS * 1000);
	timer_callback = callback;
	return ++timers;
}

static const struct platform_ops ops = { .timer_start = timer_start };
static struct platform system_of_test = { .ops = &ops };

static void flushed(void *context)
{
	cr_assert_eq(context, &flushes);
	flushes++;
}

static void begin(void)
{
	memset(&executor, 0, sizeof(executor));
	executor.settings.platform = &system_of_test;
	timers = flushes = 0;
	live_reply_listen(&executor, flushed, &flushes);
}

static void end(void)
{
	live_reply_drop_all(&executor);
}

TestSuite(live_reply, .init = begin, .fini = end);

static uint64_t open_reply(const struct uuid *run, struct str step, int64_t attempt)
{
	const struct live_reply turn = { .run = *run,
					 .effect = { { 9 } },
					 .step = step,
					 .agent = S("ada"),
					 .attempt = attempt };
	return live_reply_open(&executor, &turn);
}

static bool has_text(uint64_t id, enum llm_part part, struct str text)
{
	return str_equal(buf_str(&live_reply_by_id(&executor, id)->parts[part]), text);
}

Test(live_reply, gathers_the_parts_of_a_reply)
{
	uint64_t id = open_reply(&run_a, S("say"), 2);
	live_reply_add(&executor, id, LLM_PART_THINKING, S("hm"));
	live_reply_add(&executor, id, LLM_PART_TEXT, S("one "));
	live_reply_add(&executor, id, LLM_PART_TEXT, S("two"));
	live_reply_add(&executor, id, LLM_PART_CALL, S("shell"));
	live_reply_add(&executor, id, LLM_PART_CALL, S("read_file"));
	const struct live_reply *reply = live_reply_first(&executor, &run_a);
	cr_assert_eq(reply->id, id);
	cr_assert_eq(reply->attempt, 2);
	cr_assert(str_equal(reply->step, S("say")));
	cr_assert(has_text(id, LLM_PART_TEXT, S("one two")));
	cr_assert(has_text(id, LLM_PART_THINKING, S("hm")));
	cr_assert(has_text(id, LLM_PART_CALL, S("shell\nread_file\n")));
	cr_assert_not(reply->truncated);
}

Test(live_reply, one_timer_for_all_pieces_of_all_replies)
{
	uint64_t a = open_reply(&run_a, S("a"), 1), b = open_reply(&run_b, S("b"), 1);
	for (size_t i = 0; i < 100; i++) {
		live_reply_add(&executor, a, LLM_PART_TEXT, S("x"));
		live_reply_add(&executor, b, LLM_PART_TEXT, S("y"));
	}
	cr_assert_eq(timers, 1);
	timer_callback(&executor, 0);
	cr_assert_eq(flushes, 1);
	live_reply_add(&executor, a, LLM_PART_TEXT, S("x"));
	cr_assert_eq(timers, 2);
}

Test(live_reply, lists_the_replies_of_a_run_in_the_order_of_their_start)
{
	uint64_t ids[3];
	for (size_t i = 0; i < 3; i++)
		ids[i] = open_reply(&run_a, S("s"), (int64_t)i + 1);
	uint64_t other = open_reply(&run_b, S("s"), 1);
	live_reply_drop(&executor, ids[1]);
	const struct live_reply *reply = live_reply_first(&executor, &run_a);
	cr_assert_eq(reply->id, ids[0]);
	cr_assert_eq(reply->next->id, ids[2]);
	cr_assert_null(reply->next->next);
	live_reply_drop(&executor, ids[0]);
	cr_assert_eq(live_reply_first(&executor, &run_a)->id, ids[2]);
	live_reply_drop(&executor, ids[2]);
	cr_assert_null(live_reply_first(&executor, &run_a));
	cr_assert_eq(live_reply_first(&executor, &run_b)->id, other);
	live_reply_drop(&executor, ids[2]); /* harmless */
	live_reply_add(&executor, ids[2], LLM_PART_TEXT, S("late"));
	cr_assert_null(live_reply_by_id(&executor, ids[2]));
}

static struct str much(size_t size, char *out)
{
	memset(out, 'x', size);
	return (struct str){ out, size };
}

Test(live_reply, keeps_so_much_of_one_reply_in_whole_characters)
{
	char *bytes = malloc(LIMIT_LIVE_REPLY_BYTES);
	uint64_t id = open_reply(&run_a, S("s"), 1);
	live_reply_add(&executor, id, LLM_PART_THINKING, much(LIMIT_LIVE_REPLY_BYTES - 3, bytes));
	live_reply_add(&executor, id, LLM_PART_TEXT, S("öö"));
	cr_assert(has_text(id, LLM_PART_TEXT, S("ö")));
	cr_assert(live_reply_by_id(&executor, id)->truncated);
	live_reply_add(&executor, id, LLM_PART_TEXT, S("a")); /* fits, but would leave a gap */
	cr_assert(has_text(id, LLM_PART_TEXT, S("ö")));
	free(bytes);
}

Test(live_reply, keeps_so_much_of_all_replies)
{
	char *bytes = malloc(LIMIT_LIVE_REPLY_BYTES);
	struct str text = much(LIMIT_LIVE_REPLY_BYTES, bytes);
	size_t count = LIMIT_LIVE_REPLIES_BYTES / LIMIT_LIVE_REPLY_BYTES;
	uint64_t first = open_reply(&run_a, S("s"), 1), id = first;
	for (size_t i = 0; i < count; i++) {
		if (i > 0)
			id = open_reply(&run_a, S("s"), 1);
		live_reply_add(&executor, id, LLM_PART_TEXT, text);
		cr_assert_not(live_reply_by_id(&executor, id)->truncated);
	}
	uint64_t beyond = open_reply(&run_b, S("s"), 1);
	live_reply_add(&executor, beyond, LLM_PART_TEXT, S("a"));
	cr_assert(live_reply_by_id(&executor, beyond)->truncated);
	live_reply_drop(&executor, first);
	uint64_t later = open_reply(&run_b, S("s"), 1);
	live_reply_add(&executor, later, LLM_PART_TEXT, S("a"));
	cr_assert(has_text(later, LLM_PART_TEXT, S("a")));
	free(bytes);
}
