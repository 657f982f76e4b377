/* contract/graph_types.c -- the tables of contracts/graph.def; everything here comes from its rows.
 */
#include "contract/graph_types.h"

#define CONTRACT_MODULE graph
#define CONTRACT_FILE   "contracts/graph.def"
#include "contract/tables.h"
