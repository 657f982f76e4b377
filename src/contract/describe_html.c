/* contract/describe_html.c -- the reference as one HTML page that loads nothing but the server's own
 * style sheet.
 *
 * This file writes the routes.  The rest is the Markdown of the other reference documents, converted
 * to HTML, so that each fact is worded in one place.  The converter knows the few forms of Markdown
 * that they use: headings, paragraphs, tables, `code` and fences.  A type's name in `code` becomes a
 * link to its section.
 */
#include "base/limits.h"
#include "contract/describe.h"
#include "contract/describe_routes.h"
#include "contract/modules.h"

static void put_escaped(struct buf *out, struct str text)
{
	for (size_t i = 0; i < text.size; i++) {
		switch (text.at[i]) {
		case '<':
			buf_add(out, S("&lt;"));
			break;
		case '>':
			buf_add(out, S("&gt;"));
			break;
		case '&':
			buf_add(out, S("&amp;"));
			break;
		case '"':
			buf_add(out, S("&quot;"));
			break;
		default:
			buf_add_char(out, text.at[i]);
		}
	}
}

/* Keeps letters, digits and dots; replaces every other character with a dash. */
static void put_anchor(struct buf *out, struct str text)
{
	bool dash = false;
	for (size_t i = 0; i < text.size; i++) {
		char c = text.at[i];
		bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
			     (c >= '0' && c <= '9') || c == '.' || c == '_';
		if (plain) {
			if (dash)
				buf_add_char(out, '-');
			buf_add_char(out, c);
		}
		dash = !plain;
	}
}

/* ---- Markdown -------------------------------------------------------------------------- */

static void put_code(struct buf *out, struct str text)
{
	bool known = contract_find(text) != NULL;
	if (known) {
		buf_add(out, S("<a href=\"#"));
		put_anchor(out, text);
		buf_add(out, S("\">"));
	}
	buf_add(out, S("<code>"));
	put_escaped(out, text);
	buf_add(out, S("</code>"));
	if (known)
		buf_add(out, S("</a>"));
}

/* Converts `code` and plain text; an escaped bar of a table becomes a plain bar. */
static void put_inline(struct buf *out, struct str text)
{
	AUTO(buf) plain = { 0 };
	for (size_t i = 0; i < text.size; i++)
		if (text.at[i] != '\\' || i + 1 == text.size || text.at[i + 1] != '|')
			buf_add_char(&plain, text.at[i]);
	struct str rest = buf_str(&plain), piece;
	for (bool code = false; plain.size > 0 && str_cut(&rest, '`', &piece); code = !code) {
		if (code)
			put_code(out, piece);
		else
			put_escaped(out, piece);
	}
}

/* The next cell of a table row, which ends at a bar that is not escaped. */
static bool next_cell(struct str *rest, struct str *out_cell)
{
	for (size_t i = 0; i < rest->size; i++)
		if (rest->at[i] == '|' && (i == 0 || rest->at[i - 1] != '\\')) {
			*out_cell = str_trim(str_head(*rest, i));
			*rest = str_skip(*rest, i + 1);
			return true;
		}
	return false;
}

static void put_row(struct buf *out, struct str line, const char *tag)
{
	struct str rest = str_skip(line, 1), cell;
	buf_add(out, S("<tr>"));
	while (next_cell(&rest, &cell)) {
		buf_add_format(out, "<%s>", tag);
		put_inline(out, cell);
		buf_add_format(out, "</%s>", tag);
	}
	buf_add(out, S("</tr>\n"));
}

static void put_heading(struct buf *out, struct str line, int deeper)
{
	int level = 0;
	while (line.size > 0 && line.at[0] == '#') {
		line = str_skip(line, 1);
		level++;
	}
	line = str_trim(line);
	buf_add_format(out, "<h%d id=\"", level + deeper);
	put_anchor(out, line);
	buf_add(out, S("\">"));
	put_escaped(out, line);
	buf_add_format(out, "</h%d>\n", level + deeper);
}

/* Headings are lowered by `deeper` levels. */
static void put_markdown(struct buf *out, struct str text, int deeper)
{
	struct str line;
	bool table = false, fence = false;
	while (str_cut(&text, '\n', &line)) {
		bool row = !fence && str_starts(line, S("|"));
		if (table && !row)
			buf_add(out, S("</table>\n"));
		if (str_starts(line, S("```"))) {
			buf_add(out, fence ? S("</pre>\n") : S("<pre>"));
			fence = !fence;
		} else if (fence) {
			put_escaped(out, line);
			buf_add_char(out, '\n');
		} else if (row && !table) {
			buf_add(out, S("<table>\n"));
			put_row(out, line, "th");
		} else if (row && !str_starts(line, S("|---"))) {
			put_row(out, line, "td");
		} else if (str_starts(line, S("#"))) {
			put_heading(out, line, deeper);
		} else if (!row && line.size > 0) {
			buf_add(out, S("<p>"));
			put_inline(out, line);
			buf_add(out, S("</p>\n"));
		}
		table = row;
	}
}

/* ---- routes ---------------------------------------------------------------------------- */

static void put_title(struct buf *out, const struct route_row *row)
{
	AUTO(buf) title = { 0 };
	buf_add_format(&title, "%s %s", row->kind == ROUTE_ROW_SOCKET ? "WebSocket" : row->method,
		       row->path);
	buf_add(out, S("<h3 id=\""));
	put_anchor(out, buf_str(&title));
	buf_add(out, S("\"><code>"));
	put_escaped(out, buf_str(&title));
	buf_add(out, S("</code></h3>\n"));
}

