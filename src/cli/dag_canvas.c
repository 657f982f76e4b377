/* cli/dag_canvas.c -- draws the graph of a workflow as text.
 *
 * The drawing of the server is scaled to a grid of characters.  A cell of a line is a set of
 * directions, so that lines which meet or cross become the right character by themselves.
 */
#include "cli/dag_drawing.h"

#include "base/limits.h"
#include "base/terminal_text.h"
#include "cli/server_request.h"

enum { PIXELS_X = 8, PIXELS_Y = 19 }; /* of one character */
enum { UP = 1, DOWN = 2, LEFT = 4, RIGHT = 8, ARROW = 16, TEXT = 32 };

struct cell {
	unsigned char lines; /* directions; or ARROW, or TEXT */
	struct str text;     /* one character; "" = the rest of a wide one */
};

struct canvas {
	struct arena *arena; /* of the texts */
	struct cell *cells;
	long long width, height;
};

static struct cell *cell_at(const struct canvas *canvas, long long x, long long y)
{
	static struct cell outside;
	if (x < 0 || y < 0 || x >= canvas->width || y >= canvas->height) {
		outside = (struct cell){ 0 };
		return &outside;
	}
	return &canvas->cells[y * canvas->width + x];
}

static void connect(const struct canvas *canvas, long long x, long long y, unsigned lines)
{
	struct cell *cell = cell_at(canvas, x, y);
	if (cell->lines != TEXT)
		cell->lines = (unsigned char)(cell->lines | lines);
}

static void line_down(const struct canvas *canvas, long long x, long long from, long long to)
{
	for (long long y = from; y < to; y++) {
		connect(canvas, x, y, DOWN);
		connect(canvas, x, y + 1, UP);
	}
}

static void line_across(const struct canvas *canvas, long long from, long long to, long long y)
{
	if (from > to) {
		line_across(canvas, to, from, y);
		return;
	}
	for (long long x = from; x < to; x++) {
		connect(canvas, x, y, RIGHT);
		connect(canvas, x + 1, y, LEFT);
	}
}

static void put_text(const struct canvas *canvas, long long x, long long y, long long room,
		     struct str text)
{
	AUTO(buf) safe = { 0 };
	terminal_text_add(text, 0, &safe);
	struct str rest = str_copy(canvas->arena, buf_str(&safe));
	for (; rest.size > 0 && room > 0; room--, x++) {
		size_t size = 1;
		while (size < rest.size && ((unsigned char)rest.at[size] & 0xC0) == 0x80)
			size++;
		*cell_at(canvas, x, y) = (struct cell){ .lines = TEXT,
							.text = room == 1 && rest.size > size
									? S("…")
									: str_head(rest, size) };
		rest = str_skip(rest, size);
	}
}

struct box {
	long long left, top, right, bottom; /* cells of its frame */
};

static struct box box_of(const struct json *node)
{
	long long x = cli_number(node, "x"), y = cli_number(node, "y");
	return (struct box){ x / PIXELS_X, y / PIXELS_Y,
			     (x + cli_number(node, "width")) / PIXELS_X - 1,
			     (y + cli_number(node, "height")) / PIXELS_Y };
}

static void draw_box(const struct canvas *canvas, const struct json *node)
{
	struct box box = box_of(node);
	struct str by = cli_text(node, "by"), type = cli_text(node, "type");
	for (long long y = box.top; y <= box.bottom; y += box.bottom - box.top) {
		line_across(canvas, box.left, box.right, y);
		if (box.bottom == box.top)
			break;
	}
	line_down(canvas, box.left, box.top, box.bottom);
	line_down(canvas, box.right, box.top, box.bottom);
	long long room = box.right - box.left - 3;
	put_text(canvas, box.left + 2, box.top + 1, room, cli_text(node, "label"));
	AUTO(buf) text = { 0 };
	buf_add(&text, type);
	if (!str_equal(by, type))
		buf_add_format(&text, " " STR_FMT, STR_ARG(by));
	put_text(canvas, box.left + 2, box.top + 2, room, buf_str(&text));
}

static const struct json *node_named(const struct json *nodes, struct str id)
{
	const struct json *node;
	for (size_t i = 0; (node = json_item(nodes, i)) != NULL; i++)
		if (str_equal(cli_text(node, "id"), id))
			return node;
	return NULL;
}

