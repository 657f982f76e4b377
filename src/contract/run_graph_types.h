/* contract/run_graph_types.h -- compiled definitions: run.created pins one by its hash: the types
 * of contracts/run_graph.def. */
#ifndef CONTRACT_RUN_GRAPH_TYPES_H
#define CONTRACT_RUN_GRAPH_TYPES_H

#include "contract/run_class_types.h"
#include "contract/run_milestone_types.h"
#include "contract/run_node_types.h"
#include "contract/run_question_types.h"
#include "contract/run_graph_enum_types.h"

#define CONTRACT_MODULE run
#define CONTRACT_FILE   "contracts/run_graph.def"
#include "contract/expand.h"

#endif
