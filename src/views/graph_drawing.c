/* views/graph_drawing.c -- the layout's boxes with what the story knows of their nodes.
 *
 * Steps of the story and boxes of the layout come from the same nodes of the same graph, so the
 * node's address tells which box a step belongs to.
 */
#include "views/graph_drawing.h"

#include "views/layout.h"

struct seen {
	int64_t activations, live, succeeded, failed, items;
	bool counted_items;
	bool any;
	enum vocabulary_step state;
};

/* Lower comes first. */
static int rank_of(enum vocabulary_step state)
{
	switch (state) {
	case VOCABULARY_STEP_WAITING_HUMAN:
		return 0;
	case VOCABULARY_STEP_RUNNING:
		return 1;
	case VOCABULARY_STEP_RETRYING:
		return 2;
	case VOCABULARY_STEP_FAILED:
		return 3;
	case VOCABULARY_STEP_CANCELLED:
		return 4;
	case VOCABULARY_STEP_PENDING:
		return 5;
	case VOCABULARY_STEP_SUCCEEDED:
		return 6;
	case VOCABULARY_STEP_SKIPPED:
	case VOCABULARY_STEP_COUNT:
		break;
	}
	return 7;
}

static bool is_final(enum vocabulary_step state)
{
	return rank_of(state) == 3 || rank_of(state) == 4 || rank_of(state) >= 6;
}

static struct str key_of(const struct run_graph_node *const *node)
{
	return (struct str){ (const char *)node, sizeof(*node) };
}

/* Its inputs are the list while it is entered. */
static void note_items(struct seen *seen, const struct timeline_step *step)
{
	const struct json *items = json_member(step->inputs, S("items"));
	if (step->node->kind != RUN_NODE_MAP || items == NULL || items->kind != JSON_LIST)
		return;
	seen->items = (int64_t)items->as.list.count;
	seen->counted_items = true;
}

/* Which node of which body. */
struct spot {
	const struct timeline_scope *scope;
	size_t slot;
};

/* The newest activation at every spot. */
static void find_newest(const struct timeline *timeline, struct map *out_newest)
{
	struct spot *spots = arena_array(timeline->arena, struct spot, timeline->count);
	for (size_t i = 0; i < timeline->count; i++) {
		struct timeline_step *step = timeline->steps[i];
		spots[i] = (struct spot){ step->scope, step->slot };
		struct str key = { (const char *)&spots[i], sizeof(spots[i]) };
		const struct timeline_step *other = map_get(out_newest, key);
		if (other == NULL || other->ordinal < step->ordinal)
			map_put(out_newest, key, step);
	}
}

static bool is_newest(const struct map *newest, const struct timeline_step *step)
{
	struct spot spot = { step->scope, step->slot };
	return map_get(newest, (struct str){ (const char *)&spot, sizeof(spot) }) == step;
}

static void note_step(struct seen *seen, const struct timeline_step *step, bool newest)
{
	bool begun = step->started || step->ended || is_final(step->state);
	seen->activations += begun;
	seen->live += begun && !is_final(step->state);
	seen->succeeded += step->state == VOCABULARY_STEP_SUCCEEDED;
	seen->failed += step->state == VOCABULARY_STEP_FAILED;
	note_items(seen, step);
	if (!newest && is_final(step->state))
		return; /* another round has taken its place */
	if (!seen->any || rank_of(step->state) < rank_of(seen->state))
		seen->state = step->state;
	seen->any = true;
}

static struct seen *see_steps(const struct timeline *timeline, const struct layout *layout)
{
	struct seen *seen = arena_array(timeline->arena, struct seen, layout->count);
	const struct run_graph_node **nodes =
		arena_array(timeline->arena, const struct run_graph_node *, layout->count);
	AUTO(map) numbers = { 0 };
	AUTO(map) newest = { 0 };
	find_newest(timeline, &newest);
	for (size_t i = 0; i < layout->count; i++) {
		nodes[i] = layout->boxes[i].node;
		seen[i].state = VOCABULARY_STEP_PENDING;
		map_put(&numbers, key_of(&nodes[i]), &seen[i]);
	}
	for (size_t i = 0; i < timeline->count; i++) {
		const struct run_graph_node *node = timeline->steps[i]->node;
		struct seen *of = map_get(&numbers, key_of(&node));
		if (of != NULL)
			note_step(of, timeline->steps[i], is_newest(&newest, timeline->steps[i]));
	}
	return seen;
}

