/* contract/run_tool_types.h -- inputs and outputs of the built-in tools: the types of
 * contracts/run_tool.def. */
#ifndef CONTRACT_RUN_TOOL_TYPES_H
#define CONTRACT_RUN_TOOL_TYPES_H

#include "contract/contract.h"

#define CONTRACT_MODULE run
#define CONTRACT_FILE   "contracts/run_tool.def"
#include "contract/expand.h"

#endif
