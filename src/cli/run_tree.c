/* cli/run_tree.c -- prints the steps of a run as a tree.
 *
 * Only the sign at the start of a line has a color, and it is one column wide, so the rest of the
 * line can be truncated by counting characters.  When there are more steps than rows, the bodies of
 * successful steps are hidden first, then successful steps, oldest first, then pending steps.
 */
#include "cli/run_tree.h"

#include "base/terminal_text.h"
#include "base/utf8.h"
#include "contract/run_outline_types.h"

enum { LABEL_MOST = 48 }; /* longer labels do not widen the column */

struct sign {
	const char *state, *sign, *color;
};

static const struct sign signs[] = {
	{ "pending", "·", "\033[2m" },      { "running", "●", "\033[36m" },
	{ "retrying", "↻", "\033[33m" },    { "waiting_human", "?", "\033[33m" },
	{ "succeeded", "✓", "\033[32m" },   { "failed", "✗", "\033[31m" },
	{ "skipped", "–", "\033[2m" },      { "cancelled", "■", "\033[31m" },
	{ "queued", "·", "\033[2m" },       { "paused", "‖", "\033[33m" },
	{ "with_issues", "◆", "\033[33m" },
};

static const char *const spinner_frames[] = { "⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏" };

static struct sign state_sign(struct str state, const struct tree_style *style)
{
	struct sign found = { "", " ", "" };
	for (size_t i = 0; i < COUNT(signs); i++)
		if (str_equal(str_from_c(signs[i].state), state))
			found = signs[i];
	if (!style->no_spinner && str_equal(state, S("running")))
		found.sign = spinner_frames[style->frame % COUNT(spinner_frames)];
	return found;
}

const char *run_tree_color(struct str state)
{
	return state_sign(state, &(struct tree_style){ 0 }).color;
}

void run_tree_duration(int64_t from, int64_t to, struct buf *out)
{
	long long ms = to > from ? (to - from) / 1000 : 0, s = ms / 1000;
	if (s < 1)
		buf_add_format(out, "%lldms", ms);
	else if (s < 60)
		buf_add_format(out, "%lld.%llds", s, ms % 1000 / 100);
	else if (s < 3600)
		buf_add_format(out, "%lldm %llds", s / 60, s % 60);
	else if (s < 86400)
		buf_add_format(out, "%lldh %lldm", s / 3600, s / 60 % 60);
	else
		buf_add_format(out, "%lldd %lldh", s / 86400, s / 3600 % 24);
}

/* Returns the first `most` characters. */
static struct str text_truncate(struct str text, size_t most)
{
	size_t at = 0;
	for (size_t count = 0; at < text.size; count++) {
		if (count == most)
			return str_head(text, at);
		at++;
		while (at < text.size && ((unsigned char)text.at[at] & 0xc0) == 0x80)
			at++;
	}
	return text;
}

static void put_line(struct sign sign, size_t depth, struct str rest,
		     const struct tree_style *style, struct buf *out)
{
	size_t before = 2 * depth + 2;
	for (size_t i = 0; i < depth; i++)
		buf_add(out, S("  "));
	bool color = style->color && sign.color[0] != '\0';
	buf_add_format(out, "%s%s%s ", color ? sign.color : "", sign.sign, color ? "\033[0m" : "");
	AUTO(buf) safe = { 0 };
	terminal_text_add(rest, 0, &safe);
	struct str whole = buf_str(&safe), shown = whole;
	if (style->columns > 0)
		shown = text_truncate(
			whole, style->columns > before + 1 ? style->columns - before - 1 : 1);
	buf_add(out, str_trim(shown));
	if (shown.size < whole.size)
		buf_add(out, S("…"));
	buf_add_char(out, '\n');
}

/* ---- steps ----------------------------------------------------------------------------- */

struct line {
	const struct run_outline_step *step;
	size_t depth, within; /* within: index of the parent's line; its own index = no parent */
	bool hidden;
};

static bool step_is_ended(const struct run_outline_step *step)
{
	return has(step, ended_at);
}

static bool step_is_ok(const struct run_outline_step *step)
{
	return str_equal(step->state, S("succeeded")) || str_equal(step->state, S("skipped"));
}

/* The step's path without the path of its parent: "[0]/say", "draft". */
static struct str step_label(const struct run_outline_step *step)
{
	struct str label = step->step;
	if (has(step, within) && str_starts(label, step->within))
		label = str_skip(label, step->within.size);
	return str_starts(label, S("/")) ? str_skip(label, 1) : label;
}

static void add_times(const struct run_outline_step *step, const struct tree_style *style,
		      struct buf *out)
{
	if (!has(step, started_at))
		return;
	buf_add(out, S("  "));
	run_tree_duration(step->started_at, step_is_ended(step) ? step->ended_at : style->now, out);
	if (step->attempts > 1)
		buf_add_format(out, "  attempt %lld", (long long)step->attempts);
}

static void add_wait(const struct run_outline_step *step, const struct tree_style *style,
		     struct buf *out)
{
	char id[UUID_TEXT_SIZE];
	if (has(step, signal)) {
		buf_add(out, S("  for the signal "));
		buf_add(out, step->signal);
	}
	if (has(step, due_at) && step->due_at > style->now) {
		buf_add(out, S("  due in "));
		run_tree_duration(style->now, step->due_at, out);
	}
	if (has(step, question)) {
		buf_add(out, S("  "));
		buf_add(out, step->question);
		if (has(step, to)) {
			buf_add(out, S("  (for "));
			buf_add(out, step->to);
			buf_add_char(out, ')');
		}
		buf_add_format(out, "  " STR_FMT, STR_ARG(uuid_text(&step->request, id)));
	}
	if (has(step, subrun))
		buf_add_format(out, "  run " STR_FMT, STR_ARG(uuid_text(&step->subrun, id)));
}

