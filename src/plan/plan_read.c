/* plan/plan_read.c -- what a plan says, line by line.
 *
 * The rules are those that tools which write such plans rely on; tests/unit/plan has them as cases.
 * Each line is looked at once.  Only the goal continues on further lines.
 */
#include <string.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/map.h"
#include "plan/plan.h"
#include "plan/plan_lines.h"

enum { LEAST_CHARACTERS = 200, LEAST_PLAN_CHARACTERS = 100, LEAST_MARKERS = 3 };

struct plan_reader {
	struct arena *arena;
	struct plan_lines lines;
	struct plan *plan;
	struct str phase;
	struct plan_task *tasks;
	size_t task_from;  /* first line of the newest task */
	bool in_task;      /* its end is not known yet */
	size_t all_tasks;  /* also those beyond the limit */
	size_t header_end; /* line behind the header; SIZE_MAX = not seen yet */
	bool has_goal;
	struct str *files;
	size_t file_count, file_room;
	bool more_files;
	struct map seen;
	struct str issues[8];
	size_t issue_count;
};

/* ---- single lines -------------------------------------------------------------------- */

static size_t digits(struct str s)
{
	size_t count = 0;
	while (count < s.size && s.at[count] >= '0' && s.at[count] <= '9')
		count++;
	return count;
}

/* ^### Task \d+(\.\d+)?: */
static bool read_task_heading(struct str line, struct str *out_number, struct str *out_title)
{
	const struct str lead = S("### Task ");
	if (!str_starts(line, lead))
		return false;
	struct str rest = str_skip(line, lead.size);
	size_t size = digits(rest);
	if (size == 0)
		return false;
	if (size < rest.size && rest.at[size] == '.') {
		size_t part = digits(str_skip(rest, size + 1));
		if (part == 0)
			return false;
		size += 1 + part;
	}
	if (size >= rest.size || rest.at[size] != ':')
		return false;
	*out_number = str_head(rest, size);
	*out_title = str_trim(str_skip(rest, size + 1));
	return true;
}

static bool is_phase(struct str line)
{
	return str_starts(line, S("## Phase"));
}

static bool is_chapter(struct str line)
{
	return str_starts(line, S("# ")) || str_starts(line, S("## "));
}

static bool is_rule(struct str line)
{
	struct str text = str_trim(line);
	return line.size > 0 && line.at[0] == '-' && str_equal(text, S("---"));
}

static size_t count_characters(struct str text)
{
	size_t count = 0;
	for (size_t i = 0; i < text.size; i++)
		count += ((unsigned char)text.at[i] & 0xc0) != 0x80;
	return count;
}

