/* tool/tool_grep.c -- grep: lines of the run's workspace that match a regular expression.
 *
 * PCRE2 matches line by line, each within LIMIT_GREP_STEPS steps, so that no pattern takes long; a line
 * that needs more does not match and is counted, and after LIMIT_GREP_COMPLEX_LINES of them the call
 * fails.  PCRE2 counts anew from each place of the line where a match could begin, so a long line gets
 * a pattern with callouts, which count all of them.  A file with a NUL byte at its beginning is binary
 * and is left out, and so is a large one.
 */
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <string.h>

#include "base/limits.h"
#include "contract/run_tool_types.h"
#include "os/confined_path.h"
#include "tool/file_search.h"
#include "tool/path_pattern.h"
#include "tool/tool_context.h"

enum { LINES_AT_ONCE = 64, BINARY_BYTES = 8192, SHOWN_BEFORE = 100, MATCH_BYTES = 64 };

struct grep {
	struct file_search search; /* first */
	const char *path;
	struct path_patterns include;
	pcre2_code *pattern, *counted; /* counted: for long lines; NULL = the same */
	pcre2_match_data *match;
	pcre2_match_context *limits;
	uint64_t callouts, most_callouts; /* in the line under way */
	struct run_grep_match *matches;
	size_t count, most;
	int64_t searched, skipped, too_complex;
	uint64_t bytes;
	/* The file under way. */
	struct arena file_arena;
	const char *file; /* NULL = none */
	struct str text;
	size_t at, line;
	bool one_file; /* the path is a file */
};

/* ---- lines --------------------------------------------------------------------------- */

static struct str line_at(struct str text, size_t at)
{
	size_t end;
	struct str line = str_skip(text, at);
	if (str_find(line, S("\n"), &end))
		line = str_head(line, end);
	return str_ends(line, S("\r")) ? str_head(line, line.size - 1) : line;
}

/* Of a long line, what is around `begin`. */
static struct str shown(struct grep *grep, struct str line, size_t begin)
{
	if (line.size > LIMIT_GREP_LINE_BYTES) {
		line = str_skip(line, begin > SHOWN_BEFORE ? begin - SHOWN_BEFORE : 0);
		if (line.size > LIMIT_GREP_LINE_BYTES)
			line = str_head(line, LIMIT_GREP_LINE_BYTES);
		/* Cut within a character, it would begin or end with replacement characters. */
		while (line.size > 0 && ((unsigned char)line.at[0] & 0xC0) == 0x80)
			line = str_skip(line, 1);
		line = tool_context_whole_characters(line);
	}
	return tool_context_utf8(&grep->search.arena, str_copy(&grep->search.arena, line));
}

static struct str_list lines_around(struct grep *grep, size_t at, bool after)
{
	const struct run_grep_inputs *inputs = grep->search.inputs;
	struct str *lines = arena_array(&grep->search.arena, struct str, (size_t)inputs->context);
	size_t count = 0, wanted = (size_t)inputs->context, end;
	if (!after) {
		size_t begin = at;
		for (; count < wanted && begin > 0; count++)
			for (begin--; begin > 0 && grep->text.at[begin - 1] != '\n';)
				begin--;
		at = begin;
		wanted = count;
	}
	for (count = 0; count < wanted && at < grep->text.size; count++) {
		lines[count] = shown(grep, line_at(grep->text, at), 0);
		if (!str_find(str_skip(grep->text, at), S("\n"), &end))
			end = grep->text.size - at;
		at += end + 1;
	}
	return (struct str_list){ lines, count };
}

static size_t bytes_of(struct str_list lines)
{
	size_t bytes = 0;
	for (size_t i = 0; i < lines.count; i++)
		bytes += lines.at[i].size;
	return bytes;
}

/* True when the search has no room for the match. */
static bool add_match(struct grep *grep, struct str line, size_t begin)
{
	struct file_search *search = &grep->search;
	const struct run_grep_inputs *inputs = search->inputs;
	struct str text = shown(grep, line, begin);
	size_t next = grep->at + line.size;
	struct str_list before = lines_around(grep, grep->at, false), after = { 0 };
	while (next < grep->text.size && grep->text.at[next] != '\n')
		next++;
	after = lines_around(grep, next + 1 < grep->text.size ? next + 1 : grep->text.size, true);
	if (grep->count == grep->most)
		search->truncated = true;
	if (grep->count == grep->most ||
	    !file_search_room(search, str_from_c(grep->file).size + text.size + bytes_of(before) +
					      bytes_of(after) + MATCH_BYTES))
		return true;
	struct run_grep_match *match = &grep->matches[grep->count++];
	*match = *run_grep_match_new(&search->arena);
	SET(match, path,
	    tool_context_utf8(&search->arena, str_copy(&search->arena, str_from_c(grep->file))));
	SET(match, line, (int64_t)grep->line);
	SET(match, text, text);
	if (inputs->context > 0) {
		SET(match, before, before);
		SET(match, after, after);
	}
	return false;
}

