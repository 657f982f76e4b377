/* tool/tool_edit_file.c -- edit_file: replaces a text in a file of the run's workspace.
 *
 * The text must occur exactly once, because whoever wrote it down meant one place: a model that
 * remembers a file wrongly hears so and looks again, instead of changing another place.  A file whose
 * lines all end in CR LF keeps them: line ends of the given texts, which models write as LF, are
 * converted.
 *
 * Like write_file it is contained, and a job of this process does the work (tool_file.c).  The file is
 * replaced as a whole: after a crash it is the old one or the new one.
 */
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "contract/run_tool_types.h"
#include "os/confined_path.h"
#include "tool/edit_diff.h"
#include "tool/tool_context.h"

enum { LINES_NAMED = 10, HINT_CHARS = 80 };

struct edit {
	struct tool_running running; /* first */
	struct job job;
	struct arena arena;
	const char *root, *path;
	const struct run_edit_file_inputs *inputs;
	struct tool_result result;
	/* The file as it is, and the texts with its line ends. */
	struct str content, old_text, new_text;
	bool exists;
	struct text_change *changes;
	size_t count;
};

static struct edit *edit_of(struct job *job)
{
	return (struct edit *)(void *)((char *)job - offsetof(struct edit, job));
}

static void edit_free(struct edit *edit)
{
	arena_done(&edit->arena);
	free(edit);
}

static void ended(struct job *job)
{
	struct edit *edit = edit_of(job);
	tool_context_done(&edit->running, &edit->result);
	edit_free(edit);
}

/* ---- line ends ----------------------------------------------------------------------- */

static bool has_dos_lines(struct str text)
{
	bool any = false;
	for (size_t i = 0; i < text.size; i++) {
		if (text.at[i] != '\n')
			continue;
		if (i == 0 || text.at[i - 1] != '\r')
			return false;
		any = true;
	}
	return any;
}

static struct str with_dos_lines(struct str text, struct arena *arena)
{
	AUTO(buf) out = { 0 };
	for (size_t i = 0; i < text.size; i++) {
		if (text.at[i] == '\n' && (i == 0 || text.at[i - 1] != '\r'))
			buf_add_char(&out, '\r');
		buf_add_char(&out, text.at[i]);
	}
	return str_copy(arena, buf_str(&out));
}

/* ---- finding ------------------------------------------------------------------------- */

static size_t line_number(struct str text, size_t at)
{
	size_t line = 1;
	for (size_t i = 0; i < at; i++)
		line += text.at[i] == '\n';
	return line;
}

/* Places may overlap: two that do are two ways to understand the text. */
static bool fail_ambiguous(const struct edit *edit, struct error *error)
{
	AUTO(buf) lines = { 0 };
	size_t count = 0, begin = 0, at;
	while (count < LIMIT_EDIT_PLACES &&
	       str_find(str_skip(edit->content, begin), edit->old_text, &at)) {
		if (count++ < LINES_NAMED)
			buf_add_format(&lines, "%s%zu", count == 1 ? "" : ", ",
				       line_number(edit->content, begin + at));
		begin += at + 1;
	}
	return fail(error, ERROR_CONFLICT,
		    "old_text occurs %zu%s times in %s, at lines " STR_FMT
		    "%s: add lines around the one that is meant, or set replace_all",
		    count, count == LIMIT_EDIT_PLACES ? " or more" : "", edit->path,
		    STR_ARG(buf_str(&lines)), count > LINES_NAMED ? ", ..." : "");
}

/* How much of two lines is the same from both ends, in bytes; blanks around them do not count. */
static size_t likeness(struct str one, struct str other)
{
	size_t least = one.size < other.size ? one.size : other.size, head = 0, tail = 0;
	while (head < least && one.at[head] == other.at[head])
		head++;
	while (tail < least - head &&
	       one.at[one.size - 1 - tail] == other.at[other.size - 1 - tail])
		tail++;
	return head + tail;
}

/* The line of the file that is most like the first line of old_text with any text. */
static bool fail_not_found(const struct edit *edit, struct error *error)
{
	AUTO(arena) arena = { 0 };
	struct str rest = edit->old_text, wanted = { 0 }, line, nearest = { 0 };
	size_t number = 0, found = 0, best = 0;
	while (wanted.size == 0 && str_cut(&rest, '\n', &wanted))
		wanted = str_trim(wanted);
	for (rest = edit->content; wanted.size > 0 && str_cut(&rest, '\n', &line);) {
		size_t like = likeness(str_trim(line), wanted);
		number++;
		if (like <= best)
			continue;
		best = like;
		found = number;
		nearest = str_trim(line);
	}
	/* Less than half of the line is no hint. */
	if (best * 2 < wanted.size || best == 0)
		return fail(
			error, ERROR_NOT_FOUND,
			"old_text does not occur in %s: read the file and copy the text exactly",
			edit->path);
	nearest = tool_context_utf8(
		&arena, str_head(nearest, nearest.size < HINT_CHARS ? nearest.size : HINT_CHARS));
	return fail(error, ERROR_NOT_FOUND,
		    "old_text does not occur in %s; the nearest line is %zu: " STR_FMT
		    " (blanks and the lines after it must be the same, too)",
		    edit->path, found, STR_ARG(nearest));
}

