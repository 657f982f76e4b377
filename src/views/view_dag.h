/* views/view_dag.h -- the graph of a workflow as boxes and lines, in the runtime vocabulary.
 *
 * Positions are those of a run's drawing (views/layout.h), so that the drawing of a workflow and of
 * its runs look the same.
 */
#ifndef VIEWS_VIEW_DAG_H
#define VIEWS_VIEW_DAG_H

#include "contract/contract.h"

struct runtime_dag_response;

/* `graph` is a compiled graph as JSON.  NULL with an error when it cannot be read. */
const struct runtime_dag_response *view_dag(struct str graph, struct arena *arena,
					    struct error *error);

#endif
