/* tracker/adf.c -- the Atlassian Document Format to and from Markdown.
 *
 * A block is rendered into a buffer of its own, then copied with the prefix of its place (quote, list
 * item).  Both limits make the work proportional to the input whatever the document says.
 */
#include "tracker/adf.h"

#include "base/buf.h"
#include "base/date.h"
#include "base/limits.h"
#include "base/time.h"

/* How the lines of a block begin. */
struct prefix {
	struct str first, further;
};

static void render_block(const struct json *node, int depth, struct buf *out, struct arena *arena);

static struct str type_of(const struct json *node)
{
	return json_text(json_member(node, S("type")));
}

static const struct json *attribute(const struct json *node, struct str name)
{
	return json_member(json_member(node, S("attrs")), name);
}

static struct str attribute_text(const struct json *node, struct str name)
{
	return json_text(attribute(node, name));
}

static const struct json *content_of(const struct json *node)
{
	const struct json *content = json_member(node, S("content"));
	return content != NULL && content->kind == JSON_LIST ? content : NULL;
}

static size_t content_count(const struct json *node)
{
	const struct json *content = content_of(node);
	return content == NULL ? 0 : content->as.list.count;
}

static bool is(const struct json *node, const char *type)
{
	return str_equal(type_of(node), str_from_c(type));
}

/* ---- inline ----------------------------------------------------------------------------- */

static const struct json *mark_of(const struct json *node, const char *type)
{
	const struct json *marks = json_member(node, S("marks"));
	for (size_t i = 0; marks != NULL && marks->kind == JSON_LIST && i < marks->as.list.count;
	     i++)
		if (is(&marks->as.list.at[i], type))
			return &marks->as.list.at[i];
	return NULL;
}

/* Marks go around the words, not around the blanks beside them: `**bold **` is not bold. */
static void render_text(const struct json *node, struct buf *out)
{
	static const struct {
		const char *type, *sign;
	} signs[] = { { "strong", "**" }, { "em", "*" }, { "strike", "~~" } };
	struct str text = json_text(json_member(node, S("text")));
	struct str words = str_trim(text);
	if (words.size == 0) {
		buf_add(out, text);
		return;
	}
	size_t before = (size_t)(words.at - text.at);
	const struct json *link = mark_of(node, "link");
	bool code = mark_of(node, "code") != NULL;
	buf_add(out, str_head(text, before));
	if (link != NULL)
		buf_add_char(out, '[');
	for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++)
		if (mark_of(node, signs[i].type) != NULL)
			buf_add(out, str_from_c(signs[i].sign));
	size_t tick;
	struct str quote = !code ? S("") : str_find(words, S("`"), &tick) ? S("``") : S("`");
	struct str pad = quote.size == 2 ? S(" ") : S("");
	buf_add(out, quote);
	buf_add(out, pad);
	buf_add(out, words);
	buf_add(out, pad);
	buf_add(out, quote);
	for (size_t i = sizeof(signs) / sizeof(signs[0]); i > 0; i--)
		if (mark_of(node, signs[i - 1].type) != NULL)
			buf_add(out, str_from_c(signs[i - 1].sign));
	if (link != NULL) {
		buf_add(out, S("]("));
		buf_add(out, attribute_text(link, S("href")));
		buf_add_char(out, ')');
	}
	buf_add(out, str_skip(text, before + words.size));
}

/* Milliseconds since 1970, as a text. */
static void render_date(const struct json *node, struct buf *out)
{
	const struct json *stamp = attribute(node, S("timestamp"));
	char text[TIME_TEXT_SIZE];
	int64_t ms = 0;
	const int64_t most = INT64_C(253402300799999); /* of the year 9999 */
	bool good = stamp != NULL && stamp->kind == JSON_INT;
	if (good)
		ms = stamp->as.integer;
	else
		good = json_text(stamp).size <= 15 && str_to_int(json_text(stamp), &ms);
	if (good && ms >= 0 && ms <= most)
		buf_add(out, str_head(time_text(ms * 1000, text), 10));
}

