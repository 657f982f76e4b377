/* views/layout.c -- lays out the bodies of a graph, the innermost first.
 *
 * All boxes are in one array; the boxes of a body are adjacent and follow the box around them.  So
 * a backward pass lays out every body after the bodies inside it, and a forward pass moves the
 * boxes to the final position of their container.  There is no recursion.
 */
#include "views/layout.h"

#include <stdlib.h>

#include "base/limits.h"
#include "base/map.h"
#include "contract/run_graph_types.h"
#include "contract/run_picture_types.h"

/* ---- boxes and edges --------------------------------------------------------------- */

static size_t nodes_in(const struct run_graph_node *node)
{
	size_t count = 0;
	for (size_t i = 0; has(node, body) && i < node->body.count; i++)
		count += 1 + nodes_in(&node->body.at[i]);
	return count;
}

static size_t add_body(struct layout *layout, struct run_graph_node_list nodes, size_t within)
{
	size_t first = layout->count;
	for (size_t i = 0; i < nodes.count; i++) {
		const struct run_graph_node *node = &nodes.at[i];
		if (layout->count == LIMIT_PICTURE_NODES) {
			layout->left_out += 1 + nodes_in(node);
			continue;
		}
		struct str path = within == LAYOUT_ROOT
					  ? node->name
					  : str_format(layout->arena, STR_FMT "/" STR_FMT,
						       STR_ARG(layout->boxes[within].path),
						       STR_ARG(node->name));
		layout->boxes[layout->count++] =
			(struct layout_box){ .node = node, .within = within, .path = path };
	}
	return layout->count - first;
}

static void add_edge(struct layout *layout, struct layout_edge edge)
{
	if (layout->edge_count < LIMIT_PICTURE_EDGES)
		layout->edges[layout->edge_count++] = edge;
	else
		layout->edges_left_out++;
}

/* Index of the box with this name; LAYOUT_ROOT when it is not shown. */
static size_t box_named(const struct layout *layout, const struct map *names, struct str name)
{
	const struct layout_box *box = map_get(names, name);
	return box == NULL ? LAYOUT_ROOT : (size_t)(box - layout->boxes);
}

static void add_edges(struct layout *layout, size_t first, size_t count)
{
	AUTO(map) names = { 0 };
	for (size_t i = first; i < first + count; i++)
		map_put(&names, layout->boxes[i].node->name, &layout->boxes[i]);
	for (size_t i = first; i < first + count; i++) {
		const struct run_graph_node *node = layout->boxes[i].node;
		for (size_t d = 0; d < node->depends_on.count; d++) {
			size_t from = box_named(layout, &names, node->depends_on.at[d]);
			if (from != LAYOUT_ROOT)
				add_edge(layout, (struct layout_edge){ .from = from, .to = i });
		}
		for (size_t e = 0; has(node, edges) && e < node->edges.count; e++) {
			size_t to = box_named(layout, &names, node->edges.at[e].to);
			if (to != LAYOUT_ROOT)
				add_edge(layout,
					 (struct layout_edge){
						 .from = i, .to = to, .edge = &node->edges.at[e] });
		}
	}
}

/* ---- one body ---------------------------------------------------------------------- */

/* All indexes are relative to the body's first box. */
struct body {
	struct layout *layout;
	struct arena *arena; /* temporary, for this body */
	size_t first, count;
	struct layout_edge *edges;
	size_t edge_count;
	size_t *starts;          /* node -> index of its first edge in `leads` */
	size_t *leads;           /* indexes of edges, ordered by source node */
	size_t *order, *layered; /* nodes by layer; layer -> index of its first node in `order` */
	size_t layers;
	int64_t *place; /* position of a node in its layer, 0 to FULL */
};

enum { FULL = 1 << 20 };

static size_t from_of(const struct body *body, size_t edge)
{
	return body->edges[edge].from - body->first;
}

static size_t to_of(const struct body *body, size_t edge)
{
	return body->edges[edge].to - body->first;
}

