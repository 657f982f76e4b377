/* views/view_dag.c -- the graph of a workflow as boxes and lines, in the runtime vocabulary. */
#include "views/view_dag.h"

#include "contract/run_graph_types.h"
#include "contract/run_picture_types.h"
#include "contract/runtime_types.h"
#include "views/layout.h"
#include "views/timeline.h"

static struct runtime_dag_node_model node_of(const struct layout *layout, size_t number)
{
	const struct layout_box *box = &layout->boxes[number];
	const struct timeline_step as_step = { .node = box->node };
	struct runtime_dag_node_model node = { 0 };
	SET(&node, id, box->path);
	SET(&node, label, box->node->name);
	SET(&node, type, run_node_kind_name(box->node->kind));
	if (has(box->node, agent))
		SET(&node, agent, box->node->agent->name);
	SET(&node, by, timeline_agent(&as_step));
	if (box->within != LAYOUT_ROOT)
		SET(&node, within, layout->boxes[box->within].path);
	SET(&node, layer, box->layer);
	SET(&node, x, box->x);
	SET(&node, y, box->y);
	SET(&node, width, box->width);
	SET(&node, height, box->height);
	return node;
}

static struct runtime_dag_edge_model edge_of(const struct layout *layout,
					     const struct layout_edge *from, struct arena *arena)
{
	struct runtime_dag_edge_model edge = { 0 };
	struct runtime_dag_point *via =
		arena_array(arena, struct runtime_dag_point, from->via_count);
	for (size_t i = 0; i < from->via_count; i++) {
		SET(&via[i], x, from->via[i].x);
		SET(&via[i], y, from->via[i].y);
	}
	SET(&edge, source, layout->boxes[from->from].path);
	SET(&edge, target, layout->boxes[from->to].path);
	SET(&edge, depends, from->edge == NULL);
	SET(&edge, back, from->back);
	if (from->edge != NULL && has(from->edge, when))
		SET(&edge, when, from->edge->when);
	SET(&edge, via, ((struct runtime_dag_point_list){ via, from->via_count }));
	return edge;
}

const struct runtime_dag_response *view_dag(struct str graph, struct arena *arena,
					    struct error *error)
{
	struct problems problems = { .arena = arena };
	struct contract_source source = { .text = graph, .lenient = true };
	struct layout layout;
	if (!json_read(graph, arena, &source.json, error))
		return NULL;
	const struct run_graph *rows = run_graph_parse(&source, arena, &problems);
	if (rows == NULL) {
		problems_fail(&problems, error);
		return NULL;
	}
	layout_compute(&layout, rows, arena);
	struct runtime_dag_node_model *nodes =
		arena_array(arena, struct runtime_dag_node_model, layout.count);
	struct runtime_dag_edge_model *edges =
		arena_array(arena, struct runtime_dag_edge_model, layout.edge_count);
	for (size_t i = 0; i < layout.count; i++)
		nodes[i] = node_of(&layout, i);
	for (size_t i = 0; i < layout.edge_count; i++)
		edges[i] = edge_of(&layout, &layout.edges[i], arena);
	struct runtime_dag_response *dag = runtime_dag_response_new(arena);
	SET(dag, nodes, ((struct runtime_dag_node_model_list){ nodes, layout.count }));
	SET(dag, edges, ((struct runtime_dag_edge_model_list){ edges, layout.edge_count }));
	SET(dag, width, layout.width);
	SET(dag, height, layout.height);
	SET(dag, nodes_left_out, (int64_t)layout.left_out);
	SET(dag, edges_left_out, (int64_t)layout.edges_left_out);
	return dag;
}