static void render_inline(const struct json *node, int depth, struct buf *out)
{
	if (depth > LIMIT_ADF_DEPTH)
		return;
	if (is(node, "text")) {
		render_text(node, out);
	} else if (is(node, "hardBreak")) {
		buf_add(out, S("\n"));
	} else if (is(node, "mention") || is(node, "status")) {
		buf_add(out, attribute_text(node, S("text")));
	} else if (is(node, "emoji")) {
		struct str text = attribute_text(node, S("text"));
		buf_add(out, text.size > 0 ? text : attribute_text(node, S("shortName")));
	} else if (is(node, "date")) {
		render_date(node, out);
	} else if (is(node, "inlineCard")) {
		buf_add(out, attribute_text(node, S("url")));
	} else if (is(node, "media") || is(node, "mediaInline")) {
		struct str alt = attribute_text(node, S("alt"));
		struct str url = attribute_text(node, S("url"));
		buf_add_format(out, "![" STR_FMT "](" STR_FMT ")",
			       STR_ARG(alt.size > 0 ? alt : attribute_text(node, S("id"))),
			       STR_ARG(url));
	} else {
		for (size_t i = 0; i < content_count(node); i++)
			render_inline(json_item(content_of(node), i), depth + 1, out);
	}
}

static bool is_inline(const struct json *node)
{
	static const char *const types[] = { "text", "hardBreak",  "mention", "status",     "emoji",
					     "date", "inlineCard", "media",   "mediaInline" };
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (is(node, types[i]))
			return true;
	return false;
}

/* ---- blocks ----------------------------------------------------------------------------- */

/* Copies the lines with the prefix; empty lines get no blanks at their end. */
static void add_prefixed(struct buf *out, struct str text, struct prefix prefix)
{
	struct str rest = text, line;
	bool first = true;
	while (str_cut(&rest, '\n', &line)) {
		struct str begin = first ? prefix.first : prefix.further;
		if (line.size == 0 && !first)
			while (str_ends(begin, S(" ")))
				begin = str_head(begin, begin.size - 1);
		buf_add(out, begin);
		buf_add(out, line);
		buf_add_char(out, '\n');
		first = false;
	}
}

/* The blocks of a node, with an empty line between them unless `tight`. */
static void render_blocks(const struct json *node, int depth, bool tight, struct buf *out,
			  struct arena *arena)
{
	size_t count = content_count(node);
	for (size_t i = 0; i < count; i++) {
		const struct json *child = json_item(content_of(node), i);
		size_t before = out->size;
		if (i > 0 && before > 0 && !tight && !is_inline(child))
			buf_add_char(out, '\n');
		size_t begin = out->size;
		if (is_inline(child))
			render_inline(child, depth, out);
		else
			render_block(child, depth, out, arena);
		if (out->size == begin)
			out->size = before; /* nothing came: no empty line either */
	}
}

static void render_prefixed(const struct json *node, int depth, struct prefix prefix, bool tight,
			    struct buf *out, struct arena *arena)
{
	struct buf inner = buf_limited(LIMIT_ADF_BYTES);
	render_blocks(node, depth, tight, &inner, arena);
	struct str text = buf_str(&inner);
	while (str_ends(text, S("\n")))
		text = str_head(text, text.size - 1);
	if (text.size > 0)
		add_prefixed(out, text, prefix);
	buf_done(&inner);
}

static void render_list(const struct json *node, int depth, struct buf *out, struct arena *arena)
{
	bool ordered = is(node, "orderedList");
	const struct json *order = attribute(node, S("order"));
	int64_t number = order != NULL && order->kind == JSON_INT && order->as.integer >= 0 &&
					 order->as.integer < 1000000
				 ? order->as.integer
				 : 1;
	for (size_t i = 0; i < content_count(node); i++) {
		const struct json *item = json_item(content_of(node), i);
		struct prefix prefix = { S("- "), S("  ") };
		if (ordered)
			prefix = (struct prefix){ str_format(arena, "%lld. ",
							     (long long)(number + (int64_t)i)),
						  S("   ") };
		if (is(item, "taskItem"))
			prefix.first = str_equal(attribute_text(item, S("state")), S("DONE"))
					       ? S("- [x] ")
					       : S("- [ ] ");
		if (is(item, "taskList") || is(item, "decisionList")) /* nested without an item */
			prefix.first = S("  ");
		render_prefixed(item, depth + 1, prefix, true, out, arena);
	}
}