static bool is_word_character(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

static const char *const file_words[] = { "Create", "Modify", "Test", "Edit", "Update", "Delete" };

/* Whether one of the file words ends before `colon`. */
static bool ends_with_file_word(struct str line, size_t colon)
{
	struct str before = str_head(line, colon);
	for (size_t i = 0; i < sizeof(file_words) / sizeof(file_words[0]); i++) {
		struct str word = str_from_c(file_words[i]);
		if (str_ends(before, word) &&
		    (before.size == word.size ||
		     !is_word_character(before.at[before.size - word.size - 1])))
			return true;
	}
	return false;
}

/* The next `Create: `path`` of a line from *at on. */
static bool find_file(struct str line, size_t *at, struct str *out_path)
{
	for (size_t i = *at; i < line.size; i++) {
		if (line.at[i] != ':' || !ends_with_file_word(line, i))
			continue;
		struct str rest = str_skip(line, i + 1);
		while (rest.size > 0 && (rest.at[0] == ' ' || rest.at[0] == '\t'))
			rest = str_skip(rest, 1);
		size_t end;
		if (rest.size == 0 || rest.at[0] != '`' ||
		    !str_find(str_skip(rest, 1), S("`"), &end))
			continue;
		*out_path = str_trim(str_head(str_skip(rest, 1), end));
		*at = (size_t)(rest.at - line.at) + end + 2;
		return true;
	}
	return false;
}

/* ---- a plan -------------------------------------------------------------------------- */

static void add_issue(struct plan_reader *reader, struct str text)
{
	require(reader->issue_count < sizeof(reader->issues) / sizeof(reader->issues[0]));
	reader->issues[reader->issue_count++] = text;
}

static void add_file(struct plan_reader *reader, struct str path)
{
	if (path.size == 0 || map_get(&reader->seen, path) != NULL)
		return;
	if (reader->file_count == LIMIT_PLAN_FILES) {
		reader->more_files = true;
		return;
	}
	if (reader->file_count == reader->file_room) {
		size_t room = reader->file_room == 0 ? 16 : reader->file_room * 2;
		struct str *files = arena_array(reader->arena, struct str, room);
		if (reader->file_count > 0)
			memcpy(files, reader->files, reader->file_count * sizeof(*files));
		reader->files = files;
		reader->file_room = room;
	}
	map_put(&reader->seen, path, reader);
	reader->files[reader->file_count++] = path;
}

static void read_files(struct plan_reader *reader, struct str line)
{
	struct str path;
	size_t at = 0;
	while (find_file(line, &at, &path))
		add_file(reader, path);
}

static void end_task(struct plan_reader *reader, size_t line)
{
	struct plan *plan = reader->plan;
	if (reader->in_task)
		reader->tasks[plan->task_count - 1].markdown =
			plan_lines_between(&reader->lines, reader->task_from, line);
	reader->in_task = false;
}

static void end_header(struct plan_reader *reader, size_t line)
{
	if (reader->header_end == SIZE_MAX)
		reader->header_end = line;
}

static void begin_task(struct plan_reader *reader, size_t line, struct str number, struct str title)
{
	struct plan *plan = reader->plan;
	end_task(reader, line);
	end_header(reader, line);
	if (reader->all_tasks++ >= LIMIT_PLAN_TASKS)
		return;
	reader->tasks[plan->task_count++] =
		(struct plan_task){ .number = number, .title = title, .phase = reader->phase };
	reader->task_from = line;
	reader->in_task = true;
}

/* **Goal:** may continue until a blank line, a heading or the next bold word. */
static void read_goal(struct plan_reader *reader, size_t line)
{
	const struct str lead = S("**Goal:**");
	const struct plan_lines *lines = &reader->lines;
	size_t at;
	if (reader->has_goal || !str_find(lines->at[line].text, lead, &at))
		return;
	AUTO(buf) text = { 0 };
	buf_add(&text, str_trim(str_skip(lines->at[line].text, at + lead.size)));
	for (size_t i = line + 1; i < lines->count; i++) {
		struct str next = str_trim(lines->at[i].text);
		if (next.size == 0 || next.at[0] == '#' || str_starts(next, S("**")))
			break;
		if (text.size > 0)
			buf_add_char(&text, ' ');
		buf_add(&text, next);
	}
	reader->has_goal = text.size > 0;
	if (reader->has_goal)
		reader->plan->goal = str_copy(reader->arena, buf_str(&text));
}

static bool is_title_edge(char c)
{
	return c == ' ' || c == '\t' || c == ':' || c == '-';
}

/* "Rate limits" of "Rate limits Implementation Plan". */
static struct str title_subject(struct str title, struct arena *arena)
{
	const struct str words = S("Implementation Plan");
	for (size_t i = 0; i + words.size <= title.size; i++) {
		if (!str_equal_folded(str_head(str_skip(title, i), words.size), words))
			continue;
		title = str_format(arena, STR_FMT STR_FMT, STR_ARG(str_head(title, i)),
				   STR_ARG(str_skip(title, i + words.size)));
		break;
	}
	while (title.size > 0 && is_title_edge(title.at[0]))
		title = str_skip(title, 1);
	while (title.size > 0 && is_title_edge(title.at[title.size - 1]))
		title.size--;
	return title;
}

static void read_line(struct plan_reader *reader, size_t i)
{
	struct str line = reader->lines.at[i].text, number, title;
	if (read_task_heading(line, &number, &title)) {
		begin_task(reader, i, number, title);
	} else if (is_chapter(line)) {
		end_task(reader, i);
		reader->phase = is_phase(line) ? str_trim(str_skip(line, 3)) : S("");
		if (is_phase(line))
			end_header(reader, i);
		if (reader->plan->title.size == 0 && line.at[1] == ' ')
			reader->plan->title = str_trim(str_skip(line, 2));
	} else if (is_rule(line)) {
		end_header(reader, i);
	} else {
		read_goal(reader, i);
	}
	read_files(reader, line);
}

static void derive_goal(struct plan_reader *reader)
{
	struct plan *plan = reader->plan;
	if (reader->has_goal)
		return;
	struct str subject = title_subject(plan->title, reader->arena);
	plan->goal = subject.size == 0
			     ? S(PLAN_NO_GOAL)
			     : str_format(reader->arena, "Implement " STR_FMT, STR_ARG(subject));
}

static void check(struct plan_reader *reader)
{
	struct plan *plan = reader->plan;
	struct arena *arena = reader->arena;
	size_t characters = count_characters(str_trim(reader->lines.source));
	if (reader->all_tasks == 0)
		add_issue(reader, S("no task heading: begin each task with a line such as "
				    "\"### Task 1: Title\", outside of code blocks"));
	if (reader->all_tasks > LIMIT_PLAN_TASKS)
		add_issue(reader, str_format(arena,
					     "%zu tasks, and at most %d are possible: put small "
					     "ones together",
					     reader->all_tasks, LIMIT_PLAN_TASKS));
	if (str_equal_folded(plan->goal, S(PLAN_NO_GOAL)))
		add_issue(reader,
			  S("no goal: say in a line such as \"**Goal:** Text\" what is true "
			    "when the plan is done"));
	if (characters < LEAST_CHARACTERS)
		add_issue(reader, str_format(arena,
					     "only %zu characters, and a plan has at least %d: "
					     "describe the steps of each task",
					     characters, LEAST_CHARACTERS));
	if (reader->more_files)
		add_issue(reader, str_format(arena, "more than %d files", LIMIT_PLAN_FILES));
}

static void finish(struct plan_reader *reader)
{
	struct plan *plan = reader->plan;
	struct str *issues = arena_array(reader->arena, struct str, reader->issue_count + 1);
	memcpy(issues, reader->issues, reader->issue_count * sizeof(*issues));
	plan->issues = (struct str_list){ issues, reader->issue_count };
	plan->severity = reader->issue_count == 0   ? PLAN_SEVERITY_NONE
			 : reader->issue_count == 1 ? PLAN_SEVERITY_MAJOR
						    : PLAN_SEVERITY_CRITICAL;
}

static void read_lines(struct plan_reader *reader, struct str markdown)
{
	struct plan *plan = reader->plan;
	struct plan_lines *lines = &reader->lines;
	plan_lines_read(markdown, reader->arena, lines);
	for (size_t i = 0; i < lines->count; i++) {
		if (!lines->at[i].code)
			read_line(reader, i);
	}
	end_task(reader, lines->count);
	plan->header = plan_lines_between(
		lines, 0, reader->header_end < lines->count ? reader->header_end : lines->count);
	plan->key_files = (struct str_list){ reader->files, reader->file_count };
}

void plan_read(struct str markdown, struct arena *arena, struct plan *out_plan)
{
	struct plan plan = { .goal = S(PLAN_NO_GOAL) };
	struct plan_reader reader = { .arena = arena, .plan = &plan, .header_end = SIZE_MAX };
	if (markdown.size > LIMIT_PLAN_BYTES) {
		add_issue(&reader, str_format(arena, "%zu bytes, and a plan has at most %d",
					      markdown.size, LIMIT_PLAN_BYTES));
		finish(&reader);
		*out_plan = plan;
		return;
	}
	reader.tasks = arena_array(arena, struct plan_task, LIMIT_PLAN_TASKS);
	read_lines(&reader, markdown);
	derive_goal(&reader);
	check(&reader);
	map_done(&reader.seen);
	struct str whole = str_trim(markdown);
	if (reader.all_tasks == 0 && whole.size > 0)
		reader.tasks[plan.task_count++] = (struct plan_task){ .number = S("1"),
								      .title = plan.goal,
								      .markdown = whole };
	plan.tasks = reader.tasks;
	finish(&reader);
	*out_plan = plan;
}

/* ---- likeness ------------------------------------------------------------------------ */

enum marker { MARK_TITLE, MARK_CHAPTER, MARK_SECTION, MARK_PHASE, MARK_FILE };

struct marker_text {
	const char *text;
	bool at_start; /* of a line */
};

/* Behind the five markers that are found by their place. */
static const struct marker_text marker_texts[] = {
	{ "**Goal:**", false },    { "**Architecture", false },
	{ "**Tech Stack", false }, { "Implementation Plan", false },
	{ "```", true },
};

static unsigned line_markers(struct str line)
{
	unsigned found = 0;
	struct str path;
	size_t at = 0;
	if (str_starts(line, S("# ")))
		found |= 1u << MARK_TITLE;
	if (str_starts(line, S("## ")))
		found |= 1u << MARK_CHAPTER;
	if (str_starts(line, S("### ")))
		found |= 1u << MARK_SECTION;
	if (is_phase(line))
		found |= 1u << MARK_PHASE;
	if (find_file(line, &at, &path))
		found |= 1u << MARK_FILE;
	for (size_t i = 0; i < sizeof(marker_texts) / sizeof(marker_texts[0]); i++) {
		const struct marker_text *marker = &marker_texts[i];
		size_t place;
		if (str_find(line, str_from_c(marker->text), &place) &&
		    (!marker->at_start || place == 0))
			found |= 1u << (MARK_FILE + 1 + i);
	}
	return found;
}

struct plan_likeness plan_likeness(struct str markdown, struct arena *arena)
{
	struct plan_likeness likeness = { .characters = count_characters(str_trim(markdown)) };
	struct plan_lines lines;
	struct str number, title;
	unsigned found = 0;
	if (markdown.size > LIMIT_PLAN_BYTES)
		return likeness;
	plan_lines_read(markdown, arena, &lines);
	for (size_t i = 0; i < lines.count; i++) {
		if (lines.at[i].code)
			continue;
		found |= line_markers(lines.at[i].text);
		likeness.tasks += read_task_heading(lines.at[i].text, &number, &title);
	}
	for (unsigned i = 0; i < PLAN_MARKERS; i++)
		likeness.markers += (found >> i) & 1;
	likeness.is_plan = likeness.characters >= LEAST_PLAN_CHARACTERS &&
			   likeness.markers >= LEAST_MARKERS && likeness.tasks > 0;
	return likeness;
}

struct str plan_unwrap(struct str text)
{
	struct str rest = str_trim(text), first, inner;
	size_t fence = 0;
	if (!str_cut(&rest, '\n', &first))
		return text;
	while (fence < first.size && first.at[fence] == '`')
		fence++;
	struct str word = str_trim(str_skip(first, fence));
	if (fence < 3 ||
	    (!str_equal_folded(word, S("markdown")) && !str_equal_folded(word, S("md"))))
		return text;
	inner = rest;
	size_t closing = 0;
	while (inner.size > 0 && inner.at[inner.size - 1] == '`') {
		inner.size--;
		closing++;
	}
	if (closing < fence || inner.size == 0 || inner.at[inner.size - 1] != '\n')
		return text;
	return inner;
}
