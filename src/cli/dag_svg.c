/* cli/dag_svg.c -- draws the graph of a workflow as SVG.
 *
 * The document has no scripts, no fonts of its own and no references.  Its colors follow the
 * reader's preference for light or dark.
 */
#include "cli/dag_drawing.h"

#include "cli/server_request.h"

enum { NAME_FITS = 22 }; /* characters in a box */

static void add_escaped(struct buf *out, struct str text)
{
	for (size_t i = 0; i < text.size; i++) {
		char c = text.at[i];
		if (c == '<')
			buf_add(out, S("&lt;"));
		else if (c == '>')
			buf_add(out, S("&gt;"));
		else if (c == '&')
			buf_add(out, S("&amp;"));
		else if (c == '"')
			buf_add(out, S("&quot;"));
		else if ((unsigned char)c < 0x20)
			buf_add_char(out, ' '); /* not allowed in XML */
		else
			buf_add_char(out, c);
	}
}

static void add_cut(struct buf *out, struct str text)
{
	size_t characters = 0, size = 0;
	for (; size < text.size; size++) {
		bool begins = ((unsigned char)text.at[size] & 0xC0) != 0x80;
		if (begins && ++characters > NAME_FITS)
			break;
	}
	add_escaped(out, str_head(text, size));
	if (size < text.size)
		buf_add(out, S("…"));
}

static const char style[] =
	"<style>\n"
	"text{font:13px system-ui,sans-serif;fill:#1c2024}\n"
	".by{fill:#5c6570;font-size:12px}\n"
	"rect{fill:#fff;stroke:#8b949e}\n"
	"path{fill:none;stroke:#6e7781}\n"
	".wait{stroke-dasharray:4 3}\n"
	"@media (prefers-color-scheme:dark){text{fill:#e6edf3}.by{fill:#9da7b1}"
	"rect{fill:#161b22;stroke:#6e7681}path{stroke:#8b949e}}\n"
	"</style>\n"
	"<defs><marker id=\"end\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"8\" "
	"markerHeight=\"8\" orient=\"auto\"><path d=\"M0 0L8 4L0 8\"/></marker></defs>\n";

static void add_node(struct buf *out, const struct json *node)
{
	long long x = cli_number(node, "x"), y = cli_number(node, "y");
	struct str by = cli_text(node, "by"), type = cli_text(node, "type");
	buf_add_format(out,
		       "<rect x=\"%lld\" y=\"%lld\" width=\"%lld\" height=\"%lld\" rx=\"6\"/>\n", x,
		       y, cli_number(node, "width"), cli_number(node, "height"));
	buf_add_format(out, "<text x=\"%lld\" y=\"%lld\">", x + 10, y + 22);
	add_cut(out, cli_text(node, "label"));
	buf_add_format(out, "</text>\n<text class=\"by\" x=\"%lld\" y=\"%lld\">", x + 10, y + 42);
	add_escaped(out, type);
	if (!str_equal(by, type)) {
		buf_add(out, S(" · "));
		add_cut(out, by);
	}
	buf_add(out, S("</text>\n"));
}

/* A curve between two points, vertical at both ends. */
static void add_curve(struct buf *out, long long x, long long y, long long to_x, long long to_y)
{
	long long half = (to_y - y) / 2;
	buf_add_format(out, " C %lld %lld %lld %lld %lld %lld", x, y + half, to_x, to_y - half,
		       to_x, to_y);
}

static const struct json *node_named(const struct json *nodes, struct str id)
{
	const struct json *node;
	for (size_t i = 0; (node = json_item(nodes, i)) != NULL; i++)
		if (str_equal(cli_text(node, "id"), id))
			return node;
	return NULL;
}

static void add_edge(struct buf *out, const struct json *nodes, const struct json *edge)
{
	const struct json *from = node_named(nodes, cli_text(edge, "source"));
	const struct json *to = node_named(nodes, cli_text(edge, "target")), *point;
	if (from == NULL || to == NULL)
		return;
	long long x = cli_number(from, "x"), y = cli_number(from, "y");
	long long end_x = cli_number(to, "x"), end_y = cli_number(to, "y");
	buf_add_format(out, "<path marker-end=\"url(#end)\"%s d=\"",
		       cli_is_true(edge, "depends") ? "" : " class=\"wait\"");
	if (cli_is_true(edge, "back")) {
		x += cli_number(from, "width");
		y += cli_number(from, "height") / 2;
		end_x += cli_number(to, "width");
		end_y += cli_number(to, "height") / 2;
		long long around = (x > end_x ? x : end_x) + 20;
		buf_add_format(out, "M %lld %lld C %lld %lld %lld %lld %lld %lld\"/>\n", x, y,
			       around, y, around, end_y, end_x, end_y);
		return;
	}
	x += cli_number(from, "width") / 2;
	y += cli_number(from, "height");
	end_x += cli_number(to, "width") / 2;
	buf_add_format(out, "M %lld %lld", x, y);
	const struct json *via = json_member(edge, S("via"));
	for (size_t i = 0; (point = json_item(via, i)) != NULL; i++) {
		long long next_x = cli_number(point, "x"), next_y = cli_number(point, "y");
		if (i % 2 == 0)
			add_curve(out, x, y, next_x, next_y);
		else
			buf_add_format(out, " L %lld %lld", next_x, next_y);
		x = next_x;
		y = next_y;
	}
	add_curve(out, x, y, end_x, end_y);
	buf_add(out, S("\"/>\n"));
}

void dag_svg(const struct json *dag, struct str title, struct buf *out)
{
	const struct json *nodes = json_member(dag, S("nodes")), *item;
	const struct json *edges = json_member(dag, S("edges"));
	long long width = cli_number(dag, "width") + 24, height = cli_number(dag, "height");
	buf_add_format(out,
		       "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%lld\" height=\"%lld\" "
		       "viewBox=\"0 0 %lld %lld\" role=\"img\">\n<title>",
		       width, height, width, height);
	add_escaped(out, title);
	buf_add(out, S("</title>\n"));
	buf_add(out, str_from_c(style));
	for (size_t i = 0; (item = json_item(nodes, i)) != NULL; i++)
		add_node(out, item);
	for (size_t i = 0; (item = json_item(edges, i)) != NULL; i++)
		add_edge(out, nodes, item);
	buf_add(out, S("</svg>\n"));
}