static void put_parameter(struct buf *out, struct str name, const char *where, const char *type,
			  const char *text)
{
	buf_add(out, S("<tr><td><code>"));
	put_escaped(out, name);
	buf_add_format(out, "</code></td><td>%s</td><td>%s</td><td>", where, type);
	put_escaped(out, str_from_c(text));
	buf_add(out, S("</td></tr>\n"));
}

static void put_parameters(struct buf *out, const struct route_row *row)
{
	struct str rest = str_from_c(row->path), name;
	size_t at;
	bool any = str_find(rest, S("{"), &at);
	ROUTES_OF(row, item)
	any = any || item->kind == ROUTE_ROW_QUERY;
	if (!any)
		return;
	buf_add(out, S("<table>\n<tr><th>parameter</th><th>in</th><th>type</th><th>meaning</th>"
		       "</tr>\n"));
	while (route_row_parameter(&rest, &name))
		put_parameter(out, name, "path", str_equal(name, S("id")) ? "uuid" : "string", "");
	ROUTES_OF(row, item)
	if (item->kind == ROUTE_ROW_QUERY)
		put_parameter(out, str_from_c(item->name), "query",
			      contract_kind_name(item->of()->kind), item->text);
	buf_add(out, S("</table>\n"));
}

static void put_answer(struct buf *out, const struct route_row *row)
{
	buf_add_format(out, "<li><b>%d</b> ", row->status);
	switch (row->answer) {
	case ROUTE_ANSWER_ONE:
		put_code(out, row->of()->name);
		break;
	case ROUTE_ANSWER_LIST:
		buf_add(out, S("a list of "));
		put_code(out, row->of()->name);
		break;
	case ROUTE_ANSWER_EVENTS:
		buf_add(out, S("server-sent events, each "));
		put_code(out, row->of()->name);
		break;
	case ROUTE_ANSWER_BYTES:
		put_code(out, str_from_c(row->media));
		break;
	case ROUTE_ANSWER_NOTHING:
		buf_add(out, S("no body"));
		break;
	}
	if (row->kind == ROUTE_ROW_ALSO) {
		buf_add(out, S(": "));
		put_escaped(out, str_from_c(row->text));
	}
	buf_add(out, S("</li>\n"));
}

static void put_route(struct buf *out, const struct route_row *row)
{
	put_title(out, row);
	buf_add(out, S("<p>"));
	put_escaped(out, str_from_c(row->text));
	buf_add(out, S("</p>\n<ul>\n<li>"));
	if (route_row_needs_key(row))
		buf_add_format(out, "role %s", role_rows[row->role].word);
	else
		buf_add(out, S("no key needed"));
	buf_add(out, S("</li>\n"));
	if (row->takes != NULL) {
		buf_add(out, S("<li>takes "));
		put_code(out, row->takes()->name);
		buf_add(out, S("</li>\n"));
	}
	if (row->kind == ROUTE_ROW_DOOR)
		put_answer(out, row);
	ROUTES_OF(row, item)
	if (item->kind == ROUTE_ROW_ALSO)
		put_answer(out, item);
	buf_add(out, S("</ul>\n"));
	put_parameters(out, row);
}

static void put_routes(struct buf *out)
{
	buf_add(out, S("<h2 id=\"Routes\">Routes</h2>\n<p>An error response is always "));
	put_code(out, S("run.Problem"));
	buf_add(out, S(", as application/problem+json; its code is one of <a href=\"#Errors\">the "
		       "errors</a>. A parameter that a route does not list is refused.</p>\n"));
	buf_add(out, S("<table>\n<tr><th>role</th><th>may</th></tr>\n"));
	for (size_t i = 0; role_rows[i].word != NULL; i++)
		buf_add_format(out, "<tr><td>%s</td><td>%s</td></tr>\n", role_rows[i].word,
			       role_rows[i].text);
	buf_add(out, S("</table>\n"));
	for (const struct route_row *row = route_rows; row->kind != ROUTE_ROW_END; row++)
		if (!route_row_belongs(row))
			put_route(out, row);
}

/* ---- the page -------------------------------------------------------------------------- */

static void put_contents(struct buf *out)
{
	static const char *const sections[] = { "Routes",   "Errors", "Events",  "States",
						"Settings", "Limits", "Metrics", "Contracts" };
	buf_add(out, S("<nav><ul>\n"));
	for (size_t i = 0; i < COUNT(sections); i++)
		buf_add_format(out, "<li><a href=\"#%s\">%s</a></li>\n", sections[i], sections[i]);
	buf_add(out, S("</ul></nav>\n"));
}

void describe_html(struct buf *out)
{
	static const char *const parts[] = { "errors", "events", "vocabularies", "states",
					     "config", "limits", "metrics",      "markdown" };
	buf_add(out, S("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		       "<meta name=\"viewport\" content=\"width=device-width\">\n"
		       "<title>Baton's interface</title>\n"
		       "<link rel=\"stylesheet\" href=\"/docs/style.css\">\n</head>\n<body>\n"));
	buf_add_format(out, "<h1>Baton %s</h1>\n", BATON_VERSION);
	put_contents(out);
	put_routes(out);
	for (size_t i = 0; i < COUNT(parts); i++) {
		AUTO(buf) text = buf_limited(LIMIT_DESCRIPTION_BYTES);
		description_find(str_from_c(parts[i]))->print(&text);
		put_markdown(out, buf_str(&text), 1);
	}
	buf_add(out, S("</body>\n</html>\n"));
}