static bool find_changes(struct edit *edit, struct error *error)
{
	struct str content = edit->content, old = edit->old_text;
	size_t begin = 0, at, count = 0;
	while (str_find(str_skip(content, begin), old, &at)) {
		begin += at + old.size;
		count++;
	}
	if (count == 0)
		return fail_not_found(edit, error);
	str_find(content, old, &at);
	size_t again;
	if (!edit->inputs->replace_all && str_find(str_skip(content, at + 1), old, &again))
		return fail_ambiguous(edit, error);
	edit->changes = arena_array(&edit->arena, struct text_change, count);
	for (begin = 0; edit->count < count; begin += at + old.size) {
		str_find(str_skip(content, begin), old, &at);
		edit->changes[edit->count++] =
			(struct text_change){ begin + at, old.size, edit->new_text };
	}
	return true;
}

/* ---- the job ------------------------------------------------------------------------- */

static bool read_content(struct edit *edit, struct error *error)
{
	uint64_t size;
	size_t at;
	edit->exists = confined_read(edit->root, edit->path, 0, LIMIT_EDIT_BYTES + 1, &edit->arena,
				     &edit->content, &size, error);
	if (!edit->exists) {
		edit->content = S("");
		return error->code == ERROR_NOT_FOUND && edit->inputs->old_text.size == 0;
	}
	if (edit->content.size > LIMIT_EDIT_BYTES)
		return fail(error, ERROR_TOO_LARGE,
			    "%s has more than %d bytes, which edit_file does not change",
			    edit->path, LIMIT_EDIT_BYTES);
	if (str_find(edit->content, S("\0"), &at))
		return fail(error, ERROR_INVALID, "%s is not a text file", edit->path);
	return true;
}

/* An empty old_text makes a new file, or fills an empty one. */
static bool find_place(struct edit *edit, struct error *error)
{
	bool dos = has_dos_lines(edit->content);
	const struct run_edit_file_inputs *inputs = edit->inputs;
	edit->old_text = dos ? with_dos_lines(inputs->old_text, &edit->arena) : inputs->old_text;
	edit->new_text = dos ? with_dos_lines(inputs->new_text, &edit->arena) : inputs->new_text;
	if (inputs->old_text.size > 0)
		return find_changes(edit, error);
	if (edit->content.size > 0)
		return fail(error, ERROR_CONFLICT,
			    "%s exists and is not empty: old_text must be the text to replace; "
			    "write_file replaces a whole file",
			    edit->path);
	edit->changes = arena_new(&edit->arena, struct text_change);
	edit->changes[edit->count++] = (struct text_change){ 0, 0, edit->new_text };
	return true;
}

static bool write_content(struct edit *edit, struct str *out_content, struct error *error)
{
	AUTO(buf) out = buf_limited(LIMIT_EDIT_BYTES);
	const struct confined_write how = { .make_folders = true, .keep_existing = !edit->exists };
	size_t at = 0;
	for (size_t i = 0; i < edit->count; i++) {
		const struct text_change *change = &edit->changes[i];
		buf_add(&out, str_head(str_skip(edit->content, at), change->at - at));
		buf_add(&out, change->text);
		at = change->at + change->size;
	}
	buf_add(&out, str_skip(edit->content, at));
	if (out.full)
		return fail(error, ERROR_TOO_LARGE, "%s would have more than %d bytes", edit->path,
			    LIMIT_EDIT_BYTES);
	*out_content = str_copy(&edit->arena, buf_str(&out));
	return confined_replace(edit->root, edit->path, *out_content, how, error);
}

static void work(struct job *job, unsigned thread)
{
	struct edit *edit = edit_of(job);
	struct arena *arena = &edit->arena;
	struct error *error = &edit->result.error;
	struct str content;
	bool truncated;
	(void)thread;
	if (!read_content(edit, error) || !find_place(edit, error) ||
	    !write_content(edit, &content, error))
		return;
	*error = (struct error){ 0 }; /* of a file that is new */
	struct str diff = edit_diff(edit->content, edit->changes, edit->count,
				    LIMIT_EDIT_DIFF_BYTES, arena, &truncated);
	struct run_edit_file_outputs *outputs = run_edit_file_outputs_new(arena);
	SET(outputs, path, edit->inputs->path);
	SET(outputs, created, !edit->exists);
	SET(outputs, replacements, (int64_t)edit->count);
	SET(outputs, size, (int64_t)content.size);
	SET(outputs, sha256, hash_of(content));
	SET(outputs, diff, tool_context_utf8(arena, diff));
	SET(outputs, truncated, truncated);
	edit->result.output = TOOL_OUTPUT(run_edit_file_outputs, outputs, arena);
}

static bool start(const struct tool_host *host, const struct tool_call *call, uint64_t *out_running,
		  struct error *error)
{
	struct edit *edit = calloc(1, sizeof(*edit));
	require(edit != NULL);
	struct arena *arena = &edit->arena;
	edit->root = str_c(arena, str_from_c(call->workspace));
	edit->inputs = tool_context_inputs(run_edit_file_inputs_type(),
					   json_copy(arena, call->inputs), arena, error);
	if (edit->inputs == NULL ||
	    !tool_context_path(edit->inputs->path, arena, &edit->path, error)) {
		edit_free(edit);
		return false;
	}
	tool_context_begin(&edit->running, host, call);
	edit->job = (struct job){ .run = work, .done = ended, .name = "edit" };
	*out_running = edit->running.id;
	platform_submit(loop_platform(host->loop), LANE_READER, &edit->job);
	return true;
}

const struct tool tool_edit_file = {
	.name = "edit_file",
	.text = "Replaces a text in a file of the run's workspace. Use it for every change of an "
		"existing file: old_text is copied exactly from the file and long enough to occur "
		"once.",
	.class = RUN_CLASS_CONTAINED,
	.risk = RUN_RISK_MEDIUM,
	.inputs = run_edit_file_inputs_type,
	.outputs = run_edit_file_outputs_type,
	.start = start,
	.stop = tool_context_stop,
};
