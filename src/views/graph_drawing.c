/* views/graph_drawing.c -- combines the boxes of the layout with the states of the timeline.
 *
 * The steps of the timeline and the boxes of the layout refer to the same graph nodes, so the
 * address of the node identifies the box of a step.
 */
#include "views/graph_drawing.h"

#include "contract/run_graph_types.h"
#include "contract/run_picture_types.h"
#include "views/layout.h"

struct node_summary {
	int64_t activations, live, succeeded, failed, items;
	bool counted_items;
	bool any;
	enum vocabulary_step state;
};

/* A lower rank takes precedence. */
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

/* The inputs of a map are its list of items. */
static void summary_add_items(struct node_summary *summary, const struct timeline_step *step)
{
	const struct json *items = json_member(step->inputs, S("items"));
	if (step->node->kind != RUN_NODE_MAP || items == NULL || items->kind != JSON_LIST)
		return;
	summary->items = (int64_t)items->as.list.count;
	summary->counted_items = true;
}

/* A node of a body. */
struct node_place {
	const struct timeline_scope *scope;
	size_t slot;
};

/* The newest activation of every node of every body. */
static void find_newest(const struct timeline *timeline, struct map *out_newest)
{
	struct node_place *places =
		arena_array(timeline->arena, struct node_place, timeline->count);
	for (size_t i = 0; i < timeline->count; i++) {
		struct timeline_step *step = timeline->steps[i];
		places[i] = (struct node_place){ step->scope, step->slot };
		struct str key = { (const char *)&places[i], sizeof(places[i]) };
		const struct timeline_step *other = map_get(out_newest, key);
		if (other == NULL || other->ordinal < step->ordinal)
			map_put(out_newest, key, step);
	}
}

static bool is_newest(const struct map *newest, const struct timeline_step *step)
{
	struct node_place place = { step->scope, step->slot };
	return map_get(newest, (struct str){ (const char *)&place, sizeof(place) }) == step;
}

static void summary_add(struct node_summary *summary, const struct timeline_step *step, bool newest)
{
	bool begun = step->started || step->ended || is_final(step->state);
	summary->activations += begun;
	summary->live += begun && !is_final(step->state);
	summary->succeeded += step->state == VOCABULARY_STEP_SUCCEEDED;
	summary->failed += step->state == VOCABULARY_STEP_FAILED;
	summary_add_items(summary, step);
	if (!newest && is_final(step->state))
		return; /* a newer round replaces it */
	if (!summary->any || rank_of(step->state) < rank_of(summary->state))
		summary->state = step->state;
	summary->any = true;
}

static struct node_summary *summarize_steps(const struct timeline *timeline,
					    const struct layout *layout)
{
	struct node_summary *summaries =
		arena_array(timeline->arena, struct node_summary, layout->count);
	const struct run_graph_node **nodes =
		arena_array(timeline->arena, const struct run_graph_node *, layout->count);
	AUTO(map) numbers = { 0 };
	AUTO(map) newest = { 0 };
	find_newest(timeline, &newest);
	for (size_t i = 0; i < layout->count; i++) {
		nodes[i] = layout->boxes[i].node;
		summaries[i].state = VOCABULARY_STEP_PENDING;
		map_put(&numbers, key_of(&nodes[i]), &summaries[i]);
	}
	for (size_t i = 0; i < timeline->count; i++) {
		const struct run_graph_node *node = timeline->steps[i]->node;
		struct node_summary *of = map_get(&numbers, key_of(&node));
		if (of != NULL)
			summary_add(of, timeline->steps[i], is_newest(&newest, timeline->steps[i]));
	}
	return summaries;
}

/* Sets the state of boxes without an activation from their container, which precedes them. */
static void fill_unknown(const struct timeline *timeline, const struct layout *layout,
			 struct node_summary *summaries)
{
	bool compacted = false;
	for (size_t i = 0; i < timeline->source->event_count; i++)
		compacted = compacted || timeline->source->events[i].type == EVENT_RUN_COMPACTED;
	for (size_t i = 0; i < layout->count; i++) {
		size_t within = layout->boxes[i].within;
		if (summaries[i].any || within == LAYOUT_ROOT || !is_final(summaries[within].state))
			continue;
		bool ran = summaries[within].state == VOCABULARY_STEP_SUCCEEDED ||
			   summaries[within].state == VOCABULARY_STEP_FAILED;
		summaries[i].state =
			ran && !compacted ? VOCABULARY_STEP_SKIPPED : summaries[within].state;
	}
}

static struct run_picture_node node_of(const struct layout *layout, size_t number,
				       const struct node_summary *summary)
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
	SET(&node, state, vocabulary_step(summary->state)->word);
	SET(&node, activations, summary->activations);
	SET(&node, live, summary->live);
	SET(&node, succeeded, summary->succeeded);
	SET(&node, failed, summary->failed);
	if (summary->counted_items)
		SET(&node, items, summary->items);
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
	layout_compute(&laid_out, timeline->source->graph, timeline->arena);
	struct node_summary *summaries = summarize_steps(timeline, &laid_out);
	fill_unknown(timeline, &laid_out, summaries);
	struct run_picture_node *nodes =
		arena_array(timeline->arena, struct run_picture_node, laid_out.count);
	struct run_picture_edge *edges =
		arena_array(timeline->arena, struct run_picture_edge, laid_out.edge_count);
	for (size_t i = 0; i < laid_out.count; i++)
		nodes[i] = node_of(&laid_out, i, &summaries[i]);
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