/* A cell has one line: blocks are joined with <br>. */
static void render_cell(const struct json *cell, int depth, struct buf *out, struct arena *arena)
{
	struct buf inner = buf_limited(LIMIT_ADF_BYTES);
	render_blocks(cell, depth, true, &inner, arena);
	struct str text = str_trim(buf_str(&inner));
	buf_add_char(out, ' ');
	for (size_t i = 0; i < text.size; i++) {
		if (text.at[i] == '\n')
			buf_add(out, S("<br>"));
		else if (text.at[i] == '|')
			buf_add(out, S("\\|"));
		else
			buf_add_char(out, text.at[i]);
	}
	buf_add(out, S(" |"));
	buf_done(&inner);
}

static void render_table(const struct json *node, int depth, struct buf *out, struct arena *arena)
{
	for (size_t i = 0; i < content_count(node); i++) {
		const struct json *row = json_item(content_of(node), i);
		size_t cells = content_count(row);
		buf_add_char(out, '|');
		for (size_t k = 0; k < cells; k++)
			render_cell(json_item(content_of(row), k), depth + 1, out, arena);
		buf_add_char(out, '\n');
		if (i > 0)
			continue;
		buf_add_char(out, '|');
		for (size_t k = 0; k < cells; k++)
			buf_add(out, S(" --- |"));
		buf_add_char(out, '\n');
	}
}

static void render_code(const struct json *node, struct buf *out)
{
	struct buf inner = buf_limited(LIMIT_ADF_BYTES);
	for (size_t i = 0; i < content_count(node); i++)
		buf_add(&inner, json_text(json_member(json_item(content_of(node), i), S("text"))));
	size_t at;
	struct str fence = str_find(buf_str(&inner), S("```"), &at) ? S("~~~~") : S("```");
	buf_add_format(out, STR_FMT STR_FMT "\n", STR_ARG(fence),
		       STR_ARG(attribute_text(node, S("language"))));
	buf_add(out, buf_str(&inner));
	buf_add_format(out, "\n" STR_FMT "\n", STR_ARG(fence));
	buf_done(&inner);
}

static void render_heading(const struct json *node, int depth, struct buf *out, struct arena *arena)
{
	const struct json *level = attribute(node, S("level"));
	int64_t signs = level != NULL && level->kind == JSON_INT ? level->as.integer : 1;
	struct str marks = S("###### ");
	signs = signs < 1 ? 1 : signs > 6 ? 6 : signs;
	render_prefixed(node, depth + 1,
			(struct prefix){ str_skip(marks, (size_t)(6 - signs)), S("") }, true, out,
			arena);
}

/* A title and then the blocks. */
static void render_expand(const struct json *node, int depth, struct buf *out, struct arena *arena)
{
	struct str title = attribute_text(node, S("title"));
	if (title.size > 0)
		buf_add_format(out, "**" STR_FMT "**\n\n", STR_ARG(title));
	render_blocks(node, depth + 1, false, out, arena);
}

