/* contract/run_graph_enum_types.h -- the words of definitions and graphs, besides the kinds of nodes: the
 * types of contracts/run_graph_enum.def. */
#ifndef CONTRACT_RUN_GRAPH_ENUM_TYPES_H
#define CONTRACT_RUN_GRAPH_ENUM_TYPES_H

#include "contract/contract.h"

#define CONTRACT_MODULE run
#define CONTRACT_FILE   "contracts/run_graph_enum.def"
#include "contract/expand.h"

#endif
