/* Tests base/text_diff: a diff, applied to the first text, gives the second. */
#include <criterion/criterion.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/text_diff.h"

static struct arena arena;

static void end(void)
{
	arena_done(&arena);
	arena = (struct arena){ 0 };
}

TestSuite(text_diff, .fini = end);

static struct str diff_of(const char *before, const char *after)
{
	return text_diff(str_from_c(before), str_from_c(after), S("a"), S("b"), &arena);
}

static void expect(const char *before, const char *after, const char *diff)
{
	struct str made = diff_of(before, after);
	cr_assert(str_equal(made, str_from_c(diff)), "%.*s", STR_ARG(made));
}

static struct str next_line(struct str *rest)
{
	size_t size = 0;
	while (size < rest->size && rest->at[size++] != '\n')
		;
	struct str line = str_head(*rest, size);
	*rest = str_skip(*rest, size);
	return line;
}

/* Applies a unified diff the way patch(1) does; fails on any line that does not fit. */
static void apply(struct str before, struct str diff, struct buf *out)
{
	struct str old = before, line = S("");
	size_t at = 0; /* lines of `before` that were taken */
	next_line(&diff);
	next_line(&diff);
	while (diff.size > 0) {
		line = next_line(&diff);
		cr_assert(str_starts(line, S("@@ -")));
		struct str rest = str_skip(line, 4), from, count;
		int64_t begin, lines;
		cr_assert(str_cut(&rest, ',', &from) && str_cut(&rest, ' ', &count));
		cr_assert(str_to_int(from, &begin) && str_to_int(count, &lines));
		while (at < (size_t)(lines > 0 ? begin - 1 : begin)) {
			buf_add(out, next_line(&old));
			at++;
		}
		while (diff.size > 0 && !str_starts(diff, S("@@ "))) {
			line = next_line(&diff);
			struct str text = str_skip(line, 1);
			if (str_starts(diff, S("\\ "))) {
				next_line(&diff);
				text = str_head(text, text.size - 1);
			}
			if (line.at[0] != '+') {
				cr_assert(str_equal(next_line(&old), text));
				at++;
			}
			if (line.at[0] != '-')
				buf_add(out, text);
		}
	}
	buf_add(out, old);
}

static void round_trip(struct str before, struct str after)
{
	AUTO(buf) out = { 0 };
	struct str diff = text_diff(before, after, S("a"), S("b"), &arena);
	if (diff.size > 0)
		apply(before, diff, &out);
	else
		buf_add(&out, before);
	cr_assert(str_equal(buf_str(&out), after), "%.*s\n=>\n%.*s\ngave\n%.*s", STR_ARG(before),
		  STR_ARG(after), STR_ARG(diff));
}

Test(text_diff, small_changes)
{
	cr_assert(diff_of("a\n", "a\n").size == 0);
	expect("a\nb\nc\n", "a\nB\nc\n", "--- a\n+++ b\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n");
	expect("", "x\n", "--- a\n+++ b\n@@ -0,0 +1,1 @@\n+x\n");
	expect("x\n", "", "--- a\n+++ b\n@@ -1,1 +0,0 @@\n-x\n");
	expect("x", "x\n", "--- a\n+++ b\n@@ -1,1 +1,1 @@\n-x\n\\ No newline at end of file\n+x\n");
}

Test(text_diff, far_changes_are_two_hunks)
{
	struct str diff = diff_of("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "X\n2\n3\n4\n5\n6\n7\n8\nY\n");
	size_t at, first;
	cr_assert(str_find(diff, S("@@ -1,4 +1,4 @@"), &first));
	cr_assert(str_find(diff, S("@@ -6,4 +6,4 @@"), &at) && at > first);
	diff = diff_of("1\n2\n3\n4\n5\n6\n7\n8\n", "X\n2\n3\n4\n5\n6\n7\nY\n");
	cr_assert(str_find(diff, S("@@ -1,8 +1,8 @@"), &first));
}

static uint32_t dice(uint32_t *seed)
{
	*seed = *seed * 1664525u + 1013904223u;
	return *seed >> 16;
}

static struct str random_text(uint32_t *seed)
{
	AUTO(buf) text = { 0 };
	size_t lines = dice(seed) % 24;
	for (size_t i = 0; i < lines; i++)
		buf_add_format(&text, "%c%s", (char)('a' + dice(seed) % 4),
			       i + 1 < lines || dice(seed) % 4 > 0 ? "\n" : "");
	return str_copy(&arena, buf_str(&text));
}

Test(text_diff, random_texts)
{
	uint32_t seed = 7;
	for (int i = 0; i < 3000; i++) {
		struct str before = random_text(&seed);
		round_trip(before, random_text(&seed));
	}
}

/* More edits than are aligned: still a correct diff. */
Test(text_diff, beyond_the_limits)
{
	AUTO(buf) one = { 0 };
	AUTO(buf) two = { 0 };
	for (int i = 0; i < LIMIT_DIFF_EDITS + 100; i++) {
		buf_add_format(&one, "a%d\n", i);
		buf_add_format(&two, "b%d\n", i);
	}
	round_trip(buf_str(&one), buf_str(&two));
	one.size = two.size = 0;
	for (int i = 0; i < LIMIT_DIFF_LINES; i++)
		buf_add(&one, S("x\n"));
	buf_add(&two, buf_str(&one));
	buf_add(&two, S("y\n"));
	round_trip(buf_str(&two), buf_str(&one));
}