static void render_block(const struct json *node, int depth, struct buf *out, struct arena *arena)
{
	if (depth > LIMIT_ADF_DEPTH || node == NULL || out->full)
		return;
	if (is(node, "heading"))
		render_heading(node, depth, out, arena);
	else if (is(node, "bulletList") || is(node, "orderedList") || is(node, "taskList") ||
		 is(node, "decisionList"))
		render_list(node, depth, out, arena);
	else if (is(node, "blockquote") || is(node, "panel"))
		render_prefixed(node, depth + 1, (struct prefix){ S("> "), S("> ") }, false, out,
				arena);
	else if (is(node, "codeBlock"))
		render_code(node, out);
	else if (is(node, "rule"))
		buf_add(out, S("---\n"));
	else if (is(node, "table"))
		render_table(node, depth, out, arena);
	else if (is(node, "expand") || is(node, "nestedExpand"))
		render_expand(node, depth, out, arena);
	else if (is(node, "blockCard") || is(node, "embedCard"))
		buf_add_format(out, STR_FMT "\n", STR_ARG(attribute_text(node, S("url"))));
	else if (is(node, "doc") || is(node, "layoutSection") || is(node, "layoutColumn"))
		render_blocks(node, depth + 1, false, out, arena);
	else /* paragraph, mediaSingle, and whatever comes later */
		render_prefixed(node, depth + 1, (struct prefix){ S(""), S("") },
				is(node, "paragraph"), out, arena);
}

struct str adf_to_markdown(const struct json *document, struct arena *arena)
{
	struct buf out = buf_limited(LIMIT_ADF_BYTES);
	if (document == NULL || document->kind != JSON_OBJECT)
		return S("");
	render_block(document, 0, &out, arena);
	struct str text = str_copy(arena, str_trim(buf_str(&out)));
	buf_done(&out);
	return text;
}

/* ---- from text -------------------------------------------------------------------------- */

static void put_text(struct json_writer *writer, struct str text)
{
	json_open(writer, '{');
	json_key(writer, S("type"));
	json_put_str(writer, S("text"));
	json_key(writer, S("text"));
	json_put_str(writer, text);
	json_close(writer, '}');
}

static void open_block(struct json_writer *writer, struct str type)
{
	json_open(writer, '{');
	json_key(writer, S("type"));
	json_put_str(writer, type);
	json_key(writer, S("content"));
	json_open(writer, '[');
}

static void close_block(struct json_writer *writer)
{
	json_close(writer, ']');
	json_close(writer, '}');
}

/* Lines of a paragraph are kept apart. */
static void put_paragraph(struct json_writer *writer, struct str text)
{
	struct str rest = str_trim(text), line;
	bool first = true;
	if (rest.size == 0)
		return;
	open_block(writer, S("paragraph"));
	while (str_cut(&rest, '\n', &line)) {
		if (!first) {
			json_open(writer, '{');
			json_key(writer, S("type"));
			json_put_str(writer, S("hardBreak"));
			json_close(writer, '}');
		}
		if (line.size > 0)
			put_text(writer, line);
		first = false;
	}
	close_block(writer);
}

static void put_code(struct json_writer *writer, struct str text)
{
	if (str_ends(text, S("\n")))
		text = str_head(text, text.size - 1);
	open_block(writer, S("codeBlock"));
	if (text.size > 0)
		put_text(writer, text);
	close_block(writer);
}

const struct json *adf_from_text(struct str text, struct arena *arena)
{
	struct json_builder *builder = json_builder_new(arena);
	struct json_writer writer = { .builder = builder };
	struct str rest = text, line;
	const char *begin = text.at;
	bool code = false;
	json_open(&writer, '{');
	json_key(&writer, S("type"));
	json_put_str(&writer, S("doc"));
	json_key(&writer, S("version"));
	json_put_int(&writer, 1);
	json_key(&writer, S("content"));
	json_open(&writer, '[');
	while (rest.size > 0 && str_cut(&rest, '\n', &line)) {
		bool fence = str_starts(line, S("```"));
		if (!fence && (code || str_trim(line).size > 0))
			continue;
		struct str block = { begin, (size_t)(line.at - begin) };
		if (code)
			put_code(&writer, block);
		else
			put_paragraph(&writer, block);
		code = fence && !code;
		begin = line.at + line.size + (rest.size > 0 ? 1 : 0);
	}
	struct str block = { begin, (size_t)(text.at + text.size - begin) };
	if (code)
		put_code(&writer, block);
	else
		put_paragraph(&writer, block);
	json_close(&writer, ']');
	json_close(&writer, '}');
	return json_builder_end(builder);
}
