/* cli/run_tree.c -- lines of a tree.
 *
 * A line is made without colours first, so that it can be cut by its characters; the sign in front
 * of it, which has the colour, is one character wide.  Where there are more steps than rows, bodies
 * that ended well are folded away, then the oldest of what has ended, and at last what is to come.
 */
#include "cli/run_tree.h"

#include "base/utf8.h"

enum { LABEL_MOST = 48 };

struct sign {
	const char *state, *sign, *colour;
};

static const struct sign signs[] = {
	{ "pending", "·", "\033[2m" },    { "running", "●", "\033[36m" },
	{ "retrying", "↻", "\033[33m" },  { "waiting_human", "?", "\033[33m" },
	{ "succeeded", "✓", "\033[32m" }, { "failed", "✗", "\033[31m" },
	{ "skipped", "–", "\033[2m" },    { "cancelled", "■", "\033[31m" },
	{ "queued", "·", "\033[2m" },     { "paused", "‖", "\033[33m" },
};

static const char *const turning[] = { "⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏" };

static struct sign sign_of(struct str state, const struct tree_look *look)
{
	struct sign found = { "", " ", "" };
	for (size_t i = 0; i < COUNT(signs); i++)
		if (str_equal(str_from_c(signs[i].state), state))
			found = signs[i];
	if (!look->still && str_equal(state, S("running")))
		found.sign = turning[look->frame % COUNT(turning)];
	return found;
}

