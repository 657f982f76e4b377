/* The tree of a run: contents of the lines, truncation, hiding of steps. */
#include <criterion/criterion.h>
#include <string.h>

#include "cli/run_tree.h"
#include "contract/run_outline_types.h"

#define RUN "11111111-2222-4333-8444-555555555601"

static struct arena arena;

static void finish(void)
{
	arena_done(&arena);
}

TestSuite(tree, .fini = finish);

/* Parses an outline from JSON in which ' stands for the double quote. */
static const struct run_outline *outline_of(const char *run, const char *steps)
{
	struct str text =
		str_format(&arena,
			   "{'run_id': '" RUN "', 'workflow': 'w', %s, "
			   "'created_at': '2026-01-01T00:00:00Z', 'seq': 1, 'steps': [%s]}",
			   run, steps);
	char *json_text = arena_array(&arena, char, text.size);
	for (size_t i = 0; i < text.size; i++)
		json_text[i] = text.at[i] == '\'' ? '"' : text.at[i];
	struct error error;
	const struct json *json;
	cr_assert(json_read((struct str){ json_text, text.size }, &arena, &json, &error), "%s",
		  error.text);
	struct contract_source source = { .json = json };
	struct problems problems = { .arena = &arena };
	const struct run_outline *outline = run_outline_parse(&source, &arena, &problems);
	cr_assert_not_null(outline, STR_FMT, STR_ARG(problems.at[0].text));
	return outline;
}

static void expect_tree(const struct run_outline *outline, struct tree_style style, size_t lines,
			const char *wanted)
{
	AUTO(buf) out = { 0 };
	style.no_spinner = true;
	if (style.now == 0)
		style.now = INT64_C(1767225602500000); /* 2026-01-01T00:00:02.5Z */
	cr_expect_eq(run_tree_print(outline, &style, &out), lines);
	cr_expect(str_equal(buf_str(&out), str_from_c(wanted)), "\n" STR_FMT "instead of\n%s",
		  STR_ARG(buf_str(&out)), wanted);
}

#define STEP(path, more, state)                                                                  \
	"{'step': '" path "', 'kind': 'tool', 'agent': 'shell', 'attempts': 1, 'state': '" state \
	"'" more "}"
#define SPAN ", 'started_at': '2026-01-01T00:00:00Z', 'ended_at': '2026-01-01T00:00:01.25Z'"
#define OPEN ", 'started_at': '2026-01-01T00:00:00Z'"

Test(tree, bodies_are_indented_under_their_steps)
{
	expect_tree(
		outline_of(
			"'state': 'running'",
			STEP("a", SPAN, "succeeded") "," STEP("each", OPEN, "running") "," STEP(
				"each[0]/x", ", 'within': 'each'" SPAN,
				"succeeded") "," STEP("each[1]/x", ", 'within': 'each'" OPEN,
						      "running") "," STEP("after", "", "pending")),
		(struct tree_style){ 0 }, 5,
		"✓ a        succeeded      shell  1.2s\n"
		"● each     running        shell  2.5s\n"
		"  ✓ [0]/x  succeeded      shell  1.2s\n"
		"  ● [1]/x  running        shell  2.5s\n"
		"· after    pending        shell\n");
}

Test(tree, shows_errors_and_waits)
{
	expect_tree(
		outline_of(
			"'state': 'running'",
			"{'step': 'a', 'kind': 'tool', 'agent': 'shell', 'attempts': 3, 'state': 'failed', "
			"'error': 'exit\\u001b[2J status\\n1'" SPAN "}," STEP(
				"q",
				", 'request': '" RUN
				"', 'asks': 'approval', 'question': 'Go\\non?', 'to': 'lead'" OPEN,
				"waiting_human") "," STEP("s", ", 'signal': 'word'" OPEN,
							  "running") "," STEP("t",
									      ", 'due_at': '2026-01-01T00:01:02.5Z'" OPEN,
									      "running") "," STEP("w",
												  ", 'subrun': '" RUN
												  "'" OPEN,
												  "running")),
		(struct tree_style){ 0 }, 5,
		"✗ a  failed         shell  1.2s  attempt 3  exit\\x1b[2J status 1\n"
		"? q  waiting_human  shell  2.5s  Go on?  (for lead)  " RUN "\n"
		"● s  running        shell  2.5s  for the signal word\n"
		"● t  running        shell  2.5s  due in 1m 0s\n"
		"● w  running        shell  2.5s  run " RUN "\n");
}

Test(tree, lines_are_truncated_by_characters)
{
	expect_tree(outline_of("'state': 'running'", STEP("a", ", 'error': 'äöü'", "failed")),
		    (struct tree_style){ .columns = 28 }, 1, "✗ a  failed         shell…\n");
	expect_tree(outline_of("'state': 'running'", STEP("a", ", 'error': 'äöü'", "failed")),
		    (struct tree_style){ .columns = 29 }, 1, "✗ a  failed         shell  ä…\n");
	expect_tree(outline_of("'state': 'running'", STEP("a", ", 'error': 'äöü'", "failed")),
		    (struct tree_style){ .columns = 31 }, 1, "✗ a  failed         shell  äöü\n");
	expect_tree(outline_of("'state': 'running'", STEP("a", "", "failed")),
		    (struct tree_style){ .columns = 1 }, 1, "✗ a…\n");
}

