/* views/layout.h -- where the boxes of a graph stand.
 *
 * A body is laid out from above to below: a node stands in the layer that the longest way from the
 * body's beginning gives it, and in its layer where its neighbours are (barycentres, a few sweeps).
 * A layer with more nodes than LAYOUT_ROW is broken into several rows.  A node with a body of its
 * own is a box around that body.  Edges that close a cycle are found by a walk in the order of the
 * definition and count for nothing.  An edge that passes rows of boxes is led through the gaps
 * between them, as near to its straight way as they are (layout_lines.c).
 *
 * The result depends on the graph alone, so a picture does not move while its run goes on.  At most
 * LIMIT_PICTURE_NODES nodes are laid out, a node before those in it; the rest are counted.
 */
#ifndef VIEWS_LAYOUT_H
#define VIEWS_LAYOUT_H

#include "contract/run_types.h"

enum {
	LAYOUT_WIDTH = 176, /* of a node without a body, in pixels */
	LAYOUT_HEIGHT = 56,
	LAYOUT_GAP_X = 24,
	LAYOUT_GAP_Y = 40,
	LAYOUT_HEAD = 56, /* a box's own words, above its body */
	LAYOUT_MARGIN = 16,
	LAYOUT_ROW = 8,
	LAYOUT_SWEEPS = 4,
};

struct layout_box {
	const struct run_graph_node *node;
	size_t within; /* number of the box whose body it is in; LAYOUT_ROOT */
	struct str path;
	int64_t layer;
	int64_t x, y, width, height;
	size_t body, body_count; /* its body's boxes stand together, from this number on */
};

#define LAYOUT_ROOT SIZE_MAX

struct layout_edge {
	size_t from, to;                   /* numbers of boxes */
	const struct run_graph_edge *edge; /* NULL: the second depends on the first */
	bool back;
	struct run_picture_point *via; /* two for each row that it passes: above and below */
	size_t via_count;
};

/* Boxes beside each other, from left to right; in the order of their body, counted from `first`. */
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
	size_t points; /* of all edges */
	int64_t width, height;
};

/* Leads the edges of a body around its boxes, which stand in these rows from above to below. */
void layout_lines(struct layout *layout, struct layout_edge *edges, size_t edge_count,
		  const struct layout_row *rows, size_t row_count);
void layout(struct layout *layout, const struct run_graph *graph, struct arena *arena);

#endif