void run_tree_plain(struct str text, struct buf *out)
{
	for (size_t i = 0; i < text.size; i++) {
		unsigned char c = (unsigned char)text.at[i];
		unsigned char next = i + 1 < text.size ? (unsigned char)text.at[i + 1] : 0;
		if (c == 0xc2 && next >= 0x80 &&
		    next < 0xa0) { /* C1: a terminal obeys these, too */
			buf_add_char(out, ' ');
			i++;
		} else {
			buf_add_char(out, c < 0x20 || c == 0x7f ? ' ' : (char)c);
		}
	}
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

/* Its first characters, `most` of them; what was cut shows as …. */
static struct str cut(struct str text, size_t most)
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

static void put_line(struct sign sign, size_t depth, struct str rest, const struct tree_look *look,
		     struct buf *out)
{
	size_t before = 2 * depth + 2;
	for (size_t i = 0; i < depth; i++)
		buf_add(out, S("  "));
	bool colour = look->colour && sign.colour[0] != '\0';
	buf_add_format(out, "%s%s%s ", colour ? sign.colour : "", sign.sign,
		       colour ? "\033[0m" : "");
	struct str shown = rest;
	if (look->columns > 0)
		shown = cut(rest, look->columns > before + 1 ? look->columns - before - 1 : 1);
	buf_add(out, str_trim(shown));
	if (shown.size < rest.size)
		buf_add(out, S("…"));
	buf_add_char(out, '\n');
}

/* ---- steps ----------------------------------------------------------------------------- */

struct line {
	const struct run_outline_step *step;
	size_t depth, within; /* number of the line whose body it is in; its own: none */
	bool hidden;
};

static bool is_over(const struct run_outline_step *step)
{
	return has(step, ended_at);
}

static bool ended_well(const struct run_outline_step *step)
{
	return str_equal(step->state, S("succeeded")) || str_equal(step->state, S("skipped"));
}

/* The path without that of the step it is in: [0]/say, draft. */
static struct str label_of(const struct run_outline_step *step)
{
	struct str label = step->step;
	if (has(step, within) && str_starts(label, step->within))
		label = str_skip(label, step->within.size);
	return str_starts(label, S("/")) ? str_skip(label, 1) : label;
}

static void add_times(const struct run_outline_step *step, const struct tree_look *look,
		      struct buf *out)
{
	if (!has(step, started_at))
		return;
	buf_add(out, S("  "));
	run_tree_duration(step->started_at, is_over(step) ? step->ended_at : look->now, out);
	if (step->attempts > 1)
		buf_add_format(out, "  attempt %lld", (long long)step->attempts);
}

static void add_wait(const struct run_outline_step *step, const struct tree_look *look,
		     struct buf *out)
{
	char id[UUID_TEXT_SIZE];
	if (has(step, signal)) {
		buf_add(out, S("  for the signal "));
		run_tree_plain(step->signal, out);
	}
	if (has(step, due_at) && step->due_at > look->now) {
		buf_add(out, S("  due in "));
		run_tree_duration(look->now, step->due_at, out);
	}
	if (has(step, question)) {
		buf_add(out, S("  "));
		run_tree_plain(step->question, out);
		if (has(step, to)) {
			buf_add(out, S("  (for "));
			run_tree_plain(step->to, out);
			buf_add_char(out, ')');
		}
		buf_add_format(out, "  " STR_FMT, STR_ARG(uuid_text(&step->request, id)));
	}
	if (has(step, subrun))
		buf_add_format(out, "  run " STR_FMT, STR_ARG(uuid_text(&step->subrun, id)));
}

static void print_step(const struct line *line, size_t width, const struct tree_look *look,
		       struct buf *out)
{
	const struct run_outline_step *step = line->step;
	AUTO(buf) rest = { 0 };
	struct str label = label_of(step);
	buf_add(&rest, label);
	for (size_t used = 2 * line->depth + utf8_count(label); used < width; used++)
		buf_add_char(&rest, ' ');
	buf_add_format(&rest, "  %-13.*s  " STR_FMT, STR_ARG(step->state), STR_ARG(step->agent));
	add_times(step, look, &rest);
	add_wait(step, look, &rest);
	if (has(step, error)) {
		buf_add(&rest, S("  "));
		run_tree_plain(step->error, &rest);
	}
	put_line(sign_of(step->state, look), line->depth, buf_str(&rest), look, out);
}

/* ---- which ----------------------------------------------------------------------------- */

/* Bodies stand behind their step, so the one it is in is the line before or one that this is in. */
static void place(struct line *lines, size_t number)
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

static size_t hide(struct line *line, size_t shown)
{
	if (line->hidden)
		return shown;
	line->hidden = true;
	return shown - 1;
}

/* Hides what matters least until the rest fits; one row is for saying so. */
static size_t fit(struct line *lines, size_t count, size_t rows)
{
	size_t shown = count;
	if (rows == 0 || count <= rows)
		return shown;
	for (size_t i = 0; i < count && shown + 1 > rows; i++) {
		const struct line *within = &lines[lines[i].within];
		if (within != &lines[i] && (within->hidden || ended_well(within->step)))
			shown = hide(&lines[i], shown);
	}
	for (size_t i = 0; i < count && shown + 1 > rows; i++)
		if (is_over(lines[i].step) && ended_well(lines[i].step))
			shown = hide(&lines[i], shown);
	for (size_t i = count; i-- > 0 && shown + 1 > rows;)
		if (str_equal(lines[i].step->state, S("pending")))
			shown = hide(&lines[i], shown);
	for (size_t i = count; i-- > 0 && shown + 1 > rows && shown > 1;)
		shown = hide(&lines[i], shown);
	return shown;
}

size_t run_tree_print(const struct run_outline *outline, const struct tree_look *look,
		      struct buf *out)
{
	AUTO(arena) arena = { 0 };
	size_t count = outline->steps.count, width = 0;
	struct line *lines = arena_array(&arena, struct line, count);
	for (size_t i = 0; i < count; i++) {
		lines[i] = (struct line){ .step = &outline->steps.at[i] };
		place(lines, i);
		size_t used = 2 * lines[i].depth + utf8_count(label_of(lines[i].step));
		if (used > width && used <= LABEL_MOST)
			width = used;
	}
	size_t shown = fit(lines, count, look->rows);
	for (size_t i = 0; i < count; i++)
		if (!lines[i].hidden)
			print_step(&lines[i], width, look, out);
	if (shown == count)
		return count;
	buf_add_format(out, "… and %zu more steps\n", count - shown);
	return shown + 1;
}

/* ---- the run --------------------------------------------------------------------------- */

size_t run_tree_head(const struct run_outline *outline, const struct tree_look *look,
		     struct buf *out)
{
	char id[UUID_TEXT_SIZE];
	AUTO(buf) rest = { 0 };
	int64_t from = has(outline, started_at) ? outline->started_at : outline->created_at;
	int64_t to = has(outline, ended_at) ? outline->ended_at : look->now;
	buf_add_format(&rest, STR_FMT "  " STR_FMT "%s  ", STR_ARG(outline->workflow),
		       STR_ARG(outline->state), has(outline, cancelling) ? ", called off" : "");
	run_tree_duration(from, to, &rest);
	buf_add_format(&rest, "  run " STR_FMT, STR_ARG(uuid_text(&outline->run_id, id)));
	if (has(outline, error)) {
		buf_add(&rest, S("  "));
		run_tree_plain(outline->error, &rest);
	}
	put_line(sign_of(outline->state, look), 0, buf_str(&rest), look, out);
	if (!has(outline, queue))
		return 1;
	AUTO(buf) place = { 0 };
	buf_add_format(&place, "place %lld of %lld in the queue " STR_FMT,
		       (long long)outline->queue->position, (long long)outline->queue->length,
		       STR_ARG(outline->queue->kind));
	put_line(sign_of(S(""), look), 0, buf_str(&place), look, out);
	return 2;
}
