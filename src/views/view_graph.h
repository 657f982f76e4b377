/* views/view_graph.h -- the state of a graph workflow's run, for the views that show it. */
#ifndef VIEWS_VIEW_GRAPH_H
#define VIEWS_VIEW_GRAPH_H

struct graph_state;
struct timeline;

/* The state that the nodes share, as the newest result has left it; the run's graph has a state. */
const struct graph_state *view_graph_state(const struct timeline *timeline);

#endif
