/* contract/run_graph_file_types.h -- graph workflows as files: the types of
 * contracts/run_graph_file.def. */
#ifndef CONTRACT_RUN_GRAPH_FILE_TYPES_H
#define CONTRACT_RUN_GRAPH_FILE_TYPES_H

#include "contract/run_definition_types.h"

#define CONTRACT_MODULE run
#define CONTRACT_FILE   "contracts/run_graph_file.def"
#include "contract/expand.h"

#endif
