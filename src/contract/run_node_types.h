/* contract/run_node_types.h -- the kinds of nodes: the types of contracts/run_node.def. */
#ifndef CONTRACT_RUN_NODE_TYPES_H
#define CONTRACT_RUN_NODE_TYPES_H

#include "contract/contract.h"

#define CONTRACT_MODULE run
#define CONTRACT_FILE   "contracts/run_node.def"
#include "contract/expand.h"

#endif
