/* lsp/yaml_places.c -- a scanner for YAML that is being edited.
 *
 * The open mappings and lists form a stack.  Each entry has the column of its key or dash; a line closes the
 * entries that are indented as deep as itself or deeper.  A list may be indented as deep as the key that owns it, so a
 * dash does not close a key in its own column.
 */
#include "lsp/yaml_places.h"

#include <string.h>

struct open_entry {
	struct yaml_segment segment;
	size_t column;
	bool is_item;
};

struct scanner {
	struct open_entry open[YAML_PATH_MOST];
	size_t depth;
	bool in_block;       /* the lines of a text block follow ... */
	size_t block_column; /* ... as long as they are indented deeper than this */
	yaml_visit *visit;
	void *context;
	uint32_t line;
	bool ended;
};

/* ---- small pieces ------------------------------------------------------------------------------ */

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static size_t skip_blanks(struct str line, size_t at)
{
	while (at < line.size && is_blank(line.at[at]))
		at++;
	return at;
}

/* The end of a quoted text that begins at `at`: behind the closing quote, or the end of the line. */
static size_t quoted_end(struct str line, size_t at)
{
	char quote = line.at[at++];
	while (at < line.size && line.at[at] != quote)
		at += quote == '"' && line.at[at] == '\\' ? 2 : 1;
	return at < line.size ? at + 1 : line.size;
}

/* The line without its comment and without blanks at its end. */
static struct str without_comment(struct str line)
{
	size_t end = 0;
	for (size_t i = 0; i < line.size;) {
		char c = line.at[i];
		bool begins = i == 0 || is_blank(line.at[i - 1]);
		if (c == '#' && begins)
			break;
		if ((c == '"' || c == '\'') && (begins || strchr("[{,", line.at[i - 1]) != NULL)) {
			i = quoted_end(line, i);
			end = i;
			continue;
		}
		i++;
		if (!is_blank(c))
			end = i;
	}
	return str_head(line, end);
}

/* The text between quotes, if there are any. */
static struct str unquoted(struct str text, size_t *column)
{
	if (text.size == 0 || (text.at[0] != '"' && text.at[0] != '\''))
		return text;
	*column += 1;
	size_t end = quoted_end(text, 0);
	bool closed = end >= 2 && text.at[end - 1] == text.at[0];
	return (struct str){ text.at + 1, end - (closed ? 2 : 1) };
}

static bool push(struct scanner *scanner, struct yaml_segment segment, size_t column, bool is_item)
{
	if (scanner->depth == YAML_PATH_MOST)
		return false;
	scanner->open[scanner->depth++] = (struct open_entry){ segment, column, is_item };
	return true;
}

static void path_of(const struct scanner *scanner, struct yaml_path *out)
{
	out->depth = scanner->depth;
	for (size_t i = 0; i < scanner->depth; i++)
		out->at[i] = scanner->open[i].segment;
}

static void emit(struct scanner *scanner, bool is_key, struct str text, size_t column)
{
	struct yaml_place place = { .is_key = is_key, .line = scanner->line };
	if (scanner->visit == NULL || scanner->ended)
		return;
	path_of(scanner, &place.path);
	place.text = unquoted(text, &column);
	place.column = column;
	scanner->ended = !scanner->visit(scanner->context, &place);
}

/* A colon that ends a key: behind it is a blank or the end. */
static bool find_colon(struct str text, size_t from, size_t *out_at)
{
	if (from < text.size && (text.at[from] == '"' || text.at[from] == '\''))
		from = quoted_end(text, from);
	for (size_t i = from; i < text.size; i++) {
		if (text.at[i] == '{' || text.at[i] == '[' || text.at[i] == ',')
			return false;
		if (text.at[i] == ':' && (i + 1 == text.size || is_blank(text.at[i + 1]))) {
			*out_at = i;
			return true;
		}
	}
	return false;
}

/* ---- flow style -------------------------------------------------------------------------------- */

/* The entries of one bracket, in a line; the brackets inside are entries of the stack too. */
struct flow {
	size_t base;                 /* depth of the stack where the flow began */
	char kind[YAML_PATH_MOST];   /* of each open bracket */
	size_t mark[YAML_PATH_MOST]; /* depth of the stack inside the bracket, without its entry */
	size_t index[YAML_PATH_MOST];
	size_t brackets;
	size_t word; /* where the word that is being read begins */
};

static void flow_open(struct scanner *scanner, struct flow *flow, char bracket)
{
	size_t top = flow->brackets;
	if (top == YAML_PATH_MOST)
		return;
	flow->kind[top] = bracket;
	flow->mark[top] = scanner->depth;
	flow->index[top] = 0;
	flow->brackets++;
	if (bracket == '[')
		push(scanner, (struct yaml_segment){ .index = 0 }, 0, true);
}