/* From the frame of one box down to the next point: a bend is in the row below the start. */
static void draw_piece(const struct canvas *canvas, long long x, long long y, long long to_x,
		       long long to_y)
{
	long long bend = x == to_x || to_y <= y + 1 ? y : y + 1;
	line_down(canvas, x, y, bend);
	line_across(canvas, x, to_x, bend);
	line_down(canvas, to_x, bend, to_y);
}

static void draw_edge(const struct canvas *canvas, const struct json *nodes,
		      const struct json *edge)
{
	const struct json *from = node_named(nodes, cli_text(edge, "source"));
	const struct json *to = node_named(nodes, cli_text(edge, "target")), *point;
	if (from == NULL || to == NULL || cli_is_true(edge, "back"))
		return;
	struct box source = box_of(from), target = box_of(to);
	long long x = (source.left + source.right) / 2, y = source.bottom;
	long long end_x = (target.left + target.right) / 2;
	const struct json *via = json_member(edge, S("via"));
	for (size_t i = 0; (point = json_item(via, i)) != NULL; i++) {
		long long next_x = cli_number(point, "x") / PIXELS_X;
		long long next_y = cli_number(point, "y") / PIXELS_Y;
		if (next_y <= y)
			continue;
		draw_piece(canvas, x, y, next_x, next_y);
		x = next_x;
		y = next_y;
	}
	draw_piece(canvas, x, y, end_x, target.top - 1);
	cell_at(canvas, end_x, target.top - 1)->lines |= ARROW;
}

static struct str cell_text(const struct cell *cell)
{
	static const char *const characters[16] = { " ", "│", "│", "│", "─", "┘", "┐", "┤",
						    "─", "└", "┌", "├", "─", "┴", "┬", "┼" };
	if (cell->lines == TEXT)
		return cell->text;
	return str_from_c(cell->lines & ARROW ? "▼" : characters[cell->lines & 15]);
}

static void print_rows(const struct canvas *canvas, struct buf *out)
{
	for (long long y = 0; y < canvas->height; y++) {
		long long last = canvas->width;
		while (last > 0 && cell_at(canvas, last - 1, y)->lines == 0)
			last--;
		for (long long x = 0; x < last; x++)
			buf_add(out, cell_text(cell_at(canvas, x, y)));
		if (last > 0)
			buf_add_char(out, '\n');
	}
}

/* Edges that close a cycle cannot be drawn downwards. */
static void print_back_edges(const struct json *dag, struct buf *out)
{
	const struct json *edges = json_member(dag, S("edges")), *edge;
	for (size_t i = 0; (edge = json_item(edges, i)) != NULL; i++) {
		if (!cli_is_true(edge, "back"))
			continue;
		buf_add(out, S("back: "));
		terminal_text_add(cli_text(edge, "source"), 0, out);
		buf_add(out, S(" → "));
		terminal_text_add(cli_text(edge, "target"), 0, out);
		if (cli_text(edge, "when").size > 0) {
			buf_add(out, S(" when "));
			terminal_text_add(cli_text(edge, "when"), 0, out);
		}
		buf_add_char(out, '\n');
	}
	if (cli_number(dag, "nodes_left_out") > 0)
		buf_add_format(out, "%lld more steps are not shown\n",
			       cli_number(dag, "nodes_left_out"));
}

void dag_text(const struct json *dag, struct buf *out)
{
	AUTO(arena) memory = { 0 };
	struct canvas canvas = { .arena = &memory,
				 .width = cli_number(dag, "width") / PIXELS_X + 2,
				 .height = cli_number(dag, "height") / PIXELS_Y + 2 };
	const struct json *nodes = json_member(dag, S("nodes")), *item;
	const struct json *edges = json_member(dag, S("edges"));
	long long most = LIMIT_DAG_CELLS;
	if (canvas.width > 0 && canvas.height > most / canvas.width)
		canvas.height = most / canvas.width;
	canvas.cells = arena_array(&memory, struct cell, (size_t)(canvas.width * canvas.height));
	for (size_t i = 0; (item = json_item(nodes, i)) != NULL; i++)
		draw_box(&canvas, item);
	for (size_t i = 0; (item = json_item(edges, i)) != NULL; i++)
		draw_edge(&canvas, nodes, item);
	print_rows(&canvas, out);
	print_back_edges(dag, out);
}