static void sort_edges(struct body *body)
{
	body->starts = arena_array(body->arena, size_t, body->count + 2);
	body->leads = arena_array(body->arena, size_t, body->edge_count);
	size_t *next = arena_array(body->arena, size_t, body->count + 1);
	for (size_t e = 0; e < body->edge_count; e++)
		body->starts[from_of(body, e) + 1]++;
	for (size_t i = 0; i < body->count; i++) {
		body->starts[i + 1] += body->starts[i];
		next[i] = body->starts[i];
	}
	for (size_t e = 0; e < body->edge_count; e++)
		body->leads[next[from_of(body, e)]++] = e;
}

enum color { UNVISITED, OPEN, DONE };

/* Depth-first search from one node; an edge to a node on the stack closes a cycle. */
static void walk(struct body *body, size_t root, unsigned char *colors, size_t *stack, size_t *next)
{
	size_t depth = 0;
	if (colors[root] != UNVISITED)
		return;
	colors[root] = OPEN;
	next[root] = body->starts[root];
	stack[depth++] = root;
	while (depth > 0) {
		size_t at = stack[depth - 1];
		if (next[at] == body->starts[at + 1]) {
			colors[at] = DONE;
			depth--;
			continue;
		}
		size_t edge = body->leads[next[at]++], to = to_of(body, edge);
		body->edges[edge].back = colors[to] == OPEN;
		if (colors[to] != UNVISITED)
			continue;
		colors[to] = OPEN;
		next[to] = body->starts[to];
		stack[depth++] = to;
	}
}

/* Starts at the body's start node, so that edges to it are the back edges. */
static void find_cycles(struct body *body)
{
	unsigned char *colors = arena_take(body->arena, body->count + 1);
	unsigned char *led_to = arena_take(body->arena, body->count + 1);
	size_t *stack = arena_array(body->arena, size_t, body->count);
	size_t *next = arena_array(body->arena, size_t, body->count);
	for (size_t e = 0; e < body->edge_count; e++)
		led_to[to_of(body, e)] = 1;
	for (size_t i = 0; i < body->count; i++) {
		const struct run_graph_node *node = body->layout->boxes[body->first + i].node;
		if (!led_to[i] || (has(node, entry) && node->entry))
			walk(body, i, colors, stack, next);
	}
	for (size_t i = 0; i < body->count; i++)
		walk(body, i, colors, stack, next);
}

/* Longest path: a node gets its layer after all its predecessors. */
static void find_layers(struct body *body)
{
	struct layout_box *boxes = body->layout->boxes + body->first;
	size_t *missing = arena_array(body->arena, size_t, body->count);
	size_t *ready = arena_array(body->arena, size_t, body->count);
	size_t head = 0, tail = 0;
	for (size_t e = 0; e < body->edge_count; e++)
		missing[to_of(body, e)] += !body->edges[e].back;
	for (size_t i = 0; i < body->count; i++)
		if (missing[i] == 0)
			ready[tail++] = i;
	while (head < tail) {
		size_t at = ready[head++];
		for (size_t k = body->starts[at]; k < body->starts[at + 1]; k++) {
			const struct layout_edge *edge = &body->edges[body->leads[k]];
			size_t to = edge->to - body->first;
			if (edge->back)
				continue;
			if (boxes[to].layer < boxes[at].layer + 1)
				boxes[to].layer = boxes[at].layer + 1;
			if (--missing[to] == 0)
				ready[tail++] = to;
		}
	}
	for (size_t i = 0; i < body->count; i++)
		if ((size_t)boxes[i].layer + 1 > body->layers)
			body->layers = (size_t)boxes[i].layer + 1;
}

/* Groups the nodes by layer, in definition order. */
static void fill_layers(struct body *body)
{
	const struct layout_box *boxes = body->layout->boxes + body->first;
	body->layered = arena_array(body->arena, size_t, body->layers + 2);
	body->order = arena_array(body->arena, size_t, body->count);
	size_t *next = arena_array(body->arena, size_t, body->layers + 1);
	for (size_t i = 0; i < body->count; i++)
		body->layered[boxes[i].layer + 1]++;
	for (size_t l = 0; l < body->layers; l++) {
		body->layered[l + 1] += body->layered[l];
		next[l] = body->layered[l];
	}
	for (size_t i = 0; i < body->count; i++)
		body->order[next[boxes[i].layer]++] = i;
}

/* ---- order within layers ----------------------------------------------------------- */

struct pull {
	size_t node, before; /* its index, and its previous position */
	int64_t to;          /* average position of its neighbors */
};