static void flow_word(struct scanner *scanner, const struct flow *flow, struct str line, size_t end)
{
	size_t begin = skip_blanks(line, flow->word);
	if (begin > end)
		return;
	struct str text = str_trim((struct str){ line.at + begin, end - begin });
	bool has_key = flow->brackets > 0 && flow->kind[flow->brackets - 1] == '{' &&
		       scanner->depth == flow->mark[flow->brackets - 1];
	if (text.size > 0 && !has_key)
		emit(scanner, false, text, begin);
}

static void flow_next(struct scanner *scanner, struct flow *flow)
{
	size_t top = flow->brackets - 1;
	scanner->depth = flow->mark[top];
	flow->index[top]++;
	if (flow->kind[top] == '[')
		push(scanner, (struct yaml_segment){ .index = flow->index[top] }, 0, true);
}

static void flow_key(struct scanner *scanner, struct flow *flow, struct str line, size_t colon)
{
	size_t begin = skip_blanks(line, flow->word), column = begin;
	struct str text = str_trim((struct str){ line.at + begin, colon - begin });
	struct str key = unquoted(text, &column);
	if (key.size > 0 && push(scanner, (struct yaml_segment){ .key = key }, begin, false))
		emit(scanner, true, text, begin);
}

/* Scans from an opening bracket to its end, at most to the end of the line.  Returns where it ended. */
static size_t flow_scan(struct scanner *scanner, struct flow *flow, struct str line, size_t at)
{
	*flow = (struct flow){ .base = scanner->depth };
	do {
		char c = line.at[at];
		if (c == '{' || c == '[') {
			flow_open(scanner, flow, c);
			flow->word = ++at;
		} else if (c == '}' || c == ']') {
			flow_word(scanner, flow, line, at);
			scanner->depth = flow->mark[--flow->brackets];
			flow->word = ++at;
		} else if (c == ',') {
			flow_word(scanner, flow, line, at);
			flow_next(scanner, flow);
			flow->word = ++at;
		} else if (c == '"' || c == '\'') {
			at = quoted_end(line, at);
		} else if (c == '$' && at + 1 < line.size && line.at[at + 1] == '{') {
			/* an expression, not a mapping */
			for (at += 2; at < line.size && line.at[at] != '}'; at++)
				;
			at += at < line.size;
		} else if (c == ':' && (at + 1 >= line.size || is_blank(line.at[at + 1])) &&
			   flow->kind[flow->brackets - 1] == '{') {
			flow_key(scanner, flow, line, at);
			flow->word = ++at;
		} else {
			at++;
		}
	} while (flow->brackets > 0 && at < line.size && !scanner->ended);
	return at;
}

/* ---- block style ------------------------------------------------------------------------------- */

static void close_for_key(struct scanner *scanner, size_t column)
{
	while (scanner->depth > 0 && scanner->open[scanner->depth - 1].column >= column)
		scanner->depth--;
}

static void open_item(struct scanner *scanner, size_t column)
{
	size_t index = 0;
	while (scanner->depth > 0) {
		const struct open_entry *top = &scanner->open[scanner->depth - 1];
		if (top->column < column || (top->column == column && !top->is_item))
			break;
		if (top->column == column && top->is_item)
			index = top->segment.index + 1;
		scanner->depth--;
	}
	push(scanner, (struct yaml_segment){ .index = index }, column, true);
}

/* The dashes at the beginning of a line; returns the column behind them. */
static size_t scan_dashes(struct scanner *scanner, struct str line, size_t at)
{
	while (at < line.size && line.at[at] == '-' &&
	       (at + 1 == line.size || is_blank(line.at[at + 1]))) {
		open_item(scanner, at);
		at = skip_blanks(line, at + 1);
	}
	return at;
}

static bool begins_block(struct str value)
{
	return value.size > 0 && (value.at[0] == '|' || value.at[0] == '>') && value.size <= 3;
}

/* Anchors and tags in front of a value: &name, !tag. */
static size_t skip_properties(struct str line, size_t at)
{
	while (at < line.size && (line.at[at] == '&' || line.at[at] == '!')) {
		while (at < line.size && !is_blank(line.at[at]))
			at++;
		at = skip_blanks(line, at);
	}
	return at;
}

static void scan_value(struct scanner *scanner, struct str line, size_t at)
{
	struct flow flow;
	at = skip_properties(line, at);
	if (at >= line.size)
		return;
	struct str value = str_skip(line, at);
	if (begins_block(value)) {
		scanner->in_block = true;
		scanner->block_column =
			scanner->depth == 0 ? 0 : scanner->open[scanner->depth - 1].column;
	} else if (value.at[0] == '{' || value.at[0] == '[') {
		size_t depth = scanner->depth;
		flow_scan(scanner, &flow, line, at);
		scanner->depth = depth;
	} else {
		emit(scanner, false, value, at);
	}
}

