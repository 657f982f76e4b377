/* views/layout.h -- layered layout of a graph.
 *
 * A body is laid out top to bottom.  The layer of a node is the length of the longest path from the
 * body's start; its position within the layer follows its neighbors (barycenters, a few sweeps).  A
 * layer with more than LAYOUT_ROW nodes is broken into several rows.  A node with a body is a box
 * around that body.  A depth-first search in definition order finds the edges that close a cycle;
 * they do not influence the layers.  An edge that crosses rows of boxes is routed through the gaps
 * that are closest to the straight line (layout_lines.c).
 *
 * The result depends only on the graph, so a drawing does not move while its run proceeds.  At most
 * LIMIT_PICTURE_NODES nodes are laid out, containers before their contents; the rest is counted.
 */
#ifndef VIEWS_LAYOUT_H
#define VIEWS_LAYOUT_H

#include "contract/contract.h"

struct run_picture_point;
struct run_graph;
struct run_graph_edge;
struct run_graph_node;

enum {
	LAYOUT_WIDTH = 176, /* of a node without a body; all in pixels */
	LAYOUT_HEIGHT = 56,
	LAYOUT_GAP_X = 24,
	LAYOUT_GAP_Y = 40,
	LAYOUT_HEAD = 56, /* title of a box, above its body */
	LAYOUT_MARGIN = 16,
	LAYOUT_ROW = 8,
	LAYOUT_SWEEPS = 4,
};

struct layout_box {
	const struct run_graph_node *node;
	size_t within; /* index of the box whose body contains it, or LAYOUT_ROOT */
	struct str path;
	int64_t layer;
	int64_t x, y, width, height;
	size_t body, body_count; /* index of the first box of its body; they are adjacent */
};

#define LAYOUT_ROOT SIZE_MAX

struct layout_edge {
	size_t from, to;                   /* indexes of boxes */
	const struct run_graph_edge *edge; /* NULL: `to` depends on `from` */
	bool back;
	struct run_picture_point *via; /* two per crossed row: above and below it */
	size_t via_count;
};

/* A row of boxes, left to right: order[first] to order[first + count - 1] of their body. */
struct layout_row {
	const size_t *order;
	size_t first, count;
	int64_t y, height;
};

struct layout {
	struct arena *arena;
	struct layout_box *boxes;
	size_t count, left_out;
	struct layout_edge *edges;
	size_t edge_count, edges_left_out;
	size_t points; /* `via` points of all edges */
	int64_t width, height;
};

/* Routes the edges of a body around its boxes; `rows` go from top to bottom. */
void layout_lines(struct layout *layout, struct layout_edge *edges, size_t edge_count,
		  const struct layout_row *rows, size_t row_count);
void layout_compute(struct layout *layout, const struct run_graph *graph, struct arena *arena);

#endif