static int by_pull(const void *left, const void *right)
{
	const struct pull *a = left, *b = right;
	if (a->to != b->to)
		return a->to < b->to ? -1 : 1;
	return a->before < b->before ? -1 : a->before > b->before;
}

static void note_places(struct body *body, size_t layer)
{
	size_t first = body->layered[layer], count = body->layered[layer + 1] - first;
	for (size_t i = 0; i < count; i++)
		body->place[body->order[first + i]] = (int64_t)((2 * i + 1) * FULL / (2 * count));
}

/* For every node: sum of the positions and number of its neighbors on one side. */
static void sum_up(const struct body *body, bool from_above, int64_t *sums, int64_t *counts)
{
	for (size_t i = 0; i < body->count; i++)
		sums[i] = counts[i] = 0;
	for (size_t e = 0; e < body->edge_count; e++) {
		if (body->edges[e].back)
			continue;
		size_t from = from_of(body, e), to = to_of(body, e);
		size_t node = from_above ? to : from, other = from_above ? from : to;
		sums[node] += body->place[other];
		counts[node]++;
	}
}

/* A sweep uses the positions of the previous sweep.  Otherwise the result would depend on the order
 * of the layers, and every layer would scan every edge. */
static void sweep(struct body *body, bool from_above, struct pull *pulls, int64_t *sums,
		  int64_t *counts)
{
	sum_up(body, from_above, sums, counts);
	for (size_t layer = 0; layer < body->layers; layer++) {
		size_t first = body->layered[layer], count = body->layered[layer + 1] - first;
		for (size_t i = 0; i < count; i++) {
			size_t node = body->order[first + i];
			pulls[i] = (struct pull){ node, i,
						  counts[node] > 0 ? sums[node] / counts[node]
								   : body->place[node] };
		}
		qsort(pulls, count, sizeof(pulls[0]), by_pull);
		for (size_t i = 0; i < count; i++)
			body->order[first + i] = pulls[i].node;
	}
	for (size_t layer = 0; layer < body->layers; layer++)
		note_places(body, layer);
}

static void find_order(struct body *body)
{
	struct pull *pulls = arena_array(body->arena, struct pull, body->count);
	int64_t *sums = arena_array(body->arena, int64_t, body->count);
	int64_t *counts = arena_array(body->arena, int64_t, body->count);
	body->place = arena_array(body->arena, int64_t, body->count);
	for (size_t layer = 0; layer < body->layers; layer++)
		note_places(body, layer);
	for (int i = 0; i < LAYOUT_SWEEPS; i++)
		sweep(body, i % 2 == 0, pulls, sums, counts);
}

/* ---- places ------------------------------------------------------------------------ */

/* Places one row from x = 0 on; returns its width. */
static int64_t place_row(struct body *body, size_t first, size_t count, int64_t y,
			 int64_t *out_height)
{
	int64_t x = 0;
	*out_height = 0;
	for (size_t i = first; i < first + count; i++) {
		struct layout_box *box = &body->layout->boxes[body->first + body->order[i]];
		box->x = x;
		box->y = y;
		x += box->width + LAYOUT_GAP_X;
		if (box->height > *out_height)
			*out_height = box->height;
	}
	return x - LAYOUT_GAP_X;
}

static void move_row(struct body *body, size_t first, size_t count, int64_t by)
{
	for (size_t i = first; i < first + count; i++)
		body->layout->boxes[body->first + body->order[i]].x += by;
}

/* Stacks the rows, centers each of them, and routes the edges between them. */
static void place_rows(struct body *body, int64_t *out_width, int64_t *out_height)
{
	int64_t *widths = arena_array(body->arena, int64_t, body->count);
	struct layout_row *rows = arena_array(body->arena, struct layout_row, body->count);
	int64_t y = 0, height, widest = 0;
	size_t row = 0;
	for (int pass = 0; pass < 2; pass++) {
		row = 0;
		for (size_t layer = 0; layer < body->layers; layer++) {
			size_t end = body->layered[layer + 1], count;
			for (size_t at = body->layered[layer]; at < end; at += count, row++) {
				count = end - at < LAYOUT_ROW ? end - at : LAYOUT_ROW;
				if (pass == 1) {
					move_row(body, at, count, (widest - widths[row]) / 2);
					continue;
				}
				widths[row] = place_row(body, at, count, y, &height);
				rows[row] = (struct layout_row){ body->order + at, body->first,
								 count, y, height };
				y += height + LAYOUT_GAP_Y;
				if (widths[row] > widest)
					widest = widths[row];
			}
		}
	}
	layout_lines(body->layout, body->edges, body->edge_count, rows, row);
	*out_width = widest;
	*out_height = y - LAYOUT_GAP_Y;
}