/* One line without its line end.  Returns false when the line is inside a text block. */
static bool scan_line(struct scanner *scanner, struct str whole)
{
	size_t indent = skip_blanks(whole, 0), colon;
	if (scanner->in_block && (indent >= whole.size || indent > scanner->block_column))
		return false;
	scanner->in_block = false;
	struct str line = without_comment(whole);
	if (indent >= line.size)
		return true;
	size_t at = scan_dashes(scanner, line, indent);
	if (at >= line.size)
		return true;
	if (line.at[at] == '{' || line.at[at] == '[' || !find_colon(line, at, &colon)) {
		scan_value(scanner, line, at);
		return true;
	}
	size_t column = at;
	struct str text = str_trim((struct str){ line.at + at, colon - at });
	close_for_key(scanner, at);
	if (push(scanner, (struct yaml_segment){ .key = unquoted(text, &column) }, at, false))
		emit(scanner, true, text, at);
	scan_value(scanner, line, skip_blanks(line, colon + 1));
	return true;
}

static bool next_line(struct str *rest, struct str *out_line)
{
	if (!str_cut(rest, '\n', out_line))
		return false;
	if (out_line->size > 0 && out_line->at[out_line->size - 1] == '\r')
		out_line->size--;
	return true;
}

void yaml_places_scan(struct str text, yaml_visit *visit, void *context)
{
	struct scanner scanner = { .visit = visit, .context = context };
	struct str line;
	while (!scanner.ended && next_line(&text, &line)) {
		(void)scan_line(&scanner, line);
		scanner.line++;
	}
}

/* ---- the position of a person ------------------------------------------------------------------ */

static void set_word(struct yaml_cursor *out, struct str line, size_t begin)
{
	size_t column = begin;
	out->word = unquoted(str_skip(line, begin), &column);
	out->column = column;
}

/* The beginning of a line up to the cursor, inside flow style that begins at `at`. */
static void cursor_in_flow(struct scanner *scanner, struct str line, size_t at,
			   struct yaml_cursor *out)
{
	struct flow flow;
	scanner->visit = NULL;
	(void)flow_scan(scanner, &flow, line, at);
	path_of(scanner, &out->path);
	set_word(out, line, skip_blanks(line, flow.word));
	if (flow.brackets > 0)
		out->expects_key = flow.kind[flow.brackets - 1] == '[' ||
				   scanner->depth == flow.mark[flow.brackets - 1];
}

void yaml_cursor_find(struct str text, uint32_t number, size_t offset, struct yaml_cursor *out)
{
	struct scanner scanner = { 0 };
	struct str line;
	size_t colon;
	*out = (struct yaml_cursor){ .word = S("") };
	for (; scanner.line < number && next_line(&text, &line); scanner.line++)
		(void)scan_line(&scanner, line);
	if (!next_line(&text, &line))
		line = S("");
	line = str_head(line, offset < line.size ? offset : line.size);
	size_t indent = skip_blanks(line, 0);
	bool continues = scanner.in_block && (indent > scanner.block_column || indent == line.size);
	bool commented =
		without_comment(line).size < line.size && memchr(line.at, '#', line.size) != NULL;
	if (continues || commented) {
		path_of(&scanner, &out->path);
		out->in_text = true;
		out->word = line;
		return;
	}
	size_t at = scan_dashes(&scanner, line, indent);
	if (at < line.size && find_colon(line, at, &colon)) {
		size_t column = at, value = skip_properties(line, skip_blanks(line, colon + 1));
		struct str key = str_trim((struct str){ line.at + at, colon - at });
		close_for_key(&scanner, at);
		push(&scanner, (struct yaml_segment){ .key = unquoted(key, &column) }, at, false);
		at = value;
	} else if (at >= line.size || (line.at[at] != '{' && line.at[at] != '[')) {
		if (at == indent)
			close_for_key(&scanner, at);
		out->expects_key = true;
	}
	if (at < line.size && (line.at[at] == '{' || line.at[at] == '[')) {
		cursor_in_flow(&scanner, line, at, out);
		return;
	}
	path_of(&scanner, &out->path);
	set_word(out, line, at < line.size ? at : line.size);
}

bool yaml_path_shares(const struct yaml_path *a, const struct yaml_path *b, size_t depth)
{
	if (a->depth < depth || b->depth < depth)
		return false;
	for (size_t i = 0; i < depth; i++)
		if (!str_equal(a->at[i].key, b->at[i].key) || a->at[i].index != b->at[i].index)
			return false;
	return true;
}

bool yaml_path_equal(const struct yaml_path *a, const struct yaml_path *b)
{
	return a->depth == b->depth && yaml_path_shares(a, b, a->depth);
}