/* Of those that nothing is known of; a box stands before those in it. */
static void see_others(const struct timeline *timeline, const struct layout *layout,
		       struct seen *seen)
{
	bool compacted = false;
	for (size_t i = 0; i < timeline->source->event_count; i++)
		compacted = compacted || timeline->source->events[i].type == EVENT_RUN_COMPACTED;
	for (size_t i = 0; i < layout->count; i++) {
		size_t within = layout->boxes[i].within;
		if (seen[i].any || within == LAYOUT_ROOT || !is_final(seen[within].state))
			continue;
		bool ran = seen[within].state == VOCABULARY_STEP_SUCCEEDED ||
			   seen[within].state == VOCABULARY_STEP_FAILED;
		seen[i].state = ran && !compacted ? VOCABULARY_STEP_SKIPPED : seen[within].state;
	}
}

static struct run_picture_node node_of(const struct layout *layout, size_t number,
				       const struct seen *seen)
{
	const struct layout_box *box = &layout->boxes[number];
	const struct timeline_step as_step = { .node = box->node };
	struct run_picture_node node = { 0 };
	SET(&node, path, box->path);
	if (box->within != LAYOUT_ROOT)
		SET(&node, within, layout->boxes[box->within].path);
	SET(&node, name, box->node->name);
	SET(&node, kind, box->node->kind);
	SET(&node, by, timeline_agent(&as_step));
	SET(&node, state, vocabulary_step(seen->state)->word);
	SET(&node, activations, seen->activations);
	SET(&node, live, seen->live);
	SET(&node, succeeded, seen->succeeded);
	SET(&node, failed, seen->failed);
	if (seen->counted_items)
		SET(&node, items, seen->items);
	SET(&node, layer, box->layer);
	SET(&node, x, box->x);
	SET(&node, y, box->y);
	SET(&node, width, box->width);
	SET(&node, height, box->height);
	return node;
}

static struct run_picture_edge edge_of(const struct layout *layout, const struct layout_edge *from)
{
	struct run_picture_edge edge = { 0 };
	SET(&edge, from, layout->boxes[from->from].path);
	SET(&edge, to, layout->boxes[from->to].path);
	SET(&edge, depends, from->edge == NULL);
	SET(&edge, back, from->back);
	if (from->edge != NULL && has(from->edge, when))
		SET(&edge, when, from->edge->when);
	SET(&edge, via, ((struct run_picture_point_list){ from->via, from->via_count }));
	return edge;
}

const struct run_picture *graph_drawing(const struct timeline *timeline)
{
	struct layout laid_out;
	layout(&laid_out, timeline->source->graph, timeline->arena);
	struct seen *seen = see_steps(timeline, &laid_out);
	see_others(timeline, &laid_out, seen);
	struct run_picture_node *nodes =
		arena_array(timeline->arena, struct run_picture_node, laid_out.count);
	struct run_picture_edge *edges =
		arena_array(timeline->arena, struct run_picture_edge, laid_out.edge_count);
	for (size_t i = 0; i < laid_out.count; i++)
		nodes[i] = node_of(&laid_out, i, &seen[i]);
	for (size_t i = 0; i < laid_out.edge_count; i++)
		edges[i] = edge_of(&laid_out, &laid_out.edges[i]);
	struct run_picture *graph_drawing = run_picture_new(timeline->arena);
	size_t events = timeline->source->event_count;
	SET(graph_drawing, run_id, timeline->source->run);
	SET(graph_drawing, state, timeline_words(timeline)->word);
	SET(graph_drawing, seq, events == 0 ? 0 : timeline_seq(timeline, events - 1));
	SET(graph_drawing, width, laid_out.width);
	SET(graph_drawing, height, laid_out.height);
	SET(graph_drawing, nodes, ((struct run_picture_node_list){ nodes, laid_out.count }));
	SET(graph_drawing, edges, ((struct run_picture_edge_list){ edges, laid_out.edge_count }));
	SET(graph_drawing, nodes_left_out, (int64_t)laid_out.left_out);
	SET(graph_drawing, edges_left_out, (int64_t)laid_out.edges_left_out);
	return graph_drawing;
}