static void print_step(const struct line *line, size_t width, const struct tree_style *style,
		       struct buf *out)
{
	const struct run_outline_step *step = line->step;
	AUTO(buf) rest = { 0 };
	struct str label = step_label(step);
	buf_add(&rest, label);
	for (size_t used = 2 * line->depth + utf8_count(label); used < width; used++)
		buf_add_char(&rest, ' ');
	buf_add_format(&rest, "  %-13.*s  " STR_FMT, STR_ARG(step->state), STR_ARG(step->agent));
	if (has(step, undoes))
		buf_add_format(&rest, " of " STR_FMT, STR_ARG(step->undoes));
	add_times(step, style, &rest);
	add_wait(step, style, &rest);
	if (has(step, error)) {
		buf_add(&rest, S("  "));
		buf_add(&rest, step->error);
	}
	put_line(state_sign(step->state, style), line->depth, buf_str(&rest), style, out);
}

/* ---- which steps are shown ------------------------------------------------------------- */
/* A body follows its step, so the parent is the line before, or an ancestor of that line. */
static void line_set_parent(struct line *lines, size_t number)
{
	struct line *line = &lines[number];
	line->within = number;
	if (number == 0 || !has(line->step, within))
		return;
	size_t at = number - 1;
	while (!str_equal(lines[at].step->step, line->step->within)) {
		if (lines[at].within == at)
			return;
		at = lines[at].within;
	}
	line->within = at;
	line->depth = lines[at].depth + 1;
}

static size_t line_hide(struct line *line, size_t shown)
{
	if (line->hidden)
		return shown;
	line->hidden = true;
	return shown - 1;
}

/* Hides the least important lines until the rest fits, with one row left for the count of hidden
 * steps; returns the number of lines shown. */
static size_t lines_fit(struct line *lines, size_t count, size_t rows)
{
	size_t shown = count;
	if (rows == 0 || count <= rows)
		return shown;
	for (size_t i = 0; i < count && shown + 1 > rows; i++) {
		const struct line *within = &lines[lines[i].within];
		if (within != &lines[i] && (within->hidden || step_is_ok(within->step)))
			shown = line_hide(&lines[i], shown);
	}
	for (size_t i = 0; i < count && shown + 1 > rows; i++)
		if (step_is_ended(lines[i].step) && step_is_ok(lines[i].step))
			shown = line_hide(&lines[i], shown);
	for (size_t i = count; i-- > 0 && shown + 1 > rows;)
		if (str_equal(lines[i].step->state, S("pending")))
			shown = line_hide(&lines[i], shown);
	for (size_t i = count; i-- > 0 && shown + 1 > rows && shown > 1;)
		shown = line_hide(&lines[i], shown);
	return shown;
}

size_t run_tree_print(const struct run_outline *outline, const struct tree_style *style,
		      struct buf *out)
{
	AUTO(arena) arena = { 0 };
	size_t count = outline->steps.count, width = 0;
	struct line *lines = arena_array(&arena, struct line, count);
	for (size_t i = 0; i < count; i++) {
		lines[i] = (struct line){ .step = &outline->steps.at[i] };
		line_set_parent(lines, i);
		size_t used = 2 * lines[i].depth + utf8_count(step_label(lines[i].step));
		if (used > width && used <= LABEL_MOST)
			width = used;
	}
	size_t shown = lines_fit(lines, count, style->rows);
	for (size_t i = 0; i < count; i++)
		if (!lines[i].hidden)
			print_step(&lines[i], width, style, out);
	if (shown == count)
		return count;
	buf_add_format(out, "… and %zu more steps\n", count - shown);
	return shown + 1;
}

/* ---- the run --------------------------------------------------------------------------- */

size_t run_tree_head(const struct run_outline *outline, const struct tree_style *style,
		     struct buf *out)
{
	char id[UUID_TEXT_SIZE];
	AUTO(buf) rest = { 0 };
	int64_t from = has(outline, started_at) ? outline->started_at : outline->created_at;
	int64_t to = has(outline, ended_at) ? outline->ended_at : style->now;
	buf_add_format(&rest, STR_FMT "  " STR_FMT "%s  ", STR_ARG(outline->workflow),
		       STR_ARG(outline->state),
		       has(outline, unwinding)    ? ", unwinding"
		       : has(outline, cancelling) ? ", cancelling"
						  : "");
	run_tree_duration(from, to, &rest);
	buf_add_format(&rest, "  run " STR_FMT, STR_ARG(uuid_text(&outline->run_id, id)));
	if (has(outline, error)) {
		buf_add(&rest, S("  "));
		buf_add(&rest, outline->error);
	}
	put_line(state_sign(outline->state, style), 0, buf_str(&rest), style, out);
	if (!has(outline, queue))
		return 1;
	AUTO(buf) place = { 0 };
	buf_add_format(&place, "position %lld of %lld in the queue " STR_FMT,
		       (long long)outline->queue->position, (long long)outline->queue->length,
		       STR_ARG(outline->queue->kind));
	put_line(state_sign(S(""), style), 0, buf_str(&place), style, out);
	return 2;
}