/* Called before each item of the counted pattern. */
static int count_step(pcre2_callout_block *block, void *context)
{
	struct grep *grep = context;
	(void)block;
	return ++grep->callouts > grep->most_callouts ? PCRE2_ERROR_CALLOUT : 0;
}

static bool line_matches(struct grep *grep, struct str line, size_t *out_begin)
{
	bool is_long = grep->counted != NULL && line.size >= LIMIT_GREP_LONG_LINE_BYTES;
	grep->callouts = 0;
	grep->most_callouts = 10 * (uint64_t)LIMIT_GREP_STEPS + 4 * line.size;
	int found = pcre2_match(is_long ? grep->counted : grep->pattern, (PCRE2_SPTR)line.at,
				line.size, 0, 0, grep->match, grep->limits);
	if (found == PCRE2_ERROR_MATCHLIMIT || found == PCRE2_ERROR_DEPTHLIMIT ||
	    found == PCRE2_ERROR_HEAPLIMIT || found == PCRE2_ERROR_CALLOUT)
		grep->too_complex++;
	if (found < 0)
		return false;
	*out_begin = pcre2_get_ovector_pointer(grep->match)[0];
	return true;
}

/* ---- files --------------------------------------------------------------------------- */

static void file_end(struct grep *grep)
{
	grep->file = NULL;
	arena_reset(&grep->file_arena);
}

/* Looks at some lines of the file under way; true when the search is over. */
static bool file_step(struct grep *grep)
{
	const struct run_grep_inputs *inputs = grep->search.inputs;
	for (size_t i = 0; i < LINES_AT_ONCE; i++) {
		if (grep->at >= grep->text.size) {
			file_end(grep);
			return grep->one_file;
		}
		struct str line = line_at(grep->text, grep->at);
		size_t begin, end;
		if (grep->too_complex >= LIMIT_GREP_COMPLEX_LINES) {
			fail(&grep->search.result.error, ERROR_INVALID,
			     "inputs: /pattern takes too long: %lld lines need more than %d steps "
			     "each, up to %s:%zu; write it without a repetition inside of another, "
			     "or set literal to search for the text itself",
			     (long long)grep->too_complex, LIMIT_GREP_STEPS, grep->file,
			     grep->line);
			return true;
		}
		if (line_matches(grep, line, &begin)) {
			if (add_match(grep, line, begin))
				return true;
			if (inputs->files_only) {
				file_end(grep);
				return grep->one_file;
			}
		}
		if (!str_find(str_skip(grep->text, grep->at), S("\n"), &end))
			end = grep->text.size - grep->at;
		grep->at += end + 1;
		grep->line++;
	}
	return false;
}

static bool is_binary(struct str text)
{
	size_t at;
	return str_find(str_head(text, text.size < BINARY_BYTES ? text.size : BINARY_BYTES),
			S("\0"), &at);
}

/* Reads a file; true when the search is over.  One that has gone meanwhile is no failure. */
static bool file_begin(struct grep *grep, const char *path)
{
	struct file_search *search = &grep->search;
	struct confined_info info;
	struct error error;
	uint64_t size;
	if (!confined_examine(search->root, path, &info) || info.kind != CONFINED_FILE)
		return false;
	if (info.size > LIMIT_GREP_FILE_BYTES) {
		grep->skipped++;
		return false;
	}
	if (grep->bytes + info.size > LIMIT_GREP_BYTES) {
		search->truncated = true;
		return true;
	}
	if (!confined_read(search->root, path, 0, LIMIT_GREP_FILE_BYTES, &grep->file_arena,
			   &grep->text, &size, &error)) {
		grep->skipped++;
		return false;
	}
	grep->bytes += grep->text.size;
	if (is_binary(grep->text)) {
		grep->skipped++;
		arena_reset(&grep->file_arena);
		return false;
	}
	grep->searched++;
	grep->file = str_c(&grep->file_arena, str_from_c(path));
	grep->at = 0;
	grep->line = 1;
	return false;
}

/* The path may be a file: then there is nothing to walk. */
static bool begin(struct grep *grep)
{
	struct file_search *search = &grep->search;
	const struct run_grep_inputs *inputs = search->inputs;
	const struct file_walk_settings settings = { .root = search->root,
						     .path = grep->path,
						     .depth = LIMIT_FOLDER_DEPTH,
						     .enters_ignored = inputs->include_ignored };
	if (file_walk_new(&settings, &search->walk, &search->result.error))
		return false;
	if (search->result.error.code != ERROR_INVALID)
		return true;
	search->result.error = (struct error){ 0 };
	grep->one_file = true;
	return file_begin(grep, grep->path) || grep->file == NULL;
}

