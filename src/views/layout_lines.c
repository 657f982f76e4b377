/* views/layout_lines.c -- routes edges through the gaps of the rows they cross.
 *
 * A row has a gap between every two boxes and one at either side.  An edge goes straight to its
 * end.  Where that line would cross a box, it uses the nearest gap and continues straight from
 * there.
 */
#include "base/limits.h"
#include "contract/run_picture_types.h"
#include "views/layout.h"

enum { CLEAR = LAYOUT_GAP_X / 4 }; /* distance between a line and a box */

static int64_t middle_of(const struct layout_box *box)
{
	return box->x + box->width / 2;
}

/* The free position of a row that is nearest to x. */
static int64_t free_place(const struct layout *layout, const struct layout_row *row, int64_t x)
{
	for (size_t i = 0; i < row->count; i++) {
		const struct layout_box *box = &layout->boxes[row->first + row->order[i]];
		if (x < box->x - CLEAR || x > box->x + box->width + CLEAR)
			continue;
		return x < middle_of(box) ? box->x - LAYOUT_GAP_X / 2
					  : box->x + box->width + LAYOUT_GAP_X / 2;
	}
	return x;
}

/* Index of the first row below y. */
static size_t row_below(const struct layout_row *rows, size_t count, int64_t y)
{
	size_t low = 0, high = count;
	while (low < high) {
		size_t middle = (low + high) / 2;
		if (rows[middle].y > y)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

static struct run_picture_point point_at(int64_t x, int64_t y)
{
	struct run_picture_point point = { 0 };
	SET(&point, x, x);
	SET(&point, y, y);
	return point;
}

static void lead(struct layout *layout, struct layout_edge *edge, const struct layout_row *rows,
		 size_t row_count)
{
	const struct layout_box *from = &layout->boxes[edge->from], *to = &layout->boxes[edge->to];
	size_t first = row_below(rows, row_count, from->y), end = first;
	while (end < row_count && rows[end].y < to->y)
		end++;
	size_t points = 2 * (end - first);
	if (points == 0 || points > LIMIT_PICTURE_POINTS - layout->points)
		return;
	layout->points += points;
	edge->via = arena_array(layout->arena, struct run_picture_point, points);
	int64_t x = middle_of(from), y = from->y + from->height;
	for (size_t i = first; i < end; i++) {
		const struct layout_row *row = &rows[i];
		int64_t at = row->y + row->height / 2;
		int64_t straight = x + (middle_of(to) - x) * (at - y) / (to->y - y);
		x = free_place(layout, row, straight);
		y = row->y + row->height;
		edge->via[edge->via_count++] = point_at(x, row->y);
		edge->via[edge->via_count++] = point_at(x, y);
	}
}

void layout_lines(struct layout *layout, struct layout_edge *edges, size_t edge_count,
		  const struct layout_row *rows, size_t row_count)
{
	for (size_t i = 0; i < edge_count; i++)
		if (!edges[i].back)
			lead(layout, &edges[i], rows, row_count);
}