#define TEN                                                                                                                                                  \
	STEP("a", SPAN, "succeeded")                                                                                                                         \
	"," STEP("l", SPAN, "succeeded") "," STEP("l/x", ", 'within': 'l'" SPAN, "succeeded") "," STEP("l/y", ", 'within': 'l'" SPAN, "succeeded") "," STEP( \
		"f", SPAN,                                                                                                                                   \
		"failed") "," STEP("r", OPEN,                                                                                                                \
				   "running") "," STEP("r/x", ", 'within': 'r'" OPEN,                                                                        \
						       "running") "," STEP("p", "",                                                                          \
									   "pending") "," STEP("q",                                                          \
											       "",                                                           \
											       "pending") "," STEP("s",                                      \
														   "",                                       \
														   "pending")

/* Checks the number of lines and which steps are shown. */
static struct str shown(size_t rows)
{
	AUTO(buf) out = { 0 };
	AUTO(buf) names = { 0 };
	struct tree_style style = { .rows = rows, .no_spinner = true };
	size_t lines = run_tree_print(outline_of("'state': 'running'", TEN), &style, &out);
	cr_expect_leq(lines, rows);
	struct str rest = buf_str(&out), line;
	size_t counted = 0;
	while (str_cut(&rest, '\n', &line)) {
		counted += line.size > 0;
		if (str_starts(line, S("… and ")))
			buf_add_format(&names, "+%c", line.at[strlen("… and ")]);
		else if (line.size > 0)
			buf_add_char(&names, str_trim(line).at[strlen(
						     str_starts(str_trim(line), S("?"))   ? "? "
						     : str_starts(str_trim(line), S("·")) ? "· "
											  : "✓ ")]);
	}
	cr_expect_eq(counted, lines);
	return str_copy(&arena, buf_str(&names));
}

Test(tree, successful_steps_are_hidden_first)
{
	cr_expect(str_equal(shown(10), S("alxyfrxpqs")));
	cr_expect(str_equal(shown(9), S("alfrxpqs+2")), STR_FMT, STR_ARG(shown(9)));
	cr_expect(str_equal(shown(7), S("frxpqs+4")), STR_FMT, STR_ARG(shown(7)));
	cr_expect(str_equal(shown(5), S("frxp+6")), STR_FMT, STR_ARG(shown(5)));
	cr_expect(str_equal(shown(4), S("frx+7")), STR_FMT, STR_ARG(shown(4)));
	cr_expect(str_equal(shown(2), S("f+9")), STR_FMT, STR_ARG(shown(2)));
}

Test(tree, color_only_on_request_and_only_on_the_sign)
{
	AUTO(buf) out = { 0 };
	struct tree_style style = { .color = true, .no_spinner = true };
	run_tree_print(outline_of("'state': 'running'", STEP("a", "", "failed")), &style, &out);
	cr_expect(str_equal(buf_str(&out), S("\033[31m✗\033[0m a  failed         shell\n")));
}

Test(tree, running_steps_have_a_spinner)
{
	AUTO(buf) one = { 0 };
	AUTO(buf) two = { 0 };
	const struct run_outline *outline =
		outline_of("'state': 'running'", STEP("a", "", "running"));
	struct tree_style style = { .frame = 0 };
	run_tree_print(outline, &style, &one);
	style.frame = 1;
	run_tree_print(outline, &style, &two);
	cr_expect(!str_equal(buf_str(&one), buf_str(&two)));
}

Test(tree, head_shows_the_queue_position)
{
	AUTO(buf) out = { 0 };
	struct tree_style style = { .no_spinner = true, .now = INT64_C(1767225602500000) };
	const struct run_outline *outline =
		outline_of("'state': 'queued', 'queue': {'run_id': '" RUN
			   "', 'kind': 'pipeline', 'position': 2, 'length': 5}",
			   "");
	cr_expect_eq(run_tree_head(outline, &style, &out), 2);
	cr_expect(str_equal(buf_str(&out), S("· w  queued  2.5s  run " RUN "\n"
					     "  position 2 of 5 in the queue pipeline\n")),
		  STR_FMT, STR_ARG(buf_str(&out)));
	buf_clear(&out);
	outline = outline_of("'state': 'running', 'cancelling': true, 'error': 'no\\r'", "");
	cr_expect_eq(run_tree_head(outline, &style, &out), 1);
	cr_expect(str_equal(buf_str(&out),
			    S("● w  running, cancelling  2.5s  run " RUN "  no\\x0d\n")),
		  STR_FMT, STR_ARG(buf_str(&out)));
}

Test(tree, durations)
{
	static const struct {
		int64_t us;
		const char *text;
	} durations[] = {
		{ -5, "0ms" },
		{ 340000, "340ms" },
		{ 2190000, "2.1s" },
		{ INT64_C(200) * 1000000, "3m 20s" },
		{ INT64_C(7500) * 1000000, "2h 5m" },
		{ INT64_C(349200) * 1000000, "4d 1h" },
	};
	for (size_t i = 0; i < COUNT(durations); i++) {
		AUTO(buf) out = { 0 };
		run_tree_duration(1000, 1000 + durations[i].us, &out);
		cr_expect(str_equal(buf_str(&out), str_from_c(durations[i].text)), STR_FMT,
			  STR_ARG(buf_str(&out)));
	}
}