static void lay_out(struct layout *layout, size_t first, size_t count, struct layout_edge *edges,
		    size_t edge_count, int64_t *out_width, int64_t *out_height)
{
	AUTO(arena) arena = { 0 };
	struct body body = { .layout = layout,
			     .arena = &arena,
			     .first = first,
			     .count = count,
			     .edges = edges,
			     .edge_count = edge_count };
	sort_edges(&body);
	find_cycles(&body);
	find_layers(&body);
	fill_layers(&body);
	find_order(&body);
	place_rows(&body, out_width, out_height);
}

/* ---- the whole --------------------------------------------------------------------- */

static void size_box(struct layout *layout, struct layout_box *box, struct layout_edge *edges,
		     size_t edge_count)
{
	box->width = LAYOUT_WIDTH;
	box->height = LAYOUT_HEIGHT;
	if (box->body_count == 0)
		return;
	int64_t width, height;
	lay_out(layout, box->body, box->body_count, edges, edge_count, &width, &height);
	box->width = width + 2 * LAYOUT_MARGIN;
	box->height = LAYOUT_HEAD + height + LAYOUT_MARGIN;
}

/* The top left corner of the body of a box that has its final position. */
static struct run_picture_point body_corner(const struct layout *layout, size_t within)
{
	struct run_picture_point corner = { .x = LAYOUT_MARGIN, .y = LAYOUT_MARGIN };
	if (within != LAYOUT_ROOT) {
		corner.x = layout->boxes[within].x + LAYOUT_MARGIN;
		corner.y = layout->boxes[within].y + LAYOUT_HEAD;
	}
	return corner;
}

void layout_compute(struct layout *layout, const struct run_graph *graph, struct arena *arena)
{
	*layout = (struct layout){ .arena = arena };
	layout->boxes = arena_array(arena, struct layout_box, LIMIT_PICTURE_NODES);
	layout->edges = arena_array(arena, struct layout_edge, LIMIT_PICTURE_EDGES);
	/* edge_starts[i + 1] is the first edge of the body of box i; index 0 is the root. */
	size_t *edge_starts = arena_array(arena, size_t, LIMIT_PICTURE_NODES + 2);
	size_t root_count = add_body(layout, graph->nodes, LAYOUT_ROOT);
	add_edges(layout, 0, root_count);
	edge_starts[1] = layout->edge_count;
	for (size_t i = 0; i < layout->count; i++) {
		struct layout_box *box = &layout->boxes[i];
		if (has(box->node, body)) {
			box->body = layout->count;
			box->body_count = add_body(layout, box->node->body, i);
			add_edges(layout, box->body, box->body_count);
		}
		edge_starts[i + 2] = layout->edge_count;
	}
	for (size_t i = layout->count; i > 0; i--)
		size_box(layout, &layout->boxes[i - 1], layout->edges + edge_starts[i],
			 edge_starts[i + 1] - edge_starts[i]);
	if (root_count == 0)
		return;
	int64_t width, height;
	lay_out(layout, 0, root_count, layout->edges, edge_starts[1], &width, &height);
	layout->width = width + 2 * LAYOUT_MARGIN;
	layout->height = height + 2 * LAYOUT_MARGIN;
	for (size_t i = 0; i < layout->count; i++) {
		struct layout_box *box = &layout->boxes[i];
		struct run_picture_point corner = body_corner(layout, box->within);
		box->x += corner.x;
		box->y += corner.y;
	}
	for (size_t i = 0; i < layout->edge_count; i++) {
		struct layout_edge *edge = &layout->edges[i];
		struct run_picture_point corner =
			body_corner(layout, layout->boxes[edge->from].within);
		for (size_t p = 0; p < edge->via_count; p++) {
			edge->via[p].x += corner.x;
			edge->via[p].y += corner.y;
		}
	}
}
