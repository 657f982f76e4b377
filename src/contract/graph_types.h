/* contract/graph_types.h -- the types of contracts/graph.def, the graph vocabulary: agents, tools
 * and their graphs. */
#ifndef CONTRACT_GRAPH_H
#define CONTRACT_GRAPH_H

#include "contract/contract.h"

#define CONTRACT_MODULE graph
#define CONTRACT_FILE   "contracts/graph.def"
#include "contract/expand.h"

#endif
