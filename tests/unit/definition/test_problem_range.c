/* definition/problem_range.c: what a problem marks in the text, and the edit that mends it. */
#include <criterion/criterion.h>

#include "definition/problem_range.h"

static struct arena arena;

static void begin(void)
{
	arena = (struct arena){ 0 };
}

static void end(void)
{
	arena_done(&arena);
}

TestSuite(problem_range, .init = begin, .fini = end);

/* A problem of the word at the place; where it is found. */
static const struct problem *found(const char *text, uint32_t line, uint32_t column,
				   const char *word, uint32_t skip)
{
	struct problems problems = { .arena = &arena };
	struct problem *problem = problems_add(&problems, S("/x"), line, column, "wrong");
	problem_suggest(problem, str_from_c(word), S("good"));
	problem->hint.skip = skip;
	problem_range_find_all(&problems, str_from_c(text), &arena);
	return &problems.at[0];
}

static void marks(const struct problem *problem, uint32_t line, uint32_t column, uint32_t end_line,
		  uint32_t end_column)
{
	cr_expect(problem->line == line && problem->column == column &&
			  problem->end_line == end_line && problem->end_column == end_column,
		  "%u:%u-%u:%u", problem->line, problem->column, problem->end_line,
		  problem->end_column);
}

Test(problem_range, a_word_is_found_in_every_style)
{
	marks(found("a: bad\n", 1, 4, "bad", 0), 1, 4, 1, 7);
	marks(found("a: \"x bad\"\n", 1, 4, "bad", 0), 1, 7, 1, 10);
	marks(found("a: 'it''s bad'\n", 1, 4, "bad", 0), 1, 11, 1, 14);
	marks(found("a: |\n  x\n  bad\nb: bad\n", 1, 4, "bad", 0), 3, 3, 3, 6);
	marks(found("a: >-\n  x\n\n  bad\n", 1, 4, "bad", 0), 4, 3, 4, 6);
	marks(found("- |\n  bad\n", 1, 3, "bad", 0), 2, 3, 2, 6);
	marks(found("a: [x, bad]\n", 1, 4, "bad", 0), 1, 8, 1, 11);
	marks(found("a: [x,\n  bad]\n", 1, 4, "bad", 0), 2, 3, 2, 6);
	marks(found("a: grün bad\n", 1, 4, "bad", 0), 1, 9, 1, 12);
	marks(found("x\r\na: bad\r\n", 2, 4, "bad", 0), 2, 4, 2, 7);
}

Test(problem_range, only_whole_words_of_the_value_count)
{
	const struct problem *problem = found("a: \"badly bad bad\"\nb: bad\n", 1, 4, "bad", 1);
	marks(problem, 1, 15, 1, 18);
	cr_expect(str_equal(problem->fix.text, S("good")));
	cr_expect_eq(problem_word_skip(S("badly bad bad"), 10, S("bad")), 1u);
	/* behind the value there is nothing of it: the place stays, and there is no fix */
	problem = found("a: \"x\"\nb: bad\n", 1, 4, "bad", 0);
	marks(problem, 1, 4, 1, 7);
	cr_expect_eq(problem->fix.title.size, 0u);
}

Test(problem_range, without_a_word_the_key_or_value_is_marked)
{
	marks(found("a: {b: c, d: e} # x\n", 1, 4, "", 0), 1, 4, 1, 16);
	marks(found("a: b c # x\n", 1, 4, "", 0), 1, 4, 1, 7);
	marks(found("{a: b, c: d}\n", 1, 5, "", 0), 1, 5, 1, 6);
	marks(found("key: x\n", 1, 1, "", 0), 1, 1, 1, 4);
	marks(found("a: \"open\n", 1, 4, "", 0), 1, 4, 1, 9);
}

Test(problem_range, places_outside_of_the_text_do_no_harm)
{
	found("", 1, 1, "bad", 0);
	found("a", 9, 9, "bad", 0);
	found("a: '", 1, 4, "bad", 0);
	found("a: {[", 1, 4, "", 3);
	found("\xC3", 1, 2, "", 0);
}