static bool step(struct file_search *search)
{
	struct grep *grep = (struct grep *)search;
	struct file_walk_entry entry;
	if (grep->file != NULL)
		return file_step(grep);
	if (search->walk == NULL)
		return begin(grep);
	enum walk_event event = file_walk_next(search->walk, &entry);
	if (event != WALK_ENTRY)
		return event == WALK_END;
	if (entry.kind != CONFINED_FILE ||
	    (grep->include.count > 0 &&
	     !path_patterns_match(&grep->include, str_from_c(entry.inside))))
		return false;
	return file_begin(grep, entry.path);
}

/* ---- the call ------------------------------------------------------------------------ */

static const struct json *output(struct file_search *search)
{
	const struct grep *grep = (const struct grep *)search;
	struct run_grep_outputs *outputs = run_grep_outputs_new(&search->arena);
	SET(outputs, matches, ((struct run_grep_match_list){ grep->matches, grep->count }));
	SET(outputs, searched, grep->searched);
	SET(outputs, skipped, grep->skipped);
	if (grep->too_complex > 0)
		SET(outputs, too_complex, grep->too_complex);
	SET(outputs, truncated, search->truncated);
	return TOOL_OUTPUT(run_grep_outputs, outputs, &search->arena);
}

static void done(struct file_search *search)
{
	struct grep *grep = (struct grep *)search;
	pcre2_match_data_free(grep->match);
	pcre2_match_context_free(grep->limits);
	pcre2_code_free(grep->pattern);
	pcre2_code_free(grep->counted);
	arena_done(&grep->file_arena);
}

static bool compile(struct grep *grep, const struct run_grep_inputs *inputs, struct error *error)
{
	uint32_t options = PCRE2_UTF | PCRE2_MATCH_INVALID_UTF | PCRE2_NEVER_BACKSLASH_C |
			   (inputs->ignore_case ? PCRE2_CASELESS : 0) |
			   (inputs->literal ? PCRE2_LITERAL : 0);
	int number;
	PCRE2_SIZE at;
	if (inputs->literal)
		options &= ~(uint32_t)PCRE2_NEVER_BACKSLASH_C;
	grep->pattern = pcre2_compile((PCRE2_SPTR)inputs->pattern.at, inputs->pattern.size, options,
				      &number, &at, NULL);
	if (grep->pattern == NULL) {
		char text[128] = "";
		pcre2_get_error_message(number, (PCRE2_UCHAR *)text, sizeof(text));
		return fail(error, ERROR_INVALID,
			    "inputs: /pattern is no regular expression, at character %zu: %s; set "
			    "literal to search for the text itself",
			    (size_t)at, text);
	}
	if (!inputs->literal)
		grep->counted = pcre2_compile((PCRE2_SPTR)inputs->pattern.at, inputs->pattern.size,
					      options | PCRE2_AUTO_CALLOUT, &number, &at, NULL);
	grep->match = pcre2_match_data_create(1, NULL);
	grep->limits = pcre2_match_context_create(NULL);
	require(grep->match != NULL && grep->limits != NULL);
	pcre2_set_match_limit(grep->limits, LIMIT_GREP_STEPS);
	pcre2_set_depth_limit(grep->limits, LIMIT_GREP_STEPS);
	pcre2_set_heap_limit(grep->limits, LIMIT_GREP_HEAP_KB);
	pcre2_set_callout(grep->limits, count_step, grep);
	return true;
}

static bool take_inputs(struct grep *grep, struct error *error)
{
	const struct run_grep_inputs *inputs = grep->search.inputs;
	struct arena *arena = &grep->search.arena;
	for (size_t i = 0; i < inputs->include.count; i++)
		if (!path_patterns_add(&grep->include, inputs->include.at[i], arena, error))
			return false;
	grep->most = (size_t)inputs->max_matches;
	grep->matches = arena_array(arena, struct run_grep_match, grep->most);
	return tool_context_path(inputs->path, arena, &grep->path, error) &&
	       compile(grep, inputs, error);
}

static bool start(const struct tool_host *host, const struct tool_call *call, uint64_t *out_running,
		  struct error *error)
{
	struct grep *grep = file_search_new(sizeof(*grep), run_grep_inputs_type(), call, error);
	if (grep == NULL)
		return false;
	grep->search.step = step;
	grep->search.output = output;
	grep->search.done = done;
	if (!take_inputs(grep, error)) {
		file_search_free(&grep->search);
		return false;
	}
	file_search_start(&grep->search, host, call, out_running);
	return true;
}

const struct tool tool_grep = {
	.name = "grep",
	.text = "Finds lines in files of the run's workspace by a regular expression. Use it to find "
		"where something is defined or used, before a file is read.",
	.class = RUN_CLASS_IDEMPOTENT,
	.risk = RUN_RISK_LOW,
	.inputs = run_grep_inputs_type,
	.outputs = run_grep_outputs_type,
	.start = start,
	.stop = tool_context_stop,
};
